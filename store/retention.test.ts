import { describe, expect, it } from "vitest";
import { aFrozenHook, aMove, aNewDeployment, builtAtMs } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";

const day = 24 * 60 * 60 * 1000;

async function aged() {
  const clock = new FakeClock(builtAtMs);
  const store = memoryStore({ clock });
  const ids: Record<string, string> = {};
  const live = async (name: string, over: Parameters<typeof aNewDeployment>[0], trigger?: "in_sync" | "fail") => {
    const created = await store.create(aNewDeployment({ hooks: [aFrozenHook()], ...over }));
    if (trigger !== undefined) await store.move(created.id, 1, aMove({ trigger }));
    ids[name] = created.id;
    await clock.advance(day);
  };
  await live("completed, replaced", {}, "in_sync");
  await live("newest completed", {}, "in_sync");
  await live("failed, replaced", {}, "fail");
  await live("newest", { retryOf: ids["failed, replaced"] ?? "" }, "fail");
  await live("only one of its job", { jobId: "api" }, "fail");
  await live("active", { jobId: "db" });
  const left = async () => {
    const items = (await store.listDeployments({ limit: 99 })).items.map((row) => row.id);
    return Object.keys(ids).filter((name) => items.includes(ids[name] ?? ""));
  };
  return { clock, store, ids, left };
}

describe("prune", () => {
  it("keeps all when nothing is set", async () => {
    const { store } = await aged();
    expect(await store.prune({ deploymentsMs: 0, eventsMs: 0 })).toEqual({ deployments: 0, events: 0, notifications: 0 });
  });

  it("removes old deployments but those that decide what happens next", async () => {
    const { store, ids, left } = await aged();
    expect(await store.prune({ deploymentsMs: 4.5 * day, eventsMs: 0 })).toMatchObject({ deployments: 1 });
    expect(await left()).not.toContain("completed, replaced");
    expect(await store.prune({ deploymentsMs: 1, eventsMs: 0 })).toMatchObject({ deployments: 1 });
    expect(await left()).toEqual(["newest completed", "newest", "only one of its job", "active"]);
    expect(await store.frozenHooks(ids["failed, replaced"] ?? "")).toEqual([]);
    expect(await store.deployment(ids.newest ?? "")).toMatchObject({ retryOf: undefined });
    expect(await store.verifyAudit()).toMatchObject({ ok: true });
  });

  it("shortens the log from its beginning and can still prove the rest, again and again", async () => {
    const { clock, store } = await aged();
    const before = await store.auditHead();
    expect(await store.prune({ deploymentsMs: 0, eventsMs: 3.5 * day })).toMatchObject({ events: 6 });
    expect(await store.verifyAudit([before])).toMatchObject({ ok: true, first: 7, events: 6 });
    expect((await store.listEvents({ limit: 1 })).items[0]).toMatchObject({ kind: "events_removed", actor: "nops" });
    await clock.advance(30 * day);
    await store.prune({ deploymentsMs: 0, eventsMs: 1 });
    expect(await store.verifyAudit()).toMatchObject({ ok: true, first: 12, events: 2 });
    expect(await store.verifyAudit([{ seq: 12, hash: "0".repeat(64) }])).toMatchObject({ ok: false, badSeq: 12 });
  });

  it("leaves an anchor that a hand put there unproved", async () => {
    const { default: Database } = await import("better-sqlite3");
    const { store } = await aged();
    const other = new Database(Buffer.from(store.serialize()));
    other.exec("INSERT INTO event_anchors SELECT id, hash, ts FROM events WHERE id = 4; DELETE FROM events WHERE id <= 4");
    const edited = memoryStore({ contents: other.serialize() });
    expect(await edited.verifyAudit()).toMatchObject({ ok: false, badSeq: 4 });
  });

  it("removes finished notifications once they are old, waiting ones never", async () => {
    const { clock, store } = await aged();
    const [first, ...others] = await store.claimNotifications(99);
    expect(others.length).toBeGreaterThan(0);
    await store.markDelivered(first?.id ?? 0);
    // All but the active deployments go with the first pass, or are kept for what they decide.
    await store.prune({ deploymentsMs: day, eventsMs: 0 });
    await clock.advance(2 * day);
    const waiting = (await store.claimNotifications(99)).length;
    expect(waiting).toBeGreaterThan(0);
    await store.markDelivered((await twice(store, clock))[0]?.id ?? 0);
    expect(await store.prune({ deploymentsMs: day, eventsMs: 0 })).toMatchObject({ notifications: 0 });
    await clock.advance(2 * day);
    expect(await store.prune({ deploymentsMs: day, eventsMs: 0 })).toMatchObject({ notifications: 1 });
    expect(await store.claimNotifications(99)).toHaveLength(waiting - 1);
  });
});

/** Waits until claimed notifications are handed out again. */
async function twice(store: ReturnType<typeof memoryStore>, clock: FakeClock) {
  await clock.advance(day / 24);
  return await store.claimNotifications(99);
}
