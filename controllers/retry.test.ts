import { describe, expect, it } from "vitest";
import type { JobSpec } from "../model/nomad.ts";
import { ann, endWorldsAfterEach, present, startWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

const plain = { reschedule: false, rerunUnknownHooks: false };
const files = (image = "web:1", meta: Record<string, string> = {}) => ({ "web.hcl": service("web", { image, meta }) });
const smoke: JobSpec = {
  ID: "smoke",
  Type: "batch",
  Meta: { nops_role: "hook" },
  ParameterizedJob: {},
  TaskGroups: [{ Name: "main", Tasks: [{ Name: "main" }] }],
};

async function failed(world: World) {
  const deployment = present(await world.latest("web"));
  expect(deployment.state).toBe("failed");
  return deployment;
}

describe("a failed deployment blocks the same one (operator §11)", () => {
  it("that was registered: whatever the live job is then, so that auto_revert and apply cannot chase each other", async () => {
    const world = await startWorld({}, files("web:1"));
    world.nomad.fate = "failing";
    await world.commit(files("web:2"));
    const first = await failed(world);
    expect(first).toMatchObject({ reason: "rollout_failed", error: expect.stringContaining("unhealthy") });
    // What Nomad's auto_revert does: a new version with the old spec.
    world.nomad.fate = "healthy";
    for (let revert = 0; revert < 5; revert++) {
      world.nomad.edit(key("web"), () => ({ ...service("web", { image: "web:1" }), Namespace: "default", Priority: revert }));
      await world.clock.advance(5_000);
    }
    expect(await failed(world)).toMatchObject({ id: first.id });
    expect(world.nomad.count("register")).toBe(2);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "blocked", reason: "blocked_applied" });
    await world.commit(files("web:3"));
    expect(await world.latest("web")).toMatchObject({ state: "completed" });
  });

  it("that was not registered: until the live job changes", async () => {
    const world = await startWorld({}, { ...files("web:1", { nops_pre_hook: "smoke" }), "h.hcl": smoke });
    await world.clock.advance(5_000);
    world.nomad.childExit = 1;
    await world.commit({ ...files("web:2", { nops_pre_hook: "smoke" }), "h.hcl": smoke });
    await world.clock.advance(5_000);
    const first = await failed(world);
    await world.clock.advance(3_600_000);
    expect(await failed(world)).toMatchObject({ id: first.id });
    world.nomad.childExit = 0;
    world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 9 }));
    await world.clock.advance(5_000);
    expect(await world.latest("web")).toMatchObject({ state: "completed" });
  });

  it("a conflict unblocks itself, since the index has moved", async () => {
    const world = await startWorld({}, files("web:1"));
    world.nomad.fault = (when, call) => {
      if (when !== "before" || !call.startsWith("register")) return;
      world.nomad.fault = () => {};
      world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 7 }));
    };
    await world.commit(files("web:2"));
    await world.clock.advance(5_000);
    expect(await world.latest("web")).toMatchObject({ state: "completed" });
    expect(world.nomad.count("register")).toBe(3);
  });
});

describe("retry", () => {
  async function blocked(meta: Record<string, string> = {}): Promise<World> {
    const world = await startWorld({}, files("web:1", meta));
    world.nomad.fate = "failing";
    await world.commit(files("web:2", meta));
    world.nomad.edit(key("web"), () => ({ ...service("web", { image: "web:1", meta }), Namespace: "default" }));
    await world.clock.advance(3_000);
    world.nomad.fate = "healthy";
    return world;
  }

  it("buys a single new try, linked to the old one", async () => {
    const world = await blocked();
    const old = await failed(world);
    const successor = await world.operator.retry(old.id, plain, ann);
    expect(successor).toMatchObject({ retryOf: old.id, mode: "apply" });
    await world.clock.advance(2_000);
    expect(await world.latest("web")).toMatchObject({ state: "completed", id: successor.id });
    await expect(world.operator.retry(old.id, plain, ann)).rejects.toMatchObject({ code: "already_retried" });
  });

  it("verifies a job that Nomad always calls edited, as it does one with a scaling block", async () => {
    const world = await startWorld({}, files("web:1"));
    const plan = world.nomad.plan.bind(world.nomad);
    const edited: typeof plan = async (spec) => {
      const answer = await plan(spec);
      return answer.diff.Type === "None" ? { ...answer, diff: { ...answer.diff, Type: "Edited" } } : answer;
    };
    Object.assign(world.nomad, { plan: edited });
    world.nomad.fate = "failing";
    await world.commit(files("web:2"));
    const old = await failed(world);
    world.nomad.fate = "healthy";
    const successor = await world.operator.retry(old.id, plain, ann);
    expect(successor).toMatchObject({ retryOf: old.id, mode: "verify" });
    await world.clock.advance(5_000);
    expect(world.nomad.count("register")).toBe(2);
    expect((await world.latest("web"))?.id).toBe(successor.id);
  });

  it("can fail and block again", async () => {
    const world = await blocked();
    world.nomad.fate = "failing";
    const old = await failed(world);
    await world.operator.retry(old.id, plain, ann);
    await world.clock.advance(5_000);
    const again = await failed(world);
    expect(again.retryOf).toBe(old.id);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "blocked", reason: "blocked_applied" });
  });

  it("of a held job lifts the block and starts nothing until the hold ends", async () => {
    const world = await blocked();
    const old = await failed(world);
    await world.operator.pauseJob(key("web"), "", ann);
    expect(await world.operator.retry(old.id, plain, ann)).toMatchObject({ id: old.id });
    await world.clock.advance(60_000);
    expect(world.nomad.count("register")).toBe(2);
    await world.operator.resumeJob(key("web"), ann);
    await world.clock.advance(2_000);
    expect(await world.latest("web")).toMatchObject({ state: "completed", retryOf: old.id });
  });

  it("never approves: under approval the successor waits for a person", async () => {
    const world = await startWorld({}, files("web:1", { nops_policy: "approval" }));
    const first = present(await world.latest("web"));
    world.nomad.fate = "failing";
    await world.operator.approve(first.id, first.specHash, undefined, ann);
    await world.clock.advance(3_000);
    world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 4 }));
    await world.clock.advance(3_000);
    expect(await world.operator.retry(first.id, plain, ann)).toMatchObject({ state: "pending_approval", retryOf: first.id });
  });

  it.each<[string, (world: World, id: string) => Promise<unknown>, string]>([
    [
      "one that completed",
      async (world) => {
        await world.commit(files("web:4"));
        return world.operator.retry(present(await world.latest("web")).id, plain, ann);
      },
      "not_retryable",
    ],
    [
      "one whose spec git no longer wants",
      async (world, id) => {
        await world.operator.pauseJob(key("web"), "", ann);
        await world.commit(files("web:9"));
        return world.operator.retry(id, plain, ann);
      },
      "not_retryable",
    ],
    [
      "one that is not the newest",
      async (world, id) => {
        await world.commit(files("web:5"));
        return world.operator.retry(id, plain, ann);
      },
      "not_latest",
    ],
    [
      "one of a job that is frozen",
      async (world, id) => {
        await world.commit({ "web.hcl": "broken" });
        return world.operator.retry(id, plain, ann);
      },
      "job_frozen",
    ],
    [
      "placing again where a register is due",
      (world, id) => world.operator.retry(id, { ...plain, reschedule: true }, ann),
      "nothing_to_reschedule",
    ],
  ])("refuses %s", async (_name, act, code) => {
    const world = await blocked();
    await expect(act(world, (await failed(world)).id)).rejects.toMatchObject({ code });
  });
});

describe("verify: a retry where live already equals git (D12)", () => {
  const hooked = (image: string) => ({
    ...files(image, { nops_post_hook: "smoke", nops_pre_hook: "ready" }),
    "h.hcl": smoke,
    "r.hcl": { ...smoke, ID: "ready" },
  });

  it("registers nothing and runs no pre-hook: health, then the post-hooks again", async () => {
    const world = await startWorld();
    world.nomad.fault = (when, call) => {
      if (when === "before" && call.startsWith("register default/web")) world.nomad.childExit = 1;
    };
    await world.commit(hooked("web:1"));
    await world.clock.advance(10_000);
    const old = await failed(world);
    expect(old.error).toContain("post-hook smoke");
    world.nomad.childExit = 0;
    world.nomad.calls.length = 0;
    const successor = await world.operator.retry(old.id, plain, ann);
    expect(successor).toMatchObject({ mode: "verify", retryOf: old.id });
    await world.clock.advance(10_000);
    expect(await world.latest("web")).toMatchObject({ id: successor.id, state: "completed" });
    expect(world.nomad.calls.filter((call) => call.startsWith("register default/web"))).toEqual([]);
    const dispatched = world.nomad.calls.filter((call) => call.startsWith("dispatch"));
    expect(dispatched.map((call) => call.replace(/-[0-9a-f]{8} .*/, ""))).toEqual(["dispatch default/smoke"]);
  });

  it("under approval waits for a person", async () => {
    const world = await startWorld();
    world.nomad.childExit = 1;
    await world.commit({ ...files("web:1", { nops_post_hook: "smoke", nops_policy: "approval" }), "h.hcl": smoke });
    const first = present(await world.latest("web"));
    await world.operator.approve(first.id, first.specHash, undefined, ann);
    await world.clock.advance(10_000);
    expect(await failed(world)).toMatchObject({ id: first.id });
    expect(await world.operator.retry(first.id, plain, ann)).toMatchObject({ mode: "verify", state: "pending_approval" });
  });

  it("fails at once when nothing of the job runs and nothing is pending", async () => {
    const world = await startWorld();
    world.nomad.fate = "failing";
    await world.commit(files("web:1"));
    const old = await failed(world);
    await world.operator.retry(old.id, plain, ann);
    await world.clock.advance(3_000);
    const verified = await failed(world);
    expect(verified).toMatchObject({ mode: "verify", retryOf: old.id });
    expect(verified.error).toMatch(/nothing of the job runs/);
  });

  it("asks Nomad to place again first, once, also over a crash", async () => {
    const world = await startWorld();
    world.nomad.fate = "failing";
    await world.commit(files("web:1"));
    const old = await failed(world);
    await world.operator.retry(old.id, { ...plain, reschedule: true }, ann);
    await world.clock.advance(3_000);
    expect(world.nomad.count("reschedule")).toBe(1);
    expect(world.nomad.count("register")).toBe(1);
  });
});
