import { describe, expect, it } from "vitest";
import { type JobKey, jobKey } from "../model/job-key.ts";
import { aMove, aNewDeployment, aPerson, builtAtMs } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import type { Store } from "./open.ts";

const key = jobKey("default", "team/web");
const other = jobKey("prod", "team/web");

describe("pauses", () => {
  it("hold one job until resumed, one in force, and the rows stay", async () => {
    const clock = new FakeClock(builtAtMs);
    const store = memoryStore({ clock });
    await store.pauseJob(key, aPerson(), "night shift");
    await expect(store.pauseJob(key, aPerson("grace"), "")).rejects.toMatchObject({
      name: "RefusedError",
      code: "already_paused",
    });
    await store.pauseJob(other, aPerson(), "");
    await clock.advance(1000);
    expect(await store.resumeJob(key, aPerson("grace"))).toEqual({
      pausedBy: "ada",
      pausedAt: "2026-03-01T12:00:00.000Z",
      reason: "night shift",
      resumedBy: "grace",
      resumedAt: "2026-03-01T12:00:01.000Z",
    });
    await expect(store.resumeJob(key, aPerson())).rejects.toMatchObject({ name: "RefusedError", code: "not_paused" });
    await store.pauseJob(key, aPerson(), "again");
    expect((await store.pausesInForce()).jobs.map((pause) => `${pause.namespace}/${pause.jobId} ${pause.reason}`)).toEqual([
      "prod/team/web ",
      "default/team/web again",
    ]);
  });

  it("hold everything, one in force", async () => {
    const store = memoryStore();
    await expect(store.resumeAll(aPerson())).rejects.toMatchObject({ code: "not_paused" });
    await store.pauseAll(aPerson(), "freeze");
    await expect(store.pauseAll(aPerson(), "freeze")).rejects.toMatchObject({ code: "already_paused" });
    expect((await store.pausesInForce()).all).toMatchObject({ pausedBy: "ada", reason: "freeze" });
    expect(await store.resumeAll(aPerson("grace"))).toMatchObject({ resumedBy: "grace" });
    await store.pauseAll(aPerson(), "again");
    const told = (await store.eventsAfter(0, 9)).map((event) => [event.kind, event.actor, event.message, event.namespace]);
    expect(told).toEqual([
      ["all_paused", "ada", "paused: freeze", undefined],
      ["all_resumed", "grace", "resumed", undefined],
      ["all_paused", "ada", "paused: again", undefined],
    ]);
  });
});

describe("a pause that comes between the look and the start", () => {
  const pauses = [
    ["of the job", (store: Store, job: JobKey) => store.pauseJob(job, aPerson(), "")],
    ["of every job", (store: Store) => store.pauseAll(aPerson(), "")],
  ] as const;

  it.each(pauses)("%s forbids the start and the approval, and nothing else", async (_name, pause) => {
    const store = memoryStore();
    const waiting = await store.create(aNewDeployment({ state: "detected" }));
    const pending = await store.create(aNewDeployment({ jobId: "api", state: "pending_approval" }));
    for (const { namespace, jobId } of [waiting, pending]) await pause(store, jobKey(namespace, jobId)).catch(() => undefined);
    const approval = { actor: aPerson(), comment: undefined, required: 2, specHash: pending.specHash, version: pending.version };
    const refused = { name: "ConflictError", code: "paused" };
    await expect(store.move(waiting.id, waiting.version, aMove({ trigger: "start" }))).rejects.toMatchObject(refused);
    await expect(store.approve({ id: pending.id, ...approval })).rejects.toMatchObject(refused);
    expect(await store.approvals(pending.id)).toEqual([]);
    expect((await store.move(pending.id, pending.version, aMove({ trigger: "reject" }))).state).toBe("rejected");
    expect((await store.move(waiting.id, waiting.version, aMove({ trigger: "supersede" }))).state).toBe("superseded");
  });

  it("of another job is no matter", async () => {
    const store = memoryStore();
    const waiting = await store.create(aNewDeployment({ state: "detected" }));
    await store.pauseJob(other, aPerson(), "");
    await store.pauseAll(aPerson(), "");
    await store.resumeAll(aPerson());
    expect((await store.move(waiting.id, waiting.version, aMove({ trigger: "start" }))).state).not.toBe("detected");
  });
});

describe("Deploy now requests", () => {
  it("are one a job, the newest, until used or dropped with an event", async () => {
    const store = memoryStore();
    await store.requestLift(key, "1".repeat(64), aPerson());
    const newest = await store.requestLift(key, "2".repeat(64), aPerson("grace"));
    await store.requestLift(other, "1".repeat(64), aPerson());
    expect((await store.jobFacts(key)).lift).toEqual(newest);
    await store.dropLift(key, "git has another spec");
    await store.dropLift(key, "git has another spec");
    expect(await store.lifts()).toHaveLength(1);
    expect((await store.eventsAfter(3, 9)).map((event) => [event.kind, event.jobId, event.message])).toEqual([
      ["lift_dropped", "team/web", "the Deploy now request cannot be used: git has another spec"],
    ]);
  });
});
