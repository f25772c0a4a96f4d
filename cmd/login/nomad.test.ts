import { describe, expect, it } from "vitest";
import { NomadError } from "../../model/errors.ts";
import { silentLog } from "../../model/log.ts";
import { createSimulator } from "../../simulator/server.ts";
import { builtAtMs } from "../../testkit/builders.ts";
import { FakeClock, SeededRandom } from "../../testkit/fake-clock.ts";
import { memoryStore } from "../../testkit/memory-store.ts";
import { nomadLoginConformance } from "../../testkit/suites/nomad-login.suite.ts";
import { systemClock, systemRandom } from "../system-clock.ts";
import { nomadLogin } from "./nomad.ts";
import { askNomadOver, type NomadAnswer, type NomadPerson } from "./nomad-person.ts";
import { rightsOfRules } from "./nomad-rights.ts";
import { createPeople } from "./people.ts";
import { seal, unseal } from "./seal.ts";

nomadLoginConformance("the simulator", async () => {
  const simulator = createSimulator({ clock: systemClock, acl: true });
  const { address, close } = await simulator.listen(0);
  const answer = await fetch(`${address}/v1/acl/bootstrap`, { method: "POST" });
  const { SecretID: token } = (await answer.json()) as { readonly SecretID: string };
  return { address, token, stop: close };
});

const ada: NomadPerson = {
  accessor: "a-1",
  name: "ada",
  management: true,
  policies: [],
  rules: [],
  expiresAt: undefined,
};

function bench(over: Partial<NomadPerson> = {}) {
  const clock = new FakeClock(builtAtMs);
  const store = memoryStore({ clock });
  const nomad = { says: { ...ada, ...over } as NomadAnswer | Error, asked: 0 };
  const ask = async () => {
    nomad.asked += 1;
    if (nomad.says instanceof Error) throw nomad.says;
    return nomad.says;
  };
  const random = new SeededRandom(5);
  const method = nomadLogin({ ask, rules: [], namespaces: ["default"], store, clock, random, log: silentLog });
  const people = createPeople({ methods: ["nomad"], store, log: silentLog, local: undefined, nomad: method, oidc: undefined });
  const login = async () => {
    if (people.logins.nomad === undefined) throw new Error("off");
    return people.logins.nomad("s3cret-token", { source: "192.0.2.1", formerSecret: undefined });
  };
  return { clock, store, nomad, people, login };
}

describe("a Nomad without ACLs", () => {
  it("takes any text for a token, and is therefore no judge of people (S28)", async () => {
    const simulator = createSimulator({ clock: systemClock });
    const { address, close } = await simulator.listen(0);
    try {
      expect(
        await askNomadOver({ address, clock: systemClock, random: systemRandom })("11111111-2222-3333-4444-555555555555"),
      ).toBe("acls_off");
    } finally {
      await close();
    }
    const { nomad, login } = bench();
    nomad.says = "acls_off";
    await expect(login()).rejects.toMatchObject({ status: 503, code: "login_unavailable" });
  });
});

describe("a session by a Nomad token", () => {
  it("ends when the token does, or after a day", async () => {
    expect(await bench().login()).toMatchObject({ longestMs: 24 * 3_600_000 });
    expect(await bench({ expiresAt: builtAtMs + 60_000 }).login()).toMatchObject({ longestMs: 60_000 });
  });

  it("asks Nomad at each write and otherwise at most every 40 seconds, once for many requests (S24)", async () => {
    const { clock, nomad, people, login } = bench();
    const { secret } = await login();
    nomad.asked = 0;
    for (let n = 0; n < 5; n++) await people.session(secret, "read");
    expect(nomad.asked).toBe(0);
    await people.session(secret, "write");
    await people.session(secret, "write");
    expect(nomad.asked).toBe(2);
    await clock.advance(40_000);
    await Promise.all([people.session(secret, "read"), people.session(secret, "watch"), people.session(secret, "read")]);
    expect(nomad.asked).toBe(3);
  });

  it("reads on with the rights it had while Nomad does not answer, and writes nothing", async () => {
    const { clock, nomad, people, login } = bench();
    const { secret } = await login();
    const down = new NomadError("cannot reach Nomad", { kind: "not_sent" });
    nomad.says = down;
    await clock.advance(40_000);
    expect((await people.session(secret, "read"))?.grants).toHaveLength(1);
    await expect(people.session(secret, "write")).rejects.toBe(down);
    nomad.asked = 0;
    await people.session(secret, "read");
    expect(nomad.asked).toBe(0);
    await clock.advance(20_000);
    nomad.says = "unknown";
    expect(await people.session(secret, "read")).toBeUndefined();
  });

  it("ends although Nomad cannot answer about somebody else (S24)", async () => {
    const { clock, nomad, people, login } = bench();
    const [other, own] = [await login(), await login()];
    await clock.advance(40_000);
    nomad.says = new NomadError("the policy holds no rules", { kind: "refused" });
    expect(await people.session(other.secret, "read")).toBeDefined();
    nomad.says = "unknown";
    expect(await people.session(own.secret, "read")).toBeUndefined();
  });

  it("is no one's when the token is by now another's, or ACLs were switched off", async () => {
    for (const says of [{ ...ada, accessor: "b-2" }, "acls_off"] as const) {
      const { nomad, people, login } = bench();
      const { secret } = await login();
      nomad.says = says;
      expect(await people.session(secret, "write")).toBeUndefined();
    }
  });

  it("a Nomad that cannot be asked is no wrong login (S25)", async () => {
    const { nomad, login } = bench();
    nomad.says = new NomadError("cannot reach Nomad", { kind: "not_sent" });
    for (let n = 0; n < 9; n++) await expect(login()).rejects.toMatchObject({ kind: "not_sent" });
    nomad.says = "unknown";
    for (let n = 0; n < 5; n++) await expect(login()).rejects.toMatchObject({ status: 401 });
    await expect(login()).rejects.toMatchObject({ status: 429 });
  });
});

describe("a seal", () => {
  const random = new SeededRandom(9);

  it("opens with the same secret and owner only, and not when it was changed", () => {
    const sealed = seal("token", "secret", "owner", random);
    expect(unseal(sealed, "secret", "owner")).toBe("token");
    expect(unseal(sealed, "Secret", "owner")).toBeUndefined();
    expect(unseal(sealed, "secret", "other")).toBeUndefined();
    expect(unseal(`${sealed.slice(0, -2)}AA`, "secret", "owner")).toBeUndefined();
    expect(unseal("", "secret", "owner")).toBeUndefined();
  });

  it("never repeats itself", () => {
    expect(seal("token", "secret", "owner", random)).not.toBe(seal("token", "secret", "owner", random));
  });
});

describe("rights of two patterns that are equally near", () => {
  it("are what both give", () => {
    const rules = [
      { pattern: "team-*", capabilities: ["submit-job", "read-job"] },
      { pattern: "*-prod", capabilities: ["read-job"] },
    ];
    expect(rightsOfRules(rules, ["team-prod"]).map(({ capabilities }) => capabilities)).toEqual([["read"]]);
    expect(rightsOfRules([{ pattern: "team-*", capabilities: ["deny"] }], ["team-a"])).toEqual([]);
  });
});
