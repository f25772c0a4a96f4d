import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durationOf } from "./go-duration.ts";
import { regexpProblem } from "./go-regexp.ts";
import { goDuration, goQuote, goQuoteAscii, goQuoteList } from "./go-text.ts";

describe("goDuration", () => {
  it.each([
    [0, "0s"],
    [1, "1ns"],
    [1_500, "1.5µs"],
    [250_000_000, "250ms"],
    [1_000_000_000, "1s"],
    [1_500_000_000, "1.5s"],
    [90_000_000_000, "1m30s"],
    [3_600_000_000_000, "1h0m0s"],
    [86_400_000_000_000, "24h0m0s"],
    [-5_000_000_000, "-5s"],
  ])("%d is %s", (nanoseconds, text) => {
    expect(goDuration(nanoseconds)).toBe(text);
  });

  it("reads back as the same", () => {
    fc.assert(
      fc.property(fc.integer({ min: -(10 ** 12), max: 10 ** 12 }), (ms) => {
        expect(durationOf(goDuration(ms * 1_000))).toBe(ms * 1_000);
      }),
    );
  });
});

describe("durationOf", () => {
  it.each([
    ["1h30m", 5_400_000_000_000],
    ["1.5s", 1_500_000_000],
    ["-3ms", -3_000_000],
    ["+2us", 2_000],
    ["0", 0],
    [".5s", 500_000_000],
    ["1m1s1ms", 61_001_000_000],
  ])("%s", (text, nanoseconds) => {
    expect(durationOf(text)).toBe(nanoseconds);
  });

  it.each([
    ["", 'time: invalid duration ""'],
    ["5", 'time: missing unit in duration "5"'],
    ["5 s", 'time: unknown unit " s" in duration "5 s"'],
    ["5d", 'time: unknown unit "d" in duration "5d"'],
    ["s", 'time: invalid duration "s"'],
    ["1.", 'time: missing unit in duration "1."'],
    ["99999999h", 'time: invalid duration "99999999h"'],
  ])("%s is refused", (text, problem) => {
    expect(durationOf(text)).toEqual({ problem });
  });
});

describe("quoting", () => {
  it.each([
    ["a", '"a"'],
    ['say "x"\n', '"say \\"x\\"\\n"'],
    ["\u0001", '"\\x01"'],
    ["\u0007\u000b", '"\\a\\v"'],
    ["grün", '"grün"'],
  ])("%j", (text, quoted) => {
    expect(goQuote(text)).toBe(quoted);
  });

  it("escapes beyond ASCII where only ASCII is wanted", () => {
    expect(goQuoteAscii("grün")).toBe('"gr\\u00fcn"');
  });

  it("writes lists in brackets", () => {
    expect(goQuoteList(["a", "b"])).toBe('["a" "b"]');
  });
});

describe("regexpProblem", () => {
  it.each(["", "^a.*b$", "(?i)x", "(?P<n>a)", "[[:alpha:]]+", "a{2,3}", "\\d+\\.", "[a-z]{1,1000}", "\\pL"])(
    "%s compiles",
    (p) => {
      expect(regexpProblem(p)).toBeUndefined();
    },
  );

  it.each([
    ["[a", "missing closing ]: `[a`"],
    ["(x", "missing closing ): `(x`"],
    ["x)", "unexpected ): `x)`"],
    ["*", "missing argument to repetition operator: `*`"],
    ["a**", "invalid nested repetition operator: `**`"],
    ["a{1001}", "invalid repeat count: `{1001}`"],
    ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
    ["(?<!a)", "invalid or unsupported Perl syntax: `(?<!`"],
    ["\\1", "invalid escape sequence: `\\1`"],
    ["[b-a]", "invalid character class range: `b-a`"],
    ["a\\", "trailing backslash at end of expression: ``"],
  ])("%s is refused", (pattern, problem) => {
    expect(regexpProblem(pattern)).toBe(`error parsing regexp: ${problem}`);
  });
});
