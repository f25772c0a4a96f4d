import { describe, expect, it } from "vitest";
import { type DiffNode, diffSections, diffSummary, schedulerUpdates } from "./diff-rows.ts";

const field = (Type: string, Name: string, Old = "", New = "") => ({ Type, Name, Old, New });

const job: DiffNode = {
  Type: "Edited",
  Fields: [field("Edited", "Priority", "50", "60"), field("None", "Type", "service", "service")],
  TaskGroups: [
    {
      Type: "Edited",
      Name: "web",
      Updates: { create: 1, "in-place update": 2 },
      Objects: [
        { Type: "Edited", Name: "Update", Objects: [{ Type: "Added", Name: "Deep", Fields: [field("Added", "A", "", "1")] }] },
      ],
      Tasks: [{ Type: "Edited", Name: "app", Fields: [field("Deleted", "User", "root", "")] }],
    },
    { Type: "None", Name: "quiet", Fields: null, Tasks: null },
  ],
};

describe("diffSections", () => {
  it("names each changed leaf once, by the place where it stands", () => {
    expect(diffSections(job)).toEqual([
      { place: "job", rows: [{ type: "Edited", path: "Priority", old: "50", new: "60" }] },
      { place: "group web", rows: [{ type: "Added", path: "Update › Deep › A", old: "", new: "1" }] },
      { place: "task web/app", rows: [{ type: "Deleted", path: "User", old: "root", new: "" }] },
    ]);
  });

  it("has no section where nothing is named", () => {
    expect(diffSections({ Type: "Edited", Fields: null, Objects: null, TaskGroups: null })).toEqual([]);
  });
});

describe("diffSummary", () => {
  it("counts by kind and says where", () => {
    expect(diffSummary(diffSections(job))).toBe("1 added, 1 edited, 1 removed in job, group web, task web/app");
  });

  it("says nothing when no field is named", () => {
    expect(diffSummary([])).toBeUndefined();
  });
});

it("tells what Nomad would do to each group", () => {
  expect(schedulerUpdates(job)).toEqual(["web: 1 create", "web: 2 in-place update"]);
});
