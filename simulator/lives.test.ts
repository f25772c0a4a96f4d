/** What lives of jobs on a real server and on this one showed to differ, once each. */
import { describe, expect, it, vi } from "vitest";
import { ask, sampleJob } from "./sample.ts";
import { createSimulator, type Simulator } from "./server.ts";
import type { Allocation, Evaluation } from "./state/types.ts";

/** A cluster whose clients are silent, so that the test says how allocations fare. */
function quiet(nodes = 1): Simulator {
  const simulator = createSimulator({ nodes });
  for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
  return simulator;
}

function placed(job: object = {}, group: object = {}, nodes = 1): Simulator {
  const simulator = quiet(nodes);
  simulator.register(sampleJob("j", { ...job }, { ...group }));
  simulator.advance(100);
  return simulator;
}

const allocs = (simulator: Simulator): Allocation[] => [...simulator.state.allocs.rows.values()];
const evals = (simulator: Simulator): Evaluation[] => [...simulator.state.evals.rows.values()];
const versions = (simulator: Simulator) => simulator.state.jobs.sorted().map((job) => job.Version);

function report(simulator: Simulator, chosen: readonly Allocation[], clientStatus: string, healthy?: boolean): void {
  const timestamp = new Date(simulator.clock.now()).toISOString();
  const health = healthy === undefined ? undefined : { healthy, timestamp };
  const taskStates = { t: { State: "dead", Failed: clientStatus === "failed", FinishedAt: timestamp } } as never;
  const update = { clientStatus, clientDescription: "", taskStates, health };
  simulator.clients.deliver(chosen.map(({ ID: id }) => ({ id, ...update })));
}

describe("evaluations of one job", () => {
  it("leave one of those that wait for their turn", async () => {
    const simulator = placed();
    for (let i = 0; i < 4; i++) await ask(simulator, "PUT", "/v1/job/j/evaluate", { JobID: "j" });
    simulator.advance(100);
    expect(evals(simulator).map((one) => [one.Status, one.StatusDescription ?? ""])).toEqual([
      ["complete", ""],
      ["complete", ""],
      ["canceled", "canceled after more recent eval was processed"],
      ["canceled", "canceled after more recent eval was processed"],
      ["complete", ""],
    ]);
  });

  it("fail when a node that takes nothing is to hear of an allocation that is over", async () => {
    const ReschedulePolicy = { Attempts: 0, Unlimited: true, Delay: 30e9, DelayFunction: "constant" };
    const simulator = placed({ Update: { MaxParallel: 0 } }, { ReschedulePolicy });
    const [alloc] = allocs(simulator);
    await ask(simulator, "PUT", `/v1/node/${alloc?.NodeID}/eligibility`, { Eligibility: "ineligible" });
    report(simulator, allocs(simulator), "failed");
    simulator.advance(100);
    const of = (trigger: string) => evals(simulator).filter((one) => one.TriggeredBy === trigger);
    expect(of("alloc-failure")).toMatchObject([{ Status: "failed", StatusDescription: "maximum attempts reached (5)" }]);
    expect(of("max-plan-attempts")).toMatchObject([
      { Status: "blocked", StatusDescription: "created due to placement conflicts" },
    ]);
    expect(of("alloc-reschedule")).toHaveLength(5);
    expect(allocs(simulator)).toMatchObject([{ FollowupEvalID: "" }]);
  });

  it("count a failed allocation that they make a note on as a neighbour, also when they replace it", () => {
    const ReschedulePolicy = { Attempts: 0, Unlimited: true, Delay: 30e9, DelayFunction: "constant" };
    const group = { Count: 2, ReschedulePolicy };
    const simulator = placed({ Update: { MaxParallel: 2 } }, group, 2);
    const [failed, other] = allocs(simulator);
    expect(failed?.NodeID).not.toBe(other?.NodeID);
    report(simulator, failed === undefined ? [] : [failed], "failed");
    simulator.advance(100);
    simulator.register(sampleJob("j", { Update: { MaxParallel: 2 } }, { ...group, Meta: { changed: "1" } }));
    simulator.advance(100);
    const replaced = allocs(simulator).filter((one) => one.DesiredStatus === "run");
    expect(replaced.map((one) => one.NodeID)).toEqual([other?.NodeID, other?.NodeID]);
  });

  it("free a property of nodes with what they stop, also where that had failed and held it no longer", () => {
    const ReschedulePolicy = { Attempts: 1, Interval: 3600e9, Delay: 5e9, DelayFunction: "constant" };
    const Constraints = [{ LTarget: "${node.unique.id}", Operand: "distinct_property", RTarget: "1" }];
    const simulator = placed({ Type: "batch" }, { Count: 2, ReschedulePolicy, Constraints });
    expect(allocs(simulator)).toHaveLength(1);
    report(simulator, allocs(simulator), "failed");
    simulator.advance(6000);
    expect(allocs(simulator).map((one) => [one.Name, one.DesiredStatus])).toEqual([
      ["j.g[0]", "stop"],
      ["j.g[1]", "run"],
      ["j.g[0]", "run"],
    ]);
  });

  it.each([
    ["without a limit of tries is placed when there is room again", { Attempts: 0, Unlimited: true }, 2],
    ["is given up where the tries are limited", { Attempts: 3, Interval: 3600e9, Unlimited: false }, 1],
  ] as const)("note what finds no place again: it %s", (_, tries, inTheEnd) => {
    const ReschedulePolicy = { ...tries, Delay: 5e9, DelayFunction: "constant", MaxDelay: 60e9 };
    const big = { Resources: { CPU: 100, MemoryMB: 600 } };
    const simulator = createSimulator({ nodes: [{ memoryMb: 800 }] });
    for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
    simulator.register(sampleJob("j", { Update: { MaxParallel: 0 } }, { ReschedulePolicy }, big));
    simulator.advance(100);
    const of = (job: string) => allocs(simulator).filter((one) => one.JobID === job);
    report(simulator, of("j"), "failed");
    simulator.register(sampleJob("other", {}, {}, big));
    simulator.advance(6000);
    expect(of("j")).toMatchObject([
      { DesiredStatus: "run", RescheduleTracker: { Events: null, LastReschedule: "no placement" } },
    ]);
    const [waiting] = evals(simulator).filter((one) => one.Status === "blocked");
    report(simulator, of("other"), "complete");
    simulator.advance(100);
    expect(of("j")).toHaveLength(inTheEnd);
    // It tells no longer what found no room then.
    expect(waiting?.FailedTGAllocs).toBeDefined();
    expect(simulator.state.evals.get(waiting?.ID ?? "")).toMatchObject({ Status: "complete" });
    expect(simulator.state.evals.get(waiting?.ID ?? "")).not.toHaveProperty("FailedTGAllocs");
  });

  it("that wait fail as well when a node does not take their plan, also where they go on waiting for room", async () => {
    const ReschedulePolicy = { Attempts: 1, Interval: 3600e9, Delay: 30e9, DelayFunction: "constant" };
    const big = { Resources: { CPU: 100, MemoryMB: 600 } };
    const simulator = createSimulator({ nodes: [{ memoryMb: 800 }, { memoryMb: 800 }] });
    for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
    simulator.register(sampleJob("j", { Type: "batch" }, { Count: 4, ReschedulePolicy }, big));
    simulator.advance(100);
    const [first, second] = allocs(simulator);
    await ask(simulator, "PUT", `/v1/node/${first?.NodeID}/eligibility`, { Eligibility: "ineligible" });
    report(simulator, first === undefined ? [] : [first], "failed");
    simulator.advance(100);
    report(simulator, second === undefined ? [] : [second], "complete");
    simulator.advance(100);
    const waiting = evals(simulator).filter((one) => one.TriggeredBy === "max-plan-attempts");
    expect(waiting.map((one) => one.Status)).toEqual(["canceled", "failed", "blocked"]);
  });

  it("of system jobs stop what is not needed before they ask whether the rest may stay where it is", async () => {
    const simulator = placed({ Type: "sysbatch" });
    await ask(simulator, "PUT", "/v1/job/j/scale", { Target: { Group: "g" }, Count: 3 });
    simulator.advance(100);
    expect(allocs(simulator)).toHaveLength(3);
    const apart = { LTarget: "${node.unique.id}", Operand: "distinct_property", RTarget: "1" };
    simulator.register(sampleJob("j", { Type: "sysbatch" }, { Constraints: [apart] }));
    simulator.advance(100);
    const kept = allocs(simulator).filter((one) => one.DesiredStatus === "run");
    expect(kept).toMatchObject([{ Name: "j.g[0]", Job: { Version: 2 } }]);
  });

  it("name the one that waits for room only where they are of services and batch jobs", () => {
    const task = { Resources: { CPU: 100, MemoryMB: 900_000 } };
    for (const [type, named] of [
      ["service", true],
      ["batch", true],
      ["system", false],
      ["sysbatch", false],
    ] as const) {
      const simulator = quiet();
      simulator.register(sampleJob("j", { Type: type }, {}, task));
      simulator.advance(100);
      expect(evals(simulator).map((one) => [one.Status, one.BlockedEval !== undefined])).toEqual([
        ["complete", named],
        ["blocked", false],
      ]);
    }
  });

  it("are not woken by room of a kind that they may not use", () => {
    const simulator = createSimulator({ nodes: [{ class: "a" }, { class: "b", memoryMb: 800 }] });
    for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
    const on = (name: string) => ({ Constraints: [{ LTarget: "${node.class}", Operand: "=", RTarget: name }] });
    const big = { Resources: { CPU: 100, MemoryMB: 600 } };
    simulator.register(sampleJob("waits", on("b"), { Count: 2 }, big));
    simulator.register(sampleJob("ends", on("a")));
    simulator.advance(100);
    const of = (job: string) => allocs(simulator).filter((one) => one.JobID === job);
    const looks = vi.spyOn(simulator.operations.engine, "schedule");
    const woken = () => looks.mock.calls.filter(([one]) => one.Status === "blocked").length;
    report(simulator, of("ends"), "complete");
    simulator.advance(100);
    expect(woken()).toBe(0);
    report(simulator, of("waits"), "complete");
    simulator.advance(100);
    expect(woken()).toBeGreaterThan(0);
  });

  it("are not woken by room of a kind that they found to be of no use when they looked again", () => {
    const simulator = createSimulator({ nodes: [{ class: "a" }, { class: "b" }] });
    for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
    const nowhere = { Constraints: [{ LTarget: "${node.class}", Operand: "=", RTarget: "none" }] };
    const ReschedulePolicy = { Attempts: 0, Unlimited: true, Delay: 30e9, DelayFunction: "constant", MaxDelay: 60e9 };
    const Tasks = [{ Name: "t", Driver: "raw_exec", Config: { command: "/bin/sleep" } }];
    const groups = [
      { Name: "lives", Count: 2, ReschedulePolicy, Tasks },
      { Name: "waits", Count: 1, ...nowhere, Tasks },
    ];
    simulator.register({ ...sampleJob("j"), TaskGroups: groups });
    simulator.advance(100);
    const [first] = evals(simulator).filter((one) => one.Status === "blocked");
    expect(Object.values(first?.ClassEligibility ?? {})).toEqual([true, true]);
    for (const alloc of allocs(simulator)) {
      report(simulator, [alloc], "failed");
      simulator.advance(100);
    }
    const [last] = evals(simulator).filter((one) => one.Status === "blocked");
    expect(last?.ID).not.toBe(first?.ID);
    expect(simulator.state.evals.get(first?.ID ?? "")).toMatchObject({ Status: "canceled" });
    expect(Object.values(simulator.state.evals.get(first?.ID ?? "")?.ClassEligibility ?? {})).toEqual([false, false]);
  });

  it("keep the blocked one that was woken last", () => {
    const simulator = createSimulator({ nodes: [{ memoryMb: 800 }] });
    for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
    simulator.register(sampleJob("j", {}, { Count: 3 }, { Resources: { CPU: 100, MemoryMB: 600 } }));
    simulator.advance(100);
    const [first] = evals(simulator).filter((one) => one.Status === "blocked");
    report(simulator, allocs(simulator), "failed");
    simulator.advance(100);
    expect(evals(simulator).filter((one) => one.Status === "blocked")).toMatchObject([{ ID: first?.ID }]);
  });
});

describe("versions", () => {
  it("are compared as they were sent, also where counts are to be preserved", () => {
    const simulator = placed();
    simulator.register(sampleJob("j"), { preserveCounts: true });
    expect(versions(simulator)).toEqual([0]);
    simulator.register(sampleJob("j", {}, { Count: 3 }), { preserveCounts: true });
    expect(versions(simulator)).toEqual([1]);
  });

  it("become the current one when they are said to be stable", async () => {
    const simulator = placed();
    simulator.register(sampleJob("j", { Priority: 60 }));
    expect(versions(simulator)).toEqual([1]);
    await ask(simulator, "PUT", "/v1/job/j/stable", { JobID: "j", JobVersion: 0, Stable: true });
    expect(versions(simulator)).toEqual([0]);
    expect((await ask(simulator, "GET", "/v1/job/j")).at("Stable")).toBe(true);
  });

  it.each([
    ["DELETE", "gone", undefined, 'tag "gone" not found on job "j"'],
    ["PUT", "known", { Version: 1 }, 'tag "known" already exists on a different version of job "j"'],
    ["PUT", "other", { Version: 7 }, 'job "j" version 7 not found'],
    ["PUT", "other", { Version: 1, Latest: true }, "version must be zero when tagging latest, got: 1"],
  ] as const)("cannot be tagged otherwise: %s %s %j", async (method, tag, body, text) => {
    const simulator = placed();
    simulator.register(sampleJob("j", { Priority: 60 }));
    await ask(simulator, "PUT", "/v1/job/j/versions/known/tag", { Version: 0 });
    const answer = await ask(simulator, method, `/v1/job/j/versions/${tag}/tag`, body);
    expect([answer.status, answer.text]).toEqual([500, text]);
  });

  it("of which none is named are tagged as the first one, unless it is to be the latest", async () => {
    const simulator = placed();
    simulator.register(sampleJob("j", { Priority: 60 }));
    await ask(simulator, "PUT", "/v1/job/j/versions/first/tag", {});
    await ask(simulator, "PUT", "/v1/job/j/versions/latest/tag", { Latest: true });
    const tags = simulator.state.job_version.sorted().map((version) => version.VersionTag?.Name);
    expect(tags.sort()).toEqual(["first", "latest"]);
  });

  it("of a periodic job do not tell their children what was said of them later", async () => {
    const simulator = placed({ Type: "batch", Periodic: { Spec: "0 0 1 1 *", SpecType: "cron", Enabled: true } });
    await ask(simulator, "PUT", "/v1/job/j/stable", { JobID: "j", JobVersion: 0, Stable: true });
    await ask(simulator, "PUT", "/v1/job/j/periodic/force");
    expect(simulator.state.jobs.sorted().map((job) => job.Stable)).toEqual([true, false]);
  });
});

describe("what is over", () => {
  it("is collected: allocations that failed and may not be tried again, and what was stopped", async () => {
    const never = { ReschedulePolicy: { Attempts: 0, Unlimited: false } };
    for (const [group, left] of [
      [never, 0],
      [{ ReschedulePolicy: { Attempts: 0, Unlimited: true, Delay: 30e9, MaxDelay: 60e9 } }, 1],
    ] as const) {
      const simulator = placed({}, group);
      report(simulator, allocs(simulator), "failed");
      simulator.advance(100);
      await ask(simulator, "PUT", "/v1/system/gc");
      expect(allocs(simulator)).toHaveLength(left);
    }
  });

  it("is kept where it proves that a batch job was done, and where a version is tagged", async () => {
    const simulator = placed({ Type: "batch" }, { Count: 2 });
    const [done] = allocs(simulator);
    report(simulator, done === undefined ? [] : [done], "complete");
    await ask(simulator, "PUT", "/v1/system/gc");
    expect(allocs(simulator)).toHaveLength(2);
    await ask(simulator, "PUT", "/v1/job/j/versions/kept/tag", { Version: 0 });
    report(simulator, allocs(simulator), "complete");
    await ask(simulator, "PUT", "/v1/system/gc");
    expect(versions(simulator)).toEqual([0]);
    await ask(simulator, "DELETE", "/v1/job/j/versions/kept/tag");
    await ask(simulator, "PUT", "/v1/system/gc");
    expect(versions(simulator)).toEqual([]);
  });

  it("keeps its scaling policies while the job is there, switched off", async () => {
    const simulator = placed({}, { Scaling: { Min: 0, Max: 3, Enabled: true } });
    await ask(simulator, "DELETE", "/v1/job/j");
    expect((await ask(simulator, "GET", "/v1/scaling/policies?job=j")).json).toMatchObject([{ Enabled: false }]);
  });
});

describe("a drain", () => {
  it("pushes its job before the deployment does", async () => {
    const simulator = placed({ Update: { MaxParallel: 1 } }, { Count: 2 }, 2);
    const [{ NodeID = "" } = {}] = allocs(simulator);
    await ask(simulator, "PUT", `/v1/node/${NodeID}/drain`, { DrainSpec: { Deadline: 3600e9 } });
    report(simulator, allocs(simulator), "running", true);
    simulator.advance(1000);
    expect(evals(simulator).map((one) => one.TriggeredBy)).toEqual(["job-register", "node-drain", "deployment-watcher"]);
  });

  it("lets alone what was told to stop before it began, also once its job lives again", async () => {
    const simulator = placed({ Update: { MaxParallel: 1 } }, {}, 2);
    const [stopped] = allocs(simulator);
    await ask(simulator, "DELETE", "/v1/job/j");
    simulator.advance(100);
    await ask(simulator, "PUT", `/v1/node/${stopped?.NodeID}/drain`, { DrainSpec: { Deadline: 3600e9 } });
    simulator.register(sampleJob("j", { Update: { MaxParallel: 1 } }, { Count: 1 }));
    simulator.advance(1000);
    report(simulator, allocs(simulator).slice(1), "running", true);
    simulator.advance(1000);
    expect(allocs(simulator).map((one) => [one.DesiredStatus, one.DesiredTransition.Migrate])).toEqual([
      ["stop", null],
      ["run", null],
    ]);
  });

  it("goes on when the job of a node is purged: nobody says that its work is over", async () => {
    const simulator = placed({ Type: "batch" });
    const [{ NodeID = "" } = {}] = allocs(simulator);
    await ask(simulator, "PUT", `/v1/node/${NodeID}/drain`, { DrainSpec: { Deadline: 3600e9 } });
    simulator.advance(1000);
    await ask(simulator, "DELETE", "/v1/job/j?purge=true");
    simulator.advance(1000);
    expect(simulator.state.nodes.get(NodeID)?.DrainStrategy).not.toBeNull();
  });
});
