import { generateKeyPairSync, sign } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../cmd/system-clock.ts";
import { silentLog } from "../../model/log.ts";
import { createNomadClient, type NomadClient } from "../../nomad/client.ts";
import type { NomadClientOptions } from "../../nomad/options.ts";
import { createNomadWatch } from "../../nomad/watch.ts";
import type { WatchState } from "../../nomad/watch-options.ts";
import {
  type Bench,
  type ConformanceServer,
  eventually,
  failure,
  hook,
  noSubmission,
  openBench,
  parsed,
  registered,
  sleeper,
} from "./nomad-server.ts";

const START_MS = 60_000;
const unique = (): string => Buffer.from(systemRandom.bytes(3)).toString("hex");

/**
 * What nops relies on where ACLs are on; `makeServer` gives a fresh server with its management token.
 * `login`: the server has auth methods (the simulator need not).
 */
export function nomadAclConformance(
  name: string,
  makeServer: () => Promise<ConformanceServer>,
  options: { readonly login: boolean },
): void {
  describe(`conformance of ${name}, ACLs on`, () => {
    let server: ConformanceServer | undefined;
    let bench: Bench | undefined;
    const clients: NomadClient[] = [];

    beforeAll(async () => {
      server = await makeServer();
      bench = openBench(server);
    }, START_MS);
    afterAll(async () => {
      for (const client of clients) client.close();
      await bench?.clean();
      await server?.stop();
    }, START_MS);

    const use = (): Bench => {
      if (bench === undefined) throw new Error("the server did not start");
      return bench;
    };
    const as = (who: Pick<NomadClientOptions, "token" | "loginAuthMethod">): NomadClient => {
      const client = createNomadClient({ address: use().address, clock: systemClock, random: systemRandom, ...who });
      clients.push(client);
      return client;
    };
    strangerCases(use, as);
    limitedCases(use, as);
    if (options.login) it("exchanges a JWT for a token by an auth method", () => loginCase(use(), as));
  });
}

type As = (who: Pick<NomadClientOptions, "token" | "loginAuthMethod">) => NomadClient;

function strangerCases(use: () => Bench, as: As): void {
  it.each([
    ["no token", undefined],
    ["a token that does not exist", "11111111-2222-3333-4444-555555555555"],
  ])("gives nothing to %s, and says why", async (_, token) => {
    const bench = use();
    const spec = await parsed(bench, sleeper("secret"));
    const stranger = as({ token });
    const calls = [
      stranger.parse({ format: "hcl2", source: sleeper("x"), variables: "" }, "default"),
      stranger.plan(spec),
      stranger.register(spec, 0, noSubmission),
      stranger.readJob(bench.key("secret")),
      stranger.listNodes(),
      stranger.putVariable("default", "nops/x", { a: "b" }),
    ];
    for (const error of await Promise.all(calls.map((call) => failure("not_permitted", call)))) {
      expect(error.status).toBe(403);
      expect(error.message).not.toContain(token ?? "1111");
    }
    expect(await bench.client.readJob(bench.key("secret"))).toBeUndefined();
    expect(await stranger.statusLeader()).toMatch(/:\d+$/);
  });

  it("ends the event stream before it begins", async () => {
    const bench = use();
    const states: WatchState[] = [];
    const abort = new AbortController();
    const client = as({ token: "11111111-2222-3333-4444-555555555555" });
    const watch = createNomadWatch({
      client,
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      onState: (s) => states.push(s),
    });
    const running = watch.watch("default", () => {}, abort);
    const first = await eventually("a refusal", async () => states[0]);
    expect(first).toMatchObject({ connected: false });
    abort.abort();
    await running;
    expect(await bench.client.aclTokenSelf()).toMatchObject({ Type: "management" });
  });
}

function limitedCases(use: () => Bench, as: As): void {
  it("lets a token do what its policy says, and nothing more", async () => {
    const bench = use();
    const name = `reader-${unique()}`;
    const rules = 'namespace "default" { capabilities = ["list-jobs", "read-job", "parse-job", "plan-job"] }';
    const reader = as({ token: await tokenWith(bench, name, rules) });
    const id = bench.id("acl");
    const spec = await registered(bench, sleeper(id, { count: 0 }));
    const live = await reader.readJob(bench.key(id));
    expect(live).toMatchObject({ ID: id });
    expect((await reader.plan(spec)).diff.Type).toBe("None");
    expect((await reader.listJobs("default", { prefix: id })).jobs).toHaveLength(1);
    await failure("not_permitted", reader.register(spec, live?.JobModifyIndex ?? 0, noSubmission));
    await failure("not_permitted", reader.stopJob(bench.key(id)));
    await failure("not_permitted", reader.getVariable("default", "nops/x"));
    await failure("not_permitted", reader.agentSelf());
    expect(await reader.aclTokenSelf()).toMatchObject({ Name: name, Type: "client", Policies: [name] });
    expect(await reader.aclPolicySelf()).toContainEqual(expect.objectContaining({ Name: name }));
  });

  it("asks for a right of its own to dispatch", async () => {
    const bench = use();
    const rules = (capability: string) => `namespace "default" { capabilities = ["read-job", "list-jobs", "${capability}"] }`;
    const id = bench.id("acl-hook");
    await registered(bench, hook(id));
    const submitter = as({ token: await tokenWith(bench, `submitter-${unique()}`, rules("submit-job")) });
    await failure("not_permitted", submitter.dispatch(bench.key(id), "tok", { nops_job_id: "x" }));
    const dispatcher = as({ token: await tokenWith(bench, `dispatcher-${unique()}`, rules("dispatch-job")) });
    expect(await dispatcher.dispatch(bench.key(id), "tok", { nops_job_id: "x" })).toMatchObject({ exists: true });
  });

  it("makes a new version when another token registers the same", async () => {
    const bench = use();
    const id = bench.id("acl-same");
    const spec = await registered(bench, sleeper(id, { count: 0 }));
    const live = await bench.client.readJob(bench.key(id));
    const other = as({ token: await tokenWith(bench, `writer-${unique()}`, 'namespace "default" { policy = "write" }') });
    expect((await other.plan(spec)).diff.Type).toBe("None");
    await other.register(spec, live?.JobModifyIndex ?? 0, noSubmission);
    expect(await bench.client.readJob(bench.key(id))).toMatchObject({ Version: 1 });
  });
}

async function tokenWith(bench: Bench, name: string, rules: string): Promise<string> {
  await admin(bench, "PUT", `/v1/acl/policy/${name}`, { Name: name, Rules: rules }, "none");
  const token = await admin(bench, "PUT", "/v1/acl/token", { Name: name, Type: "client", Policies: [name] });
  return (token as { readonly SecretID: string }).SecretID;
}

async function loginCase(bench: Bench, as: As): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const method = `jwt-${unique()}`;
  await admin(bench, "PUT", "/v1/acl/auth-method", {
    Name: method,
    Type: "JWT",
    TokenLocality: "local",
    MaxTokenTTL: "10m",
    Config: {
      JWTValidationPubKeys: [publicKey.export({ type: "spki", format: "pem" })],
      BoundAudiences: ["nops"],
      ClaimMappings: { who: "who" },
    },
  });
  await admin(bench, "PUT", "/v1/acl/binding-rule", { AuthMethod: method, BindType: "management", BindName: "" });
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(systemClock.now() / 1_000);
  const head = `${part({ alg: "RS256", typ: "JWT" })}.${part({ aud: "nops", who: "nops", sub: "nops", iat: now, nbf: now - 5, exp: now + 600 })}`;
  const jwt = `${head}.${sign("sha256", Buffer.from(head), privateKey).toString("base64url")}`;
  const client = as({ token: jwt, loginAuthMethod: method });
  expect(await client.aclTokenSelf()).toMatchObject({ Type: "management" });
  const forged = as({ token: `${jwt.slice(0, -8)}AAAAAAAA`, loginAuthMethod: method });
  const error = await forged.aclTokenSelf().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ name: "NomadError" });
  expect(String(error)).not.toContain(jwt.slice(0, 40));
}

async function admin(
  bench: Bench,
  method: "PUT",
  path: string,
  body: unknown,
  decoding: "json" | "none" = "json",
): Promise<unknown> {
  const { value } = await bench.client.transport.call({
    operation: "acl_admin",
    what: `write ${path}`,
    effect: "write",
    method,
    path,
    body,
    decoding,
  });
  return value;
}
