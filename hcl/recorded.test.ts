import { beforeAll, describe, expect, it } from "vitest";
import { nomadFunctions } from "./functions/table.ts";
import { type HclParser, loadHclParser } from "./parser.ts";
import expressions from "./recorded/expressions.json" with { type: "json" };
import syntax from "./recorded/syntax.json" with { type: "json" };
import { formatDiagnostic } from "./syntax.ts";
import { evaluateText } from "./testing.ts";

// The tables in recorded/ were answered by the HCL2 library and the function list that Nomad 2.0.6 is built with.
let parser: HclParser;
beforeAll(async () => {
  parser = await loadHclParser();
});

describe("expressions, as Nomad's HCL2 evaluates them", () => {
  it.each(expressions.map(([text, expected]) => ({ text: text ?? "", expected })))("$text", ({ text, expected }) => {
    expect(evaluateText(parser, text)).toBe(expected);
  });

  it("has a row for every function but those whose result is different every time", () => {
    const called = new Set(
      expressions.flatMap(([text]) => [...(text ?? "").matchAll(/([a-z0-9_]+)\(/g)].map(([, name]) => name)),
    );
    expect([...nomadFunctions().keys()].filter((name) => !called.has(name))).toEqual([]);
  });
});

describe("well and badly formed files, in Nomad's words", () => {
  const rows = syntax.map(([text, messages]) => ({ text: String(text), messages }));
  it.each(rows)("$text", ({ text, messages }) => {
    expect(parser.parse(text, "input.hcl").diagnostics.map(formatDiagnostic)).toEqual(messages);
  });
});
