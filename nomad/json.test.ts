import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approximate, decodeExact, encodeExact } from "./json.ts";

describe("exact JSON", () => {
  it.each([
    ["an ordinary number", "42", 42],
    ["the last safe integer", "9007199254740991", 9007199254740991],
    ["the first that a number cannot tell from its neighbour", "9007199254740993", "\u0000int:9007199254740993"],
    ["a large one that a number holds to the last digit", "17280000000000000", 17280000000000000],
    ["a power of two that prints differently", "4611686018427387904", "\u0000int:4611686018427387904"],
    ["the largest int64", "9223372036854775807", "\u0000int:9223372036854775807"],
    ["the smallest int64", "-9223372036854775808", "\u0000int:-9223372036854775808"],
    ["a fraction, which has no integer digits to lose", "0.12345678901234567890", 0.12345678901234568],
    ["an exponent", "12345678901234567890e2", 1.2345678901234568e21],
    ["digits in a string", '"9007199254740993"', "9007199254740993"],
    ["digits after an escaped quote", '"\\"9007199254740993\\\\"', '"9007199254740993\\'],
  ])("decodes %s", (_, text, value) => {
    expect(decodeExact(text)).toEqual(value);
  });

  it("keeps every integer's digits on the way there, through storage, and back", () => {
    const integer = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map((n) => n.toString());
    const text = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        integer,
        fc.string({ unit: "grapheme" }).map((s) => JSON.stringify(s)),
        fc.constantFrom("true", "null", '"\\\\"', '"\\"12345678901234567890"', "1.5"),
        fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
        fc
          .uniqueArray(fc.tuple(fc.string(), tie("value")), { maxLength: 4, selector: ([key]) => `k${key}` })
          .map((pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(`k${key}`)}:${value}`).join(",")}}`),
      ),
    })).value;
    fc.assert(
      fc.property(text, (json) => {
        const stored = JSON.parse(JSON.stringify(decodeExact(json as string)));
        expect(encodeExact(stored)).toBe(json);
      }),
      { numRuns: 500 },
    );
  });

  it("does not take a quoted text that looks like a marked integer for one", () => {
    const value = { a: 'x"\u0000int:12', b: '"\\u0000int:12"' };
    expect(JSON.parse(encodeExact(value))).toEqual(value);
  });

  it("refuses what is no JSON", () => {
    for (const text of ['{"a":12345678901234567', '"1234567890123456', "12345678901234567x", ""]) {
      expect(() => decodeExact(text)).toThrow(SyntaxError);
    }
  });

  it("gives a near number for what is only looked at", () => {
    expect(approximate(decodeExact("1700000000123456789"))).toBe(1.7000000001234568e18);
    expect(approximate("text")).toBe("text");
  });
});
