import { describe, expect, it } from "vitest";
import { ask, sampleJob, script } from "./sample.ts";
import { createSimulator, type Simulator } from "./server.ts";

const update = { MaxParallel: 1, MinHealthyTime: 1e9, HealthyDeadline: 60e9, ProgressDeadline: 600e9 };

function allocsOf(simulator: Simulator, job: string) {
  return [...simulator.state.allocs.rows.values()].filter((one) => one.JobID === job);
}

function running(simulator: Simulator, job: string) {
  return allocsOf(simulator, job).filter((one) => one.DesiredStatus === "run" && one.ClientStatus === "running");
}

const idsOf = (simulator: Simulator) => [...simulator.state.nodes.rows.keys()];

describe("a cluster of several nodes", () => {
  it("puts a system job on each of them, and on one that joins later", () => {
    const simulator = createSimulator({ nodes: 3 });
    simulator.register(sampleJob("sys", { Type: "system" }));
    simulator.advance(5000);
    expect(new Set(running(simulator, "sys").map((one) => one.NodeID))).toEqual(new Set(idsOf(simulator)));
    const joined = simulator.addNode();
    simulator.advance(5000);
    expect(running(simulator, "sys").map((one) => one.NodeID)).toContain(joined);
    expect(running(simulator, "sys")).toHaveLength(4);
  });

  it("moves work off a lost node, and stops it there once the node is back", () => {
    const simulator = createSimulator({ nodes: 2 });
    simulator.register(sampleJob("web", {}, { Count: 2, Update: update }));
    simulator.advance(30_000);
    const [lost] = allocsOf(simulator, "web");
    const node = lost?.NodeID ?? "";
    simulator.loseNode(node);
    simulator.advance(30_000);
    const left = running(simulator, "web");
    expect(left).toHaveLength(2);
    expect(left.every((one) => one.NodeID !== node)).toBe(true);
    expect(simulator.state.allocs.get(lost?.ID ?? "")).toMatchObject({ DesiredStatus: "stop", ClientStatus: "lost" });
    expect(simulator.state.nodes.get(node)?.Status).toBe("down");
    simulator.returnNode(node);
    simulator.advance(30_000);
    expect(simulator.state.nodes.get(node)?.Status).toBe("ready");
    expect(running(simulator, "web")).toHaveLength(2);
  });

  it("drains a node: its allocations run elsewhere, and it takes no new ones", async () => {
    const simulator = createSimulator({ nodes: 2 });
    simulator.register(sampleJob("web", {}, { Count: 4, Update: update }));
    simulator.advance(60_000);
    const [node = "", other = ""] = idsOf(simulator);
    const answer = await ask(simulator, "PUT", `/v1/node/${node}/drain`, { DrainSpec: { Deadline: 3600e9 } });
    expect(answer.status).toBe(200);
    simulator.advance(120_000);
    expect(running(simulator, "web").map((one) => one.NodeID)).toEqual([other, other, other, other]);
    expect(simulator.state.nodes.get(node)).toMatchObject({ DrainStrategy: null, SchedulingEligibility: "ineligible" });
    simulator.register(sampleJob("more", {}, { Count: 3 }));
    simulator.advance(5000);
    expect(new Set(running(simulator, "more").map((one) => one.NodeID))).toEqual(new Set([other]));
  });

  it("keeps what finds no room until a node with room joins", () => {
    const simulator = createSimulator({ nodes: [{ memoryMb: 700 }] });
    simulator.register(sampleJob("big", {}, { Count: 2 }, { Resources: { MemoryMB: 600, CPU: 100 } }));
    simulator.advance(5000);
    expect(running(simulator, "big")).toHaveLength(1);
    const blocked = [...simulator.state.evals.rows.values()].filter((one) => one.Status === "blocked");
    expect(blocked).toHaveLength(1);
    expect(blocked[0]?.FailedTGAllocs?.["g"]?.DimensionExhausted).toEqual({ memory: 1 });
    simulator.addNode({ memoryMb: 700 });
    simulator.advance(5000);
    expect(running(simulator, "big")).toHaveLength(2);
    expect([...simulator.state.evals.rows.values()].some((one) => one.Status === "blocked")).toBe(false);
  });

  it("starts a failed allocation anew as its reschedule policy says", () => {
    const simulator = createSimulator();
    const policy = { Attempts: 1, Interval: 3600e9, Delay: 5e9, DelayFunction: "constant", Unlimited: false };
    const group = { RestartPolicy: { Attempts: 0, Interval: 60e9, Delay: 1e9, Mode: "fail" }, ReschedulePolicy: policy };
    simulator.register(sampleJob("bad", { Type: "batch" }, group, script("exit 1")));
    simulator.advance(2000);
    expect(allocsOf(simulator, "bad")).toHaveLength(1);
    simulator.advance(60_000);
    const allocs = allocsOf(simulator, "bad");
    expect(allocs.map((one) => one.ClientStatus)).toEqual(["failed", "failed"]);
    const [first, second] = allocs.sort((a, b) => a.CreateIndex - b.CreateIndex);
    expect(second?.PreviousAllocation).toBe(first?.ID);
    expect(second?.RescheduleTracker?.Events).toHaveLength(1);
    expect(simulator.state.jobs.rows.values().next().value?.Status).toBe("dead");
  });

  it("takes back a version that does not become healthy", () => {
    const simulator = createSimulator();
    const group = { Update: { ...update, AutoRevert: true, HealthyDeadline: 5e9, ProgressDeadline: 10e9 } };
    simulator.register(sampleJob("web", {}, group));
    simulator.advance(20_000);
    simulator.register(sampleJob("web", {}, group, script("exit 1")));
    simulator.advance(120_000);
    const job = [...simulator.state.jobs.rows.values()][0];
    expect(job?.Version).toBe(2);
    expect(job?.TaskGroups[0]?.Tasks[0]?.Config).toMatchObject({ command: "/bin/sleep" });
    const statuses = [...simulator.state.deployment.rows.values()].sort((a, b) => a.JobVersion - b.JobVersion);
    expect(statuses.map((one) => one.Status)).toEqual(["successful", "failed", "successful"]);
    expect(statuses[1]?.StatusDescription).toContain("rolling back to job version 0");
  });

  it("is the same cluster with the same seed, to the last id", () => {
    const history = (seed: number) => {
      const simulator = createSimulator({ seed, nodes: 2 });
      simulator.register(sampleJob("web", {}, { Count: 3, Update: update }));
      simulator.register(sampleJob("job", { Type: "batch" }, {}, script("sleep 3; exit 0")));
      simulator.advance(60_000);
      return JSON.stringify([...simulator.state.allocs.rows.values()]);
    };
    expect(history(7)).toBe(history(7));
    expect(history(7)).not.toBe(history(8));
  });
});

describe("the life of jobs", () => {
  it("acts out what the tasks would do, unless a test says otherwise", async () => {
    const simulator = createSimulator({
      behaviour: ({ task }) => (task.Name === "odd" ? { endsAfterMs: 100, exitCode: 42 } : undefined),
    });
    simulator.register(sampleJob("a", { Type: "batch" }, {}, script("echo hello; echo oh >&2; exit 0")));
    simulator.register(sampleJob("b", { Type: "batch" }, {}, { Name: "odd" }));
    simulator.advance(3000);
    const [a] = allocsOf(simulator, "a");
    expect(a?.ClientStatus).toBe("complete");
    const logs = await ask(simulator, "GET", `/v1/client/fs/logs/${a?.ID}?task=t&type=stdout&plain=true`);
    expect(logs.text).toBe("hello\n");
    const errors = await ask(simulator, "GET", `/v1/client/fs/logs/${a?.ID}?task=t&type=stderr&plain=true`);
    expect(errors.text).toBe("oh\n");
    const events = allocsOf(simulator, "b")[0]?.TaskStates?.["odd"]?.Events ?? [];
    expect(events.find((one) => one.Type === "Terminated")?.ExitCode).toBe(42);
  });

  it("starts prestart tasks first and poststart tasks when the main one runs", () => {
    const simulator = createSimulator();
    const task = (Name: string, text: string, Hook?: string) => ({
      Name,
      Driver: "raw_exec",
      Config: { command: "/bin/sh", args: ["-c", text] },
      ...(Hook === undefined ? {} : { Lifecycle: { Hook, Sidecar: false } }),
    });
    const Tasks = [
      task("main", "sleep 20"),
      task("before", "sleep 5", "prestart"),
      task("after", "sleep 1", "poststart"),
      task("last", "sleep 1", "poststop"),
    ];
    simulator.register({ ID: "j", Name: "j", Type: "batch", TaskGroups: [{ Name: "g", Count: 1, Tasks }] });
    const states = () => {
      const found = allocsOf(simulator, "j")[0]?.TaskStates ?? {};
      return Object.fromEntries(Object.entries(found).map(([name, one]) => [name, one.State]));
    };
    simulator.advance(3000);
    expect(states()).toEqual({ main: "pending", before: "running", after: "pending", last: "pending" });
    simulator.advance(3500);
    expect(states()).toMatchObject({ main: "running", before: "dead" });
    simulator.advance(3000);
    expect(states()).toMatchObject({ main: "running", after: "dead", last: "pending" });
    simulator.advance(30_000);
    expect(states()).toEqual({ main: "dead", before: "dead", after: "dead", last: "dead" });
    expect(allocsOf(simulator, "j")[0]?.ClientStatus).toBe("complete");
  });

  it("launches a periodic job at its times, in its zone", () => {
    const simulator = createSimulator();
    const Periodic = { Enabled: true, Spec: "0 3 * * *", SpecType: "cron", TimeZone: "Europe/Berlin", ProhibitOverlap: false };
    simulator.register(sampleJob("nightly", { Type: "batch", Periodic }, {}, script("exit 0")));
    simulator.advance(2 * 3_600_000 - 1000);
    const children = () => [...simulator.state.jobs.rows.values()].filter((one) => one.ParentID === "nightly");
    expect(children()).toHaveLength(0);
    simulator.advance(2000);
    expect(children().map((one) => one.ID)).toEqual([`nightly/periodic-${Date.UTC(2030, 0, 1, 2) / 1000}`]);
    simulator.advance(24 * 3_600_000);
    expect(children().map((one) => one.ID)).toContain(`nightly/periodic-${Date.UTC(2030, 0, 2, 2) / 1000}`);
  });

  it("forgets a dispatch token with the child that carried it", async () => {
    const simulator = createSimulator();
    simulator.register(sampleJob("p", { Type: "batch", ParameterizedJob: { Payload: "optional" } }, {}, script("exit 0")));
    const send = () => ask(simulator, "PUT", "/v1/job/p/dispatch?idempotency_token=t1", {});
    const first = await send();
    simulator.advance(10_000);
    expect((await send()).at("DispatchedJobID")).toBe(first.at("DispatchedJobID"));
    expect((await send()).at("EvalID")).toBe("");
    await ask(simulator, "PUT", "/v1/system/gc");
    expect((await send()).at("DispatchedJobID")).not.toBe(first.at("DispatchedJobID"));
  });

  it("collects by itself what has been over for long, and nothing that still counts", () => {
    const simulator = createSimulator();
    simulator.register(sampleJob("done", { Type: "batch" }, {}, script("exit 0")));
    simulator.register(sampleJob("web", {}, { Update: update }));
    simulator.advance(3 * 3_600_000);
    expect([...simulator.state.jobs.rows.values()].map((one) => one.ID)).toEqual(["done", "web"]);
    simulator.advance(48 * 3_600_000);
    expect([...simulator.state.jobs.rows.values()].map((one) => one.ID)).toEqual(["web"]);
    expect(running(simulator, "web")).toHaveLength(1);
  });

  it("answers a repeated token with a child that never was, when that fault is on", async () => {
    const simulator = createSimulator();
    simulator.register(sampleJob("p", { Type: "batch", ParameterizedJob: {} }, {}, script("sleep 100")));
    const send = async () => (await ask(simulator, "PUT", "/v1/job/p/dispatch?idempotency_token=t1", {})).at("DispatchedJobID");
    const first = await send();
    simulator.faults.phantomDispatch = 1;
    const second = await send();
    expect(second).not.toBe(first);
    const read = await ask(simulator, "GET", `/v1/job/${encodeURIComponent(String(second))}`);
    expect([read.status, read.text]).toEqual([404, "job not found"]);
  });

  it("shows a payload plain in the job and packed in its versions", async () => {
    const simulator = createSimulator();
    simulator.register(sampleJob("p", { Type: "batch", ParameterizedJob: { Payload: "required" } }, {}, script("exit 0")));
    const Payload = Buffer.from("x".repeat(300)).toString("base64");
    const sent = await ask(simulator, "PUT", "/v1/job/p/dispatch", { Payload });
    const id = encodeURIComponent(String(sent.at("DispatchedJobID")));
    expect((await ask(simulator, "GET", `/v1/job/${id}`)).at("Payload")).toBe(Payload);
    const packed = Buffer.from(
      String((await ask(simulator, "GET", `/v1/job/${id}/versions`)).at("Versions.0.Payload")),
      "base64",
    );
    expect([...packed.subarray(0, 5)]).toEqual([172, 2, 61 << 2, 43, 1]);
  });
});
