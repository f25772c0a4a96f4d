/** The tables of e2e/README.md, held against the tests that they name. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const folder = join(import.meta.dirname, "../e2e");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

interface Line {
  readonly test: string;
  readonly file: string;
}

const lines: readonly Line[] = read("README.md")
  .split("\n")
  .flatMap((line) => {
    const [, test = "", file] = /^\|[^|]*\|([^|]+)\| *`([^`|]+)` *\|$/.exec(line) ?? [];
    return file === undefined ? [] : [{ test: test.trim(), file }];
  });

/** Files whose every test is a row of one of the tables. */
const complete = [...readdirSync(folder), ...readdirSync(join(folder, "suites")).map((name) => `suites/${name}`)].filter((name) =>
  /^(?:suites\/(?:recovery|transitions)-\w+\.rows|recovery\.e2e|transitions\.e2e|explain\.e2e|rules(?:-\w+)?\.e2e)\.ts$/.test(
    name,
  ),
);

/** Names that stand in a source as a test's or a row's. */
function testsOf(file: string): readonly string[] {
  const found = read(file).matchAll(/(?:\bname: |\bit\(\s*|Row\(\s*)"((?:[^"\\]|\\.)+)"/g);
  return [...found].map(([, name = ""]) => name);
}

describe("e2e/README.md", () => {
  it("names tests that exist in the file beside them", () => {
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter(({ test, file }) => !testsOf(file).includes(test))).toEqual([]);
  });

  it("has a row for every test of transitions, recovery, gates and rules", () => {
    expect(complete.length).toBeGreaterThanOrEqual(9);
    const named = new Set(lines.map(({ test }) => test));
    expect(complete.flatMap(testsOf).filter((test) => !named.has(test))).toEqual([]);
  });

  it("names no test twice", () => {
    const names = lines.map(({ test }) => test);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
