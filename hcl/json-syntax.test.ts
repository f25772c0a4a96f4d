import { beforeAll, describe, expect, it } from "vitest";
import { evaluate } from "./evaluate.ts";
import { parseJsonBody } from "./json-syntax.ts";
import { type HclParser, loadHclParser } from "./parser.ts";
import { formatDiagnostic, formatRange } from "./syntax.ts";
import { integerValue, objectValue } from "./value.ts";
import { jsonText } from "./value-text.ts";

let parser: HclParser;
beforeAll(async () => {
  parser = await loadHclParser();
});

function evaluated(text: string): string {
  const { body, diagnostics } = parseJsonBody(text, "f.json", parser);
  expect(diagnostics).toEqual([]);
  const [attribute] = body.attributes;
  if (attribute === undefined) throw new Error("no attribute");
  const variables = new Map([["var", objectValue([["n", integerValue(3)]])]]);
  const { value, diagnostics: problems } = evaluate(attribute.expression, { variables });
  expect(problems).toEqual([]);
  return jsonText(value);
}

describe("HCL in JSON", () => {
  it.each([
    ['{"a": [1, 2.50, true, null, "x"]}', '[1,2.5,true,null,"x"]'],
    ['{"a": "${var.n}"}', "3"],
    ['{"a": "n=${var.n + 1}!"}', '"n=4!"'],
    ['{"a": "$${x} \\u00e9 \\"q\\" \\n"}', '"${x} é \\"q\\" \\n"'],
    ['{"a": {"k${var.n}": 1}}', '{"k3":1}'],
    ['{"a": "%{ if var.n > 1 }y%{ endif }"}', '"y"'],
    ['{"a": 12345678901234567890}', "12345678901234567890"],
    ['{"a": "${var.n}\\n"}', '"3\\n"'],
  ])("%s", (text, expected) => expect(evaluated(text)).toBe(expected));

  it("keeps places", () => {
    const { body } = parseJsonBody('{\n  "a": 1,\n  "bc": {"d": "x${var.n}"}\n}', "f.json", parser);
    expect(body.attributes.map(({ nameRange, expression }) => [formatRange(nameRange), formatRange(expression.range)])).toEqual([
      ["f.json:2,3-6", "f.json:2,8-9"],
      ["f.json:3,3-7", "f.json:3,9-27"],
    ]);
  });

  const problems = (text: string) => parseJsonBody(text, "f.json", parser).diagnostics.map(formatDiagnostic);

  it("counts a tab as two columns and a carriage return as none", () => {
    expect(problems('{\r\n\t\t"a": no\r\n}')).toEqual([
      'f.json:2,10-12: Invalid JSON keyword; "no" is not a valid JSON keyword.',
    ]);
  });

  it("reads nothing behind a character that begins no token", () => {
    expect(problems('{"a": _, "b": 1, "c": no}').slice(0, -1)).toEqual([
      "f.json:1,7-8: Invalid start of value; A JSON value must start with a brace, a bracket, a number, a string, or a keyword.",
      "f.json:1,8-8: Missing attribute seperator comma; A comma must appear between each property definition in an object.",
    ]);
  });

  it.each([
    ['{"a": "x\\q"}', "1,11-12"],
    ['{"a": "x\\u12g4"}', "1,14-15"],
    ['{"a": "open}', "1,13-14"],
  ])("says where a string goes wrong: %s", (text, place) => {
    expect(problems(text)[0]).toBe(`f.json:${place}: Invalid JSON string; There is a syntax error in the given JSON string.`);
  });

  it("points into strings", () => {
    const { diagnostics } = parseJsonBody('{\n  "a": "x${var.}"\n}', "f.json", parser);
    expect(diagnostics.map(formatDiagnostic)).toEqual([
      "f.json:2,16-17: Invalid attribute name; An attribute name is required after a dot.",
    ]);
  });

  it.each([
    ["a${", "1,11-11: Missing expression; Expected the start of an expression, but found the end of the file."],
    ["${f(1, 2", "1,10-12: Unterminated function call;"],
    ["%{", '1,10-10: Invalid template directive; A template directive keyword ("if", "for", etc) is expected'],
    ["%{ if true }", "1,20-20: Unexpected end of template; The if directive at f.json:1,8-20 is missing its corresponding endif"],
    ['${"open', "1,15-15: Unterminated template string; No closing marker was found for the string."],
    ['"q"${a b}', "1,15-16: Extra characters after interpolation expression; Expected a closing brace"],
    ["one\n${", "2,3-3: Missing expression;"],
    ["é${a b}", "1,13-14: Extra characters after interpolation expression;"],
    ["one\ntwo ${a", "1,8-2,1: Unclosed template interpolation sequence; There is no closing brace"],
    ["$${one} ${a", "1,8-11: Unclosed template interpolation sequence; There is no closing brace"],
    ["$ ${a", "1,8-9: Unclosed template interpolation sequence; There is no closing brace"],
  ])("reads a string as a template that ends with it, places counted in its own text: %j", (text, message) => {
    expect(problems(`{"a": ${JSON.stringify(text)}}`)[0]).toContain(`f.json:${message}`);
  });

  it.each(["a$", "100%", "$%", "$$"])("a sign at the end of a string is that sign: %s ${1}", (text) => {
    expect(problems(`{"a": ${JSON.stringify(`\${1}${text}`)}}`)).toEqual([]);
  });

  it("takes the properties of all objects of a list", () => {
    const { body } = parseJsonBody('[{"a": 1}, {"b": 2}]', "f.json");
    expect(body.attributes.map(({ name }) => name)).toEqual(["a", "b"]);
  });
});

describe("JSON that is none, in HCL's words", () => {
  it.each([
    ['{"a": 1', "f.json:1,1-2: Unclosed object; No closing brace was found for this JSON object."],
    ['{"a": }', "f.json:1,7-8: Missing JSON value"],
    ['{"a" 1}', "Missing property value colon; A colon must appear"],
    ['{"a" = 1}', "JSON uses a colon as its name/value delimiter, not an equals sign."],
    ['{"a": 1,}', "f.json:1,8-9: Trailing comma in object"],
    ['{"a": [1,]}', "f.json:1,9-10: Trailing comma in array"],
    ['{"a": [1 2]}', "Missing attribute seperator comma"],
    ['{"a": 1 "b": 2}', "Missing attribute seperator comma"],
    ['{"a": tru}', 'f.json:1,7-10: Invalid JSON keyword; "tru" is not a valid JSON keyword. Did you mean "true"?'],
    ['{"a": NaN}', "cannot be used in JSON"],
    ['{"a": 01}', "f.json:1,7-9: Invalid JSON number"],
    ['{"a": "\\x"}', "Invalid JSON string"],
    ["{a: 1}", "Invalid JSON keyword"],
    ['{"a": 1} x', "f.json:1,10-11: Extraneous data after value"],
    ['"a"', "Root value must be object"],
    ["", "f.json:1,1-1: Missing value"],
    [`{"a": ${"[".repeat(5000)}`, "Nesting too deep"],
  ])("%s", (text, message) => {
    expect(parseJsonBody(text, "f.json").diagnostics.map(formatDiagnostic).join("\n")).toContain(message);
  });
});
