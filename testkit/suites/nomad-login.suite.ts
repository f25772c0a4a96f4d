/** People who log in with a Nomad token, against a Nomad with ACLs: the simulator and a real one must say the same. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nomadLogin } from "../../cmd/login/nomad.ts";
import { askNomadOver } from "../../cmd/login/nomad-person.ts";
import { createPeople, type People } from "../../cmd/login/people.ts";
import { systemClock, systemRandom } from "../../cmd/system-clock.ts";
import { silentLog } from "../../model/log.ts";
import type { Store } from "../../store/open.ts";
import { builtAtMs } from "../builders.ts";
import { FakeClock } from "../fake-clock.ts";
import { memoryStore } from "../memory-store.ts";

/** A Nomad to log in by. */
export interface LoginNomad {
  readonly address: string;
  /** Management token; absent where ACLs are off. */
  readonly token: string | undefined;
  stop(): Promise<void>;
}

interface Bench {
  readonly nomad: LoginNomad;
  readonly clock: FakeClock;
  readonly store: Store;
  readonly people: People;
}

const managed = ["default", "team-a", "team-b"];
let names = 0;

function benchOver(nomad: LoginNomad): Bench {
  const clock = new FakeClock(builtAtMs);
  const store = memoryStore({ clock });
  const ask = askNomadOver({ address: nomad.address, clock: systemClock, random: systemRandom });
  const rules = [{ users: [], groups: [], nomad_policies: ["releases"], capabilities: ["admin" as const], namespaces: ["*"] }];
  const nomadMethod = nomadLogin({ ask, rules, namespaces: managed, store, clock, random: systemRandom, log: silentLog });
  const people = createPeople({
    methods: ["nomad"],
    store,
    log: silentLog,
    local: undefined,
    nomad: nomadMethod,
    oidc: undefined,
  });
  return { nomad, clock, store, people };
}

async function admin<T>({ nomad }: Bench, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${nomad.address}${path}`, {
    method,
    headers: { authorization: `Bearer ${nomad.token ?? ""}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

interface Made {
  readonly AccessorID: string;
  readonly SecretID: string;
}

async function policy(bench: Bench, rules: string, name = `login-${++names}`): Promise<string> {
  await admin(bench, "PUT", `/v1/acl/policy/${name}`, { Name: name, Rules: rules });
  return name;
}

async function token(bench: Bench, rules: string): Promise<Made & { readonly policy: string }> {
  const name = await policy(bench, rules);
  const made = await admin<Made>(bench, "PUT", "/v1/acl/token", { Name: name, Type: "client", Policies: [name] });
  return { ...made, policy: name };
}

function login({ people }: Bench, secret: string) {
  if (people.logins.nomad === undefined) throw new Error("the method is off");
  return people.logins.nomad(secret, { source: `192.0.2.${++names % 250}`, formerSecret: undefined });
}

const deciding = ["read", "approve", "promote", "retry", "deploy-now", "pause", "fetch", "resolve"];

/** Policies and the rights that they give. */
const derivations = [
  [
    "write in one namespace",
    'namespace "team-a" { policy = "write" }',
    [
      [deciding, ["team-a"]],
      [["read"], ["team-a"]],
    ],
  ],
  ["read everywhere", 'namespace "*" { policy = "read" }', [[["read"], ["*"]]]],
  [
    "write in some, read in others, by patterns",
    'namespace "*" { policy = "read" }\nnamespace "team-*" { policy = "write" }',
    [
      [deciding, ["team-a", "team-b"]],
      [["read"], ["*"]],
    ],
  ],
  [
    "a name before every pattern, and deny before everything",
    'namespace "team-*" { policy = "write" }\nnamespace "team-b" { policy = "deny" }\nnamespace "default" { capabilities = ["list-jobs"] }',
    [
      [deciding, ["team-a"]],
      [["read"], ["default", "team-a"]],
    ],
  ],
  ["a single capability", 'namespace "default" { capabilities = ["submit-job"] }', [[deciding, ["default"]]]],
] as const;

/** What a token gives. */
function rightsCases(bench: () => Bench): void {
  it("a management token may do everything, and the audit log names its public id", async () => {
    const { principal, secret } = await login(bench(), bench().nomad.token ?? "");
    expect(principal.grants).toMatchObject([{ capabilities: ["admin"], namespaces: ["*"] }]);
    const { actor } = principal;
    expect(actor.identity).toBe(`nomad:${actor.accessorId}`);
    expect((await bench().store.eventsAfter(0, 1))[0]).toMatchObject({ kind: "logged_in", accessorId: actor.accessorId });
    expect((await bench().people.session(secret, "write"))?.actor).toEqual(actor);
  });

  it.each(derivations)("derives rights from policies: %s", async (_, rules, expected) => {
    const made = await token(bench(), rules);
    const { principal } = await login(bench(), made.SecretID);
    expect(principal.grants.map(({ capabilities, namespaces }) => [capabilities, namespaces])).toEqual(expected);
    expect(principal.actor).toMatchObject({ name: made.policy, identity: `nomad:${made.AccessorID}` });
  });

  it("policies of a role count as those of the token", async () => {
    const name = await policy(bench(), 'namespace "default" { policy = "write" }');
    const role = await admin<{ readonly ID: string }>(bench(), "PUT", "/v1/acl/role", {
      Name: `role-${name}`,
      Policies: [{ Name: name }],
    });
    const made = await admin<Made>(bench(), "PUT", "/v1/acl/token", {
      Name: "by role",
      Type: "client",
      Roles: [{ ID: role.ID }],
    });
    const { principal } = await login(bench(), made.SecretID);
    expect(principal.grants).toMatchObject([{ capabilities: deciding, namespaces: ["default"] }, { capabilities: ["read"] }]);
  });

  it("a rule of the configuration may give more by the name of a policy", async () => {
    await policy(bench(), 'namespace "default" { policy = "read" }', "releases");
    const made = await admin<Made>(bench(), "PUT", "/v1/acl/token", { Name: "chief", Type: "client", Policies: ["releases"] });
    const { principal } = await login(bench(), made.SecretID);
    expect(principal.grants).toMatchObject([{ capabilities: ["read"] }, { capabilities: ["admin"], namespaces: ["*"] }]);
  });
}

/** What is no login. */
function refusalCases(bench: () => Bench): void {
  it("whose policies give nothing here is refused", async () => {
    const made = await token(bench(), 'namespace "elsewhere" { policy = "write" }');
    await expect(login(bench(), made.SecretID)).rejects.toMatchObject({ status: 403, code: "not_allowed" });
  });

  it.each([
    ["a token that nobody has", "11111111-2222-3333-4444-555555555555"],
    ["any text", "open sesame"],
    ["blanks", " "],
    ["the name of the anonymous token", "anonymous"],
    ["what looks like a workload's identity", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln"],
  ])("%s is no login (S28)", async (_, secret) => {
    await expect(login(bench(), secret)).rejects.toMatchObject({ status: 401, code: "wrong_credentials" });
  });
}

/** What is kept, and how it ends. */
function endCases(bench: () => Bench): void {
  it("keeps no token: what the database has cannot be opened without the cookie", async () => {
    const made = await token(bench(), 'namespace "default" { policy = "read" }');
    const { secret } = await login(bench(), made.SecretID);
    const stored = Buffer.from(bench().store.serialize());
    expect(stored.includes(made.AccessorID)).toBe(true);
    expect(stored.includes(made.SecretID)).toBe(false);
    expect(stored.includes(secret)).toBe(false);
  });

  it("a token that is gone ends its session with the next write, and with a read within a minute (S24)", async () => {
    const made = await token(bench(), 'namespace "default" { policy = "write" }');
    const one = await login(bench(), made.SecretID);
    const two = await login(bench(), made.SecretID);
    await admin(bench(), "DELETE", `/v1/acl/token/${made.AccessorID}`);
    expect(await bench().people.session(two.secret, "read")).toBeDefined();
    expect(await bench().people.session(one.secret, "write")).toBeUndefined();
    expect(await bench().people.session(one.secret, "read")).toBeUndefined();
    await bench().clock.advance(45_000);
    expect(await bench().people.session(two.secret, "watch")).toBeUndefined();
  });

  it("a right that is gone is gone with the next write, and then for reads too (S24)", async () => {
    const made = await token(bench(), 'namespace "default" { policy = "write" }');
    const { secret } = await login(bench(), made.SecretID);
    await policy(bench(), 'namespace "default" { policy = "read" }', made.policy);
    const now = await bench().people.session(secret, "write");
    expect(now?.grants.map(({ capabilities }) => capabilities)).toEqual([["read"]]);
    expect((await bench().people.session(secret, "read"))?.grants).toHaveLength(1);
  });
}

/** `start` gives a Nomad with ACLs on, bootstrapped. */
export function nomadLoginConformance(title: string, start: () => Promise<LoginNomad>): void {
  describe(`logins by ${title}`, () => {
    let nomad: LoginNomad;
    let bench: Bench;

    beforeAll(async () => {
      nomad = await start();
    }, 90_000);
    afterAll(() => nomad?.stop());
    beforeEach(() => {
      bench = benchOver(nomad);
    });

    rightsCases(() => bench);
    refusalCases(() => bench);
    endCases(() => bench);
  });
}
