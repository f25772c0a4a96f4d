import { describe, expect, it } from "vitest";
import { loadHclParser } from "../../hcl/parser.ts";
import { parseJob } from "./parse.ts";
import { type ApiJob, ParseFailure } from "./types.ts";
import { type Rec, recs } from "./values.ts";

const parser = await loadHclParser();
const TASK = { driver: "raw_exec", config: { command: "sleep" } };

/** A file with one task of these extra fields, these blocks beside the job, and these fields of the job. */
function file(task: Rec = {}, beside: Rec = {}, job: Rec = {}): string {
  return JSON.stringify({ ...beside, job: { x: { ...job, group: { g: { task: { t: { ...TASK, ...task } } } } } } });
}

function read(hcl: string, variables = ""): ApiJob {
  return parseJob({ hcl, variables, canonicalize: false }, parser);
}

function taskOf(job: ApiJob): Rec | undefined {
  return recs(recs(job, "TaskGroups")[0], "Tasks")[0];
}

function problem(hcl: string, variables = ""): string {
  try {
    read(hcl, variables);
  } catch (error) {
    if (error instanceof ParseFailure) return error.message;
    throw error;
  }
  return "accepted";
}

describe("HCL in JSON: what strings mean", () => {
  it("templates where values are wanted, also as keys of maps", () => {
    const meta = { "k-${1 + 1}": 'v-${upper("a")}', kept: "$${x}", later: "${attr.kernel.name}" };
    expect(taskOf(read(file({ meta })))?.["Meta"]).toEqual({ "k-2": "v-A", kept: "${x}", later: "${attr.kernel.name}" });
  });

  it("nothing but text where Nomad evaluates nothing: the default of a variable", () => {
    const job = read(file({}, { variable: { a: { default: "${1 + 1}" } } }, { meta: { m: "${var.a}" } }));
    expect(job["Meta"]).toEqual({ m: "${1 + 1}" });
  });

  it("types in a variable", () => {
    const variable = { a: { type: "list(number)", default: ["1", 2] } };
    expect(read(file({}, { variable }, { meta: { m: "${var.a[0] + 1}" } }))["Meta"]).toEqual({ m: "2" });
  });

  it("names: the iterator of a dynamic block, labels", () => {
    const template = { for_each: ["a", "b"], iterator: "it", content: { data: "${it.value}", destination: "d${it.key}" } };
    const task = taskOf(read(file({ dynamic: { template } })));
    expect(recs(task, "Templates").map((t) => [t["EmbeddedTmpl"], t["DestPath"]])).toEqual([
      ["a", "d0"],
      ["b", "d1"],
    ]);
    expect(read('{"job":{"${var.x}":{}}}')["ID"]).toBe("${var.x}");
  });
});

describe("HCL in JSON: blocks", () => {
  it("are objects by their labels, or lists where there are several", () => {
    const template = [{ data: "a" }, { data: "b" }];
    expect(recs(taskOf(read(file({ template }))), "Templates").map((t) => t["EmbeddedTmpl"])).toEqual(["a", "b"]);
  });

  it("a comment is no property", () => {
    expect(taskOf(read(file({ "//": "why" })))?.["Driver"]).toBe("raw_exec");
  });

  it("values of a variable file may be JSON, too", () => {
    const hcl = file({}, { variable: { a: { type: "string" } } }, { meta: { m: "${var.a}" } });
    expect(read(hcl, '{"a":"${1 + 1}"}')["Meta"]).toEqual({ m: "${1 + 1}" });
    expect(read(hcl, 'a = "q"')["Meta"]).toEqual({ m: "q" });
  });
});

describe("HCL in JSON: what is refused, in the server's words", () => {
  it.each([
    [
      '{"variable":{"a":{"type":"bogus"}},"job":{"x":{}}}',
      'input.hcl:1,26-33: Invalid type specification; The keyword "bogus" is not a valid type specification.',
    ],
    [
      '{"job":{"x":{"meta":{"a":"1","a":"2"}}}}',
      'input.hcl:1,30-33: Duplicate object attribute; An attribute named "a" was already defined at input.hcl:1,22-25.',
    ],
    ['{"job":{"x":{"priority":1.5}}}', "whole number"],
    [
      '{"job":{"x":{"nope":1}}}',
      'input.hcl:1,14-20: Extraneous JSON object property; No argument or block type is named "nope". Did you mean "name"?',
    ],
    ['{"job":5}', "input.hcl:1,8-9: Incorrect JSON value type; Either a JSON object or JSON array of objects is required here"],
    ["{}", "<nil>: Missing job block; A job block is required"],
  ])("%s", (hcl, text) => {
    expect(problem(hcl)).toMatch(/^Failed to parse job: /);
    expect(problem(hcl)).toContain(text);
  });

  it("a template that cannot be read is told with the value, which is then unknown", () => {
    expect(problem('{"job":{"x":{"meta":{"a":"${1 +}"}}}}').split("\n")).toEqual([
      expect.stringContaining("Invalid expression; Expected the start of an expression"),
      expect.stringContaining("Unsuitable value type; Unsuitable value: value must be known"),
    ]);
  });

  it("messages about a value point at the whole string", () => {
    expect(problem('{"job":{"x":{"all_at_once":"${attr.x} y"}}}')).toBe(
      "Failed to parse job: input.hcl:1,28-41: Unsuitable value type; Unsuitable value: a bool is required",
    );
  });
});

describe("HCL in JSON: bodies that are no objects", () => {
  it("are told once for each look that Nomad takes at them, and further jobs after the first", () => {
    const detail = "Either a JSON object or JSON array of objects is required here, to define arguments and child blocks.";
    const wrong = `input.hcl:1,14-15: Incorrect JSON value type; ${detail}`;
    const twice = 'input.hcl:1,13-14: Duplicate job block; Only one block of type "job" is allowed. Previous definition was at';
    expect(problem('{"job":{"x":[1,2]}}').split("\n")).toEqual([
      `Failed to parse job: ${wrong}`,
      wrong,
      wrong,
      `${twice} input.hcl:1,13-14.`,
    ]);
  });
});
