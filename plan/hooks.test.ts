import { describe, expect, it } from "vitest";
import type { AllocationStub } from "../model/nomad.ts";
import { aDeployment, aFrozenHook, aHookSpec, aJobSpec, aLiveJob, someSettings } from "../testkit/builders.ts";
import { isMassChange, isMassRemoval } from "./brake.ts";
import { hookMeta } from "./hook-meta.ts";
import { judgeHookRun } from "./hook-verdict.ts";
import { explainPlacement } from "./placement.ts";
import { effectivePolicy, isPolicyLowered } from "./policy.ts";

const hook = (required: string[], optional: string[]) =>
  aFrozenHook({ spec: aHookSpec({ ParameterizedJob: { MetaRequired: required, MetaOptional: optional } }) });
const images = (...tasks: [string, string][]) =>
  aJobSpec({ TaskGroups: tasks.map(([Name, image], at) => ({ Name: `g${at}`, Tasks: [{ Name, Config: { image } }] })) });

describe("hookMeta (operator §13.2)", () => {
  it("offers only what the hook declares", () => {
    const result = hookMeta(
      hook(["nops_job_id"], ["nops_phase", "nops_image_my_app", "own"]),
      aDeployment(),
      images(["my-app", "app:7"]),
      "tok",
    );
    expect(result).toEqual({ ok: true, meta: { nops_job_id: "web", nops_phase: "pre", nops_image_my_app: "app:7" } });
  });

  it("fails for a required key that nobody can provide", () => {
    expect(hookMeta(hook(["nops_image_gone", "own"], []), aDeployment(), images(["app", "app:7"]), "tok")).toMatchObject({
      ok: false,
      message: expect.stringContaining("nops_image_gone, own"),
    });
  });

  it("fails when two tasks would fill one declared key differently, and only then", () => {
    const clash = images(["my.app", "a:1"], ["my-app", "a:2"]);
    expect(hookMeta(hook([], ["nops_image_my_app"]), aDeployment(), clash, "tok")).toMatchObject({ ok: false });
    expect(hookMeta(hook([], []), aDeployment(), clash, "tok")).toMatchObject({ ok: true });
    expect(
      hookMeta(hook([], ["nops_image_my_app"]), aDeployment(), images(["my.app", "a:1"], ["my-app", "a:1"]), "tok"),
    ).toMatchObject({ ok: true });
  });
});

const alloc = (over: Partial<AllocationStub>): AllocationStub => ({
  ID: "a1",
  JobID: "x",
  JobVersion: 0,
  TaskGroup: "main",
  DesiredStatus: "run",
  ClientStatus: "running",
  CreateIndex: 1,
  ModifyIndex: 1,
  ...over,
});

describe("judgeHookRun (operator §13.5)", () => {
  it.each<[string, object, Partial<AllocationStub>[], string]>([
    ["dead and complete", { Status: "dead" }, [{ ClientStatus: "complete" }], "succeeded"],
    ["complete but not dead yet", { Status: "running" }, [{ ClientStatus: "complete" }], "running"],
    ["dead without any allocation", { Status: "dead" }, [], "running"],
    ["failed", { Status: "dead" }, [{ ClientStatus: "failed" }], "failed"],
    ["lost", { Status: "running" }, [{ ClientStatus: "lost" }], "failed"],
    ["one complete, one failed", { Status: "dead" }, [{ ClientStatus: "complete" }, { ClientStatus: "failed" }], "failed"],
    ["complete because it was stopped", { Status: "dead" }, [{ ClientStatus: "complete", DesiredStatus: "stop" }], "stopped"],
    ["stopped before it was placed", { Status: "dead", Stop: true }, [], "stopped"],
    ["killed by a stop", { Status: "dead", Stop: true }, [{ ClientStatus: "failed", DesiredStatus: "stop" }], "stopped"],
    ["running", { Status: "running" }, [{}], "running"],
    ["pending", { Status: "pending" }, [{ ClientStatus: "pending" }], "running"],
  ])("%s", (_name, child, allocations, state) => expect(judgeHookRun(aLiveJob(child), allocations.map(alloc)).state).toBe(state));
});

describe("placement in words", () => {
  it.each([
    [{}, ""],
    [
      { web: { NodesEvaluated: 3, ConstraintFiltered: { "kernel = windows": 2, "arch = arm": 1 } } },
      "group web cannot be placed: of 3 nodes: 2 nodes excluded by kernel = windows, 1 node excluded by arch = arm",
    ],
    [
      { web: { NodesEvaluated: 2, DimensionExhausted: { memory: 2 }, CoalescedFailures: 4 } },
      "group web cannot be placed (and 4 more of it): of 2 nodes: 2 nodes without enough memory",
    ],
    [{ web: { NodesEvaluated: 0, NodesAvailable: { dc1: 0, dc2: 4 } } }, "group web cannot be placed: no node in datacenter dc1"],
    [{ web: { NodesEvaluated: 0 } }, "group web cannot be placed: no node is eligible"],
    [{ web: { NodesEvaluated: 1, QuotaExhausted: ["cpu"] } }, "group web cannot be placed: of 1 node: quota exhausted: cpu"],
    [
      { b: { NodesEvaluated: 1 }, a: { NodesEvaluated: 2 } },
      "group a cannot be placed: none of 2 nodes fits; group b cannot be placed: none of 1 node fits",
    ],
  ])("%j", (failures, words) => expect(explainPlacement(failures)).toBe(words));
});

describe("policies", () => {
  const error = { severity: "error" as const, key: "nops_x", message: "m" };
  it.each([
    ["as declared", someSettings({ policy: "auto" }), undefined, "auto"],
    ["raised to the floor", someSettings({ policy: "auto" }), "approval", "approval"],
    ["never lowered to the floor", someSettings({ policy: "none" }), "approval", "none"],
    ["not managed", someSettings({ managed: false }), undefined, "none"],
    ["any invalid key", someSettings({ issues: [error] }), undefined, "none"],
    ["a warning is no error", someSettings({ issues: [{ ...error, severity: "warn" }] }), undefined, "auto"],
  ] as const)("%s", (_name, settings, floor, expected) => expect(effectivePolicy(settings, floor)).toBe(expected));

  it("only auto after approval is a lowering", () => {
    expect([
      isPolicyLowered("auto", "approval"),
      isPolicyLowered("auto", "auto"),
      isPolicyLowered("auto", undefined),
      isPolicyLowered("approval", "approval"),
      isPolicyLowered("none", "approval"),
    ]).toEqual([true, false, false, false, false]);
  });
});

describe("brakes (D32)", () => {
  it.each([
    [0, 99, false],
    [2, 1, false],
    [2, 2, true],
  ])("limit %d, started %d: %s", (limit, started, expected) => expect(isMassChange(limit, started)).toBe(expected));

  it.each([
    [["a", "b"], ["a"], false],
    [["a", "b", "c"], ["a"], true],
    [["a"], [], true],
    [[], [], false],
    [["a", "b"], ["c", "d"], true],
  ])("from %j to %j: %s", (before, after, expected) => expect(isMassRemoval(new Set(before), new Set(after))).toBe(expected));
});
