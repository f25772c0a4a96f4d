import { describe, expect, it } from "vitest";
import { createAuthenticator, type StoredToken } from "./authenticator.ts";

const stored: StoredToken = { id: "T1", name: "ci", capabilities: ["read", "approve"], namespaces: ["team-*"] };

function authenticator(anonymousRead = false) {
  return createAuthenticator({
    findToken: (secret) => Promise.resolve(secret === "known" ? stored : undefined),
    bootstrap: { read: () => "b00t" },
    anonymousRead,
  });
}

describe("authenticator", () => {
  it("knows the bootstrap token, which may do everything everywhere", async () => {
    const principal = await authenticator().bearer("b00t");
    expect(principal?.capabilities.has("admin")).toBe(true);
    expect(principal?.everywhere).toBe(true);
  });

  it("gives a stored token its capabilities and namespaces, and an identity of its own", async () => {
    const principal = await authenticator().bearer("known");
    expect(principal?.actor).toMatchObject({ name: "ci", identity: "token:T1", accessorId: "T1" });
    expect([...(principal?.capabilities ?? [])]).toEqual(["read", "approve"]);
    expect(principal?.covers("team-a")).toBe(true);
    expect(principal?.covers("other")).toBe(false);
    expect(principal?.everywhere).toBe(false);
  });

  it("knows nobody else, and anonymous readers only when told so", async () => {
    expect(await authenticator().bearer("b00")).toBeUndefined();
    expect(await authenticator().bearer("")).toBeUndefined();
    expect(authenticator().anonymous).toBeUndefined();
    expect([...(authenticator(true).anonymous?.capabilities ?? [])]).toEqual(["read"]);
  });
});
