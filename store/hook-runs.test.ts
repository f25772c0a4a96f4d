import { describe, expect, it } from "vitest";
import type { HookRunState } from "../model/deployment.ts";
import { aFrozenHook, aMove, aNewDeployment, builtAtMs } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";

const first = aFrozenHook();
const second = aFrozenHook({ position: 1, hookId: "backup" });
const post = aFrozenHook({ phase: "post", hookId: "smoke" });

async function inPreHook() {
  const clock = new FakeClock(builtAtMs);
  const store = memoryStore({ clock, redact: (text) => text.replaceAll("hunter2", "***") });
  const created = await store.create(aNewDeployment({ hooks: [first, second, post] }));
  await clock.advance(1000);
  const deployment = await store.move(created.id, 1, aMove());
  return { clock, store, deployment };
}

describe("ensureHookRun", () => {
  it("makes the run once, with a token that names its place", async () => {
    const { clock, store, deployment } = await inPreHook();
    const run = await store.ensureHookRun(deployment.id, first);
    expect(run).toMatchObject({
      token: `${deployment.id}:pre:0`,
      state: "dispatching",
      revisionId: "migrate-cccccccc",
      startedAt: "2026-03-01T12:00:01.000Z",
      dispatchedJobId: undefined,
    });
    await clock.advance(5000);
    expect(await store.ensureHookRun(deployment.id, { ...first, timeoutMs: 1 })).toEqual(run);
    expect(await store.hookRuns(deployment.id)).toEqual([run]);
    expect((await store.eventsAfter(0, 99)).filter((event) => event.kind === "hook")).toHaveLength(1);
  });

  it("makes none outside of its phase", async () => {
    const { store, deployment } = await inPreHook();
    await expect(store.ensureHookRun(deployment.id, post)).rejects.toMatchObject({ name: "ConflictError", code: "not_allowed" });
  });
});

describe("updateHookRun", () => {
  it("stores what a pass found, keeps what it did not name, and masks secrets", async () => {
    const { clock, store, deployment } = await inPreHook();
    const run = await store.ensureHookRun(deployment.id, first);
    await store.updateHookRun(run.id, "dispatching", { state: "running", searchingSince: "2026-03-01T12:00:02.000Z" });
    await store.updateHookRun(run.id, "running", {
      state: "running",
      dispatchedJobId: "migrate/dispatch-1",
      searchingSince: null,
    });
    await clock.advance(7000);
    const failed = await store.updateHookRun(run.id, "running", {
      state: "failed",
      error: "exit 1 hunter2",
      logTail: "hunter2\n",
    });
    expect(failed).toMatchObject({
      state: "failed",
      dispatchedJobId: "migrate/dispatch-1",
      searchingSince: undefined,
      error: "exit 1 ***",
      logTail: "***\n",
      finishedAt: "2026-03-01T12:00:08.000Z",
    });
    const told = (await store.eventsAfter(0, 99)).filter((event) => event.kind === "hook").map((event) => event.message);
    expect(told).toEqual([
      "pre-hook migrate (migrate-cccccccc) begins",
      "pre-hook migrate went from dispatching to running",
      "pre-hook migrate went from running to failed: exit 1 ***",
    ]);
  });

  it("goes back to dispatching when nothing was sent", async () => {
    const { store, deployment } = await inPreHook();
    const run = await store.ensureHookRun(deployment.id, first);
    await store.updateHookRun(run.id, "dispatching", { state: "running" });
    expect(await store.updateHookRun(run.id, "running", { state: "dispatching" })).toMatchObject({ state: "dispatching" });
  });

  it("refuses a run that is not where the caller thinks", async () => {
    const { store, deployment } = await inPreHook();
    const run = await store.ensureHookRun(deployment.id, first);
    await expect(store.updateHookRun(run.id, "running", { state: "succeeded" })).rejects.toMatchObject({
      code: "stale_hook_run",
    });
    await expect(store.updateHookRun("nope", "running", { state: "succeeded" })).rejects.toMatchObject({ name: "NotFoundError" });
  });

  it.each(["succeeded", "failed", "timed_out", "unknown"] satisfies HookRunState[])(
    "never changes one that is %s",
    async (state) => {
      const { store, deployment } = await inPreHook();
      const run = await store.ensureHookRun(deployment.id, first);
      const ended = await store.updateHookRun(run.id, "dispatching", { state });
      expect(ended.finishedAt).toBeDefined();
      await expect(store.updateHookRun(run.id, state, { state: "running" })).rejects.toMatchObject({ code: "not_allowed" });
    },
  );
});

describe("phaseStepStartedAt", () => {
  it("is the entry into the phase for the first hook and the end of the one before for the next", async () => {
    const { clock, store, deployment } = await inPreHook();
    expect(await store.phaseStepStartedAt(deployment.id, "pre", 0)).toBe("2026-03-01T12:00:01.000Z");
    const run = await store.ensureHookRun(deployment.id, first);
    await clock.advance(9000);
    await store.updateHookRun(run.id, "dispatching", { state: "succeeded" });
    expect(await store.phaseStepStartedAt(deployment.id, "pre", 1)).toBe("2026-03-01T12:00:10.000Z");
    expect(await store.phaseStepStartedAt(deployment.id, "pre", 0)).toBe("2026-03-01T12:00:01.000Z");
  });

  it("is found in the log once the phase is over, and refused for a phase that never was", async () => {
    const { clock, store, deployment } = await inPreHook();
    await clock.advance(9000);
    await store.move(deployment.id, 2, aMove({ trigger: "step_ok" }));
    expect(await store.phaseStepStartedAt(deployment.id, "pre", 0)).toBe("2026-03-01T12:00:01.000Z");
    await expect(store.phaseStepStartedAt(deployment.id, "post", 0)).rejects.toMatchObject({ code: "not_allowed" });
  });
});
