import { beforeEach, describe, expect, it, vi } from "vitest";
import { grantOf } from "../model/grant.ts";
import { aPrincipal, type FakeApi, fakeApi } from "../testkit/fake-api.ts";
import type { SessionJson } from "./contract.ts";
import { ApiError } from "./errors.ts";
import type { ApiDependencies, Authenticator, LoginOrigin, Logins, SessionPurpose } from "./ports.ts";
import { createApi } from "./server.ts";

const json = { "content-type": "application/json" };
const dayMs = 24 * 3_600_000;

/** People who log in as anna with the right password, in memory. */
class FakePeople {
  rights = [grantOf({ capabilities: ["read", "approve"], namespaces: ["*"] })];
  readonly origins: LoginOrigin[] = [];
  readonly purposes: SessionPurpose[] = [];
  readonly #open = new Set<string>();

  #principal() {
    const actor = { name: "anna", kind: "person", identity: "local:anna" } as const;
    return { actor, method: "local", grants: this.rights, endsAt: "2026-03-02T12:00:00.000Z" } as const;
  }

  readonly logins: Logins = {
    methods: ["token", "local"],
    local: async (name, password, origin) => {
      this.origins.push(origin);
      if (name === "often") throw new ApiError(429, "too_many_logins", "too many", { retryAfterMs: 299_001 });
      if (name !== "anna" || password !== "right") throw new ApiError(401, "wrong_credentials", "name or password is wrong");
      const secret = `${"S".repeat(42)}${this.#open.size}`;
      this.#open.add(secret);
      return { secret, principal: this.#principal(), longestMs: dayMs };
    },
    nomad: async (token, origin) => {
      if (token !== "uuid") throw new ApiError(401, "wrong_credentials", "Nomad does not know the token");
      return (this.logins.local as NonNullable<Logins["local"]>)("anna", "right", origin);
    },
    oidc: undefined,
    logout: async (secret) => void this.#open.delete(secret),
  };

  readonly session: Authenticator["session"] = async (secret, purpose) => {
    this.purposes.push(purpose);
    return this.#open.has(secret) ? this.#principal() : undefined;
  };
}

let fake: FakeApi;
let people: FakePeople;

beforeEach(() => {
  fake = fakeApi();
  people = new FakePeople();
});

function authenticator(over: Partial<Authenticator> = {}): Authenticator {
  return { ...fake.dependencies().authenticator, session: people.session, ...over };
}

function api(over: Partial<ApiDependencies> = {}) {
  return createApi(fake.dependencies({ authenticator: authenticator(), logins: people.logins, ...over }));
}

/** The cookie of somebody who logged in. */
async function withCookie(app: ReturnType<typeof api>, body: unknown): Promise<string> {
  return (await login(app, body)).headers.get("set-cookie")?.split(";")[0] ?? "";
}

function login(app: ReturnType<typeof api>, body: unknown, headers: Record<string, string> = {}) {
  return app.request("/auth/local", { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
}

const anna = { name: "anna", password: "right" };

describe("logging in", () => {
  it("sets a cookie that no script reads, no other site sends and no plain http carries (S23)", async () => {
    const response = await login(api({ secureCookies: true }), anna);
    expect(response.status).toBe(200);
    const [cookie = "", ...attributes] = (response.headers.get("set-cookie") ?? "").split("; ");
    expect(cookie).toMatch(/^__Host-nops=[A-Za-z0-9_-]{43}$/);
    expect(attributes.sort()).toEqual(["HttpOnly", "Max-Age=86400", "Path=/", "SameSite=Strict", "Secure"]);
    expect(await response.text()).not.toContain(cookie.slice("__Host-nops=".length));
  });

  it("over plain http sets one without the prefix that browsers would refuse there", async () => {
    const cookie = (await login(api(), anna)).headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^nops=/);
    expect(cookie).not.toContain("Secure");
    expect(cookie).toContain("SameSite=Strict");
  });

  it("makes a new session, whatever cookie the browser had before; the old one is handed over to end (S23)", async () => {
    const planted = "A".repeat(43);
    const response = await login(api(), anna, { cookie: `nops=${planted}` });
    expect(response.headers.get("set-cookie")).not.toContain(planted);
    expect(people.origins).toEqual([{ source: "unknown", formerSecret: planted }]);
  });

  it("answers every wrong login alike, and says when too many were wrong (S25)", async () => {
    const app = api();
    const unknown = await login(app, { name: "nobody", password: "x" });
    const wrong = await login(app, { name: "anna", password: "x" });
    expect([unknown.status, wrong.status]).toEqual([401, 401]);
    expect(await unknown.text()).toBe(await wrong.text());
    expect(wrong.headers.get("set-cookie")).toBeNull();
    const many = await login(app, { name: "often", password: "x" });
    expect(many.status).toBe(429);
    expect(many.headers.get("retry-after")).toBe("300");
  });

  it.each([
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ origin: "https://evil.example" }, 403],
    [{ "content-type": "text/plain" }, 415],
    [{ "sec-fetch-site": "same-origin" }, 200],
  ])("from %j is answered with %i (S21)", async (headers: Record<string, string>, status) => {
    expect((await login(api(), anna, headers)).status).toBe(status);
  });

  it.each([
    [{ name: "anna" }, 400],
    [{ name: "anna", password: "p".repeat(1_001) }, 400],
    [{ ...anna, extra: 1 }, 400],
  ])("refuses a body such as %j", async (body, status) => {
    expect((await login(api(), body)).status).toBe(status);
  });

  it.each([
    ["/jobs/apps/web", "/jobs/apps/web"],
    ["//evil.example", "/"],
    ["/\t/evil.example", "/"],
  ])("with next %j goes on to %j", async (next, expected) => {
    expect(await (await login(api(), { ...anna, next })).json()).toMatchObject({ next: expected });
  });

  it("takes a Nomad token, blanks around it left out", async () => {
    const post = (app: ReturnType<typeof api>, token: string) =>
      app.request("/auth/nomad", { method: "POST", headers: json, body: JSON.stringify({ token, next: "/jobs" }) });
    const response = await post(api(), " uuid\n");
    expect(response.status).toBe(200);
    expect(response.headers.get("set-cookie")).toMatch(/^nops=S/);
    expect(await response.json()).toMatchObject({ next: "/jobs" });
    expect((await post(api(), "other")).status).toBe(401);
    expect((await post(api({ logins: { ...people.logins, nomad: undefined } }), "uuid")).status).toBe(404);
  });

  it("by a method that is off is no path", async () => {
    const app = api({ logins: { ...people.logins, local: undefined } });
    expect((await login(app, anna)).status).toBe(404);
  });
});

describe("a session", () => {
  it("says who somebody is and what they may do", async () => {
    const app = api();
    const cookie = await withCookie(app, anna);
    const who = (await (await app.request("/api/v1/session", { headers: { cookie } })).json()) as SessionJson;
    expect(who).toEqual({
      name: "anna",
      method: "local",
      identity: "local:anna",
      email: null,
      rights: [{ capabilities: ["read", "approve"], namespaces: ["*"] }],
      ends_at: "2026-03-02T12:00:00.000Z",
    });
  });

  it("ends on the server at logout, and the cookie goes (S23)", async () => {
    const app = api();
    const cookie = await withCookie(app, anna);
    const out = await app.request("/auth/logout", { method: "POST", headers: { ...json, cookie } });
    expect(out.status).toBe(200);
    expect(out.headers.get("set-cookie")).toMatch(/^nops=; Max-Age=0/);
    const after = await app.request("/api/v1/jobs", { headers: { cookie } });
    expect(after.status).toBe(401);
    expect(await after.json()).toMatchObject({ error: { code: "session_ended" } });
    expect((await app.request("/auth/logout", { method: "POST", headers: json })).status).toBe(200);
  });

  it.each([
    ["a cross-site page", { ...json, "sec-fetch-site": "cross-site" }, 403],
    ["a sibling subdomain", { ...json, "sec-fetch-site": "same-site" }, 403],
    ["another origin", { ...json, origin: "https://evil.example" }, 403],
    ["a form", { "content-type": "text/plain" }, 403],
    ["a form without a type", {}, 403],
    ["the page itself", { ...json, "sec-fetch-site": "same-origin" }, 200],
    ["an old browser's page itself", { ...json, origin: "http://localhost", host: "localhost" }, 200],
  ])("approves for %s: %i (S21)", async (_, headers: Record<string, string>, status) => {
    const app = api();
    const cookie = await withCookie(app, anna);
    const body = JSON.stringify({ spec_hash: "hash" });
    const response = await app.request("/api/v1/deployments/01D/approve", {
      method: "POST",
      headers: { ...headers, cookie },
      body,
    });
    expect(response.status).toBe(status);
    expect(fake.calls).toHaveLength(status === 200 ? 1 : 0);
  });

  it("never speaks where an Authorization header does (S30)", async () => {
    const app = api();
    const cookie = await withCookie(app, anna);
    const wrong = await app.request("/api/v1/jobs", { headers: { cookie, authorization: "Bearer wrong" } });
    expect(wrong.status).toBe(401);
    const reader = await app.request("/api/v1/session", { headers: { cookie, authorization: "Bearer reader" } });
    expect(await reader.json()).toMatchObject({ method: "token", identity: "token:1" });
  });

  it("that ended does not fall back to what anybody may read", async () => {
    const app = api({ authenticator: authenticator({ anonymous: aPrincipal(["read"]) }) });
    expect((await app.request("/api/v1/jobs")).status).toBe(200);
    const response = await app.request("/api/v1/jobs", { headers: { cookie: `nops=${"A".repeat(43)}` } });
    expect(response.status).toBe(401);
    expect(response.headers.get("set-cookie")).toMatch(/^nops=; Max-Age=0/);
  });

  it("is asked anew before a write, and loses its stream with its rights (S24)", async () => {
    const app = api();
    const cookie = await withCookie(app, anna);
    const stream = await app.request("/api/v1/events/stream", { headers: { cookie } });
    const reader = stream.body?.getReader();
    people.rights = [];
    fake.wake();
    expect((await reader?.read())?.done).toBe(true);
    const write = await app.request("/api/v1/resume", { method: "POST", headers: { ...json, cookie } });
    expect(write.status).toBe(403);
    expect(people.purposes).toEqual(["read", "watch", "watch", "write"]);
  });
});

describe("a stream that nothing happens on", () => {
  it("ends within a minute when its session did (S24)", async () => {
    vi.useFakeTimers();
    try {
      const app = api();
      const cookie = await withCookie(app, anna);
      const stream = await app.request("/api/v1/events/stream", { headers: { cookie } });
      const reader = stream.body?.getReader();
      await people.logins.logout(cookie.replace("nops=", ""));
      const read = (async () => {
        for (;;) if ((await reader?.read())?.done !== false) return "ended";
      })();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await read).toBe("ended");
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("rights of several rules", () => {
  it("hold each in its own namespaces only", async () => {
    const grants = [
      grantOf({ capabilities: ["read"], namespaces: ["*"] }),
      grantOf({ capabilities: ["approve", "pause"], namespaces: ["team-*"] }),
    ];
    people.rights = grants;
    const app = api();
    const cookie = await withCookie(app, anna);
    const post = async (path: string, body: unknown) =>
      (await app.request(path, { method: "POST", headers: { ...json, cookie }, body: JSON.stringify(body) })).status;
    expect(await post("/api/v1/jobs/team-a/web/pause", { reason: "r" })).toBe(200);
    expect(await post("/api/v1/jobs/apps/web/pause", { reason: "r" })).toBe(403);
    expect(await post("/api/v1/pause", { reason: "r" })).toBe(403);
  });
});

describe("API tokens where auth.mode does not name them", () => {
  it("do not count, and the answer says why", async () => {
    const app = api({ authenticator: authenticator({ acceptsTokens: false }) });
    const response = await app.request("/api/v1/jobs", { headers: { authorization: "Bearer reader" } });
    expect(response.status).toBe(401);
    expect(await response.text()).toContain("auth.mode does not name token");
  });
});
