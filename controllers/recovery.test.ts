/** Operator §15, line by line: a new process over what the old one left in store and Nomad. */
import { describe, expect, it } from "vitest";
import type { NewDeployment } from "../model/deployment.ts";
import { specHash, targetHash } from "../model/hash.ts";
import type { JobSpec } from "../model/nomad.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { ann, endWorldsAfterEach, present, startWorld, stopWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

const web = (image = "web:1", meta: Record<string, string> = {}): JobSpec => service("web", { image, meta });
const hook: JobSpec = {
  ID: "migrate",
  Type: "batch",
  Meta: { nops_role: "hook", nops_timeout: "5m" },
  ParameterizedJob: {},
  TaskGroups: [{ Name: "main", Tasks: [{ Name: "main" }] }],
};
const hooked = { "web.hcl": web("web:1", { nops_pre_hook: "migrate" }), "h.hcl": hook };
const latest = async (world: World) => present(await world.latest("web"));

/** Lets the process die at the given call of Nomad: from then on none of its calls has any effect or answer. */
function dieAt(world: World, when: "before" | "after", prefix: string): void {
  let dead = false;
  world.nomad.fault = (at, call) => {
    if (!dead && !(at === when && call.startsWith(prefix))) return;
    dead = true;
    throw new Error("the process is dead");
  };
}

/** A new process, after `downMs` in which nobody looked. */
async function reborn(world: World, downMs = 0): Promise<void> {
  await stopWorld(world);
  world.nomad.fault = () => {};
  await world.clock.advance(downMs);
  world.restart();
  await world.operator.start();
  await world.clock.advance(10_000);
}

describe("recovery", () => {
  it("detected: routed as usual", async () => {
    const world = await startWorld();
    const spec = { ...web(), Namespace: "default" };
    const hash = specHash({ version: 1, target: spec, hooks: [] });
    await stopWorld(world);
    await world.store.create(newDeployment(spec, hash));
    world.git.commit("main", { "web.hcl": web() });
    world.restart();
    await world.operator.start();
    await world.clock.advance(5_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(world.nomad.count("register")).toBe(1);
  });

  it("pending_approval: waits for a person, who may approve at once", async () => {
    const world = await startWorld({}, { "web.hcl": web("web:1", { nops_policy: "approval" }) });
    const { id, specHash: hash } = await latest(world);
    await reborn(world);
    expect(await world.operator.approve(id, hash, undefined, ann)).toMatchObject({ state: "applying" });
  });

  it("when what is unfinished cannot be looked up after the start it is looked up again", async () => {
    const world = await startWorld();
    dieAt(world, "before", "plan default/migrate-");
    await world.commit(hooked);
    const { activeDeployments } = world.store;
    let failures = 0;
    Object.assign(world.store, {
      activeDeployments: () => (failures++ === 0 ? Promise.reject(new Error("disk I/O error")) : activeDeployments()),
    });
    await reborn(world);
    expect(failures).toBeGreaterThan(1);
    expect(await latest(world)).toMatchObject({ state: "completed" });
  });

  it("writes nothing about the files of a commit that is on record", async () => {
    const world = await startWorld({}, { "web.hcl": web() });
    const { saveJobFiles } = world.store;
    const saved: string[] = [];
    Object.assign(world.store, {
      saveJobFiles: (repository: string, sha: string, files: []) => {
        saved.push(sha);
        return saveJobFiles(repository, sha, files);
      },
    });
    await reborn(world);
    expect(saved).toEqual([]);
    await world.commit({ "web.hcl": web("web:2") });
    expect(saved).toHaveLength(1);
    await world.commit({ "web.hcl": web("web:2"), "api.hcl": service("api", {}) });
    expect(saved).toHaveLength(2);
  });

  it("pre_hook without a run: registers the revision and dispatches", async () => {
    const world = await startWorld();
    dieAt(world, "before", "plan default/migrate-");
    await world.commit(hooked);
    expect(await latest(world)).toMatchObject({ state: "pre_hook" });
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(world.nomad.count("dispatch")).toBe(1);
  });

  it("run `dispatching`: nothing was sent, dispatches", async () => {
    const world = await startWorld();
    const update = world.store.updateHookRun;
    Object.assign(world.store, { updateHookRun: () => Promise.reject(new Error("the process is dead")) });
    await world.commit(hooked);
    Object.assign(world.store, { updateHookRun: update });
    expect(await world.store.hookRuns((await latest(world)).id)).toMatchObject([{ state: "dispatching" }]);
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(world.nomad.count("dispatch")).toBe(1);
  });

  it("run `running` without a child: adopts what carries its token, else it is unknown and never sent again", async () => {
    for (const [when, state] of [
      ["after", "completed"],
      ["before", "failed"],
    ] as const) {
      const world = await startWorld();
      dieAt(world, when, "dispatch ");
      await world.commit(hooked);
      await reborn(world);
      await world.clock.advance(30_000);
      expect(await latest(world)).toMatchObject({ state });
      expect(world.nomad.count("dispatch")).toBe(1);
    }
  });

  it("run with a child: waits on it; the time counts from its start, and the verdict is read before the clock", async () => {
    const world = await startWorld();
    world.nomad.childExit = undefined;
    await world.commit(hooked);
    await world.clock.advance(3_000);
    const [run] = await world.store.hookRuns((await latest(world)).id);
    await stopWorld(world);
    world.nomad.finishChild(key(run?.dispatchedJobId ?? ""), 0);
    await reborn(world, 3_600_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
  });

  it("run past its time, stop sent and not saved: timed out", async () => {
    const world = await startWorld();
    world.nomad.childExit = undefined;
    await world.commit(hooked);
    dieAt(world, "after", "stop ");
    await world.clock.advance(301_000);
    expect(await latest(world)).toMatchObject({ state: "pre_hook" });
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "failed", reason: "hook_timed_out" });
    expect(world.nomad.count("stop")).toBe(1);
  });

  it("run ended, deployment not moved: the stored result counts, nothing runs again", async () => {
    const world = await startWorld();
    const move = world.store.move;
    Object.assign(world.store, {
      move: (...args: Parameters<typeof move>) =>
        args[2].reason === "hooks_succeeded" ? Promise.reject(new Error("the process is dead")) : move(...args),
    });
    await world.commit(hooked);
    await world.clock.advance(3_000);
    Object.assign(world.store, { move });
    expect(await latest(world)).toMatchObject({ state: "pre_hook" });
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(world.nomad.count("dispatch")).toBe(1);
  });

  it("applying, before the register: plans and registers", async () => {
    const world = await startWorld();
    dieAt(world, "before", "register ");
    await world.commit({ "web.hcl": web() });
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(world.nomad.live(key("web"))?.Version).toBe(0);
  });

  it("applying, after the register and before it was recorded: carries on without a second one", async () => {
    const world = await startWorld();
    dieAt(world, "after", "register ");
    await world.commit({ "web.hcl": web() });
    expect(await latest(world)).toMatchObject({ state: "applying", appliedIndex: undefined });
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(world.nomad.count("register")).toBe(1);
  });

  it("applying, index moved by somebody else: fails and overwrites nothing", async () => {
    const world = await startWorld({}, { "web.hcl": web() });
    dieAt(world, "before", "register ");
    await world.commit({ "web.hcl": web("web:2") });
    world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 8 }));
    await stopWorld(world);
    await world.operator.stop(0);
    world.git.commit("main", { "web.hcl": web("web:2", { nops_policy: "none" }) });
    await reborn(world);
    expect(await latest(world)).toMatchObject({
      state: "failed",
      reason: "conflict",
      error: expect.stringContaining("nothing was overwritten"),
    });
    expect(world.nomad.live(key("web"))?.Priority).toBe(8);
  });

  it("applying, registered and reverted by Nomad while nops was away: that was the one register, and it failed", async () => {
    const scaled = (image: string): JobSpec => ({
      ...web(),
      TaskGroups: [{ Name: "main", Count: 2, Scaling: { Min: 1, Max: 9 }, Tasks: [{ Name: "main", Config: { image } }] }],
    });
    const world = await startWorld({}, { "web.hcl": scaled("web:1") });
    world.nomad.fate = "failing";
    dieAt(world, "after", "register ");
    await world.commit({ "web.hcl": scaled("web:2") });
    await stopWorld(world);
    world.nomad.fate = "healthy";
    world.nomad.edit(key("web"), () => ({ ...scaled("web:1"), Namespace: "default" }));
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "failed", reason: "rollout_failed", appliedIndex: 12 });
    expect(world.nomad.count("register")).toBe(2);
    expect(await world.operator.job(key("web"))).toMatchObject({ reason: "blocked_applied" });
  });

  it("applied and healthy meanwhile: completes, however long nops was away (health first, then the clock)", async () => {
    const world = await startWorld();
    world.nomad.fate = "pending";
    await world.commit({ "web.hcl": web() });
    await stopWorld(world);
    world.nomad.changeDeployment("nd-11", { Status: "successful" }, false);
    await reborn(world, 24 * 3_600_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
  });

  it("applied and not healthy: the clock counts from the step's start, not from the restart", async () => {
    const world = await startWorld();
    world.nomad.fate = "pending";
    await world.commit({ "web.hcl": web() });
    await world.clock.advance(400_000);
    await reborn(world, 150_000);
    expect(await latest(world)).toMatchObject({ state: "applying" });
    await world.clock.advance(60_000);
    expect(await latest(world)).toMatchObject({ state: "failed", reason: "health_timeout" });
  });

  it("applied, and somebody changed the job while nops was away: fails", async () => {
    const world = await startWorld();
    world.nomad.fate = "pending";
    await world.commit({ "web.hcl": web() });
    await stopWorld(world);
    world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 8 }));
    world.git.commit("main", { "web.hcl": web("web:1", { nops_policy: "none" }) });
    await reborn(world);
    expect(await latest(world)).toMatchObject({
      state: "failed",
      reason: "conflict",
      error: expect.stringMatching(/index 11.*index is 12/),
    });
  });

  it("retry marked, no successor yet: the next look makes it", async () => {
    const world = await startWorld({}, { "web.hcl": web("web:1") });
    world.nomad.fate = "failing";
    await world.commit({ "web.hcl": web("web:2") });
    world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 4 }));
    await world.clock.advance(2_000);
    const old = await latest(world);
    await stopWorld(world);
    await world.store.markRetried({ id: old.id, actor: ann, reschedule: false, rerunUnknownHooks: false });
    world.nomad.fate = "healthy";
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "completed", retryOf: old.id });
  });

  it("a Deploy now request: used by the next look", async () => {
    const closed = { nops_sync_window: "0 3 * * *", nops_sync_window_duration: "1h" };
    const world = await startWorld({}, { "web.hcl": web("web:1", closed) });
    const { specHash: hash } = await world.operator.job(key("web"));
    await stopWorld(world);
    await world.store.requestLift(key("web"), hash ?? "", ann);
    await reborn(world);
    expect(await latest(world)).toMatchObject({ state: "completed", windowLiftedBy: "ann" });
  });
});

function newDeployment(spec: JobSpec, hash: string): NewDeployment {
  return {
    namespace: "default",
    jobId: "web",
    repository: "main",
    commitSha: "a".repeat(40),
    commitSubject: "s",
    commitAuthor: "Ann",
    commitAuthorEmail: "ann@example.com",
    file: "web.hcl",
    specHash: hash,
    targetHash: targetHash(spec),
    policy: "auto",
    mode: "apply",
    state: "detected",
    baseIndex: 0,
    spec: { spec, submission: { source: "x", format: "hcl2", variables: "" } },
    diff: undefined,
    hooks: [],
    reason: "drift",
    message: "m",
  };
}

it("the clock of these tests is the store's", () => {
  expect(new FakeClock().now()).toBe(Date.UTC(2027, 0, 4, 12));
});
