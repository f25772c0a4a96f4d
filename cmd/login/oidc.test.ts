import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { SessionJson } from "../../api/contract.ts";
import { createApi } from "../../api/server.ts";
import type { Log } from "../../model/log.ts";
import type { Store } from "../../store/open.ts";
import { builtAtMs } from "../../testkit/builders.ts";
import { fakeApi } from "../../testkit/fake-api.ts";
import { FakeClock, SeededRandom } from "../../testkit/fake-clock.ts";
import { type FakeIssuer, issuerClient, startFakeIssuer } from "../../testkit/fake-issuer.ts";
import { memoryStore } from "../../testkit/memory-store.ts";
import { oidcLogin } from "./oidc.ts";
import { type OidcProvider, OidcRefused, oidcProvider } from "./oidc-provider.ts";
import { createPeople } from "./people.ts";
import type { Rule } from "./rules.ts";

const publicUrl = "https://nops.example.com";
const rule = (over: Partial<Rule>): Rule => ({
  users: [],
  groups: [],
  nomad_policies: [],
  capabilities: ["read"],
  namespaces: ["*"],
  ...over,
});

const anna = { issuer: "https://id.example", sub: "42", username: "anna", email: "anna@example.com", groups: [] };

let issuer: FakeIssuer;
let clock: FakeClock;
let store: Store;
let rules: Rule[];
let logged: string[];
let app: ReturnType<typeof createApi>;

const log = Object.fromEntries(
  ["debug", "info", "warn", "error"].map((level) => [
    level,
    (message: string, facts?: object) => void logged.push(`${level} ${message} ${JSON.stringify(facts)}`),
  ]),
) as unknown as Log;

function build(issuerUrl = issuer.issuer) {
  const provider = oidcProvider({
    issuer: issuerUrl,
    clientId: issuerClient.id,
    clientSecret: () => issuerClient.secret,
    redirectUri: `${publicUrl}/auth/callback`,
    wantsGroups: rules.some(({ groups }) => groups.length > 0),
    groupsClaim: "groups",
    clock,
  });
  const oidc = oidcLogin({ provider, rules, clock, random: new SeededRandom(4), log });
  const people = createPeople({ methods: ["oidc"], store, log, local: undefined, nomad: undefined, oidc });
  const fake = fakeApi();
  const authenticator = { ...fake.dependencies().authenticator, acceptsTokens: false, session: people.session };
  return createApi(fake.dependencies({ authenticator, logins: people.logins, secureCookies: true }));
}

beforeAll(async () => {
  issuer = await startFakeIssuer();
});
afterAll(() => issuer.close());
beforeEach(() => {
  clock = new FakeClock(builtAtMs);
  store = memoryStore({ clock });
  rules = [rule({ users: ["oidc:Anna"], capabilities: ["read", "approve"] })];
  logged = [];
  issuer.asked.length = 0;
  Object.assign(issuer.person, {
    claims: { sub: "42", preferred_username: "anna", email: "anna@example.com" },
    userinfo: { sub: "42" },
    forge: {},
    forgeKey: false,
    away: false,
  });
  app = build();
});

/** The way to the provider: where the browser is sent, and its cookie. */
async function begin(next = "/jobs"): Promise<{ readonly url: string; readonly cookie: string }> {
  const response = await app.request(`/auth/oidc?next=${encodeURIComponent(next)}`);
  expect(response.status).toBe(303);
  return { url: response.headers.get("location") ?? "", cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" };
}

/** What somebody changes in the way back. */
function edited(change: (query: URLSearchParams) => void) {
  return (back: URL): URL => {
    change(back.searchParams);
    return back;
  };
}

/** The way back, as the provider sends it unless a test changes it. */
function comeBack(back: string, cookie: string) {
  const { pathname, search } = new URL(back);
  return app.request(`${pathname}${search}`, { headers: { cookie, host: "evil.example" } });
}

async function login() {
  const { url, cookie } = await begin();
  return comeBack(issuer.authorize(url), cookie);
}

async function who(response: Response): Promise<SessionJson> {
  const cookie = response.headers.getSetCookie().find((one) => one.startsWith("__Host-nops=")) ?? "";
  const answer = await app.request("/api/v1/session", { headers: { cookie: cookie.split(";")[0] ?? "" } });
  return (await answer.json()) as SessionJson;
}

describe("the way to the provider", () => {
  it("asks with state, nonce, PKCE S256 and the configured address; groups only when a rule names some", async () => {
    const query = new URL((await begin()).url).searchParams;
    expect(query.get("redirect_uri")).toBe("https://nops.example.com/auth/callback");
    expect(query.get("code_challenge_method")).toBe("S256");
    for (const name of ["state", "nonce", "code_challenge"]) expect(query.get(name)?.length).toBeGreaterThanOrEqual(43);
    expect(query.get("scope")).toBe("openid profile email");
    rules = [rule({ groups: ["ops"] })];
    app = build();
    expect(new URL((await begin()).url).searchParams.get("scope")).toBe("openid profile email groups");
  });

  it("contacts the provider at the login and not before", async () => {
    expect(issuer.asked).toEqual([]);
    await begin();
    expect(issuer.asked).toEqual(["/.well-known/openid-configuration"]);
  });

  it("is closed while the provider is away, with 503 and an error in the log, and opens again", async () => {
    issuer.person.away = true;
    const response = await app.request("/auth/oidc");
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("cannot be reached");
    expect(logged[0]).toMatch(/^error people cannot log in/);
    issuer.person.away = false;
    expect((await login()).status).toBe(303);
  });

  it("keeps nothing readable in its cookie, which no script and no plain http gets", async () => {
    const response = await app.request("/auth/oidc");
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^__Host-nops-login=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const state = new URL(response.headers.get("location") ?? "").searchParams.get("state") ?? "?";
    expect(Buffer.from(cookie.slice(18).split(";")[0] ?? "", "base64url").includes(state)).toBe(false);
  });
});

describe("the way back", () => {
  it("is a session of issuer and subject, and leads where one wanted to go", async () => {
    const response = await login();
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/jobs");
    expect(await who(response)).toMatchObject({
      name: "anna",
      method: "oidc",
      identity: `oidc:${issuer.issuer}:42`,
      email: "anna@example.com",
      rights: [{ capabilities: ["read", "approve"], namespaces: ["*"] }],
    });
  });

  it.each(["//evil.example", "https://evil.example/", "/\\evil.example"])("never leads to %s", async (next) => {
    const { url, cookie } = await begin(next);
    expect((await comeBack(issuer.authorize(url), cookie)).headers.get("location")).toBe("/");
  });

  it("is good once: the same answer again is 400, with the same cookie (S32)", async () => {
    const { url, cookie } = await begin();
    const back = issuer.authorize(url);
    expect((await comeBack(back, cookie)).status).toBe(303);
    const again = await comeBack(back, cookie);
    expect(again.status).toBe(400);
    // Before the provider is asked, which would refuse the code as well.
    expect(await again.text()).toContain("used already");
    expect(again.headers.getSetCookie().join()).not.toContain("__Host-nops=");
  });

  it("is open however many strangers came back before who proved nothing", async () => {
    let begun = 0;
    let isAnna = false;
    const checks = () => ({ state: `state-${begun++}`, nonce: "n", verifier: "v" });
    const refused = new OidcRefused("the code is not known");
    const provider: OidcProvider = {
      begin: async () => ({ url: issuer.issuer, checks: checks() }),
      finish: () => (isAnna ? Promise.resolve(anna) : Promise.reject(refused)),
    };
    const oidc = oidcLogin({ provider, rules, clock, random: new SeededRandom(4), log });
    for (let stranger = 0; stranger < 10_001; stranger++) {
      const { pending } = await oidc.begin(undefined, undefined);
      await expect(oidc.finish("?code=guess", pending)).rejects.toMatchObject({ code: "login_refused" });
    }
    isAnna = true;
    const { pending } = await oidc.begin(undefined, undefined);
    expect((await oidc.finish("?code=right", pending)).person).toMatchObject({ name: "anna" });
    await expect(oidc.finish("?code=right", pending)).rejects.toMatchObject({ code: "login_replayed" });
  });

  it.each([
    ["without its cookie", (back: URL) => back, () => ""],
    ["with the cookie of another login", (back: URL) => back, async () => (await begin()).cookie],
    ["with a cookie that was changed", (back: URL) => back, (cookie: string) => `${cookie.slice(0, -3)}AAA`],
    ["with another state", edited((query) => query.set("state", "x".repeat(43))), undefined],
    ["without a state", edited((query) => query.delete("state")), undefined],
    ["with another code", edited((query) => query.set("code", "guess")), undefined],
    ["from another issuer", edited((query) => query.set("iss", "https://evil.example")), undefined],
    ["without an issuer", edited((query) => query.delete("iss")), undefined],
    [
      "that says it was refused",
      (back: URL) =>
        new URL(
          `${publicUrl}/auth/callback?error=access_denied&error_description=Call+us&state=${back.searchParams.get("state")}&iss=${encodeURIComponent(issuer.issuer)}`,
        ),
      undefined,
    ],
  ])("%s is 400 (S32)", async (_, change, otherCookie) => {
    const { url, cookie } = await begin();
    const back = change(new URL(issuer.authorize(url)));
    const response = await comeBack(back.href, otherCookie === undefined ? cookie : await otherCookie(cookie));
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain("Call us");
    expect(response.headers.getSetCookie().join()).not.toContain("__Host-nops=");
  });

  it("ends the session that the browser had when it left, though it brings no strict cookie along (S23)", async () => {
    const first = await login();
    const old = first.headers.getSetCookie().find((one) => one.startsWith("__Host-nops=")) ?? "";
    const left = await app.request("/auth/oidc", { headers: { cookie: old.split(";")[0] ?? "" } });
    const pending = left.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await comeBack(issuer.authorize(left.headers.get("location") ?? ""), pending)).status).toBe(303);
    expect((await app.request("/api/v1/session", { headers: { cookie: old.split(";")[0] ?? "" } })).status).toBe(401);
  });

  it("is 400 after ten minutes", async () => {
    const { url, cookie } = await begin();
    await clock.advance(10 * 60_000);
    expect((await comeBack(issuer.authorize(url), cookie)).status).toBe(400);
  });

  it.each([
    ["signed with another key", { forgeKey: true }],
    ["of another issuer", { forge: { iss: "https://evil.example" } }],
    ["for another client", { forge: { aud: "other" } }],
    ["that has expired", { forge: { exp: 1_000 } }],
    ["with another nonce", { forge: { nonce: "other" } }],
    ["without a nonce", { forge: { nonce: undefined } }],
    ["whose user info is of somebody else", { claims: { sub: "42" }, userinfo: { sub: "43", preferred_username: "anna" } }],
  ])("with an ID token %s is 400", async (_, forged) => {
    Object.assign(issuer.person, forged);
    expect((await login()).status).toBe(400);
    expect(logged.some((line) => line.startsWith("warn a login was wrong"))).toBe(true);
  });
});

describe("who may come in", () => {
  it.each([
    ["by user name, whatever its case", { preferred_username: "ANNA" }, ["oidc:anna"], [], 303],
    ["by e-mail address", { email: "Anna@Example.com", email_verified: true }, ["oidc:anna@example.com"], [], 303],
    [
      "not by an address that was not verified",
      { email: "anna@example.com", email_verified: false },
      ["oidc:anna@example.com"],
      [],
      403,
    ],
    ["by a group", { groups: ["dev", "ops"] }, [], ["ops"], 303],
    ["not by the beginning of a group's name", { groups: ["ops-evil"] }, [], ["ops"], 403],
    ["nobody else", { preferred_username: "eve" }, ["oidc:anna"], ["ops"], 403],
    ["everybody whom the provider knows, where a rule says so", { preferred_username: "eve" }, ["oidc:*"], [], 303],
    ["not a person of another method", { preferred_username: "anna" }, ["local:anna"], [], 403],
  ])("%s", async (_, claims, users, groups, status) => {
    rules = [rule({ users: [...users], groups: [...groups] })];
    app = build();
    issuer.person.claims = { sub: "42", ...claims };
    const response = await login();
    expect(response.status).toBe(status);
    if (status === 403) expect(logged.join()).toContain("gives no rights");
  });

  it("claims that the ID token lacks come from the user info of the same subject", async () => {
    issuer.person.claims = { sub: "42" };
    issuer.person.userinfo = { sub: "42", preferred_username: "anna" };
    expect(await who(await login())).toMatchObject({ name: "anna" });
  });

  it("a rule that was taken away takes its right from the next request on (S24)", async () => {
    const response = await login();
    rules.length = 0;
    expect(await who(response)).toMatchObject({ rights: [] });
  });
});
