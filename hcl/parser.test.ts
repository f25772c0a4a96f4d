import { beforeAll, describe, expect, it } from "vitest";
import { type HclParser, loadHclParser } from "./parser.ts";
import type { Expression, SourceRange } from "./syntax.ts";
import { formatDiagnostics, formatRange, startRange } from "./syntax.ts";

let parser: HclParser;
beforeAll(async () => {
  parser = await loadHclParser();
});

function at(text: string, range: SourceRange): string {
  return text.slice(range.start.offset, range.end.offset);
}

function onlyExpression(text: string): Expression {
  const { body, diagnostics } = parser.parse(`a = ${text}\n`, "f.hcl");
  expect(diagnostics).toEqual([]);
  const [attribute] = body.attributes;
  if (attribute === undefined) throw new Error("no attribute");
  return attribute.expression;
}

describe("bodies", () => {
  const text = 'job "web" {\n  type = "service"\n  group "b" {}\n  group "a" {\n    count = 2\n  }\n  meta { k = "v" }\n}\n';

  it("keeps the order of blocks and the places of everything", () => {
    const { body, diagnostics } = parser.parse(text, "web.hcl");
    expect(diagnostics).toEqual([]);
    const [job] = body.blocks;
    expect(job?.type).toBe("job");
    expect(job?.body.blocks.map(({ type, labels }) => [type, ...labels])).toEqual([["group", "b"], ["group", "a"], ["meta"]]);
    const group = job?.body.blocks[1];
    expect(
      group && [at(text, group.headerRange), at(text, group.range), at(text, group.openRange), at(text, group.closeRange)],
    ).toEqual(['group "a"', 'group "a" {\n    count = 2\n  }', "{", "}"]);
    const count = group?.body.attributes[0];
    expect(count && formatRange(count.nameRange)).toBe("web.hcl:5,5-10");
    expect(count && at(text, count.range)).toBe("count = 2");
  });

  it("reads what it can of a broken file", () => {
    const { body, diagnostics } = parser.parse('job "web" {\n  type = \n  group "a" {\n', "web.hcl");
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(body.blocks.map(({ type, labels }) => [type, labels]) ?? []).toBeDefined();
  });

  it("takes the first of two attributes of one name", () => {
    const { body, diagnostics } = parser.parse("a = 1\na = 2\n", "f.hcl");
    expect(formatDiagnostics(diagnostics)).toContain("f.hcl:2,1-2: Attribute redefined");
    expect(body.attributes.map(({ range }) => range.start.line)).toEqual([1]);
  });

  it("counts columns in characters, bytes in UTF-8, and leaves out a byte order mark", () => {
    const { body } = parser.parse('\ufeffa = "👨‍👩‍👧é" # c\nb = "ü" == x\n', "f.hcl");
    const [a, b] = body.attributes;
    expect(a?.range.end).toEqual({ line: 1, column: 9, byte: 29, offset: 15 });
    expect(b?.range.start).toMatchObject({ line: 2, column: 1, byte: 34 });
    const right = b?.expression.kind === "binary" ? b.expression.right : undefined;
    expect(right?.range.start).toMatchObject({ line: 2, column: 12 });
  });
});

describe("expressions", () => {
  it.each([
    ["1.50", { kind: "literal", value: { type: "number", text: "1.50" } }],
    ["1e3", { kind: "literal", value: { type: "number", text: "1e3" } }],
    ["null", { kind: "literal", value: { type: "null" } }],
    ['"x"', { kind: "template", wrapsOne: false, parts: [{ kind: "text", text: "x" }] }],
    ['"${x}"', { kind: "template", wrapsOne: true, parts: [{ kind: "interpolation" }] }],
    ['" ${x}"', { kind: "template", wrapsOne: false, parts: [{ kind: "text", text: " " }, { kind: "interpolation" }] }],
    ['"a # b // c /* d */"', { kind: "template", parts: [{ kind: "text", text: "a # b // c /* d */" }] }],
    ["a.b[0].c", { kind: "variable", root: "a", steps: [{ name: "b" }, { key: { number: "0" } }, { name: "c" }] }],
    ['a["k"]', { kind: "variable", root: "a", steps: [{ kind: "index", key: "k" }] }],
    ["a.0.b", { kind: "variable", steps: [{ kind: "index", key: { number: "0" } }, { name: "b" }] }],
    ["a[b]", { kind: "index", collection: { root: "a" }, key: { root: "b" } }],
    ["f().a", { kind: "traversal", source: { kind: "call" }, steps: [{ name: "a" }] }],
    ["a[*].b[*].c", { kind: "splat", each: { kind: "splat", source: { steps: [{ name: "b" }] } } }],
    ["a.*.b[0]", { kind: "traversal", source: { kind: "splat" }, steps: [{ key: { number: "0" } }] }],
    ["1 + 2 * 3", { kind: "binary", operator: "+", right: { operator: "*" } }],
    ["1 - 2 - 3", { kind: "binary", operator: "-", left: { operator: "-" } }],
    ["!a.b", { kind: "unary", operand: { kind: "variable" } }],
    ["a ? b : c ? d : e", { kind: "conditional", whenFalse: { kind: "conditional" } }],
    ["f(a, b...)", { kind: "call", name: "f", expandLast: true }],
    ["(a)", { kind: "parentheses" }],
    ["{ a = 1, (b) = 2 }", { kind: "object", items: [{ keyName: "a" }, { key: { kind: "parentheses" } }] }],
    ["[for i, v in x : v if i > 0]", { kind: "for", keyName: "i", valueName: "v", grouped: false }],
    ["{for v in x : v => v...}", { kind: "for", valueName: "v", grouped: true, key: { root: "v" } }],
  ])("%s", (text, expected) => {
    expect(onlyExpression(text)).toMatchObject(expected);
  });

  it("takes the least indentation from an indented heredoc and leaves blank lines", () => {
    const heredoc = onlyExpression("<<-EOT\n    a\n      b\n\n    ${c}\n  EOT");
    expect(heredoc.kind === "template" ? heredoc.parts[0] : undefined).toMatchObject({ kind: "text", text: "a\n  b\n\n" });
  });

  it("keeps a heredoc as it is, markers in the middle of a line included", () => {
    const heredoc = onlyExpression("<<EOT\n  EOTs\n  a EOT\nEOT");
    expect(heredoc.kind === "template" ? heredoc.parts : []).toMatchObject([{ kind: "text", text: "  EOTs\n  a EOT\n" }]);
  });

  it("applies trim markers", () => {
    const parts = onlyExpression('"a  ${~ b ~}  c"');
    expect(parts.kind === "template" ? parts.parts : []).toMatchObject([{ text: "a" }, { kind: "interpolation" }, { text: "c" }]);
  });

  it("nests directives", () => {
    const template = onlyExpression('"%{ if a }x%{ for i in b }${i}%{ endfor }%{ else }y%{ endif }"');
    expect(template.kind === "template" ? template.parts : []).toMatchObject([
      { kind: "if", whenTrue: [{ text: "x" }, { kind: "for", valueName: "i" }], whenFalse: [{ text: "y" }] },
    ]);
  });
});

describe("startRange", () => {
  it.each([
    ['"high"', "f.hcl:1,6-10"],
    ['""', "f.hcl:1,7-7"],
    ["var.x", "f.hcl:1,5-10"],
    ['file("x")', "f.hcl:1,5-10"],
    ["[1]", "f.hcl:1,5-6"],
    ["1 + 2", "f.hcl:1,5-6"],
    ["-1", "f.hcl:1,5-6"],
    ["a ? b : c", "f.hcl:1,5-6"],
    ["a[*].b", "f.hcl:1,6-9"],
    ["a[b]", "f.hcl:1,6-7"],
    ['"${x}y"', "f.hcl:1,8-9"],
  ])("of %s", (text, expected) => {
    const { body } = parser.parse(`a = ${text}\n`, "f.hcl");
    const [attribute] = body.attributes;
    expect(attribute && formatRange(startRange(attribute.expression))).toBe(expected);
  });
});

describe("loading", () => {
  it("hands out one parser", async () => {
    expect(await loadHclParser()).toBe(await loadHclParser());
  });
});
