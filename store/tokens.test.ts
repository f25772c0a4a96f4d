import { describe, expect, it } from "vitest";
import { aPerson, builtAtMs } from "../testkit/builders.ts";
import { FakeClock } from "../testkit/fake-clock.ts";
import { memoryStore } from "../testkit/memory-store.ts";

const actor = aPerson("root");

describe("tokens", () => {
  it("are found by their secret, which is stored nowhere (S30)", async () => {
    const store = memoryStore();
    const { token, secret } = await store.createToken({
      name: "ci",
      capabilities: ["read", "approve", "read"],
      namespaces: ["prod-*"],
      actor,
    });
    expect(secret).toMatch(/^nops_[A-Za-z0-9_-]{43}$/);
    expect(token).toMatchObject({ name: "ci", capabilities: ["read", "approve"], namespaces: ["prod-*"], createdBy: "root" });
    expect(await store.findToken(secret)).toMatchObject({ id: token.id });
    expect(Buffer.from(store.serialize()).includes(secret.slice(5))).toBe(false);
    const log = await store.eventsAfter(0, 9);
    expect(log.map((event) => [event.kind, event.actor, event.message])).toEqual([
      ["token_created", "root", `token ${token.id} (ci) may read, approve in prod-*`],
    ]);
  });

  it("default to reading everywhere, for ever", async () => {
    const { token } = await memoryStore().createToken({ name: "viewer", actor });
    expect(token).toMatchObject({ capabilities: ["read"], namespaces: ["*"], expiresAt: undefined });
  });

  it("may belong to a person, by method and subject (S58)", async () => {
    const store = memoryStore();
    const { token, secret } = await store.createToken({ name: "laptop of anna", owner: "local:anna", actor });
    expect(await store.findToken(secret)).toMatchObject({ id: token.id, owner: "local:anna" });
    expect((await store.eventsAfter(0, 9))[0]?.message).toContain("of local:anna may read");
    for (const owner of ["anna", "token:1", "local:", "local:a b", "root:x"])
      await expect(store.createToken({ name: "x", owner, actor })).rejects.toMatchObject({ code: "bad_owner" });
  });

  it("are not found by anything else", async () => {
    const store = memoryStore();
    const { secret } = await store.createToken({ name: "ci", actor });
    for (const wrong of [
      "",
      "nops_",
      secret.slice(0, -1),
      `${secret}A`,
      secret.toLowerCase(),
      `${secret.slice(0, -1)}\0`,
      "' OR 1=1 --",
    ]) {
      expect(await store.findToken(wrong)).toBeUndefined();
    }
  });

  it("end when they expire, to the millisecond", async () => {
    const clock = new FakeClock(builtAtMs);
    const store = memoryStore({ clock });
    const { token, secret } = await store.createToken({ name: "ci", ttlMs: 60_000, actor });
    expect(token.expiresAt).toBe("2026-03-01T12:01:00.000Z");
    await clock.advance(59_999);
    expect(await store.findToken(secret)).toBeDefined();
    await clock.advance(1);
    expect(await store.findToken(secret)).toBeUndefined();
  });

  it("have names of their own while they are valid", async () => {
    const clock = new FakeClock(builtAtMs);
    const store = memoryStore({ clock });
    const create = () => store.createToken({ name: "ci", ttlMs: 60_000, actor });
    const { token } = await create();
    const taken = { name: "RefusedError", code: "token_name_taken", hint: expect.stringContaining(`token revoke ${token.id}`) };
    await expect(create()).rejects.toMatchObject(taken);
    await clock.advance(60_000);
    const { token: second } = await create();
    await expect(create()).rejects.toMatchObject({ code: "token_name_taken" });
    await store.revokeToken(second.id, actor);
    await create();
    expect(await store.listTokens()).toHaveLength(3);
  });

  it("end when they are revoked, once", async () => {
    const store = memoryStore();
    const { token, secret } = await store.createToken({ name: "ci", actor });
    expect(await store.revokeToken(token.id, actor)).toMatchObject({ revokedAt: "2026-03-01T12:00:00.000Z" });
    expect(await store.findToken(secret)).toBeUndefined();
    await expect(store.revokeToken(token.id, actor)).rejects.toMatchObject({ name: "RefusedError", code: "already_revoked" });
    await expect(store.revokeToken("nope", actor)).rejects.toMatchObject({ name: "NotFoundError", code: "token_not_found" });
    expect((await store.eventsAfter(1, 9)).map((event) => event.kind)).toEqual(["token_revoked"]);
    expect((await store.listTokens()).map((one) => one.revokedAt !== undefined)).toEqual([true]);
  });

  it("remember their last use to the minute", async () => {
    const clock = new FakeClock(builtAtMs);
    const store = memoryStore({ clock });
    const { secret } = await store.createToken({ name: "ci", actor });
    const seen = async () => (await store.listTokens())[0]?.lastUsedAt;
    expect(await seen()).toBeUndefined();
    await store.findToken(secret);
    await clock.advance(59_000);
    await store.findToken(secret);
    expect(await seen()).toBe("2026-03-01T12:00:00.000Z");
    await clock.advance(1_000);
    await store.findToken(secret);
    expect(await seen()).toBe("2026-03-01T12:01:00.000Z");
  });

  it.each([
    [{ name: "" }, "bad_token_name"],
    [{ name: "a\u0007" }, "bad_token_name"],
    [{ capabilities: ["root"] }, "unknown_capability"],
    [{ capabilities: [] }, "unknown_capability"],
    [{ namespaces: ["a b"] }, "bad_namespace"],
    [{ namespaces: ["{a"] }, "bad_namespace"],
    [{ namespaces: [] }, "bad_namespace"],
    [{ ttlMs: 0 }, "bad_ttl"],
    [{ ttlMs: Number.NaN }, "bad_ttl"],
    [{ ttlMs: 1e18 }, "bad_ttl"],
  ])("are refused: %j", async (wrong, code) => {
    const store = memoryStore();
    await expect(store.createToken({ name: "ci", actor, ...wrong })).rejects.toMatchObject({ name: "InvalidRequestError", code });
    expect(await store.listTokens()).toEqual([]);
  });
});
