import Database from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../model/hash.ts";
import { aMove, aNewDeployment, aPerson } from "../testkit/builders.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import { genesisHash } from "./events.ts";
import type { Store } from "./open.ts";

/** A store whose log has eight events. */
async function eightEvents(): Promise<Store> {
  const store = memoryStore();
  await store.pauseAll(aPerson(), "freeze");
  await store.resumeAll(aPerson("grace"));
  const first = await store.create(aNewDeployment({ state: "pending_approval" }));
  await store.move(first.id, 1, aMove({ trigger: "reject" }));
  const second = await store.create(aNewDeployment());
  await store.move(second.id, 1, aMove());
  await store.move(second.id, 2, aMove({ trigger: "fail" }));
  return store;
}

/** The same database after somebody worked on it who first got the triggers out of the way. */
function tampered(store: Store, ...statements: readonly string[]): Store {
  const other = new Database(Buffer.from(store.serialize()));
  other.exec("DROP TRIGGER events_never_change; DROP TRIGGER events_only_retention_deletes");
  for (const statement of statements) other.exec(statement);
  return memoryStore({ contents: other.serialize() });
}

describe("the chain", () => {
  it("has a format that never changes", async () => {
    const store = memoryStore();
    await store.pauseAll(aPerson("ada", { identity: "oidc:x:ada", accessorId: "t1" }), "why");
    const [event] = await store.eventsAfter(0, 1);
    expect(event?.prevHash).toBe(genesisHash);
    const fields = [genesisHash, 1, "2026-03-01T12:00:00.000Z", "all_paused", null, null, null, null, null, null];
    expect(event?.hash).toBe(sha256(JSON.stringify([...fields, "ada", "t1", "oidc:x:ada", "paused_all", "paused: why"])));
  });

  it("is whole after a normal life", async () => {
    const store = await eightEvents();
    const head = await store.auditHead();
    expect(head.seq).toBe(8);
    expect(await store.verifyAudit([head, { seq: 0, hash: genesisHash }])).toEqual({ ok: true, events: 8, first: 1, head });
  });

  it("cannot be changed or shortened by a plain statement", async () => {
    const store = await eightEvents();
    const other = new Database(Buffer.from(store.serialize()));
    expect(() => other.exec("UPDATE events SET message = 'x' WHERE id = 3")).toThrow("events are never changed");
    expect(() => other.exec("DELETE FROM events WHERE id = 8")).toThrow("events are never deleted");
  });

  it("names every single event that was changed, deleted, or swapped with its neighbour (S64)", async () => {
    const store = await eightEvents();
    for (let seq = 1; seq <= 8; seq++) {
      expect(await tampered(store, `UPDATE events SET message = message || '.' WHERE id = ${seq}`).verifyAudit()).toMatchObject({
        ok: false,
        badSeq: seq,
      });
      expect(await tampered(store, `DELETE FROM events WHERE id = ${seq}`).verifyAudit()).toMatchObject({
        ok: false,
        badSeq: seq,
      });
      if (seq === 8) continue;
      const swap = [`UPDATE events SET id = 99 WHERE id = ${seq}`, `UPDATE events SET id = ${seq} WHERE id = ${seq + 1}`];
      expect(await tampered(store, ...swap, `UPDATE events SET id = ${seq + 1} WHERE id = 99`).verifyAudit()).toMatchObject({
        ok: false,
        badSeq: seq,
      });
    }
  });

  it("notices a change of any column", async () => {
    const store = await eightEvents();
    const columns = ["ts", "kind", "namespace", "job_id", "repository", "deployment_id", "from_state", "to_state", "actor"];
    for (const column of [...columns, "accessor_id", "identity", "reason", "message", "prev_hash", "hash"]) {
      const edited = tampered(store, `UPDATE events SET ${column} = coalesce(${column}, '') || 'x' WHERE id = 5`);
      expect(await edited.verifyAudit(), column).toMatchObject({ ok: false, badSeq: 5 });
    }
  });

  it("notices a cut tail by the numbers given out, and by an anchor outside when those were wound back too", async () => {
    const store = await eightEvents();
    const head = await store.auditHead();
    const cut = "DELETE FROM events WHERE id > 6";
    expect(await tampered(store, cut).verifyAudit()).toMatchObject({ ok: false, badSeq: 7 });
    const rows = "UPDATE deployments SET state = 'detected' WHERE state = 'failed'";
    const thorough = tampered(
      store,
      cut,
      "UPDATE sqlite_sequence SET seq = 6 WHERE name = 'events'",
      "DROP TRIGGER deployments_end_is_final",
      rows,
    );
    expect(await thorough.verifyAudit()).toMatchObject({ ok: true, events: 6 });
    expect(await thorough.verifyAudit([head])).toMatchObject({ ok: false, badSeq: 7 });
    // New events in the place of the old ones do not satisfy the anchor either.
    await thorough.pauseAll(aPerson(), "");
    await thorough.resumeAll(aPerson());
    expect(await thorough.verifyAudit([head])).toMatchObject({ ok: false, badSeq: 8 });
  });

  it("does not give a removed tail's numbers out again", async () => {
    const store = tampered(await eightEvents(), "DELETE FROM events WHERE id > 6");
    await store.pauseAll(aPerson(), "");
    expect((await store.auditHead()).seq).toBe(9);
    expect(await store.verifyAudit()).toMatchObject({ ok: false, badSeq: 7 });
  });

  it("notices a deployment whose state no event tells of", async () => {
    const edits = ["DROP TRIGGER deployments_end_is_final", "UPDATE deployments SET state = 'completed' WHERE state = 'failed'"];
    expect(await tampered(await eightEvents(), ...edits).verifyAudit()).toMatchObject({ ok: false, badSeq: 8 });
  });

  it("finds any one flipped character of any text", async () => {
    const store = await eightEvents();
    const events = await store.eventsAfter(0, 99);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.nat(), fc.integer({ min: 33, max: 126 }), async (seq, place, code) => {
        const message = events[seq - 1]?.message ?? "";
        const at = place % message.length;
        const character = String.fromCharCode(code);
        fc.pre(message.charAt(at) !== character);
        const changed = message.slice(0, at) + character + message.slice(at + 1);
        const edited = tampered(store, `UPDATE events SET message = '${changed.replaceAll("'", "''")}' WHERE id = ${seq}`);
        expect(await edited.verifyAudit()).toMatchObject({ ok: false, badSeq: seq });
      }),
      { numRuns: 40 },
    );
  });
});

describe("reading the log", () => {
  it("follows after a number, and exports from an instant on", async () => {
    const store = await eightEvents();
    expect((await store.eventsAfter(6, 1)).map((event) => event.id)).toEqual([7]);
    expect([...store.exportEvents()].map((event) => event.id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect([...store.exportEvents("2026-03-01T12:00:00.000Z")]).toHaveLength(8);
    expect([...store.exportEvents("2026-03-01T12:00:00.001Z")]).toHaveLength(0);
  });

  it("wakes followers after the commit, not for what failed", async () => {
    const store = memoryStore();
    const seen: number[] = [];
    const stop = store.onEvents(() => void store.auditHead().then((head) => seen.push(head.seq)));
    const created = await store.create(aNewDeployment());
    await expect(store.move(created.id, 9, aMove())).rejects.toThrow();
    await expect(store.create(aNewDeployment())).rejects.toThrow();
    await store.move(created.id, 1, aMove());
    stop();
    await store.pauseAll(aPerson(), "");
    expect(seen).toEqual([1, 2]);
  });
});
