import { describe, expect, it } from "vitest";
import { aNewDeployment, builtAtMs } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import { claimLeaseMs } from "./outbox.ts";

async function twoWaiting() {
  const clock = new FakeClock(builtAtMs);
  const store = memoryStore({ clock, redact: (text) => text.replaceAll("hunter2", "***") });
  const failed = await store.create(aNewDeployment({ state: "failed" }));
  const pending = await store.create(aNewDeployment({ jobId: "api", state: "pending_approval" }));
  return { clock, store, failed, pending };
}

describe("the outbox", () => {
  it("hands each out once, oldest first, with its deployment", async () => {
    const { store, failed, pending } = await twoWaiting();
    const first = await store.claimNotifications(1);
    expect(first).toMatchObject([{ kind: "failed", deployment: failed, attempt: 1, deliveredTo: [], eventId: 2 }]);
    expect(await store.claimNotifications(9)).toMatchObject([{ kind: "pending_approval", deployment: pending }]);
    expect(await store.claimNotifications(9)).toEqual([]);
  });

  it("hands out again what nobody reported on", async () => {
    const { clock, store } = await twoWaiting();
    await store.claimNotifications(9);
    await clock.advance(claimLeaseMs - 1);
    expect(await store.claimNotifications(9)).toEqual([]);
    await clock.advance(1);
    expect((await store.claimNotifications(9)).map((note) => note.attempt)).toEqual([2, 2]);
  });

  it("forgets what was delivered, tries a failed one at its time and knows who has it", async () => {
    const { clock, store } = await twoWaiting();
    const [one, two] = await store.claimNotifications(9);
    await store.markDelivered(one?.id ?? 0);
    await store.markFailed(two?.id ?? 0, { error: "503 hunter2", retryAt: "2026-03-01T12:05:00.000Z", deliveredTo: ["chat"] });
    await clock.advance(299_999);
    expect(await store.claimNotifications(9)).toEqual([]);
    await clock.advance(1);
    const [again] = await store.claimNotifications(9);
    expect(again).toMatchObject({ id: two?.id, attempt: 2, deliveredTo: ["chat"] });
    await store.markFailed(two?.id ?? 0, { error: "gone" });
    await clock.advance(10 * claimLeaseMs);
    expect(await store.claimNotifications(9)).toEqual([]);
  });
});
