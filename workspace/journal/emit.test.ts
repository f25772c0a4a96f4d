import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { emitYaml } from "./emit.ts";

describe("the journal's text", () => {
  it("is what people expect of YAML", () => {
    const text = emitYaml({
      schema_version: "1",
      project: {
        status: "deployed",
        deployed_at: "2026-02-03T10:00:30.000Z",
        phases: {},
        config_inputs: { "vars.x": "0123456789ab" },
      },
      pending: { operations: [{ kind: "deploy", services: ["a", "b"] }, { kind: "restart" }] },
    });
    expect(text).toBe(
      `schema_version: "1"
project:
  status: deployed
  deployed_at: 2026-02-03T10:00:30.000Z
  phases: {}
  config_inputs: { vars.x: 0123456789ab }
pending:
  operations:
    - { kind: deploy, services: [a, b] }
    - { kind: restart }
`,
    );
  });
  it.each([
    "no",
    "true",
    "null",
    "~",
    "1",
    "1e5",
    "0x1f",
    "1234567890",
    "12e4567890ab".slice(0, 6),
    "a: b",
    "# a",
    "",
    " a",
    "a\nb",
    "é",
    "-",
    "NaN",
    ".inf",
    "2026-02-03",
  ])("keeps %j a string", (value) => {
    expect(parse(emitYaml({ [value]: value, inputs: { [value]: value }, list: [value] }))).toEqual({
      [value]: value,
      inputs: { [value]: value },
      list: [value],
    });
  });
  it("reads back as what it was", () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.stringMatching(/^[0-9a-f]{12}$/));
    const tree = fc.letrec((tie) => ({
      map: fc.dictionary(
        fc.string().filter((key) => key !== "__proto__" && key !== "<<"),
        tie("value"),
        { noNullPrototype: true },
      ),
      value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(leaf), tie("map")),
    }));
    fc.assert(
      fc.property(tree.map, (value) => {
        expect(parse(emitYaml(value as Record<string, unknown>)) ?? {}).toEqual(value);
      }),
    );
  });
});
