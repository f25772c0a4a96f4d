import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addPending, clearPending, everAttempted, type PendingWish } from "./pending.ts";
import { emptyJournal, type Journal } from "./types.ts";

const stamp = { now: "2027-01-04T12:00:00.000Z", configHash: "9c1e" };
const deploy = (...services: readonly string[]): PendingWish => ({ kind: "deploy", services });
const restart: PendingWish = { kind: "restart" };

function withPending(...wishes: readonly PendingWish[]): Journal {
  const journal = emptyJournal();
  addPending(journal, wishes, stamp);
  return journal;
}

describe("pending operations", () => {
  it("case 96: one operation of each kind, services united, sorted and unique", () => {
    expect(withPending(restart, restart).pending?.operations).toEqual([restart]);
    const journal = withPending(deploy("b"));
    expect(addPending(journal, [deploy("a")], { ...stamp, now: "later" })).toBe(true);
    expect(journal.pending).toEqual({ operations: [deploy("a", "b")], config_hash: "9c1e", created_at: stamp.now });
    expect(withPending(restart, deploy("a")).pending?.operations).toHaveLength(2);
    expect(withPending(deploy("b", "a", "b")).pending?.operations).toEqual([deploy("a", "b")]);
  });
  it("case 97: an unknown kind in a batch changes nothing; an empty batch neither", () => {
    const journal = emptyJournal();
    const batch = [restart, { kind: "other" } as unknown as PendingWish];
    expect(() => addPending(journal, batch, stamp)).toThrow("unknown kind");
    expect(journal.pending).toBeUndefined();
    expect(addPending(journal, [], stamp)).toBe(false);
    expect(journal.pending).toBeUndefined();
  });
  it("case 98: clearing takes exactly what was done", () => {
    const mixed = withPending(restart, deploy("a", "b"));
    expect(clearPending(mixed, restart)).toBe(true);
    expect(mixed.pending?.operations).toEqual([deploy("a", "b")]);
    expect(clearPending(mixed, deploy("a"))).toBe(true);
    expect(mixed.pending?.operations).toEqual([deploy("b")]);
    expect(clearPending(mixed, deploy("x"))).toBe(false);
    expect(clearPending(mixed, restart)).toBe(false);
    expect(clearPending(mixed, deploy("b"))).toBe(true);
    expect(mixed.pending).toBeUndefined();
    expect(clearPending(emptyJournal(), restart)).toBe(false);
  });
  it("adding and clearing the same leaves what was there before", () => {
    const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1 });
    fc.assert(
      fc.property(names, names, (before, more) => {
        const fresh = more.filter((name) => !before.includes(name));
        const journal = withPending(deploy(...before));
        addPending(journal, [deploy(...fresh)], stamp);
        clearPending(journal, deploy(...fresh));
        expect(journal.pending?.operations).toEqual([deploy(...[...before].sort())]);
      }),
    );
  });
  it("knows whether a deploy was ever tried", () => {
    const journal = emptyJournal();
    expect(everAttempted(journal)).toBe(false);
    journal.services.a = { status: "failed", phases: {} };
    expect(everAttempted(journal)).toBe(true);
  });
});
