import { describe, expect, it } from "vitest";
import { ann, bob, endWorldsAfterEach, present, startWorld, stopWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

// The clock begins on Monday 4 January 2027, 12:00 UTC.
const hour = 3_600_000;
const nightly = { nops_sync_window: "0 22 * * *", nops_sync_window_duration: "2h" };
const files = (meta: Record<string, string> = {}, image = "web:1") => ({ "web.hcl": service("web", { image, meta }) });
const registers = (world: World): number => world.nomad.count("register");

describe("pause", () => {
  it("of a job: drift is shown, nothing is created, the resume plans anew from git", async () => {
    const world = await startWorld({}, files());
    await world.operator.pauseJob(key("web"), " freeze ", ann);
    await world.commit(files({}, "web:2"));
    expect(await world.operator.job(key("web"))).toMatchObject({
      sync: "paused",
      reason: "paused",
      drift: "drift",
      hold: { by: "ann", message: expect.stringContaining("freeze") },
    });
    expect(registers(world)).toBe(1);
    await world.operator.resumeJob(key("web"), bob);
    await world.clock.advance(2_000);
    expect(registers(world)).toBe(2);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "sync" });
  });

  it("of every job holds also jobs that appear later; each hold counts by itself", async () => {
    const world = await startWorld({}, files());
    await world.operator.pauseAll("incident", ann);
    await world.operator.pauseJob(key("web"), "", ann);
    await world.commit({ ...files({}, "web:2"), "new.hcl": service("new") });
    expect(await world.operator.job(key("new"))).toMatchObject({ sync: "paused", reason: "paused_all" });
    await world.operator.resumeAll(ann);
    await world.clock.advance(2_000);
    expect(await world.latest("new")).toMatchObject({ state: "completed" });
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "paused", reason: "paused" });
  });

  it("is shown without drift too, and lets a running deployment finish", async () => {
    const world = await startWorld();
    world.nomad.fate = "pending";
    await world.commit(files());
    expect(await world.latest("web")).toMatchObject({ state: "applying" });
    await world.operator.pauseJob(key("web"), "", ann);
    world.nomad.changeDeployment("nd-11", { Status: "successful" }, false);
    await world.clock.advance(6_000);
    expect(await world.latest("web")).toMatchObject({ state: "completed" });
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "paused", drift: "none" });
  });

  it("is told beside what stands before it: in sync and paused", async () => {
    const world = await startWorld({}, files());
    await world.operator.pauseJob(key("web"), "freeze", ann);
    const inSync = "the live job equals git; besides, ann paused the job: freeze";
    expect(await world.operator.explain(key("web"))).toMatchObject({ verdict: "in_sync", message: inSync });
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "paused", reason: "in_sync", message: inSync });
    await world.commit(files({}, "web:2"));
    expect(await world.operator.explain(key("web"))).toMatchObject({ verdict: "paused", message: "ann paused the job: freeze" });
  });

  it.each<[string, (world: World) => Promise<unknown>, string]>([
    [
      "a second pause",
      async (world) => {
        await world.operator.pauseJob(key("web"), "", ann);
        return world.operator.pauseJob(key("web"), "", bob);
      },
      "already_paused",
    ],
    ["a resume of what is not paused", (world) => world.operator.resumeJob(key("web"), ann), "not_paused"],
    ["a job that git has not", (world) => world.operator.pauseJob(key("nope"), "", ann), "unknown_job"],
    ["a reason over 500 bytes", (world) => world.operator.pauseJob(key("web"), "ä".repeat(251), ann), "reason_too_long"],
  ])("refuses %s", async (_name, act, code) => {
    const world = await startWorld({}, files());
    await expect(act(world)).rejects.toMatchObject({ code });
  });

  it("survives a restart", async () => {
    const world = await startWorld({}, files());
    await world.operator.pauseAll("incident", ann);
    await stopWorld(world);
    world.restart();
    await world.operator.start();
    await world.commit(files({}, "web:2"));
    expect(registers(world)).toBe(1);
  });
});

describe("sync windows", () => {
  it("a closed one creates nothing and tells when it opens; opening starts at that very moment", async () => {
    const world = await startWorld({}, files(nightly));
    expect(await world.latest("web")).toBeUndefined();
    expect(await world.operator.job(key("web"))).toMatchObject({
      sync: "held",
      reason: "window_closed",
      window: { open: false, changesAt: "2027-01-04T22:00:00.000Z" },
      hold: { kind: "window", until: "2027-01-04T22:00:00.000Z" },
    });
    await world.clock.advance(10 * hour - 3_000);
    expect(registers(world)).toBe(0);
    await world.clock.advance(3_000);
    expect(present(await world.latest("web")).createdAt).toBe("2027-01-04T22:00:00.000Z");
    expect(registers(world)).toBe(1);
  });

  it("a deny window beats an allowed time", async () => {
    const deny = { nops_deny_window: "0 12 * * 1", nops_deny_window_duration: "1h" };
    const world = await startWorld({}, files(deny));
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "held", reason: "window_denied" });
    await world.clock.advance(hour);
    expect(registers(world)).toBe(1);
  });

  it("holds automatic starts only: under approval a person is asked, and may approve", async () => {
    const world = await startWorld({}, files({ ...nightly, nops_policy: "approval" }));
    const waiting = present(await world.latest("web"));
    expect(waiting.state).toBe("pending_approval");
    await world.operator.approve(waiting.id, waiting.specHash, undefined, ann);
    await world.clock.advance(2_000);
    expect(await world.latest("web")).toMatchObject({ state: "completed" });
  });

  it("a deployment that did not start before the window closed is superseded, and made anew when it opens", async () => {
    const world = await startWorld({}, { ...files({ ...nightly, nops_depends_on: "db" }), "db.hcl": service("db") });
    await world.clock.advance(10 * hour);
    await world.clock.advance(2_000);
    expect(registers(world)).toBe(2);
    await world.clock.advance(2 * hour);
    await world.commit({ ...files({ ...nightly, nops_depends_on: "db" }, "web:2"), "db.hcl": service("db") });
    expect(registers(world)).toBe(2);
    await world.clock.advance(24 * hour);
    expect(registers(world)).toBe(3);
  });
});

describe("Deploy now", () => {
  async function held(): Promise<{ world: World; hash: string }> {
    const world = await startWorld({}, files(nightly));
    const { specHash } = await world.operator.job(key("web"));
    return { world, hash: specHash ?? "" };
  }

  it("lifts a closed window once, and says who did", async () => {
    const { world, hash } = await held();
    const deployment = present(await world.operator.deployNow(key("web"), hash, ann));
    expect(deployment).toMatchObject({ windowLiftedBy: "ann", specHash: hash });
    await world.clock.advance(2_000);
    expect(await world.latest("web")).toMatchObject({ state: "completed", windowLiftedBy: "ann" });
    expect((await world.store.jobFacts(key("web"))).lift).toBeUndefined();
    await world.commit(files(nightly, "web:2"));
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "held" });
  });

  it.each<[string, (world: World, hash: string) => Promise<unknown>, string]>([
    ["another spec", (world) => world.operator.deployNow(key("web"), "0".repeat(64), ann), "stale_spec"],
    ["a job that git has not", (world, hash) => world.operator.deployNow(key("nope"), hash, ann), "unknown_job"],
    [
      "a paused job",
      async (world, hash) => {
        await world.operator.pauseJob(key("web"), "", ann);
        return world.operator.deployNow(key("web"), hash, ann);
      },
      "paused",
    ],
    [
      "a job in sync",
      async (world, hash) => {
        await world.operator.deployNow(key("web"), hash, ann);
        await world.clock.advance(3_000);
        return world.operator.deployNow(key("web"), hash, ann);
      },
      "in_sync",
    ],
  ])("refuses %s", async (_name, act, code) => {
    const { world, hash } = await held();
    await expect(act(world, hash)).rejects.toMatchObject({ code });
  });

  it("never lifts a block", async () => {
    const { world, hash } = await held();
    world.nomad.fate = "failing";
    await world.operator.deployNow(key("web"), hash, ann);
    await world.clock.advance(3_000);
    world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 3 }));
    await world.clock.advance(3_000);
    await expect(world.operator.deployNow(key("web"), hash, ann)).rejects.toMatchObject({ code: "blocked_applied" });
  });

  it("is dropped when git moves before it could be used, and kept while Nomad is away", async () => {
    const { world, hash } = await held();
    await world.store.requestLift(key("web"), hash, ann);
    world.nomad.fault = () => {
      throw new Error("down");
    };
    world.nomad.edit(key("web"), () => service("web", { image: "other" }));
    await world.clock.advance(5_000);
    expect((await world.store.jobFacts(key("web"))).lift).toMatchObject({ requestedBy: "ann" });
    world.nomad.fault = () => {};
    await world.commit(files(nightly, "web:2"));
    await world.clock.advance(120_000);
    expect((await world.store.jobFacts(key("web"))).lift).toBeUndefined();
    expect(registers(world)).toBe(0);
  });
});
