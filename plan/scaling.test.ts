import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JobSpec, JsonObject, LiveJob, TaskGroupSpec } from "../model/nomad.ts";
import { hasScaling, movedOnlyByScale, onlyScaledBetween, substituteCounts } from "./scaling.ts";

const group = (name: string, count: number | null, scaling: JsonObject | null = null, more: object = {}): TaskGroupSpec => ({
  Name: name,
  Count: count,
  Scaling: scaling,
  ...more,
});
const job = (...groups: TaskGroupSpec[]): JobSpec => ({ ID: "web", TaskGroups: groups });
const live = (version: number, groups: TaskGroupSpec[], more: object = {}): LiveJob => ({
  ...job(...groups),
  Namespace: "default",
  Status: "running",
  Version: version,
  CreateIndex: 5,
  ModifyIndex: version,
  JobModifyIndex: version,
  ...more,
});
const policy = (index: number) => ({ Min: 1, Max: 9, ModifyIndex: index, CreateIndex: 3, ID: "p" });

describe("substituteCounts", () => {
  it("takes the live count per group, only of groups that git lets scale", () => {
    const result = substituteCounts(
      job(group("a", 2, policy(0)), group("b", 2), group("new", 3, policy(0))),
      live(9, [group("a", 7, policy(1)), group("b", 7)]),
    );
    expect(result.TaskGroups?.map((each) => each.Count)).toEqual([7, 2, 3]);
  });

  it.each([
    [0, 2],
    [3, 3],
    [99, 5],
  ])("brings a live count of %i within what git's block allows: %i", (count, expected) => {
    const bounds = { Min: 2, Max: 5 };
    const result = substituteCounts(job(group("a", 2, bounds)), live(9, [group("a", count)]));
    expect(result.TaskGroups?.[0]?.Count).toBe(expected);
  });

  it("leaves a spec without scaling, or without a live job, as it is", () => {
    const spec = job(group("a", 2));
    expect(substituteCounts(spec, live(9, [group("a", 7)]))).toBe(spec);
    const scaled = job(group("a", 2, policy(0)));
    expect(substituteCounts(scaled, undefined)).toBe(scaled);
    expect([hasScaling(spec), hasScaling(scaled)]).toEqual([false, true]);
  });
});

describe("movedOnlyByScale", () => {
  const before = live(9, [group("a", 2, policy(4)), group("b", 2)]);
  it.each<[string, LiveJob, boolean]>([
    ["the count of a scaled group", live(10, [group("a", 8, policy(4)), group("b", 2)]), true],
    ["and the indexes of its policy", live(10, [group("a", 8, policy(10)), group("b", 2)]), true],
    ["the count of another group", live(10, [group("a", 2, policy(4)), group("b", 3)]), false],
    ["a field beside the count", live(10, [group("a", 8, policy(4), { Update: { MaxParallel: 2 } }), group("b", 2)]), false],
    ["the bounds of the policy", live(10, [group("a", 8, { ...policy(4), Max: 99 }), group("b", 2)]), false],
    ["a stop", live(10, [group("a", 8, policy(4)), group("b", 2)], { Stop: true }), false],
    ["the job's meta", live(10, [group("a", 8, policy(4)), group("b", 2)], { Meta: { a: "b" } }), false],
    ["another incarnation", live(10, [group("a", 8, policy(4)), group("b", 2)], { CreateIndex: 10 }), false],
  ])("%s", (_name, now, expected) => expect(movedOnlyByScale(before, now)).toBe(expected));

  it("looks at every version in between, and at none that is missing", () => {
    const at = (version: number, count: number, more: object = {}) =>
      live(version, [group("a", count, policy(4), more), group("b", 2)]);
    const foreign = { Update: { MaxParallel: 9 } };
    expect(onlyScaledBetween([at(9, 2), at(10, 5), at(11, 3)], 9, 11)).toBe(true);
    // What auto_revert leaves: first and last are equal, what was between is not.
    expect(onlyScaledBetween([at(9, 2), at(10, 2, foreign), at(11, 2)], 9, 11)).toBe(false);
    expect(onlyScaledBetween([at(9, 2), at(11, 2)], 9, 11)).toBe(false);
    expect(onlyScaledBetween([at(10, 2), at(11, 2)], 9, 11)).toBe(false);
    expect(onlyScaledBetween([at(8, 2, foreign), at(9, 2), at(10, 4)], 9, 10)).toBe(true);
    expect(onlyScaledBetween([], 9, 10)).toBe(false);
  });

  it("holds for any counts, and a substituted spec never differs from live in a scaled count", () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.nat(50), (git, first, second) => {
        const [a, b] = [live(1, [group("g", first, policy(1))]), live(2, [group("g", second, policy(2))])];
        expect(movedOnlyByScale(a, b)).toBe(true);
        expect(substituteCounts(job(group("g", git, policy(0))), b).TaskGroups?.[0]?.Count).toBe(
          Math.min(9, Math.max(1, second)),
        );
      }),
    );
  });
});
