import { describe, expect, it } from "vitest";
import { cycles, importsOf, refusal } from "./check-imports.ts";

describe("import ranks", () => {
  it.each([
    ["plan/gates.ts", "model/policy.ts", true],
    ["model/hash.ts", "plan/gates.ts", false],
    ["controllers/drift.ts", "store/open.ts", false],
    ["controllers/drift.ts", "queue/work-queue.ts", true],
    ["cmd/wire.ts", "store/open.ts", true],
    ["dashboard/main.tsx", "api/contract.ts", true],
    ["dashboard/main.tsx", "api/server.ts", false],
    ["dashboard/main.tsx", "model/policy.ts", false],
    ["nomad/client.ts", "testkit/fake-clock.ts", false],
    ["nomad/client.test.ts", "testkit/fake-clock.ts", true],
    ["e2e/x.ts", "cmd/wire.ts", true],
    ["unknown/x.ts", "model/policy.ts", false],
  ])("%s importing %s is allowed: %s", (from, to, allowed) => {
    expect(refusal({ from, to }) === undefined).toBe(allowed);
  });

  it("sees static, type-only, side-effect, re-exporting and dynamic imports", () => {
    const text = [
      'import { a } from "../model/a.ts";',
      'import type { b } from "./b.ts";',
      'import "./c.ts";',
      'export { d } from "./d.ts";',
      'const e = await import("./e.ts");',
      'import { readFile } from "node:fs";',
      'import {\n  f,\n} from "./f.ts";',
    ].join("\n");
    expect(importsOf("plan/x.ts", text)).toEqual(["model/a.ts", "plan/b.ts", "plan/c.ts", "plan/d.ts", "plan/e.ts", "plan/f.ts"]);
  });

  it("finds a cycle and names its files", () => {
    expect(
      cycles([
        { from: "a", to: "b" },
        { from: "b", to: "c" },
        { from: "c", to: "a" },
      ]),
    ).toEqual([["a", "b", "c", "a"]]);
    expect(cycles([{ from: "a", to: "b" }])).toEqual([]);
  });
});
