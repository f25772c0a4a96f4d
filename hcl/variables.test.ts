import { beforeAll, describe, expect, it } from "vitest";
import { type DeclaredVariable, declaredVariables } from "./declarations.ts";
import { type HclParser, loadHclParser } from "./parser.ts";
import { looksSecret } from "./secret-names.ts";
import {
  configuredVariables,
  environmentVariables,
  mergeVariables,
  parseVariableFile,
  type VariableSource,
} from "./variables.ts";

let parser: HclParser;
beforeAll(async () => {
  parser = await loadHclParser();
});

function declare(text: string): DeclaredVariable[] {
  return declaredVariables(parser.parse(text, "web.nomad").body);
}

function fromFile(text: string, path: string, shared: boolean): VariableSource {
  const { assignments, problems } = parseVariableFile(text, path, parser);
  expect(problems).toEqual([]);
  return { assignments, shared };
}

const DECLARED =
  'variable "a" {\n  type = string\n  default = "d"\n}\nvariable "n" {\n  type = number\n}\nvariable "l" {\n  type = list(string)\n  default = []\n}\n';

describe("merging", () => {
  it("lets later sources win and writes only what is declared, in the order of the names", () => {
    const sources = [
      fromFile('a = "1"\nn = 1\nother = true\n', "common.hcl", true),
      fromFile('n = 2\nl = ["x", "y"]\n', "web.vars.hcl", false),
      configuredVariables({ a: "2" }, "the configuration"),
    ];
    const merged = mergeVariables(declare(DECLARED), sources, "web.nomad");
    expect(merged.text).toBe('a = "2"\nl = ["x", "y"]\nn = 2\n');
    expect(merged.problems).toEqual([]);
    expect(merged.unknown.map(({ name, origin }) => [name, origin])).toEqual([["other", "common.hcl:3"]]);
  });

  it("gives the text that a variable file with the same values gives", () => {
    const text = 'a = "$${x} %%{y} \\"q\\" \\n é"\nl = ["a", "b"]\nn = 1.5\n';
    const once = mergeVariables(declare(DECLARED), [fromFile(text, "v.hcl", true)], "web.nomad").text;
    expect(mergeVariables(declare(DECLARED), [fromFile(once, "v.hcl", true)], "web.nomad").text).toBe(once);
    expect(once).toBe(text);
  });

  it("names what is missing, with the line of the declaration", () => {
    expect(mergeVariables(declare(DECLARED), [], "web.nomad").problems).toEqual([
      {
        severity: "error",
        file: "web.nomad",
        line: 5,
        message:
          'variable "n" has no default, and no value is set for it; var_files, variables, or a .vars.hcl beside the file can',
      },
    ]);
  });

  it("warns of values that this file does not declare, unless they are meant for many", () => {
    const { problems } = mergeVariables(declare(""), [fromFile("x = 1\n\ny = 2\n", "web.vars.hcl", false)], "web.nomad");
    expect(problems.map(({ severity, file, line, message }) => [severity, file, line, message])).toEqual([
      ["warn", "web.vars.hcl", 1, 'web.vars.hcl:1: a value is set for variable "x", which web.nomad does not declare'],
      ["warn", "web.vars.hcl", 3, 'web.vars.hcl:3: a value is set for variable "y", which web.nomad does not declare'],
    ]);
    expect(mergeVariables(declare(""), [configuredVariables({ x: 1 }, "c")], "web.nomad").problems).toEqual([]);
  });

  it("refuses a value that does not fit the type, without showing it", () => {
    const { problems, text } = mergeVariables(declare(DECLARED), [fromFile('n = "hunter2"\n', "v.hcl", true)], "web.nomad");
    expect(problems).toEqual([
      {
        severity: "error",
        file: "v.hcl",
        line: 1,
        message: 'v.hcl:1: the value for variable "n" does not fit its type (declared at web.nomad:5): a number is required',
      },
    ]);
    expect(text).not.toContain("hunter2");
  });

  it("leaves values out of the public text whose names look secret, at any depth", () => {
    const declared = declare(
      'variable "db_password" {\n}\nvariable "image" {\n}\nvariable "settings" {\n}\nvariable "hosts" {\n}\n',
    );
    const text = 'db_password = "p"\nimage = "i"\nsettings = { apiKey = "k", a = 1 }\nhosts = [{ token = "t" }]\n';
    const merged = mergeVariables(declared, [fromFile(text, "v.hcl", true)], "web.nomad");
    expect(merged.publicText).toBe('image = "i"\n');
    expect(merged.text.split("\n")).toHaveLength(5);
  });
});

describe("sources", () => {
  it("reads plain data from the configuration as people wrote it", () => {
    const values = { a: "x", n: 0.1, b: true, l: [1, "2"], o: { "k e": null }, big: 9007199254740993n };
    const declared = Object.keys(values).map((name) => `variable "${name}" {\n}\n`);
    const { text } = mergeVariables(declare(declared.join("")), [configuredVariables(values, "c")], "web.nomad");
    expect(text).toBe('a = "x"\nb = true\nbig = 9007199254740993\nl = [1, "2"]\nn = 0.1\no = { "k e" = null }\n');
  });

  it("reads the environment by the declared type", () => {
    const environment = { NOMAD_VAR_a: "5", NOMAD_VAR_n: "7", NOMAD_VAR_l: '["x"]', NOMAD_VAR_other: "1", OTHER: "2" };
    const { assignments, problems } = environmentVariables(environment, declare(DECLARED), parser);
    const { text } = mergeVariables(declare(DECLARED), [{ assignments, shared: true }], "web.nomad");
    expect([text, problems]).toEqual(['a = "5"\nl = ["x"]\nn = "7"\n', []]);
  });

  it("does not show what the environment held instead of an expression", () => {
    const { problems } = environmentVariables({ NOMAD_VAR_l: '["s3cret' }, declare(DECLARED), parser);
    expect(problems).toEqual([
      { severity: "error", file: "web.nomad", line: 8, message: 'NOMAD_VAR_l is no HCL expression for variable "l"' },
    ]);
  });

  it.each([
    ["a = [\n", "v.hcl:2: Missing expression"],
    ["a = upper(1)\n", "v.hcl:1: Function calls not allowed"],
    ["a = var.b\n", "v.hcl:1: Variables not allowed"],
    ['variable "a" {\n}\n', "holds no blocks (variable)"],
    ["a = 1\na = 2\n", "v.hcl:2: Attribute redefined"],
    ['{"a": }', "v.hcl:1: Missing JSON value"],
  ])("reports %j with its line", (text, message) => {
    const { problems } = parseVariableFile(text, "v.hcl", parser);
    const [problem] = problems;
    expect(`${problem?.file}:${problem?.line}: ${problem?.message}`).toContain(message);
    expect(problem?.message).not.toMatch(/^\S+:\d/);
    expect(problem?.line).toBeGreaterThan(0);
  });

  it("reads JSON as well", () => {
    const { assignments } = parseVariableFile('{"a": "${x}", "n": 1}', "v.json", parser);
    expect(assignments.map(({ name, value, origin }) => [name, value.kind, origin])).toEqual([
      ["a", "string", "v.json:1"],
      ["n", "number", "v.json:1"],
    ]);
  });
});

describe("names that look secret", () => {
  it.each([
    "password",
    "DB_PASSWORD",
    "apiToken",
    "tls-key",
    "client_secret",
    "auth",
    "basicAuth",
    "AwsCredentials",
    "dsn",
    "ssh_private",
    "myapikey",
  ])("%s", (name) => expect(looksSecret(name)).toBe(true));
  it.each(["image", "replicas", "keyspace", "monkey", "tag", "passenger", "region", ""])("but not %j", (name) =>
    expect(looksSecret(name)).toBe(false),
  );
});
