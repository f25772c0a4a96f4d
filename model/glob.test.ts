import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidRequestError } from "./errors.ts";
import { createGlob } from "./glob.ts";

const table: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
  ["jobs/**/*.hcl", "jobs/a/b.hcl", true],
  ["jobs/**/*.hcl", "jobs/b.hcl", true],
  ["jobs/**/*.hcl", "jobs/a/b/c/d.hcl", true],
  ["jobs/**/*.hcl", "other/b.hcl", false],
  ["**/*.nomad", "a.nomad", true],
  ["**/*.nomad", "x/.hidden/a.nomad", true],
  ["**/*.nomad", "a.nomad.hcl", false],
  ["**", "a/b", true],
  ["**", "", true],
  ["**/x", "ax", false],
  ["**/x", "a/x", true],
  ["a/**", "a/b/c", true],
  ["a/**", "a", false],
  ["a/**/b", "a/b", true],
  ["a/**/b", "a/x/y/b", true],
  ["a/**/b", "a/xb", false],
  ["a/**/**/b", "a/b", true],
  ["*.hcl", "a/b.hcl", false],
  ["*", ".env", true],
  ["a**b", "axxb", true],
  ["a**b", "ax/xb", false],
  ["?.hcl", "é.hcl", true],
  ["?", "/", false],
  ["{a,b}/*.hcl", "b/x.hcl", true],
  ["{a,b}/*.hcl", "c/x.hcl", false],
  ["x{,.vars}.hcl", "x.hcl", true],
  ["x{,.vars}.hcl", "x.vars.hcl", true],
  ["{a,{b,c}d}", "cd", true],
  ["{a,{b,c}d}", "ad", false],
  ["\\*", "*", true],
  ["\\*", "a", false],
  ["\\{a,b\\}", "{a,b}", true],
  ["a}", "a}", true],
  ["prod-*", "prod-eu", true],
  ["prod-*", "prod", false],
  ["*", "default", true],
];

/** Straight from the definition, by backtracking over segments: exponential, but easy to trust. */
function reference(pattern: string, text: string): boolean {
  const match = /^((?:[^{}]|\{[^{}]*$)*)\{([^{}]*)\}(.*)$/s.exec(pattern);
  if (match) return (match[2] ?? "").split(",").some((part) => reference(`${match[1] ?? ""}${part}${match[3] ?? ""}`, text));
  return segments(pattern.split("/"), text.split("/"));
}

function segments(patterns: readonly string[], texts: readonly string[]): boolean {
  const [first, ...rest] = patterns;
  if (first === undefined) return texts.length === 0;
  if (/^\*{2,}$/.test(first)) {
    if (rest.length === 0) return texts.length > 0;
    return segments(rest, texts) || (texts.length > 0 && segments(patterns, texts.slice(1)));
  }
  return texts.length > 0 && segment(first, texts[0] ?? "") && segments(rest, texts.slice(1));
}

function segment(pattern: string, text: string): boolean {
  const char = pattern[0];
  if (char === undefined) return text === "";
  if (char === "*") return segment(pattern.slice(1), text) || (text !== "" && segment(pattern, text.slice(1)));
  return text !== "" && (char === "?" || char === text[0]) && segment(pattern.slice(1), text.slice(1));
}

describe("createGlob", () => {
  it.each(table)("%s on %s is %s", (pattern, text, expected) => {
    expect(createGlob(pattern)(text)).toBe(expected);
  });

  it("agrees with the definition on every short pattern and text", () => {
    const pattern = fc.array(fc.constantFrom("a", "b", "/", "*", "**", "?", "**/", "/**", "{a,b/}", "{,*}"), {
      minLength: 1,
      maxLength: 7,
    });
    const text = fc.array(fc.constantFrom("a", "b", "/", "ab"), { maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (patternParts, textParts) => {
        const [glob, path] = [patternParts.join(""), textParts.join("")];
        expect(createGlob(glob)(path), `${glob} on ${path}`).toBe(reference(glob, path));
      }),
      { numRuns: 3_000 },
    );
  });

  it("takes time proportional to pattern times text where backtracking takes for ever (S69)", () => {
    const steps = performance.now();
    expect(createGlob(`${"*a".repeat(200)}b*`)("a".repeat(4_000))).toBe(false);
    expect(createGlob(`${"**/".repeat(100)}b?`)("a/".repeat(2_000))).toBe(false);
    expect(performance.now() - steps).toBeLessThan(2_000);
  });

  it.each(["", "a{b", "{a,b}".repeat(7), "x".repeat(513)])("refuses %s", (pattern) => {
    expect(() => createGlob(pattern)).toThrow(InvalidRequestError);
  });

  it("never throws anything but its own error", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), (pattern, text) => {
        try {
          createGlob(pattern)(text);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRequestError);
        }
      }),
    );
  });
});
