import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFileGlob } from "./file-glob.ts";

/** What a pattern of one part means, straight from its definition: exponential, so for short texts only. */
function means(pattern: readonly string[], name: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return name.length === 0;
  if (first === "*") return means(rest, name) || (name.length > 0 && means(pattern, name.slice(1)));
  return name.length > 0 && (first === "?" || first === name[0]) && means(rest, name.slice(1));
}

describe("patterns of fileset()", () => {
  it.each([
    ["*.cfg", "a.cfg", true],
    ["*.cfg", "sub/a.cfg", false],
    ["**/*.cfg", "a.cfg", true],
    ["**/*.cfg", "x/y/a.cfg", true],
    ["**", "x/y", true],
    ["x/**", "x/y/z", true],
    ["x/**/z", "x/z", true],
    ["x/**/z", "x/a/b/z", true],
    ["x/**/z", "x/a/b/y", false],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["a?c", "a😀c", true],
    ["[ab].t", "b.t", true],
    ["[a-c].t", "b.t", true],
    ["[a-c].t", "d.t", false],
    ["[c-a].t", "b.t", false],
    ["[a-].t", "-.t", true],
    ["[!ab].t", "b.t", false],
    ["[!ab].t", "c.t", true],
    ["[^a-y].t", "z.t", true],
    ["{a,b}/*.{x,y}", "b/f.y", true],
    ["{a,b}/*.{x,y}", "c/f.y", false],
    ["{a,{b,c}}.t", "c.t", true],
    ["a.b", "axb", false],
    ["a+(b)", "a+(b)", true],
    ["[", "[", true],
    ["[]", "[]", true],
    ["", "", true],
    ["*", "", true],
    ["a*b*c", "abxbc", true],
    ["a*b*c", "abxbd", false],
  ])("%s and %j: %s", (pattern, path, expected) => expect(createFileGlob(pattern)(path)).toBe(expected));

  it("match what they say, for any pattern and name", () => {
    const text = (alphabet: string, maxLength: number) =>
      fc.array(fc.constantFrom(...alphabet), { maxLength }).map((chars) => chars.join(""));
    fc.assert(
      fc.property(text("ab.*?", 8), text("ab.", 10), (pattern, name) => {
        fc.pre(pattern !== "**");
        expect(createFileGlob(pattern)(name)).toBe(means([...pattern], [...name]));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ["folders that nearly match", `${"**/a/".repeat(30)}b`, `${"a/".repeat(60)}c`],
    ["stars that nearly match", `${"a*".repeat(200)}b`, `${"a".repeat(2_000)}c`],
    ["braces that multiply", `${"{a,b}".repeat(200)}c`, "a".repeat(200)],
  ])("take no longer for %s", (_, pattern, path) => {
    const begun = performance.now();
    expect(createFileGlob(pattern)(path)).toBe(false);
    // Backtracking would not come to an end at all.
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});
