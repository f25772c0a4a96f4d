import fc from "fast-check";
import { canonicalize } from "json-canonicalize";
import { expect, it } from "vitest";
import { type CanonicalRules, canonicalText } from "./canonical.ts";

const plain: CanonicalRules = { omits: () => false, bigint: String, deepest: 20 };

it("is the text that another writer of RFC 8785 makes", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\u2028", "€", "\ud834\udd1e", "__proto__", "toString"));
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, false),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      text,
      tie("list"),
      tie("object"),
    ),
    list: fc.array(tie("any"), { maxLength: 5 }),
    object: fc.dictionary(text, tie("any"), { maxKeys: 6 }),
  })).any;
  fc.assert(
    fc.property(value, (each) => {
      expect(canonicalText(each, plain)).toBe(canonicalize(each));
    }),
    { numRuns: 1_000 },
  );
});

it("writes integers beyond 2^53 and leaves out members as its rules say", () => {
  const rules: CanonicalRules = { ...plain, omits: (member) => member === null, bigint: (value) => `"${value}"` };
  expect(canonicalText({ b: [null, 2n ** 60n], a: null, u: undefined }, rules)).toBe('{"b":[null,"1152921504606846976"]}');
});

it.each([Number.NaN, Number.POSITIVE_INFINITY])("refuses %s", (value) => {
  expect(() => canonicalText([value], plain)).toThrow(/no word for/);
});
