import { describe, expect, it } from "vitest";
import { matchesGlob } from "./file-glob.ts";

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
    ["[ab].t", "b.t", true],
    ["[!ab].t", "b.t", false],
    ["[!ab].t", "c.t", true],
    ["{a,b}/*.{x,y}", "b/f.y", true],
    ["{a,b}/*.{x,y}", "c/f.y", false],
    ["a.b", "axb", false],
    ["a+(b)", "a+(b)", true],
    ["[", "[", true],
    ["", "", true],
    ["*", "", true],
  ])("%s and %j: %s", (pattern, path, expected) => expect(matchesGlob(pattern, path)).toBe(expected));

  it("takes no longer for stars that nearly match", () => {
    expect(matchesGlob(`${"**/a/".repeat(30)}b`, `${"a/".repeat(60)}c`)).toBe(false);
  });
});
