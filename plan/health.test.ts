import { describe, expect, it } from "vitest";
import type { AllocationStub, DeploymentGroup, Evaluation, NomadDeployment } from "../model/nomad.ts";
import { aLiveJob } from "../testkit/builders.ts";
import { judgeHealth } from "./health.ts";
import type { HealthInput } from "./health-words.ts";

const index = 50;
const live = (over: object = {}) => aLiveJob({ JobModifyIndex: index, Version: 3, ...over });
const groupOf = (over: Partial<DeploymentGroup> = {}): DeploymentGroup => ({
  Promoted: false,
  DesiredCanaries: 0,
  DesiredTotal: 1,
  PlacedAllocs: 1,
  HealthyAllocs: 1,
  UnhealthyAllocs: 0,
  ...over,
});
const rollout = (over: Partial<NomadDeployment> = {}, group: Partial<DeploymentGroup> = {}): NomadDeployment => ({
  ID: "nd",
  JobID: "web",
  Namespace: "default",
  JobVersion: 3,
  JobCreateIndex: 1,
  JobSpecModifyIndex: index,
  Status: "successful",
  StatusDescription: "",
  TaskGroups: { web: groupOf(group) },
  CreateIndex: 51,
  ModifyIndex: 52,
  ...over,
});
const alloc = (over: Partial<AllocationStub> = {}): AllocationStub => ({
  ID: "a1b2c3d4e5",
  JobID: "web",
  JobVersion: 3,
  TaskGroup: "web",
  DesiredStatus: "run",
  ClientStatus: "running",
  CreateIndex: 51,
  ModifyIndex: 52,
  ...over,
});
const evaluation = (over: Partial<Evaluation> = {}): Evaluation => ({
  ID: "e",
  JobID: "web",
  Status: "complete",
  Type: "service",
  TriggeredBy: "job-register",
  JobModifyIndex: index,
  CreateIndex: 51,
  ModifyIndex: 51,
  ...over,
});
const exit = (code: number) => ({
  main: {
    State: "dead",
    Failed: true,
    Events: [
      { Type: "Terminated", DisplayMessage: `Exit Code: ${code}` },
      { Type: "Not Restarting", DisplayMessage: "Policy allows no restarts" },
    ],
  },
});
const restarting = {
  main: {
    State: "pending",
    Failed: false,
    Restarts: 2,
    Events: [
      { Type: "Terminated", DisplayMessage: "Exit Code: 3" },
      { Type: "Restarting", DisplayMessage: "Task restarting in 15s" },
      { Type: "Alloc Unhealthy", DisplayMessage: "Task not running by healthy_deadline of 20s" },
    ],
  },
};
const unplaceable = evaluation({
  FailedTGAllocs: { web: { NodesEvaluated: 3, ConstraintFiltered: { "${attr.kernel.name} = windows": 3 } } },
});

const judge = (over: Partial<HealthInput>) =>
  judgeHealth({
    appliedIndex: index,
    mode: "apply",
    live: live(),
    nomadDeployments: [],
    allocations: [],
    evaluations: [evaluation()],
    ...over,
  });
const service = (over: Partial<HealthInput>) => judge(over);
const batch = (over: Partial<HealthInput>, type = "batch") => judge({ live: live({ Type: type }), ...over });

describe("with Nomad's own deployment", () => {
  it.each<[string, Partial<HealthInput>, string, RegExp]>([
    ["successful", { nomadDeployments: [rollout()] }, "healthy", /successful/],
    ["running", { nomadDeployments: [rollout({ Status: "running" }, { DesiredTotal: 3 })] }, "waiting", /web 1 of 3 healthy/],
    ["paused", { nomadDeployments: [rollout({ Status: "paused" })] }, "waiting", /paused/],
    [
      "failed, with the allocation's cause",
      {
        nomadDeployments: [
          rollout({ Status: "failed", StatusDescription: "Failed due to unhealthy allocations - rolling back to job version 2" }),
        ],
        allocations: [alloc({ ClientStatus: "failed", TaskStates: exit(3) })],
      },
      "failed rollout_failed",
      /rolling back.*Exit Code: 3/,
    ],
    [
      "failed while the task is restarted: its exit is the cause, not the deadline",
      {
        nomadDeployments: [rollout({ Status: "failed", StatusDescription: "Failed due to progress deadline" })],
        allocations: [alloc({ ClientStatus: "pending", DeploymentStatus: { Healthy: false }, TaskStates: restarting })],
      },
      "failed rollout_failed",
      /progress deadline; allocation a1b2c3d4 of group web: task main ended and is restarted: Exit Code: 3, restarts: 2$/,
    ],
    [
      "running, and the task is restarted",
      {
        nomadDeployments: [rollout({ Status: "running" }, { HealthyAllocs: 0 })],
        allocations: [alloc({ ClientStatus: "pending", TaskStates: restarting })],
      },
      "waiting",
      /web 0 of 1 healthy; allocation a1b2c3d4 of group web: task main ended and is restarted: Exit Code: 3/,
    ],
    [
      "failed with an allocation that only never became healthy",
      {
        nomadDeployments: [rollout({ Status: "failed", StatusDescription: "Failed due to progress deadline" })],
        allocations: [
          alloc({
            DeploymentStatus: { Healthy: false },
            TaskStates: {
              main: {
                State: "running",
                Failed: false,
                Events: [{ Type: "Alloc Unhealthy", DisplayMessage: "checks never passed" }],
              },
            },
          }),
        ],
      },
      "failed rollout_failed",
      /deadline; allocation a1b2c3d4 of group web is not healthy: task main: checks never passed$/,
    ],
    [
      "running, and the task was restarted before it became healthy: nothing to tell",
      {
        nomadDeployments: [rollout({ Status: "running" }, { DesiredTotal: 2 })],
        allocations: [alloc({ DeploymentStatus: { Healthy: true }, TaskStates: restarting })],
      },
      "waiting",
      /^web 1 of 2 healthy$/,
    ],
    [
      "cancelled",
      { nomadDeployments: [rollout({ Status: "cancelled", StatusDescription: "Cancelled due to newer version of job" })] },
      "failed rollout_failed",
      /newer version/,
    ],
    [
      "of another version is not ours",
      { nomadDeployments: [rollout({ JobSpecModifyIndex: 49 })], allocations: [] },
      "waiting",
      /0 of 1 running/,
    ],
    [
      "nothing can be placed: never an end by itself, and the words say why",
      {
        nomadDeployments: [rollout({ Status: "running" }, { PlacedAllocs: 0, HealthyAllocs: 0 })],
        evaluations: [unplaceable, evaluation({ Status: "blocked", CreateIndex: 52 })],
      },
      "waiting",
      /group web cannot be placed: of 3 nodes: 3 nodes excluded by .*windows/,
    ],
    [
      "a system job is successful with nothing placed: it is not healthy (nomad-api §17)",
      {
        live: live({ Type: "system" }),
        nomadDeployments: [rollout({}, { DesiredTotal: 0, HealthyAllocs: 0 })],
        evaluations: [unplaceable],
      },
      "waiting",
      /cannot be placed/,
    ],
    [
      "auto_revert moved the job after the failure",
      {
        live: live({ JobModifyIndex: 60, Version: 4 }),
        nomadDeployments: [
          rollout({ Status: "failed", StatusDescription: "Failed due to progress deadline - rolling back to job version 2" }),
        ],
      },
      "failed rollout_failed",
      /progress deadline/,
    ],
    [
      "successful before somebody changed the job again",
      { live: live({ JobModifyIndex: 60 }), nomadDeployments: [rollout()] },
      "healthy",
      /before the job changed/,
    ],
    [
      "somebody changed the job meanwhile",
      { live: live({ JobModifyIndex: 60 }), nomadDeployments: [rollout({ Status: "running" })] },
      "failed conflict",
      /index 50.*index is 60/,
    ],
    ["the job is gone", { live: undefined }, "failed conflict", /gone/],
    ["the job is stopped", { live: live({ Stop: true }) }, "failed conflict", /registered at index 50, now it is stopped$/],
  ])("%s", (_name, over, state, words) => {
    const health = service(over);
    expect(health.state === "failed" ? `failed ${health.reason}` : health.state).toBe(state);
    expect(health.message).toMatch(words);
  });

  it.each<[string, Partial<DeploymentGroup>, object, string]>([
    [
      "ready and by hand",
      { DesiredCanaries: 1, PlacedCanaries: ["c"], HealthyAllocs: 1, AutoPromote: false },
      {},
      "awaiting_promotion",
    ],
    ["still starting", { DesiredCanaries: 2, PlacedCanaries: ["c"], HealthyAllocs: 1, AutoPromote: false }, {}, "waiting"],
    ["promoted", { DesiredCanaries: 1, PlacedCanaries: ["c"], Promoted: true, AutoPromote: false }, {}, "waiting"],
    ["promoted by Nomad itself", { DesiredCanaries: 1, PlacedCanaries: ["c"], AutoPromote: true }, {}, "waiting"],
    [
      "promoted by Nomad itself, as the job's update block says",
      { DesiredCanaries: 1, PlacedCanaries: ["c"] },
      { Update: { AutoPromote: true } },
      "waiting",
    ],
  ])("canaries: %s", (_name, group, job, state) => {
    expect(service({ live: live(job), nomadDeployments: [rollout({ Status: "running" }, group)] }).state).toBe(state);
  });
});

describe("without one", () => {
  it.each<[string, Partial<HealthInput>, string, RegExp]>([
    ["periodic", { live: live({ Type: "batch", Periodic: { Spec: "@daily" } }) }, "healthy", /registered/],
    ["parameterized", { live: live({ Type: "batch", ParameterizedJob: {} }) }, "healthy", /registered/],
    ["count 0", { live: live({ TaskGroups: [{ Name: "web", Count: 0 }] }) }, "healthy", /count 0/],
    ["all running", { allocations: [alloc()] }, "healthy", /running/],
    [
      "fewer than wanted",
      { live: live({ TaskGroups: [{ Name: "web", Count: 2 }] }), allocations: [alloc()] },
      "waiting",
      /1 of 2 running/,
    ],
    ["of another version", { allocations: [alloc({ JobVersion: 2 })] }, "waiting", /0 of 1/],
    [
      "failed for good",
      { allocations: [alloc({ ClientStatus: "failed", TaskStates: exit(1) })] },
      "failed allocation_failed",
      /Exit Code: 1/,
    ],
    [
      "failed and replaced",
      { allocations: [alloc({ ClientStatus: "failed", NextAllocation: "b" }), alloc({ ID: "b" })] },
      "healthy",
      /running/,
    ],
    [
      "failed, to be rescheduled",
      { allocations: [alloc({ ClientStatus: "failed", FollowupEvalID: "f" })] },
      "waiting",
      /1 pending/,
    ],
    [
      "failed, an evaluation is under way",
      { allocations: [alloc({ ClientStatus: "failed" })], evaluations: [evaluation({ Status: "pending" })] },
      "waiting",
      /pending/,
    ],
    ["lost", { allocations: [alloc({ ClientStatus: "lost" })] }, "failed allocation_failed", /was lost/],
    ["pending", { allocations: [alloc({ ClientStatus: "pending" })] }, "waiting", /1 pending$/],
    [
      "pending, since its task is restarted",
      { allocations: [alloc({ ClientStatus: "pending", TaskStates: restarting })] },
      "waiting",
      /1 pending; allocation a1b2c3d4 of group web: task main ended and is restarted: Exit Code: 3, restarts: 2$/,
    ],
    [
      "a service that ended by itself",
      { allocations: [alloc({ ClientStatus: "complete" })] },
      "failed nothing_runs",
      /nothing of the job runs/,
    ],
    ["cannot be placed", { evaluations: [unplaceable, evaluation({ Status: "blocked" })] }, "waiting", /cannot be placed/],
    [
      "unhealthy by its own checks",
      { allocations: [alloc({ DeploymentStatus: { Healthy: false } }), alloc({ ID: "b", ClientStatus: "pending" })] },
      "waiting",
      /0 of 1 running/,
    ],
  ])("service: %s", (_name, over, state, words) => {
    const health = service(over);
    expect(health.state === "failed" ? `failed ${health.reason}` : health.state).toBe(state);
    expect(health.message).toMatch(words);
  });

  it.each<[string, Partial<HealthInput>, string]>([
    ["complete", { allocations: [alloc({ ClientStatus: "complete" })] }, "healthy"],
    ["running: waits, and is good enough at the end of the time", { allocations: [alloc()] }, "waiting good enough"],
    [
      "running too few",
      { live: live({ Type: "batch", TaskGroups: [{ Name: "web", Count: 2 }] }), allocations: [alloc()] },
      "waiting",
    ],
    ["failed", { allocations: [alloc({ ClientStatus: "failed" })] }, "failed"],
    ["failed, to be rescheduled", { allocations: [alloc({ ClientStatus: "failed", FollowupEvalID: "f" })] }, "waiting"],
    ["not placed yet", {}, "waiting"],
    ["cannot be placed", { evaluations: [unplaceable, evaluation({ Status: "blocked" })] }, "waiting"],
  ])("batch: %s", (_name, over, expected) => {
    const health = batch(over);
    expect(health.state + (health.state === "waiting" && health.goodEnough === true ? " good enough" : "")).toBe(expected);
  });

  it.each<[string, string, Partial<HealthInput>, string]>([
    ["system on every node", "system", { allocations: [alloc(), alloc({ ID: "b" })] }, "healthy"],
    ["system, one node starting", "system", { allocations: [alloc(), alloc({ ID: "b", ClientStatus: "pending" })] }, "waiting"],
    ["system on no node", "system", {}, "waiting"],
    ["sysbatch done everywhere", "sysbatch", { allocations: [alloc({ ClientStatus: "complete" })] }, "healthy"],
    [
      "sysbatch failed on one node",
      "sysbatch",
      { allocations: [alloc({ ClientStatus: "complete" }), alloc({ ID: "b", ClientStatus: "failed" })] },
      "failed",
    ],
  ])("%s", (_name, type, over, state) => expect(batch(over, type).state).toBe(state));
});

describe("verification (design D12)", () => {
  const over = rollout({ Status: "failed" });
  it("ignores a rollout that had failed before it began and judges the allocations", () => {
    expect(judge({ mode: "verify", nomadDeployments: [over], allocations: [alloc()] }).state).toBe("healthy");
    expect(judge({ mode: "verify", nomadDeployments: [over], allocations: [alloc({ ClientStatus: "failed" })] })).toMatchObject({
      state: "failed",
      reason: "nothing_runs",
    });
  });

  it("waits for no follow-up of what made that rollout fail, but for one that a person asked for, and for what failed later", () => {
    const fault = alloc({
      ClientStatus: "failed",
      FollowupEvalID: "f",
      DeploymentStatus: { Healthy: false },
      TaskStates: exit(3),
    });
    const verify = (more: Partial<HealthInput>) =>
      judge({ mode: "verify", nomadDeployments: [over], allocations: [fault], ...more });
    expect(verify({})).toMatchObject({ state: "failed", message: expect.stringContaining("Exit Code: 3") });
    expect(verify({ evaluations: [evaluation({ Status: "pending" })] }).state).toBe("waiting");
    expect(verify({ allocations: [alloc({ ClientStatus: "failed", FollowupEvalID: "f" })] }).state).toBe("waiting");
  });

  it("takes a newer rollout of the same version", () => {
    expect(judge({ mode: "verify", nomadDeployments: [rollout({ ID: "new", Status: "running" }), over] }).state).toBe("waiting");
  });
});
