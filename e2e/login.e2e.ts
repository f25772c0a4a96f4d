/** People who log in by name and password, at the real process: through restarts, with the file that `nops user hash` made. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionJson } from "../api/contract.ts";
import { commandLine } from "../testkit/command-line.ts";
import { type ServedNops, type ServingPlace, servingPlace } from "../testkit/served-nops.ts";

const json = { "content-type": "application/json" };
const password = "correct horse battery";

let place: ServingPlace;
let nops: ServedNops;

function serve(): Promise<ServedNops> {
  return place.serve("data", "--auth-mode=token,local", "--auth-local-users-file=users");
}

async function hashLine(name: string, secret: string): Promise<string> {
  return (await commandLine(["user", "hash", name], { stdin: secret })).out;
}

function login(name: string, secret: string): Promise<Response> {
  const body = JSON.stringify({ name, password: secret, next: "/jobs" });
  return fetch(`${nops.address}/auth/local`, { method: "POST", headers: json, body });
}

async function cookieOf(name: string, secret: string): Promise<string> {
  return (await login(name, secret)).headers.get("set-cookie")?.split(";")[0] ?? "";
}

function ask(path: string, cookie: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${nops.address}${path}`, { ...init, headers: { ...json, cookie } });
}

beforeAll(async () => {
  place = await servingPlace();
  writeFileSync(join(place.folder, "users"), (await hashLine("anna", password)) + (await hashLine("bob", "another password")));
  writeFileSync(
    join(place.folder, "nops.yml"),
    "auth:\n  rules:\n    - { users: ['local:anna'], capabilities: [read, pause] }\n    - { users: ['local:carla'], capabilities: [read] }\n",
  );
  nops = await serve();
});

afterAll(() => place.close());

describe("a person with a password", () => {
  it("logs in, acts under their own name, and is out for good after logging out", async () => {
    const cookie = await cookieOf("anna", password);
    expect(cookie).toMatch(/^nops=/);
    const who = (await (await ask("/api/v1/session", cookie)).json()) as SessionJson;
    expect(who).toMatchObject({
      name: "anna",
      method: "local",
      rights: [{ capabilities: ["read", "pause"], namespaces: ["*"] }],
    });
    const paused = await ask("/api/v1/pause", cookie, { method: "POST", body: '{"reason":"lunch"}' });
    expect(await paused.json()).toMatchObject({ paused: true, by: "anna" });
    expect((await ask("/api/v1/fetch", cookie, { method: "POST", body: "{}" })).status).toBe(403);
    expect((await ask("/auth/logout", cookie, { method: "POST", body: "{}" })).status).toBe(200);
    expect((await ask("/api/v1/jobs", cookie)).status).toBe(401);
    const { events } = await nops.get<{ events: { kind: string; actor: string }[] }>("/api/v1/events");
    expect(events.filter(({ actor }) => actor === "anna").map(({ kind }) => kind)).toContain("logged_out");
  });

  it("stays in over a restart of nops, and is out at once when the file no longer names them (S24)", async () => {
    const cookie = await cookieOf("anna", password);
    await nops.stop();
    nops = await serve();
    expect((await ask("/api/v1/session", cookie)).status).toBe(200);
    const users = join(place.folder, "users");
    writeFileSync(users, "# nobody for a while\n");
    expect((await ask("/api/v1/session", cookie)).status).toBe(401);
    appendFileSync(users, (await hashLine("carla", "a new password")) + (await hashLine("bob", "another password")));
    expect((await login("carla", "a new password")).status).toBe(200);
    expect((await login("bob", "another password")).status).toBe(403);
  });

  it("is not looked at after five wrong passwords, and a restart does not forget that (S25)", async () => {
    for (let n = 0; n < 5; n++) expect((await login("carla", "wrong password")).status).toBe(401);
    await nops.kill();
    nops = await serve();
    const refused = await login("carla", "a new password");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(200);
    expect(nops.process.stderr()).not.toContain("a new password");
  });
});

describe("a start with a users file that cannot be right", () => {
  it("is refused and names the line", async () => {
    writeFileSync(join(place.folder, "broken"), `# people\nanna:clear-text-password\n`);
    const started = place.serve("other", "--auth-mode=local,token", "--auth-local-users-file=broken");
    const failure = await started.then(
      () => "it started",
      (error: unknown) => String(error),
    );
    expect(failure).toContain("nops ended with 2");
    expect(failure).toContain('broken: line 2: what follows "anna:" is no hash');
    expect(failure).not.toContain("clear-text-password");
  });
});
