import { describe, expect, it } from "vitest";
import { loadHclParser } from "../../hcl/parser.ts";
import { parseJob } from "./parse.ts";
import { ParseFailure } from "./types.ts";

const parser = await loadHclParser();

const UNSET =
  '<nil>: Unset variable "size"; A used variable must be set or have a default value; see ' +
  "https://developer.hashicorp.com/nomad/docs/reference/hcl2/variables  for details.";
const FOR_NOBODY =
  '<nil>: Undefined variable; A "colour" variable was set but was not found in known variables. To declare variable "colour", ' +
  "place this block in your job files";

/** What Nomad says of a variable with these lines and these values, a problem a line. */
function problems(lines: string, variables = ""): string[] {
  const hcl = `variable "size" {\n${lines}\n}\njob "x" {\n}\n`;
  try {
    parseJob({ hcl, variables, canonicalize: false }, parser);
  } catch (error) {
    if (!(error instanceof ParseFailure)) throw error;
    return error.message.replace("Failed to parse job: ", "").split("\n");
  }
  return [];
}

const checked = (condition: string, message = '"too many"') =>
  `type = list(string)\ndefault = ["s"]\nvalidation {\ncondition = ${condition}\nerror_message = ${message}\n}`;

describe("variables of a job file", () => {
  it.each([
    ["a number is a text", "description = 1", []],
    [
      "no list",
      "description = []",
      ["input.hcl:2,15-16: Unsuitable value type; Unsuitable value: string required, but have tuple"],
    ],
    ["no null", "description = null", ["input.hcl:2,15-19: Unsuitable value type; Unsuitable value: null value is not allowed"]],
  ])("a description is a text: %s", (_, line, told) => {
    expect(problems(`${line}\ndefault = 1`)).toEqual(told);
  });

  it.each([
    ["the names of its loops", 'length([for s in var.size : upper(s) if s != ""]) == 1', []],
    ["the names of a template's loops", '"%{ for i, s in var.size }${i}${s}%{ endfor }" == "0s"', []],
    [
      "nothing else, not even in a loop",
      "length([for s in var.size : other]) == 1",
      [
        'input.hcl:5,41-46: Invalid reference in variable validation; The condition for variable "size" can only refer to the ' +
          "variable itself, using var.size.",
        'input.hcl:5,41-46: Unknown variable; There is no variable named "other".',
      ],
    ],
  ])("a condition may use %s", (_, condition, told) => {
    expect(problems(checked(condition))).toEqual(told);
  });

  it("computes the message of a validation, from constants", () => {
    expect(problems(checked("length(var.size) > 3", '"${1 + 1} are too few"'))[0]).toBe(
      "input.hcl:3,11-16: Invalid value for default variable; 2 are too few",
    );
    expect(problems(checked("length(var.size) > 0", "[]"))).toEqual([
      "input.hcl:6,17-18: Unsuitable value type; Unsuitable value: string required, but have tuple",
    ]);
  });

  it("tells what is wrong with the values beside what is wrong with the declarations", () => {
    expect(problems("type = number\nkind = 1", 'size = "a lot"')).toEqual([
      'input.hcl:3,1-5: Unsupported argument; An argument named "kind" is not expected here.',
      "input.hcl:1,8-15: Invalid value for variable; The value for size is not compatible with the variable's type constraint: a number is required.",
    ]);
  });

  it("tells of a value for nobody only beside errors", () => {
    expect(problems("default = 1", "colour = 1")).toEqual([]);
    expect(problems("type = number", "colour = 1")).toEqual([FOR_NOBODY, UNSET]);
  });
});
