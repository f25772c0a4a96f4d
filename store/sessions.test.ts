import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { builtAtMs } from "../testkit/builders.ts";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import { openStore, type Store } from "./open.ts";
import { type NewSession, sessionIdleMs, sessionLongestMs } from "./sessions.ts";

const minute = 60_000;

function newSession(over: Partial<NewSession> = {}): NewSession {
  return {
    method: "local",
    subject: "anna",
    name: "Anna",
    email: undefined,
    claims: () => ({ credential: "c" }),
    longestMs: sessionLongestMs,
    replaces: undefined,
    actor: (id) => ({ name: "Anna", kind: "person", identity: "local:anna", accessorId: id }),
    ...over,
  };
}

function fresh() {
  const clock = new FakeClock(builtAtMs);
  return { clock, store: memoryStore({ clock }) };
}

describe("sessions", () => {
  it("are found by a secret of 256 bits, which is stored nowhere (S23)", async () => {
    const { store } = fresh();
    const { session, secret } = await store.openSession(newSession());
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await store.findSession(secret, true)).toEqual(session);
    expect(Buffer.from(store.serialize()).includes(secret)).toBe(false);
    for (const wrong of ["", secret.slice(1), `${secret}A`, secret.toLowerCase(), session.id])
      expect(await store.findSession(wrong, true)).toBeUndefined();
  });

  it("tell the audit log who came and went", async () => {
    const { store } = fresh();
    const { session } = await store.openSession(newSession());
    const actor = { name: "Anna", kind: "person", identity: "local:anna" } as const;
    await store.endSession(session.id, actor, "logged out");
    await store.endSession(session.id, actor, "logged out");
    const log = await store.eventsAfter(0, 9);
    expect(log.map((event) => [event.kind, event.actor, event.message])).toEqual([
      ["logged_in", "Anna", "Anna logged in by local"],
      ["logged_out", "Anna", "the session of Anna ended: logged out"],
    ]);
  });

  it("a login ends the session that the browser had before, and makes a new secret (S23)", async () => {
    const { store } = fresh();
    const first = await store.openSession(newSession());
    const second = await store.openSession(newSession({ replaces: first.secret }));
    expect(second.secret).not.toBe(first.secret);
    expect(await store.findSession(first.secret, true)).toBeUndefined();
    expect(await store.findSession(second.secret, true)).toBeDefined();
  });

  it("end after eight hours without use, to the minute; a stream that stays open is no use", async () => {
    const { clock, store } = fresh();
    const { secret } = await store.openSession(newSession());
    await clock.advance(sessionIdleMs - minute);
    expect(await store.findSession(secret, true)).toBeDefined();
    await clock.advance(sessionIdleMs - minute);
    expect(await store.findSession(secret, false)).toBeDefined();
    await clock.advance(minute);
    expect(await store.findSession(secret, false)).toBeUndefined();
    expect(await store.findSession(secret, true)).toBeUndefined();
  });

  it("end after a day however busy they are, or earlier when the method says so", async () => {
    const { clock, store } = fresh();
    const long = await store.openSession(newSession({ longestMs: 48 * 3_600_000 }));
    const short = await store.openSession(newSession({ longestMs: minute }));
    await clock.advance(minute);
    expect(await store.findSession(short.secret, true)).toBeUndefined();
    for (let hour = 0; hour < 23; hour++) {
      await clock.advance(3_600_000);
      expect(await store.findSession(long.secret, true), `hour ${hour}`).toBeDefined();
    }
    await clock.advance(3_600_000);
    expect(await store.findSession(long.secret, true)).toBeUndefined();
  });

  it("are removed once they ended, and only then", async () => {
    const { clock, store } = fresh();
    await store.openSession(newSession());
    await clock.advance(sessionIdleMs / 2);
    const { secret } = await store.openSession(newSession());
    expect(await store.pruneSessions()).toBe(0);
    await clock.advance(sessionIdleMs / 2 + minute);
    expect(await store.pruneSessions()).toBe(1);
    expect(await store.findSession(secret, true)).toBeDefined();
  });
});

describe("after a restart", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  it("sessions go on, and so does the count of wrong logins (S25)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nops-sessions-"));
    folders.push(folder);
    const clock = new FakeClock(builtAtMs);
    const open = (): Store => openStore({ path: join(folder, "nops.db"), clock, random: new SeededRandom(3) });
    const before = open();
    const { secret } = await before.openSession(newSession());
    for (let n = 0; n < 5; n++) await before.admitLogin({ method: "local", source: `10.0.0.${n}`, account: "anna" });
    await before.close();
    const after = open();
    expect(await after.findSession(secret, true)).toMatchObject({ subject: "anna" });
    expect(await after.admitLogin({ method: "local", source: "10.0.0.9", account: "anna" })).toMatchObject({ admitted: false });
    await after.close();
  });
});
