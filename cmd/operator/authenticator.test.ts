import { describe, expect, it } from "vitest";
import { createAuthenticator, type StoredToken } from "./authenticator.ts";

const stored: StoredToken = { id: "T1", name: "ci", capabilities: ["read", "approve"], namespaces: ["team-*"], owner: undefined };

function authenticator(anonymousRead = false) {
  return createAuthenticator({
    acceptsTokens: true,
    session: () => Promise.resolve(undefined),
    findToken: (secret) => Promise.resolve(secret === "known" ? stored : undefined),
    bootstrap: { read: () => "b00t" },
    anonymousRead,
  });
}

describe("authenticator", () => {
  it("knows the bootstrap token, which may do everything everywhere", async () => {
    const principal = await authenticator().bearer("b00t");
    expect(principal?.grants).toMatchObject([{ everywhere: true }]);
    expect(principal?.grants[0]?.capabilities).toContain("admin");
  });

  it("gives a stored token its capabilities and namespaces, and an identity of its own", async () => {
    const principal = await authenticator().bearer("known");
    expect(principal?.actor).toMatchObject({ name: "ci", identity: "token:T1", accessorId: "T1" });
    expect(principal?.grants).toMatchObject([{ capabilities: ["read", "approve"], everywhere: false }]);
    expect(principal?.grants[0]?.covers("team-a")).toBe(true);
    expect(principal?.grants[0]?.covers("other")).toBe(false);
  });

  it("a token of a person acts as that person, so that both count as one approval (S58)", async () => {
    const owned = createAuthenticator({
      acceptsTokens: true,
      session: () => Promise.resolve(undefined),
      findToken: () => Promise.resolve({ ...stored, owner: "local:anna" }),
      bootstrap: undefined,
      anonymousRead: false,
    });
    expect((await owned.bearer("known"))?.actor).toMatchObject({
      name: "ci",
      kind: "token",
      identity: "local:anna",
      accessorId: "T1",
    });
  });

  it("knows nobody else, and anonymous readers only when told so", async () => {
    expect(await authenticator().bearer("b00")).toBeUndefined();
    expect(await authenticator().bearer("")).toBeUndefined();
    expect(authenticator().anonymous).toBeUndefined();
    expect(authenticator(true).anonymous?.grants).toMatchObject([{ capabilities: ["read"] }]);
  });
});
