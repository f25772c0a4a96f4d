import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL(".", import.meta.url));
const model = readFileSync(join(folder, "dispatch.pml"), "utf8");
const readme = readFileSync(join(folder, "README.md"), "utf8");
const work = mkdtempSync(join(tmpdir(), "nops-spin-"));
const timeoutMs = 240_000;

/** Rows `| name | text | breaks |` of the README: what each switch has to break. */
const switches = [...readme.matchAll(/^\| *`([A-Z_]+)` *\|[^|]+\| *`([a-z_]+)` *\|$/gm)].map(
  (row) => [row[1] ?? "", row[2] ?? ""] as const,
);
const properties = [...model.matchAll(/^ltl (\w+)/gm)].map((found) => found[1] ?? "");

afterAll(() => rmSync(work, { recursive: true, force: true }));

function run(program: string, ...args: readonly string[]): string {
  const { stdout, stderr, error } = spawnSync(program, args, { cwd: work, encoding: "utf8" });
  if (error !== undefined) throw error;
  return `${stdout}${stderr}`;
}

function isHere(program: string, flag: string): boolean {
  return spawnSync(program, [flag], { cwd: work }).error === undefined;
}

/** How many errors the verifier counts; its exit code says nothing. */
function errorsOf(property: string): number {
  const text = run("./pan", "-a", ...(property === "ends" ? ["-f"] : []), "-m100000", "-N", property);
  const found = /errors: (\d+)/.exec(text);
  if (found === null || /depth too small|out of memory/.test(text)) throw new Error(text);
  return Number(found[1]);
}

function compile(name: string | undefined): void {
  run("spin", ...(name === undefined ? [] : [`-D${name}`]), "-a", join(folder, "dispatch.pml"));
  run("cc", "-w", "-o", "pan", "pan.c");
}

it("the README names every property and every switch of the model", () => {
  expect(properties.length).toBe(7);
  for (const property of properties) expect(readme).toMatch(new RegExp(`^\\| *\`${property}\` *\\|`, "m"));
  const used = new Set([...model.matchAll(/(?:#ifdef |#ifndef |defined\()([A-Z_]+)/g)].map((found) => found[1] ?? ""));
  expect(new Set(switches.map(([name]) => name))).toEqual(used);
  expect(new Set(switches.map(([, property]) => property)).size).toBe(properties.length - 1);
});

if (isHere("spin", "-V") && isHere("cc", "--version")) {
  describe("Spin explores every order of events", () => {
    it(
      "finds nothing wrong with the protocol",
      () => {
        compile(undefined);
        expect(properties.map((property) => [property, errorsOf(property)])).toEqual(properties.map((property) => [property, 0]));
      },
      timeoutMs,
    );

    it.each(switches)(
      "%s breaks %s",
      (name, property) => {
        compile(name);
        expect(errorsOf(property)).toBeGreaterThan(0);
      },
      timeoutMs,
    );
  });
} else {
  it("is not run by Spin here", () => {
    process.stderr.write("docs/models: spin or cc is not on the PATH; the model was not checked\n");
    expect(model).toContain("ltl hook_once");
  });
}
