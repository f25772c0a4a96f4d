import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, revisionId, specHash, targetHash } from "./hash.ts";
import type { JobSpec } from "./nomad.ts";

const web: JobSpec = {
  ID: "web",
  Name: "web",
  Namespace: null,
  Type: "service",
  Meta: { nops_managed: "true", nops_policy: "auto" },
  TaskGroups: [
    {
      Name: "web",
      Count: 2,
      Tasks: [{ Name: "server", Driver: "docker", Config: { image: "web:1", ports: ["http"] }, Env: { A: "ä €" } }],
    },
  ],
};

describe("frozen vectors: a change here changes every stored identity", () => {
  // Computed apart from this program, from the canonical text.
  it.each([
    [
      "a job with nothing but its ID",
      { ID: "a" } as JobSpec,
      "b6adde35198720a8a885d63da8661683575f7141254b7e2ea038f0f329545e31",
      "35a5cfd92f0c08c52cef25f8dfc9272acca89efb6b153c05e15f93df59ea816e",
    ],
    [
      "a service",
      web,
      "7cd6322ce1ea8cec74d5165d90a84248f0092d705c2adcd31570910c173f014b",
      "6829eae4d376de51c8b010540c7d4fd2f84f65d088a8c6c5b65d1ee9522a007c",
    ],
  ])("%s", (_name, spec, target, whole) => {
    expect([targetHash(spec), specHash({ version: 1, target: spec, hooks: [] })]).toEqual([target, whole]);
  });

  it("a service with a hook", () => {
    const hooks = [{ phase: "pre", hookId: "migrate", hash: "ab" }] as const;
    expect(specHash({ version: 1, target: web, hooks })).toBe("dec67d12a462cf9b4921a900e9652427854bd041986dafc511023af3825ab120");
  });

  it("writes what RFC 8785 writes", () => {
    expect(canonicalJson({ b: 1e21, a: "€\n", "\u20ac": [1.5, null, true], é: 0 })).toBe(
      '{"a":"€\\n","b":1e+21,"é":0,"€":[1.5,null,true]}',
    );
  });
});

describe("what the identity ignores", () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  const object = fc.dictionary(fc.string(), json, { maxKeys: 8 });

  it("the order of members", () => {
    fc.assert(
      fc.property(object, (value) => {
        const shuffled = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(shuffled)).toBe(canonicalJson(value));
      }),
    );
  });

  it("members that are null or empty, at any depth", () => {
    fc.assert(
      fc.property(object, fc.constantFrom(null, [], {}), (value, unset) => {
        const noisy = { ...value, zzNew: unset, zzNested: { kept: 1, gone: unset } };
        expect(canonicalJson(noisy)).toBe(canonicalJson({ ...value, zzNew: undefined, zzNested: { kept: 1 } }));
      }),
    );
  });

  it("white space of the text it came from", () => {
    fc.assert(
      fc.property(object, (value) => {
        expect(canonicalJson(JSON.parse(JSON.stringify(value, undefined, 4)))).toBe(
          canonicalJson(JSON.parse(JSON.stringify(value))),
        );
      }),
    );
  });

  it("fields of the server", () => {
    expect(targetHash({ ...web, CreateIndex: 7, Status: "running", Version: 3 })).toBe(targetHash(web));
  });
});

describe("what the identity notices", () => {
  it.each([
    ["a value", { ...web, Type: "batch" }],
    ["an own key", { ...web, Meta: { nops_managed: "true", nops_policy: "approval" } }],
    ["a false beside an absent value", { ...web, AllAtOnce: false }],
    ["a block that holds nothing but unset fields", { ...web, Periodic: { Spec: null } }],
  ])("%s", (_name, other) => expect(targetHash(other as JobSpec)).not.toBe(targetHash(web)));

  it("the place of an element, also beside a null", () => {
    expect(canonicalJson([null, 1])).not.toBe(canonicalJson([1]));
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });

  it("hooks: their order, phase and content", () => {
    const hook = (phase: "pre" | "post", hookId: string, hash: string) => ({ phase, hookId, hash });
    const hashes = [
      [],
      [hook("pre", "a", "1")],
      [hook("post", "a", "1")],
      [hook("pre", "a", "missing")],
      [hook("pre", "a", "1"), hook("pre", "b", "2")],
      [hook("pre", "b", "2"), hook("pre", "a", "1")],
    ].map((hooks) => specHash({ version: 1, target: web, hooks }));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("numbers beyond 2^53 and their text", () => {
    expect(canonicalJson({ a: 9007199254740993n })).not.toBe(canonicalJson({ a: 9007199254740992n }));
  });
});

it("refuses what is nested so deeply that recursion could fail", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 20_000; i++) deep = [deep];
  expect(() => canonicalJson(deep)).toThrow(/nested too deeply/);
});

it("names a revision by hook and hash", () => {
  expect(revisionId("migrate", "0123456789abcdef")).toBe("migrate-01234567");
});
