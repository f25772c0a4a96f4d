import { describe, expect, it } from "vitest";
import { createSimulator } from "../server.ts";
import { meets } from "./constraints.ts";
import { globMatches } from "./node-checks.ts";
import { versionMatches } from "./versions.ts";

const simulator = createSimulator({ nodes: [{ name: "n1", meta: { rack: "r1", tags: "a,b,c", size: "10" }, class: "big" }] });
const node = [...simulator.state.nodes.rows.values()][0];
if (node === undefined) throw new Error("no node");

describe("meets", () => {
  it.each([
    ["${meta.rack}", "=", "r1", true],
    ["${meta.rack}", "!=", "r1", false],
    ["${meta.none}", "!=", "r1", true],
    ["${meta.none}", "=", "r1", false],
    ["${node.class}", "is", "big", true],
    ["${node.unique.name}", "regexp", "^n\\d$", true],
    ["${meta.rack}", "regexp", "(", false],
    ["${meta.tags}", "set_contains", "a,c", true],
    ["${meta.tags}", "set_contains", "a,z", false],
    ["${meta.tags}", "set_contains_any", "z,b", true],
    ["${meta.size}", ">", "9", true],
    ["${meta.size}", "<", "9", false],
    ["${meta.rack}", "is_set", "", true],
    ["${meta.none}", "is_not_set", "", true],
    ["${attr.kernel.name}", "=", "linux", true],
    ["${meta.rack}", "nonsense", "r1", false],
  ])("%s %s %s: %s", (LTarget, Operand, RTarget, wanted) => {
    expect(meets(node, { LTarget, Operand, RTarget })).toBe(wanted);
  });
});

describe("versionMatches", () => {
  it.each([
    ["1.2.3", ">= 1.2, < 2", false, true],
    ["2.0.0", ">= 1.2, < 2", false, false],
    ["1.9.9", "~> 1.2", false, true],
    ["1.3.0", "~> 1.2.3", false, false],
    ["1.2.9", "~> 1.2.3", false, true],
    ["2.0.0-dev", ">= 1.0", false, false],
    ["2.0.0-dev", ">= 1.0", true, true],
    ["2.0.0-dev", ">= 2.0.0-a", false, true],
    ["1.2", "= 1.2.0", false, true],
    ["1.2.0", "!= 1.2.0", false, false],
    ["nonsense", ">= 0", false, false],
    ["1.0.0", "what", false, false],
  ])("%s %s (semver: %s): %s", (version, constraint, semver, wanted) => {
    expect(versionMatches(version, constraint, semver)).toBe(wanted);
  });
});

describe("globMatches", () => {
  it.each([
    ["*", "anything", true],
    ["dc*", "dc1", true],
    ["dc*", "xdc1", false],
    ["*-eu", "a-eu", true],
    ["a.c", "abc", false],
  ])("%s on %s: %s", (pattern, text, wanted) => {
    expect(globMatches(pattern, text)).toBe(wanted);
  });
});
