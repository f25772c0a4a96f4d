import { describe, expect, it } from "vitest";
import { aMove, aNewDeployment } from "../testkit/builders.ts";
import { memoryStore } from "../testkit/memory-store.ts";

async function applying() {
  const store = memoryStore();
  const created = await store.create(aNewDeployment());
  const deployment = await store.move(created.id, 1, aMove());
  const kinds = async () => (await store.eventsAfter(0, 99)).map((event) => event.kind);
  return { store, deployment, kinds };
}

describe("recordApplied", () => {
  it("stores index, version and evaluation with its event", async () => {
    const { store, deployment, kinds } = await applying();
    const applied = await store.recordApplied(deployment.id, 2, { index: 120, jobVersion: 4, evalId: "e-1" });
    expect(applied).toMatchObject({ appliedIndex: 120, appliedVersion: 4, evalId: "e-1", version: 3, state: "applying" });
    expect(await kinds()).toEqual(["state", "state", "applied"]);
  });

  it("keeps version and evaluation that an earlier proof told", async () => {
    const { store, deployment } = await applying();
    await store.recordApplied(deployment.id, 2, { index: 120, jobVersion: 0, evalId: "e-1" });
    const again = await store.recordApplied(deployment.id, 3, { index: 120, jobVersion: undefined, evalId: "" });
    expect(again).toMatchObject({ appliedVersion: 0, evalId: "e-1", version: 4 });
  });

  it("refuses a second index, a stale version, and any other state", async () => {
    const { store, deployment } = await applying();
    const proof = { index: 120, jobVersion: 4, evalId: undefined };
    await expect(store.recordApplied(deployment.id, 1, proof)).rejects.toMatchObject({ code: "stale_version" });
    await store.recordApplied(deployment.id, 2, proof);
    await expect(store.recordApplied(deployment.id, 3, { ...proof, index: 121 })).rejects.toMatchObject({ code: "not_allowed" });
    await store.move(deployment.id, 3, aMove({ trigger: "step_ok" }));
    await expect(store.recordApplied(deployment.id, 4, proof)).rejects.toMatchObject({
      name: "ConflictError",
      code: "not_allowed",
    });
  });
});

describe("promotion", () => {
  it("waits once, notifies once, is promoted once", async () => {
    const { store, deployment, kinds } = await applying();
    const waiting = await store.recordPromotionWait(deployment.id, 2);
    expect(waiting).toMatchObject({ promotionWaitSince: "2026-03-01T12:00:00.000Z", version: 3 });
    expect(await store.recordPromotionWait(deployment.id, 3)).toEqual(waiting);
    expect((await store.claimNotifications(9)).map((note) => note.kind)).toEqual(["promotion_wait"]);
    const promoted = await store.recordPromoted(deployment.id, 3);
    expect(await store.recordPromoted(deployment.id, 4)).toEqual(promoted);
    expect(await kinds()).toEqual(["state", "state", "promotion_wait", "promoted"]);
  });
});

describe("recordRescheduleIntent", () => {
  it("is stored by the first call only", async () => {
    const { store, deployment, kinds } = await applying();
    expect(await store.recordRescheduleIntent(deployment.id)).toBe(true);
    expect(await store.recordRescheduleIntent(deployment.id)).toBe(false);
    expect(await kinds()).toEqual(["state", "state", "reschedule_requested"]);
  });
});
