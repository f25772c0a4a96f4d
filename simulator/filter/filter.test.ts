import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileFilter } from "./evaluate.ts";
import { FilterError } from "./peg.ts";

const row = {
  ID: "web",
  Type: "service",
  Priority: 50,
  Stop: false,
  Status: "running",
  Meta: { team: "core", "a-b": "1" },
  Datacenters: ["dc1", "dc2"],
  Periodic: null,
  TaskGroups: [
    { Name: "front", Count: 2 },
    { Name: "back", Count: 1 },
  ],
};

const yes = [
  "ID == web",
  'ID == "web"',
  "ID == `web`",
  "ID != api",
  "Priority == 50",
  "Stop == false",
  "Stop != true and Priority != 3",
  "Type == batch or Type == service",
  "not Type == batch",
  "not (Type == batch and ID == web)",
  "(ID == web)",
  "((ID == web))",
  "Meta.team == core",
  'Meta["team"] == core',
  'Meta["a-b"] == "1"',
  '"/Meta/team" == core',
  "team in Meta",
  "zz not in Meta",
  "Meta contains team",
  "Meta is not empty",
  "dc1 in Datacenters",
  "dc3 not in Datacenters",
  "Datacenters contains dc2",
  "ID contains eb",
  "ID not contains x",
  'ID matches "^w.b$"',
  "ID matches `(?i)^W`",
  "ID not matches `^W`",
  "any TaskGroups as group { group.Name == back }",
  "all TaskGroups as group { group.Count != 0 }",
  'any Meta as key, value { key == team and value == "core" }',
  "TaskGroups.0.Name == front",
  "Meta.zz is empty",
];

const no = [
  "ID == api",
  "Priority != 50",
  "Meta.team != core",
  "dc1 not in Datacenters",
  "all TaskGroups as group { group.Name == back }",
  "any TaskGroups as group { group.Name == zz }",
  "ID is empty",
  "Meta is empty",
  "not Stop == false",
  "Type == service and ID == api",
];

const refused = [
  '"',
  "ID ==",
  "ID == a or",
  "ID == (",
  "not",
  "any",
  "(ID == flt",
  "ID == a)",
  "a b",
  "[",
  "=",
  "ID",
  "all x as",
  "any TaskGroups as tg { tg.Name == g",
  'ID == "unterminated',
  "ID in (",
  "",
];

describe("filters", () => {
  it.each(yes)("%s lets the row through", (text) => {
    expect(compileFilter(text, "Job")(row)).toBe(true);
  });

  it.each(no)("%s holds the row back", (text) => {
    expect(compileFilter(text, "Job")(row)).toBe(false);
  });

  it.each(refused)("%j is refused", (text) => {
    expect(() => compileFilter(text, "Job")(row)).toThrow(FilterError);
  });

  it("and binds closer than or, not closest of all", () => {
    const words = ["true", "false"] as const;
    const atom = (word: string) => (word === "true" ? "ID == web" : "ID == api");
    for (const a of words) {
      for (const b of words) {
        for (const c of words) {
          const text = `${atom(a)} or ${atom(b)} and not ${atom(c)}`;
          expect(compileFilter(text, "Job")(row), text).toBe(a === "true" || (b === "true" && c !== "true"));
        }
      }
    }
  });

  it("never fail otherwise than with a FilterError", () => {
    const piece = fc.constantFrom(
      "ID",
      "==",
      "!=",
      "in",
      "not",
      "and",
      "or",
      "(",
      ")",
      "{",
      "}",
      "any",
      "as",
      "Meta",
      ".",
      '"x"',
      "1",
      "is",
      "empty",
      "matches",
      "[",
      " ",
      "x",
      ",",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom("", " "), (pieces, glue) => {
        try {
          expect(typeof compileFilter(pieces.join(glue), "Job")(row)).toBe("boolean");
        } catch (error) {
          expect(error).toBeInstanceOf(FilterError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
