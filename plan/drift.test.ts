import { describe, expect, it } from "vitest";
import type { JobDiff, JobSpec } from "../model/nomad.ts";
import { blindSpotsDiffer, differingLeaves, judgeDrift, provesApplied } from "./drift.ts";

const field = (Name: string, Type: "None" | "Edited" | "Added" = "Edited") => ({ Type, Name, Old: "a", New: "b" });
const diff = (over: Partial<JobDiff>): JobDiff => ({
  Type: "Edited",
  ID: "web",
  Fields: [],
  Objects: [],
  TaskGroups: [],
  ...over,
});
const group = (over: object) => ({ Type: "Edited" as const, Name: "g", Fields: [], Objects: [], Tasks: [], ...over });

describe("judgeDrift", () => {
  it.each<[string, JobDiff, "none" | "own_keys" | "unknown" | "drift", string[]]>([
    ["nothing differs", diff({ Type: "None" }), "none", []],
    ["the job does not exist", diff({ Type: "Added" }), "drift", []],
    ["a field", diff({ Fields: [field("Priority")] }), "drift", ["Priority"]],
    ["only unchanged context", diff({ Fields: [field("Priority", "None")] }), "unknown", []],
    [
      "only own keys",
      diff({ Fields: [field("Meta[nops_policy]"), field("Meta[nops_timeout]", "Added")] }),
      "own_keys",
      ["Meta[nops_policy]", "Meta[nops_timeout]"],
    ],
    [
      "own keys and another",
      diff({ Fields: [field("Meta[nops_policy]"), field("Meta[owner]")] }),
      "drift",
      ["Meta[nops_policy]", "Meta[owner]"],
    ],
    [
      "a group's meta that only looks like an own key",
      diff({ TaskGroups: [group({ Fields: [field("Meta[nops_policy]")] })] }),
      "drift",
      ["group g Meta[nops_policy]"],
    ],
    [
      "the scaling block after its first register",
      diff({ TaskGroups: [group({ Objects: [{ Type: "Edited", Name: "Scaling" }] })] }),
      "unknown",
      [],
    ],
    [
      "a block that came",
      diff({ TaskGroups: [group({ Objects: [{ Type: "Added", Name: "Scaling" }] })] }),
      "drift",
      ["group g Scaling"],
    ],
    ["a task that went", diff({ TaskGroups: [group({ Tasks: [{ Type: "Deleted", Name: "t" }] })] }), "drift", ["group g task t"]],
    [
      "deep inside",
      diff({
        TaskGroups: [
          group({
            Tasks: [{ Type: "Edited", Name: "t", Objects: [{ Type: "Edited", Name: "Config", Fields: [field("image")] }] }],
          }),
        ],
      }),
      "drift",
      ["group g task t Config image"],
    ],
    ["a stopped job", diff({ Fields: [field("Stop")] }), "drift", ["Stop"]],
    ["null lists", diff({ Fields: null, Objects: null, TaskGroups: null }), "unknown", []],
  ])("%s", (_name, given, verdict, leaves) => {
    expect([judgeDrift(given, false), differingLeaves(given)]).toEqual([verdict, leaves]);
  });

  it("a field that plan never compares makes an equal plan unknown, and nothing else", () => {
    expect(judgeDrift(diff({ Type: "None" }), true)).toBe("unknown");
    expect(judgeDrift(diff({ Fields: [field("Priority")] }), true)).toBe("drift");
  });
});

it.each<[string, JobDiff, boolean]>([
  ["equal", diff({ Type: "None" }), true],
  ["edited without a leaf", diff({}), true],
  ["a leaf", diff({ Fields: [field("Priority")] }), false],
  ["own keys: that is not what was registered", diff({ Fields: [field("Meta[nops_policy]")] }), false],
  ["the job is gone", diff({ Type: "Added" }), false],
])("provesApplied: %s", (_name, given, expected) => expect(provesApplied(given)).toBe(expected));

describe("blindSpotsDiffer", () => {
  const job = (spreads: unknown): JobSpec => ({ ID: "web", Spreads: spreads });
  it.each<[string, unknown, unknown, boolean]>([
    ["both unset", null, [], false],
    [
      "defaults filled in by the server",
      [{ Attribute: "a", Weight: null, SpreadTarget: null }],
      [{ Attribute: "a", Weight: 50, SpreadTarget: [] }],
      false,
    ],
    ["another attribute", [{ Attribute: "a" }], [{ Attribute: "b" }], true],
    [
      "another percentage",
      [{ Attribute: "a", SpreadTarget: [{ Value: "x", Percent: 10 }] }],
      [{ Attribute: "a", SpreadTarget: [{ Value: "x", Percent: 20 }] }],
      true,
    ],
    ["one came", [{ Attribute: "a" }], null, true],
  ])("%s", (_name, target, live, expected) => expect(blindSpotsDiffer(job(target), job(live))).toBe(expected));
});
