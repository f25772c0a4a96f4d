import { describe, expect, it } from "vitest";
import { builtAtMs } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import { wrongLoginWindowMs } from "./login-attempts.ts";

function fresh() {
  const clock = new FakeClock(builtAtMs);
  const store = memoryStore({ clock });
  const login = (source: string, account: string) => store.admitLogin({ method: "local", source, account });
  return { clock, store, login };
}

describe("wrong logins (S25)", () => {
  it("from one source: five are looked at, the sixth is not, whatever names they use", async () => {
    const { login } = fresh();
    for (let n = 0; n < 5; n++) expect(await login("10.0.0.1", `user-${n}`)).toMatchObject({ admitted: true });
    expect(await login("10.0.0.1", "other")).toEqual({ admitted: false, retryAfterMs: wrongLoginWindowMs });
    expect(await login("10.0.0.2", "other")).toMatchObject({ admitted: true });
  });

  it("to one account: the same, wherever they come from, and 2,000 other names do not wash it out", async () => {
    const { login } = fresh();
    for (let n = 0; n < 5; n++) await login(`10.0.0.${n}`, "anna");
    for (let n = 0; n < 2_000; n++) await login(`10.1.${n >> 8}.${n & 255}`, `user-${n}`);
    expect(await login("10.9.9.9", "anna")).toMatchObject({ admitted: false });
    expect(await login("10.9.9.9", "berta")).toMatchObject({ admitted: true });
  });

  it("are forgotten after five minutes, one by one; what was refused does not count", async () => {
    const { clock, login } = fresh();
    for (let n = 0; n < 5; n++) {
      await login("10.0.0.1", "anna");
      await clock.advance(10_000);
    }
    for (let n = 0; n < 50; n++) expect(await login("10.0.0.1", "anna")).toMatchObject({ admitted: false });
    expect(await login("10.0.0.1", "anna")).toEqual({ admitted: false, retryAfterMs: wrongLoginWindowMs - 50_000 });
    await clock.advance(wrongLoginWindowMs - 50_000);
    expect(await login("10.0.0.1", "anna")).toMatchObject({ admitted: true });
    expect(await login("10.0.0.1", "anna")).toMatchObject({ admitted: false });
  });

  it("a right login takes its own attempt back, and no other", async () => {
    const { store, login } = fresh();
    for (let n = 0; n < 4; n++) await login("10.0.0.1", "anna");
    for (let n = 0; n < 20; n++) {
      const right = await login("10.0.0.1", "anna");
      expect(right.admitted).toBe(true);
      if (right.admitted) await store.loginSucceeded(right.id);
    }
    await login("10.0.0.1", "anna");
    expect(await login("10.0.0.1", "anna")).toMatchObject({ admitted: false });
  });

  it("keep no name that was typed, since it may be a password", async () => {
    const { store, login } = fresh();
    await login("10.0.0.1", "hunter2-typed-in-the-wrong-field");
    expect(Buffer.from(store.serialize()).includes("hunter2")).toBe(false);
  });
});
