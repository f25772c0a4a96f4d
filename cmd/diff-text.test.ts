import { expect, it } from "vitest";
import type { DiffType, JobDiff } from "../model/nomad.ts";
import { diffText } from "./diff-text.ts";

const field = (Type: DiffType, Name: string, Old: string, New: string) => ({ Type, Name, Old, New, Annotations: null });

function aJobDiff(Type: DiffType): JobDiff {
  return {
    Type,
    ID: "web",
    Fields: [field(Type, "Priority", "", "50"), field(Type, "AllAtOnce", "", "false"), field("None", "Region", "", "global")],
    Objects: [{ Type, Name: "Spread", Fields: [field(Type, "Weight", "", "0")], Objects: null }],
    TaskGroups: [
      {
        Type,
        Name: "g",
        Fields: [field(Type, "Count", "", "2")],
        Objects: null,
        Updates: { create: 2 },
        Tasks: [{ Type, Name: "t", Fields: [field(Type, "KillTimeout", "", "0s")], Objects: null, Annotations: null }],
      },
    ],
  };
}

it("leaves out what is blank in a new job, and says how much", () => {
  expect(diffText(aJobDiff("Added"), false)).toBe(`+ job "web"
  + Priority: "50"
  + group "g" (2 create)
    + Count: "2"
    + task "t"
  (3 fields that are empty, zero or false are not shown)
`);
});

it("shows every changed field of a job that is there", () => {
  expect(diffText(aJobDiff("Edited"), false)).toBe(`~ job "web"
  ~ Priority: "" => "50"
  ~ AllAtOnce: "" => "false"
  ~ Spread {
    ~ Weight: "" => "0"
  ~ }
  ~ group "g" (2 create)
    ~ Count: "" => "2"
    ~ task "t"
      ~ KillTimeout: "" => "0s"
`);
});
