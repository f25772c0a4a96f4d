import { beforeEach, describe, expect, it } from "vitest";
import type { Log } from "../../model/log.ts";
import type { Store } from "../../store/open.ts";
import { builtAtMs } from "../../testkit/builders.ts";
import { FakeClock, SeededRandom } from "../../testkit/fake-clock.ts";
import { memoryStore } from "../../testkit/memory-store.ts";
import { localLogin } from "./local.ts";
import { hashPassword, newSalt } from "./passwords.ts";
import { createPeople, type People } from "./people.ts";
import type { Rule } from "./rules.ts";
import type { User, UsersFile } from "./users-file.ts";

const hash = await hashPassword("correct horse", newSalt(new SeededRandom(1)));
const other = await hashPassword("battery staple", newSalt(new SeededRandom(2)));

let clock: FakeClock;
let store: Store;
let users: Map<string, User>;
let rules: Rule[];
let logged: string[];
let people: People;

const log = {
  ...Object.fromEntries(
    ["debug", "info", "warn", "error"].map((level) => [
      level,
      (message: string, facts?: object) => void logged.push(`${level} ${message} ${JSON.stringify(facts)}`),
    ]),
  ),
} as unknown as Log;

beforeEach(() => {
  clock = new FakeClock(builtAtMs);
  store = memoryStore({ clock });
  users = new Map([
    ["anna", { name: "anna", hash, email: "anna@example.com" }],
    ["guest", { name: "guest", hash: other, email: undefined }],
  ]);
  rules = [
    { users: ["local:anna"], groups: [], nomad_policies: [], capabilities: ["approve"], namespaces: ["team-*"] },
    { users: ["local:anna", "local:bob"], groups: [], nomad_policies: [], capabilities: ["read"], namespaces: ["*"] },
  ];
  logged = [];
  const file: UsersFile = { find: (name) => users.get(name) };
  people = createPeople({ methods: ["local"], store, log, local: localLogin(file, rules), nomad: undefined, oidc: undefined });
});

function login(name: string, password: string, source = "192.0.2.1", formerSecret?: string) {
  if (people.logins.local === undefined) throw new Error("local is off");
  return people.logins.local(name, password, { source, formerSecret });
}

describe("a login by name and password", () => {
  it("gives the rights of all rules that name the person, each in its namespaces, and is on record", async () => {
    const { principal, longestMs, secret } = await login("anna", "correct horse");
    expect(longestMs).toBe(24 * 3_600_000);
    expect(principal.actor).toMatchObject({ name: "anna", kind: "person", identity: "local:anna", email: "anna@example.com" });
    expect(principal.grants).toMatchObject([
      { capabilities: ["approve"], namespaces: ["team-*"], everywhere: false },
      { capabilities: ["read"], namespaces: ["*"], everywhere: true },
    ]);
    const [event] = await store.eventsAfter(0, 9);
    expect(event).toMatchObject({
      kind: "logged_in",
      actor: "anna",
      identity: "local:anna",
      accessorId: principal.actor.accessorId,
    });
    expect(await people.session(secret, "write")).toMatchObject({ actor: principal.actor });
  });

  it("is refused with one text, whoever it is, and the log repeats no name that nobody has", async () => {
    const wrong = { status: 401, code: "wrong_credentials", message: "name or password is wrong" };
    await expect(login("anna", "wrong")).rejects.toMatchObject(wrong);
    await expect(login("my-password-by-mistake", "wrong")).rejects.toMatchObject(wrong);
    expect(logged).toEqual([
      'warn a login was wrong {"method":"local","source":"192.0.2.1","account":"anna"}',
      'warn a login was wrong {"method":"local","source":"192.0.2.1","account":"unknown"}',
    ]);
  });

  it("of somebody whom no rule names is refused, and makes no session", async () => {
    await expect(login("guest", "battery staple")).rejects.toMatchObject({ status: 403, code: "not_allowed" });
    expect(await store.eventsAfter(0, 9)).toEqual([]);
  });

  it("is not looked at after five wrong ones in five minutes, right or not; then it is again (S25)", async () => {
    for (let n = 0; n < 5; n++) await expect(login("anna", "wrong")).rejects.toMatchObject({ status: 401 });
    await expect(login("anna", "correct horse")).rejects.toMatchObject({ status: 429, retryAfterMs: 300_000 });
    await expect(login("anna", "correct horse", "198.51.100.9")).rejects.toMatchObject({ status: 429 });
    await clock.advance(300_000);
    expect(await login("anna", "correct horse")).toMatchObject({ secret: expect.any(String) });
  });

  it("many at once are counted before any of them is looked at (S25)", async () => {
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => login("anna", "wrong").catch((error: { status: number }) => error.status)),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });

  it("ends the session that the browser had before (S23)", async () => {
    const first = await login("anna", "correct horse");
    const second = await login("anna", "correct horse", "192.0.2.1", first.secret);
    expect(await people.session(first.secret, "read")).toBeUndefined();
    expect(await people.session(second.secret, "read")).toBeDefined();
  });
});

it("the address of a person counts as the users file has it now, so that nobody approves their own commit by an older one (S57)", async () => {
  const { secret } = await login("anna", "correct horse");
  users.set("anna", { name: "anna", hash, email: "anna@new.example" });
  expect(await people.session(secret, "write")).toMatchObject({ actor: { email: "anna@new.example" } });
  users.set("anna", { name: "anna", hash, email: undefined });
  expect((await people.session(secret, "write"))?.actor).not.toHaveProperty("email");
});

describe("a session ends at once (S24)", () => {
  it.each([
    ["when its person is gone", () => users.delete("anna"), "the users file names the person no more"],
    [
      "when the password was changed",
      () => users.set("anna", { name: "anna", hash: other, email: undefined }),
      "the password was changed",
    ],
  ])("%s, and does not come back", async (_, change, why) => {
    const { secret } = await login("anna", "correct horse");
    change();
    expect(await people.session(secret, "watch")).toBeUndefined();
    users.set("anna", { name: "anna", hash, email: undefined });
    expect(await people.session(secret, "read")).toBeUndefined();
    expect((await store.eventsAfter(1, 9)).map(({ kind, message }) => [kind, message])).toEqual([
      ["logged_out", `the session of anna ended: ${why}`],
    ]);
  });

  it("when its method is switched off", async () => {
    const { secret } = await login("anna", "correct horse");
    const without = createPeople({ methods: ["token"], store, log, local: undefined, nomad: undefined, oidc: undefined });
    expect(await without.session(secret, "read")).toBeUndefined();
    expect(without.logins.local).toBeUndefined();
  });

  it("at logout; an unknown one is no error", async () => {
    const { secret } = await login("anna", "correct horse");
    await people.logins.logout(secret);
    await people.logins.logout(secret);
    expect(await people.session(secret, "read")).toBeUndefined();
  });

  it("but a rule that was taken away takes the right only", async () => {
    const { secret } = await login("anna", "correct horse");
    rules.shift();
    expect((await people.session(secret, "write"))?.grants.map((grant) => grant.capabilities)).toEqual([["read"]]);
  });
});
