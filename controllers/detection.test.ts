import { describe, expect, it } from "vitest";
import { NomadError, TerminalError } from "../model/errors.ts";
import type { JobSpec } from "../model/nomad.ts";
import { ann, endWorldsAfterEach, present, startWorld, stopWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

const latest = async (world: World) => present(await world.latest("web"));
const scaled = (image: string, meta: Record<string, string> = {}, count = 2): JobSpec => ({
  ...service("web", { meta }),
  TaskGroups: [{ Name: "main", Count: count, Scaling: { Min: 1, Max: 9 }, Tasks: [{ Name: "main", Config: { image } }] }],
});
const scale = (world: World, count: number): void =>
  world.nomad.edit(key("web"), (spec) => ({
    ...spec,
    TaskGroups: (spec.TaskGroups ?? []).map((group) => ({ ...group, Count: count })),
  }));
const liveCount = (world: World) => world.nomad.live(key("web"))?.TaskGroups?.[0]?.Count;

describe("D6: scaling", () => {
  it("is no drift, and a new spec keeps the live count", async () => {
    const world = await startWorld({}, { "web.hcl": scaled("web:1") });
    scale(world, 7);
    await world.clock.advance(3_000);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "sync" });
    await world.commit({ "web.hcl": scaled("web:2") });
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(liveCount(world)).toBe(7);
  });

  it("keeps a waiting deployment and the approval that is given for it; only the base follows", async () => {
    const world = await startWorld({}, { "web.hcl": scaled("web:1", { nops_policy: "approval" }) });
    const first = await latest(world);
    await world.operator.approve(first.id, first.specHash, undefined, ann);
    await world.clock.advance(3_000);
    await world.commit({ "web.hcl": scaled("web:2", { nops_policy: "approval" }) });
    const waiting = await latest(world);
    scale(world, 5);
    await world.clock.advance(3_000);
    expect(await latest(world)).toMatchObject({ id: waiting.id, state: "pending_approval", baseIndex: waiting.baseIndex + 1 });
    // And one that moves between the last look and the click.
    scale(world, 6);
    await world.operator.approve(waiting.id, waiting.specHash, undefined, ann);
    scale(world, 4);
    await world.clock.advance(3_000);
    expect(await latest(world)).toMatchObject({ id: waiting.id, state: "completed" });
    expect(liveCount(world)).toBe(4);
  });

  it("does not unblock a failed deployment", async () => {
    const world = await startWorld({}, { "web.hcl": scaled("web:1", { nops_pre_hook: "no" }) });
    expect(await latest(world)).toMatchObject({ state: "failed" });
    world.nomad.edit(key("web"), () => ({ ...scaled("other"), Namespace: "default" }));
    await world.clock.advance(3_000);
    const second = await latest(world);
    scale(world, 8);
    await world.clock.advance(3_000);
    expect(await latest(world)).toMatchObject({ id: second.id });
  });

  it("an edit beside the scaling supersedes as ever", async () => {
    const world = await startWorld({}, { "web.hcl": scaled("web:1", { nops_policy: "approval" }) });
    const waiting = await latest(world);
    world.nomad.edit(key("web"), () => ({ ...scaled("mine"), Namespace: "default" }));
    await world.clock.advance(3_000);
    expect(await world.store.deployment(waiting.id)).toMatchObject({ state: "superseded", reason: "superseded_live_changed" });
  });
});

describe("D3: own keys", () => {
  it("a change of only nops_* keys restarts nothing and rides along with the next real change", async () => {
    const world = await startWorld({}, { "web.hcl": service("web") });
    const commit = (meta: Record<string, string>, image = "web:1") =>
      world.commit({ "web.hcl": service("web", { image, meta }) });
    await commit({ nops_notify_completed: "true" });
    expect(world.nomad.count("register")).toBe(1);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "sync", reason: "own_keys_only", drift: "own_keys" });
    await commit({ nops_notify_completed: "true" }, "web:2");
    expect(world.nomad.live(key("web"))?.Meta).toEqual({
      nops_managed: "true",
      nops_policy: "auto",
      nops_notify_completed: "true",
    });
  });
});

describe("D29: differences that Nomad does not name", () => {
  it("a job's spread is deployed once when git changes it, and then held", async () => {
    const spread = (attribute: string): Partial<JobSpec> => ({
      Spreads: [{ Attribute: attribute, Weight: 50, SpreadTarget: null }],
    });
    const world = await startWorld({}, { "web.hcl": service("web") });
    await world.commit({ "web.hcl": service("web", { more: spread("node.datacenter") }) });
    expect(world.nomad.live(key("web"))?.Spreads).toEqual(spread("node.datacenter").Spreads);
    expect(world.nomad.count("register")).toBe(2);
    await world.commit({ "web.hcl": service("web", { more: spread("node.datacenter") }), "x.hcl": service("x") });
    await world.clock.advance(60_000);
    expect(world.nomad.count("register")).toBe(3);
  });

  it("an edit without a leaf is registered at most once per spec", async () => {
    const world = await startWorld({}, { "web.hcl": service("web") });
    const plan = world.nomad.plan.bind(world.nomad);
    world.nomad.plan = async (spec) => {
      const result = await plan(spec);
      return result.diff.Type === "None"
        ? { ...result, diff: { ...result.diff, Type: "Edited", Objects: [{ Type: "Edited", Name: "Scaling" }] } }
        : result;
    };
    await world.commit({ "web.hcl": service("web", { image: "web:2" }) });
    await world.clock.advance(120_000);
    world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 2 }));
    await world.clock.advance(60_000);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "sync", reason: "unknown_difference" });
    expect(world.nomad.count("register")).toBe(3);
  });
});

describe("D30: a batch job that is done", () => {
  const batch = (image: string): JobSpec => service("web", { image, more: { Type: "batch" } });

  it("and was collected by Nomad is not missing; a new spec runs it", async () => {
    const world = await startWorld({}, { "web.hcl": batch("web:1") });
    expect(await latest(world)).toMatchObject({ state: "completed" });
    world.nomad.purge(key("web"));
    await world.clock.advance(60_000);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "sync", reason: "batch_done" });
    expect(world.nomad.count("register")).toBe(1);
    await world.commit({ "web.hcl": batch("web:2") });
    expect(world.nomad.count("register")).toBe(2);
  });

  it("a service that was purged is missing", async () => {
    const world = await startWorld({}, { "web.hcl": service("web") });
    world.nomad.purge(key("web"));
    await world.clock.advance(5_000);
    expect(world.nomad.count("register")).toBe(2);
  });
});

it("a Nomad that lost everything gets its jobs again, though its index is lower than all that was told before", async () => {
  const world = await startWorld({}, { "web.hcl": service("web") });
  const before = await latest(world);
  world.nomad.becomeEmpty();
  await world.clock.advance(3_000);
  expect((await latest(world)).id).not.toBe(before.id);
  expect(await latest(world)).toMatchObject({ state: "completed" });
  expect(world.nomad.live(key("web"))).toBeDefined();
});

it("a deployment whose job went with everything that Nomad had fails at once, and blocks like any that was registered (O§11.1)", async () => {
  const world = await startWorld({}, { "web.hcl": service("web") });
  world.nomad.fate = "pending";
  await world.commit({ "web.hcl": service("web", { image: "web:2" }) });
  const lost = await latest(world);
  expect(lost).toMatchObject({ state: "applying" });
  world.nomad.fate = "healthy";
  world.nomad.becomeEmpty();
  await world.clock.advance(5_000);
  expect(await world.store.deployment(lost.id)).toMatchObject({
    state: "failed",
    error: expect.stringContaining("now it is gone"),
  });
  expect(await world.operator.explain(key("web"))).toMatchObject({ verdict: "blocked_applied" });
});

it("a job stopped by hand is drift; auto starts it again (operator §8.8)", async () => {
  const world = await startWorld({}, { "web.hcl": service("web") });
  world.nomad.stop(key("web"));
  await world.clock.advance(5_000);
  expect(world.nomad.live(key("web"))?.Stop).toBe(false);
});

describe("D5: what is known is not asked again", () => {
  it("a restart plans nothing that did not change", async () => {
    const world = await startWorld({}, { "a.hcl": service("a"), "b.hcl": service("b"), "web.hcl": service("web") });
    await stopWorld(world);
    world.nomad.edit(key("b"), (spec) => ({ ...spec, Priority: 9 }));
    world.nomad.calls.length = 0;
    world.restart();
    await world.operator.start();
    await world.clock.advance(5_000);
    expect(
      new Set(world.nomad.calls.filter((call) => /^(plan|read|register)/.test(call)).map((call) => call.split(" ")[1])),
    ).toEqual(new Set(["default/b"]));
  });

  it("everything is planned again at the replan interval, as a safety net", async () => {
    const world = await startWorld({ replanIntervalMs: 3_600_000 }, { "a.hcl": service("a"), "b.hcl": service("b") });
    world.nomad.calls.length = 0;
    await world.clock.advance(3_590_000);
    expect(world.nomad.count("plan")).toBe(0);
    await world.clock.advance(20_000);
    expect(world.nomad.count("plan")).toBe(2);
    await world.clock.advance(3_600_000);
    expect(world.nomad.count("plan")).toBe(4);
  });

  it("an event without the index costs one plan", async () => {
    const world = await startWorld({}, { "web.hcl": service("web") });
    world.nomad.calls.length = 0;
    world.nomad.emit(key("web"), undefined);
    await world.clock.advance(2_000);
    expect(world.nomad.calls).toEqual(["plan default/web"]);
  });
});

describe("a Nomad that cannot answer", () => {
  it("for one job disturbs no other; it is tried again with growing pauses, and explain says so (S68)", async () => {
    const world = await startWorld();
    world.nomad.fault = (_when, call) => {
      if (call === "plan default/web") throw new NomadError("boom", { kind: "unknown_outcome" });
    };
    await world.commit({ "web.hcl": service("web"), "b.hcl": service("b") });
    await world.clock.advance(60_000);
    expect(await world.latest("b")).toMatchObject({ state: "completed" });
    expect(world.nomad.count("plan default/web")).toBeLessThan(15);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "unknown", reason: "nomad_error" });
    world.nomad.fault = () => {};
    await world.clock.advance(90_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
  });

  it("that refuses to plan a job is not asked again and again", async () => {
    const world = await startWorld();
    world.nomad.fault = (_when, call) => {
      if (call.startsWith("plan"))
        throw new NomadError("1 error occurred: Missing job datacenters", { kind: "refused", status: 500 });
    };
    await world.commit({ "web.hcl": service("web") });
    await world.clock.advance(300_000);
    expect(world.nomad.count("plan")).toBe(1);
    expect(await world.operator.explain(key("web"))).toMatchObject({
      verdict: "nomad_error",
      message: expect.stringContaining("Missing job datacenters"),
    });
  });

  it("before the register ends the deployment only after the apply timeout, with the last cause", async () => {
    const world = await startWorld();
    world.nomad.fault = (when, call) => {
      if (when === "before" && call.startsWith("register"))
        throw new NomadError("Permission denied", { kind: "not_permitted", status: 403 });
    };
    await world.commit({ "web.hcl": service("web") });
    await world.clock.advance(500_000);
    expect(await latest(world)).toMatchObject({ state: "applying" });
    await world.clock.advance(200_000);
    expect(await latest(world)).toMatchObject({
      state: "failed",
      reason: "register_timeout",
      error: expect.stringMatching(/10m.*Permission denied/),
    });
  });

  it("a refused job fails at once with Nomad's own words", async () => {
    const world = await startWorld();
    world.nomad.fault = (when, call) => {
      if (when === "before" && call.startsWith("register"))
        throw new NomadError("1 error occurred: job type can't change", { kind: "refused", status: 500 });
    };
    await world.commit({ "web.hcl": service("web") });
    expect(await latest(world)).toMatchObject({
      state: "failed",
      reason: "register_refused",
      error: expect.stringContaining("job type can't change"),
    });
  });

  it("a register whose answer is lost is looked for, not sent again", async () => {
    const world = await startWorld();
    world.nomad.fault = (when, call) => {
      if (when !== "after" || !call.startsWith("register")) return;
      world.nomad.fault = () => {};
      throw new NomadError("socket hang up", { kind: "unknown_outcome" });
    };
    await world.commit({ "web.hcl": service("web") });
    await world.clock.advance(5_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(world.nomad.count("register")).toBe(1);
  });

  it.each(["web.hcl", "web.json"])(
    "a register of %s whose answer is lost is known as ours, also when the job was edited since",
    async (file) => {
      const world = await startWorld({}, { [file]: service("web", { meta: { nops_policy: "approval" } }) });
      const { id, specHash } = await latest(world);
      world.nomad.fault = (when, call) => {
        if (when !== "after" || !call.startsWith("register")) return;
        world.nomad.fault = () => {};
        world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 70 }));
        throw new NomadError("socket hang up", { kind: "unknown_outcome" });
      };
      await world.operator.approve(id, specHash, undefined, ann);
      await world.clock.advance(5_000);
      expect(await world.store.deployment(id)).toMatchObject({ state: "completed", appliedIndex: expect.any(Number) });
    },
  );
});

it("S54: stored bytes that do not match their hash are not applied", async () => {
  const world = await startWorld({}, { "web.hcl": service("web", { meta: { nops_policy: "approval" } }) });
  const { id, specHash } = await latest(world);
  Object.assign(world.store, {
    deploymentSpec: () => Promise.reject(new TerminalError("the stored spec does not match its hash", { code: "integrity" })),
  });
  await world.operator.approve(id, specHash, undefined, ann);
  await world.clock.advance(3_000);
  expect(await latest(world)).toMatchObject({ state: "failed", reason: "integrity" });
  expect(world.nomad.count("register")).toBe(0);
});

it("S55: what is registered is what was planned and approved, never parsed again", async () => {
  const world = await startWorld({}, { "web.hcl": service("web", { meta: { nops_policy: "approval" } }) });
  const { id, specHash } = await latest(world);
  world.nomad.parse = () => Promise.reject(new Error("parsed again"));
  await world.operator.approve(id, specHash, undefined, ann);
  await world.clock.advance(3_000);
  expect(await latest(world)).toMatchObject({ state: "completed" });
});

it("sends the source along, with deployment and commit in its first line (D3)", async () => {
  const world = await startWorld({}, { "web.hcl": service("web") });
  const { id, commitSha } = await latest(world);
  expect(world.nomad.submissions.get("default/web 0")?.source.split("\n")[0]).toBe(
    `# nops: deployment=${id} commit=${commitSha}`,
  );
});

it("the job's own apply timeout counts, as it was frozen", async () => {
  const world = await startWorld();
  world.nomad.fate = "pending";
  await world.commit({ "web.hcl": service("web", { meta: { nops_apply_timeout: "30s" } }) });
  await world.commit({ "web.hcl": service("web", { meta: { nops_apply_timeout: "9h" } }) });
  await world.clock.advance(40_000);
  expect((await world.store.deployment((await latest(world)).id))?.error ?? (await latest(world)).error).toContain("30s");
});

describe("read-only", () => {
  it("detects and shows, never writes to Nomad and makes no deployment", async () => {
    const world = await startWorld({ mode: "read_only" }, { "web.hcl": service("web") });
    expect(await world.latest("web")).toBeUndefined();
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "drift", reason: "read_only" });
    await expect(world.operator.deployNow(key("web"), "x", ann)).rejects.toMatchObject({ code: "read_only" });
    world.operator.setMode("normal");
    await world.clock.advance(3_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
  });
});
