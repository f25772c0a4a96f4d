import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { actionHash, canonicalJson, fileDigest, scopeFingerprint, shortHash, stepFingerprint, stepHash } from "./hashes.ts";

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
const body = { type: "shell", cmd: "make", with: {} };

describe("action hash", () => {
  it("case 20: is 64 hex digits and stable, for an empty action too", () => {
    for (const one of [body, { type: "", cmd: "", with: undefined }]) {
      expect(actionHash(one)).toMatch(/^[0-9a-f]{64}$/);
      expect(actionHash(one)).toBe(actionHash({ ...one }));
    }
  });
  it("case 21: does not depend on the order of keys, nested ones included", () => {
    const a = actionHash({ ...body, with: { x: 1, y: { p: [1, 2], q: null } } });
    const b = actionHash({ ...body, with: { y: { q: null, p: [1, 2] }, x: 1 } });
    expect(a).toBe(b);
  });
  it("case 22: absent, null and empty `with` are the same", () => {
    const expected = actionHash({ ...body, with: {} });
    expect(actionHash({ ...body, with: undefined })).toBe(expected);
    expect(actionHash({ ...body, with: null })).toBe(expected);
  });
  it("case 24: value types count", () => {
    expect(actionHash({ ...body, with: { port: 1 } })).not.toBe(actionHash({ ...body, with: { port: "1" } }));
  });
  it("case 34: nothing of the surroundings enters it", () => {
    // Most locales would put ä behind a and z; bytes do not.
    expect(canonicalJson({ ä: 1, z: 1, Z: 1, a: 1 })).toBe('{"Z":1,"a":1,"z":1,"ä":1}');
  });
});

describe("step hash", () => {
  const gate = { state: "readable", require: "all" } as const;
  it("case 25: without a gate it is the action hash, with one it differs", () => {
    expect(stepHash(body, undefined)).toBe(actionHash(body));
    expect(stepHash(body, gate)).not.toBe(actionHash(body));
  });
  it("case 26: state, command and with of a gate count; `require` is a set", () => {
    const hashes = [
      stepHash(body, gate),
      stepHash(body, { ...gate, state: "missing" }),
      stepHash(body, { ...gate, command: "other" }),
      stepHash(body, { ...gate, with: { a: 1 } }),
      stepHash(body, { ...gate, require: "required" }),
      stepHash(body, { ...gate, require: ["x"] }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(stepHash(body, { ...gate, require: ["x", "y"] })).toBe(stepHash(body, { ...gate, require: ["y", "x"] }));
  });
});

describe("frozen vectors", () => {
  // The formula in its own words, so that a slip in the code cannot agree with itself.
  it.each([
    ["shell\0make\0{}", body],
    [
      'builtin\0http_check\0{"status":200,"url":"http://x/"}',
      { type: "builtin", cmd: "http_check", with: { url: "http://x/", status: 200 } },
    ],
    ['command\0a\0{"l":[1,"1",true,null,{"b":2}]}', { type: "command", cmd: "a", with: { l: [1, "1", true, null, { b: 2 }] } }],
  ])("%j", (text, input) => {
    expect(actionHash(input)).toBe(sha(text));
  });
  it("stay what they were", () => {
    expect(actionHash(body)).toBe("06d7f5f83f161cd6a49b6546370a9956f05247da95157c972cf31c51a59e582c");
    expect(stepHash(body, { state: "readable", require: "all" })).toBe(
      "830eb56e5b450ed6df6cc9d6663ee362bf64dc94fcf399810046649be758b0fe",
    );
    const scope = scopeFingerprint([
      ["a", "x"],
      ["b", { p: 1 }],
    ]);
    expect(scope.hash).toBe("07c2232d892645c2e2eed9240b1c42ea1e8d99430d6dbe74f3937dfffa1f2dc8");
  });
});

describe("canonical JSON", () => {
  it("orders keys by their UTF-8 bytes", () => {
    expect(canonicalJson({ "\u{1f600}": 1, "\uffee": 2, a: 3 })).toBe('{"a":3,"\uffee":2,"\u{1f600}":1}');
  });
  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, new Date(0), Symbol("x")])("refuses %s", (value) => {
    expect(() => canonicalJson({ value })).toThrow("JSON");
  });
  it("reads back as what it was and ignores the order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
        expect(canonicalJson(reversed(plain))).toBe(canonicalJson(plain));
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

describe("fingerprints", () => {
  it("name the parts that changed", () => {
    const a = stepFingerprint({ ...body, with: { x: 1, $files: { "job.hcl": "aa" } } }, undefined);
    const b = stepFingerprint({ ...body, with: { x: 2, $files: { "job.hcl": "bb" } } }, undefined);
    const changed = Object.keys(a.inputs).filter((name) => a.inputs[name] !== b.inputs[name]);
    expect(changed).toEqual(["with.x", "file job.hcl"]);
  });
  it("separate the parts of a scope", () => {
    const one = scopeFingerprint([
      ["a", "x"],
      ["b", "y"],
    ]);
    expect(one.hash).toBe(sha('"x"\0"y"'));
    expect(Object.keys(scopeFingerprint([["vars.*", { p: 1, q: 2 }]]).inputs)).toEqual(["vars.p", "vars.q"]);
  });
  it("case 28: people see 12 digits; a shorter text stays", () => {
    expect(shortHash("0123456789abcdef")).toBe("0123456789ab");
    expect(shortHash("abc")).toBe("abc");
  });
  it("take a file without its kind of line ends", () => {
    expect(fileDigest(Buffer.from("a\r\nb\r\n"))).toBe(fileDigest(Buffer.from("a\nb\n")));
    expect(fileDigest(Buffer.from("a\rb"))).not.toBe(fileDigest(Buffer.from("a\nb")));
  });
});
