import { describe, expect, it } from "vitest";
import { Redactor } from "../model/redact.ts";
import { builtInDefaults } from "../model/settings.ts";
import { ann, bob, endWorldsAfterEach, present, startWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

const rarelyPolled = [{ name: "main", pollIntervalMs: 12 * 3_600_000, namespaces: [], defaults: builtInDefaults }];
const pending = { meta: { nops_policy: "approval" } };
const files = (image = "web:1", more = {}) => ({
  "web.hcl": service("web", { image, meta: { nops_policy: "approval", ...more } }),
});

async function waiting(world: World) {
  const deployment = present(await world.latest("web"));
  expect(deployment.state).toBe("pending_approval");
  return deployment;
}

describe("approve", () => {
  it("runs what was approved, after a person's word and not before", async () => {
    const world = await startWorld({}, files());
    const deployment = await waiting(world);
    expect(world.nomad.count("register")).toBe(0);
    const approved = await world.operator.approve(deployment.id, deployment.specHash, " fine ", ann);
    expect(approved).toMatchObject({ state: "applying", decidedBy: "ann" });
    await world.clock.advance(2_000);
    expect(await world.latest("web")).toMatchObject({ state: "completed", decidedBy: "ann" });
    expect(await world.store.approvals(deployment.id)).toMatchObject([{ actor: "ann", comment: "fine" }]);
  });

  it("needs no earlier look: it plans exactly that job at that moment", async () => {
    const world = await startWorld({}, files());
    const deployment = await waiting(world);
    world.nomad.calls.length = 0;
    await world.operator.approve(deployment.id, deployment.specHash, undefined, ann);
    expect(world.nomad.calls[0]).toBe("plan default/web");
    expect(world.nomad.count("list", "parse", "read")).toBe(0);
  });

  it("S52: refuses a spec hash that is not the deployment's", async () => {
    const world = await startWorld({}, files());
    const deployment = await waiting(world);
    await expect(world.operator.approve(deployment.id, "0".repeat(64), undefined, ann)).rejects.toMatchObject({
      code: "stale_approval",
    });
    expect(await world.latest("web")).toMatchObject({ state: "pending_approval" });
  });

  it("S52: after git moved, the old deployment is superseded and its approval counts for nothing", async () => {
    const world = await startWorld({}, files("web:1"));
    const deployment = await waiting(world);
    await world.commit(files("web:2"));
    await expect(world.operator.approve(deployment.id, deployment.specHash, undefined, ann)).rejects.toMatchObject({
      code: "not_pending",
    });
    expect(await world.store.deployment(deployment.id)).toMatchObject({ state: "superseded", reason: "superseded_newer_spec" });
    expect(await world.latest("web")).toMatchObject({ state: "pending_approval" });
    expect(world.nomad.count("register")).toBe(0);
  });

  it("is told what changed when the live job moved a moment ago, before any event came", async () => {
    const world = await startWorld({}, files());
    world.nomad.edit(key("web"), () => service("web", { image: "old:0" }));
    await world.clock.advance(500);
    const deployment = await waiting(world);
    const live = world.nomad.jobs.get(key("web"));
    if (live !== undefined) Object.assign(live, { jobModifyIndex: 99 });
    await expect(world.operator.approve(deployment.id, deployment.specHash, undefined, ann)).rejects.toMatchObject({
      code: "stale_approval",
      message: expect.stringContaining("somebody changed the live job"),
    });
    expect(await world.store.deployment(deployment.id)).toMatchObject({ state: "superseded", reason: "superseded_live_changed" });
  });

  it("S53: an edit between approval and register fails the deployment and stays", async () => {
    const world = await startWorld({}, files());
    const deployment = await waiting(world);
    world.nomad.fault = (when, call) => {
      if (when !== "before" || !call.startsWith("register")) return;
      world.nomad.fault = () => {};
      world.nomad.edit(key("web"), () => service("web", { image: "mine:1" }));
    };
    await world.operator.approve(deployment.id, deployment.specHash, undefined, ann);
    await world.clock.advance(3_000);
    expect(await world.store.deployment(deployment.id)).toMatchObject({ state: "failed", reason: "conflict" });
    expect(world.nomad.live(key("web"))?.TaskGroups?.[0]?.Tasks?.[0]?.Config).toEqual({ image: "mine:1" });
    expect(await world.latest("web")).toMatchObject({ state: "pending_approval" });
  });

  it("S56: two people at once make one decision", async () => {
    const world = await startWorld({}, files());
    const { id, specHash } = await waiting(world);
    const both = await Promise.allSettled([
      world.operator.approve(id, specHash, undefined, ann),
      world.operator.approve(id, specHash, undefined, bob),
    ]);
    expect(both.map((each) => each.status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await world.clock.advance(2_000);
    expect(world.nomad.count("register")).toBe(1);
  });

  it("S57: refuses the commit's author where the rules say so", async () => {
    const world = await startWorld({ approval: { required: 1, authorMayApprove: false, minPolicy: () => undefined } }, files());
    const { id, specHash } = await waiting(world);
    await expect(world.operator.approve(id, specHash, undefined, ann)).rejects.toMatchObject({ code: "own_commit" });
    expect(await world.operator.approve(id, specHash, undefined, bob)).toMatchObject({ state: "applying" });
  });

  it("S58: two different people have to agree; the same one twice counts once", async () => {
    const world = await startWorld({ approval: { required: 2, authorMayApprove: true, minPolicy: () => undefined } }, files());
    const { id, specHash } = await waiting(world);
    await world.operator.approve(id, specHash, undefined, ann);
    await world.operator.approve(id, specHash, undefined, { ...ann, name: "ann's token" });
    expect(await world.latest("web")).toMatchObject({ state: "pending_approval" });
    expect(await world.operator.approve(id, specHash, undefined, bob)).toMatchObject({ state: "applying" });
  });

  it("S63: is refused while the job is paused, whoever calls", async () => {
    const world = await startWorld({}, files());
    const { id, specHash } = await waiting(world);
    await world.operator.pauseJob(key("web"), "freeze", bob);
    await expect(world.operator.approve(id, specHash, undefined, ann)).rejects.toMatchObject({
      code: "paused",
      message: expect.stringContaining("freeze"),
    });
    await world.operator.resumeJob(key("web"), bob);
    expect(await world.operator.approve(id, specHash, undefined, ann)).toMatchObject({ state: "applying" });
  });

  it("is refused while the job's file is broken, and possible again once it is mended", async () => {
    const world = await startWorld({}, files());
    const { id, specHash } = await waiting(world);
    await world.commit({ "web.hcl": "not a job" });
    await expect(world.operator.approve(id, specHash, undefined, ann)).rejects.toMatchObject({ code: "job_frozen" });
    await world.commit(files());
    expect(await world.operator.approve(id, specHash, undefined, ann)).toMatchObject({ state: "applying" });
  });

  it("says that Nomad cannot answer, and changes nothing", async () => {
    const world = await startWorld({}, files());
    const { id, specHash } = await waiting(world);
    world.nomad.fault = () => {
      throw new Error("down");
    };
    await expect(world.operator.approve(id, specHash, undefined, ann)).rejects.toThrow("down");
    world.nomad.fault = () => {};
    expect(await world.latest("web")).toMatchObject({ state: "pending_approval" });
  });

  it("does not exist for what does not exist", async () => {
    const world = await startWorld();
    await expect(world.operator.approve("01J0000000000000000000000A", "x", undefined, ann)).rejects.toMatchObject({
      code: "unknown_deployment",
    });
  });
});

describe("reject", () => {
  it("ends the deployment and blocks the same one until git or the live job changes", async () => {
    const world = await startWorld({}, files("web:1"));
    const { id } = await waiting(world);
    await world.operator.reject(id, "not today", ann);
    await world.clock.advance(2_000);
    expect(await world.latest("web")).toMatchObject({ id, state: "rejected", decidedBy: "ann" });
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "blocked", reason: "blocked_rejected", blockedBy: id });
    world.nomad.edit(key("web"), () => service("web", { image: "other:1" }));
    await world.clock.advance(2_000);
    expect(await world.latest("web")).toMatchObject({ state: "pending_approval" });
  });

  it("keeps every word of the comment, whatever the name that it stands behind", async () => {
    const world = await startWorld({}, files());
    const { id } = await waiting(world);
    const moves: string[] = [];
    const { move } = world.store;
    Object.assign(world.store, {
      move: (...args: Parameters<typeof move>) => {
        moves.push(args[2].message);
        return move(...args);
      },
    });
    await world.operator.reject(id, "not today", { name: "bootstrap token", kind: "token", identity: "token:bootstrap" });
    expect(moves.map((message) => new Redactor().text(message))).toEqual(moves);
    expect(moves.at(-1)).toContain("not today");
  });

  it("works where approving is refused", async () => {
    const world = await startWorld({}, files());
    const { id } = await waiting(world);
    await world.operator.pauseAll("stop", bob);
    expect(await world.operator.reject(id, undefined, ann)).toMatchObject({ state: "rejected" });
  });
});

describe("what becomes of a waiting deployment (operator §8.3e)", () => {
  it("never expires", async () => {
    const world = await startWorld({ repositories: rarelyPolled }, files());
    const { id } = await waiting(world);
    await world.clock.advance(5 * 24 * 3_600_000);
    expect(await waiting(world)).toMatchObject({ id });
  });

  it("is superseded when the policy becomes none, also through an invalid key", async () => {
    for (const more of [{ nops_policy: "none" }, { nops_apply_timeout: "soon" }]) {
      const world = await startWorld({}, files());
      const { id } = await waiting(world);
      await world.commit(files("web:1", more));
      expect(await world.latest("web")).toMatchObject({ id, state: "superseded", reason: "superseded_policy_none" });
    }
  });

  it("is completed when the live job came to equal git", async () => {
    const world = await startWorld({}, files("web:1"));
    const { id } = await waiting(world);
    world.nomad.edit(key("web"), () => ({ ...service("web", { image: "web:1", ...pending }), Namespace: "default" }));
    await world.clock.advance(2_000);
    // Its base moved, so it is out of date; nothing is left to do and none takes its place.
    expect(await world.store.deployment(id)).toMatchObject({ state: "superseded" });
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "sync" });
  });

  it("is superseded when its job leaves git, or its opt-in", async () => {
    const world = await startWorld({}, { ...files(), "b.hcl": service("b"), "c.hcl": service("c") });
    const { id } = await waiting(world);
    await world.commit({ "b.hcl": service("b"), "c.hcl": service("c") });
    expect(await world.store.deployment(id)).toMatchObject({ state: "superseded", reason: "superseded_removed" });
    await world.commit({ ...files(), "b.hcl": service("b"), "c.hcl": service("c") });
    const again = await waiting(world);
    await world.commit({ ...files("web:1", { nops_managed: "false" }), "b.hcl": service("b"), "c.hcl": service("c") });
    expect(await world.store.deployment(again.id)).toMatchObject({ state: "superseded" });
  });

  it("is not disturbed by a commit that does not concern it", async () => {
    const world = await startWorld({}, files());
    const { id } = await waiting(world);
    await world.commit({ ...files(), "other.hcl": service("other") });
    expect(await waiting(world)).toMatchObject({ id });
  });

  it("S59: an approval of one of two does not survive a new spec", async () => {
    const world = await startWorld(
      { approval: { required: 2, authorMayApprove: true, minPolicy: () => undefined } },
      files("web:1"),
    );
    const { id, specHash } = await waiting(world);
    await world.operator.approve(id, specHash, undefined, ann);
    await world.commit(files("web:2"));
    const next = await waiting(world);
    await world.operator.approve(next.id, next.specHash, undefined, bob);
    expect(await waiting(world)).toMatchObject({ id: next.id });
  });
});

describe("S60: lowering the policy", () => {
  it("still needs a person once, then counts (design D31)", async () => {
    const world = await startWorld({}, files("web:1"));
    const first = await waiting(world);
    await world.operator.approve(first.id, first.specHash, undefined, ann);
    await world.clock.advance(2_000);
    await world.commit({ "web.hcl": service("web", { image: "web:2" }) });
    const lowered = await waiting(world);
    expect(lowered).toMatchObject({ policy: "auto", reason: "policy_lowered" });
    await world.operator.approve(lowered.id, lowered.specHash, undefined, ann);
    await world.clock.advance(2_000);
    await world.commit({ "web.hcl": service("web", { image: "web:3" }) });
    expect(await world.latest("web")).toMatchObject({ state: "completed", policy: "auto", decidedBy: undefined });
  });

  it("cannot go below the namespace's floor", async () => {
    const world = await startWorld(
      {
        approval: {
          required: 1,
          authorMayApprove: true,
          minPolicy: (namespace) => (namespace === "default" ? "approval" : undefined),
        },
      },
      { "web.hcl": service("web") },
    );
    await waiting(world);
  });
});
