/** What becomes of allocations whose node falls silent, and of the node itself. */
import { describe, expect, it, vi } from "vitest";
import { setNodeStatus } from "./operations/nodes.ts";
import { sampleJob } from "./sample.ts";
import { createSimulator, type Simulator } from "./server.ts";
import type { Allocation, Evaluation } from "./state/types.ts";

const silence = { LostAfter: 600e9, Replace: true };
const soon = { Attempts: 0, Unlimited: true, Delay: 5e9, DelayFunction: "constant", MaxDelay: 60e9 };
const noUpdates = { Update: { MaxParallel: 0 } };

const allocs = (simulator: Simulator): Allocation[] => [...simulator.state.allocs.rows.values()];
const evals = (simulator: Simulator): Evaluation[] => [...simulator.state.evals.rows.values()];
const stub = (alloc: Allocation) => [alloc.DesiredStatus, alloc.ClientStatus, alloc.DesiredDescription];

function report(simulator: Simulator, chosen: readonly (Allocation | undefined)[], clientStatus: string): void {
  const taskStates = {
    t: { State: "running", Failed: false, StartedAt: new Date(simulator.clock.now()).toISOString() },
  } as never;
  const update = { clientStatus, clientDescription: "", taskStates, health: undefined };
  simulator.clients.deliver(chosen.flatMap((one) => (one === undefined ? [] : { id: one.ID, ...update })));
}

/** A job that runs on one of two nodes, whose clients say what the test says. */
function living(
  job: { readonly Type?: string; readonly Update?: object },
  group: object,
): { simulator: Simulator; node: string; status: () => string | undefined } {
  const simulator = createSimulator({ nodes: 2 });
  for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
  simulator.register(sampleJob("j", { ...(job.Type === undefined ? noUpdates : {}), ...job }, { ...group }));
  simulator.advance(100);
  report(simulator, allocs(simulator), "running");
  simulator.advance(100);
  const node = allocs(simulator)[0]?.NodeID ?? "";
  return { simulator, node, status: () => simulator.state.nodes.get(node)?.Status };
}

function says(simulator: Simulator, node: string, status: "ready" | "disconnected"): void {
  setNodeStatus(simulator.operations, node, status);
  simulator.advance(100);
}

describe("a node that falls silent while its job waits for it", () => {
  it("is ready only after its client has told how its allocations fared", () => {
    const { simulator, node, status } = living({}, { Disconnect: silence });
    says(simulator, node, "disconnected");
    expect(allocs(simulator).map(stub)).toEqual([["run", "unknown", ""]]);
    says(simulator, node, "ready");
    expect(status()).toBe("initializing");
    says(simulator, node, "ready");
    expect(status()).toBe("initializing");
    report(simulator, [allocs(simulator)[0]], "running");
    says(simulator, node, "ready");
    expect(status()).toBe("ready");
  });

  it("is ready at once when nothing of it runs any more", () => {
    const { simulator, node, status } = living({ Type: "batch" }, {});
    report(simulator, allocs(simulator), "complete");
    says(simulator, node, "disconnected");
    says(simulator, node, "ready");
    says(simulator, node, "ready");
    expect(status()).toBe("ready");
  });

  it.each([
    ["keep_original", "run", "stop"],
    ["keep_replacement", "stop", "run"],
    ["longest_running", "run", "stop"],
  ])("gives its work back, or not: %s", (Reconcile, original, replacement) => {
    const { simulator, node } = living({}, { Disconnect: { ...silence, Reconcile }, ReschedulePolicy: soon });
    says(simulator, node, "disconnected");
    expect(allocs(simulator)).toHaveLength(1);
    simulator.advance(6000);
    expect(allocs(simulator)).toHaveLength(2);
    says(simulator, node, "ready");
    report(simulator, allocs(simulator), "running");
    simulator.advance(100);
    expect(allocs(simulator).map((one) => one.DesiredStatus)).toEqual([original, replacement]);
  });

  it("loses what it had when it is silent for too long", () => {
    const { simulator, node } = living({}, { Disconnect: { LostAfter: 5e9, Replace: false } });
    says(simulator, node, "disconnected");
    expect(allocs(simulator).map(stub)).toEqual([["run", "unknown", ""]]);
    simulator.advance(6000);
    expect(allocs(simulator).map(stub)).toEqual([
      ["stop", "lost", "alloc is lost since its node is down"],
      ["run", "pending", ""],
    ]);
  });

  it("is waited for no longer once it is back", () => {
    const { simulator, node } = living({}, { Disconnect: { ...silence, Replace: false } });
    says(simulator, node, "disconnected");
    says(simulator, node, "ready");
    report(simulator, allocs(simulator), "running");
    simulator.advance(100);
    const [waited] = evals(simulator).filter((one) => one.TriggeredBy === "max-disconnect-timeout");
    expect(waited).toMatchObject({ Status: "canceled", StatusDescription: "allocs reconnected" });
    expect(allocs(simulator)).toMatchObject([{ DesiredStatus: "run", ClientStatus: "running", FollowupEvalID: "" }]);
  });

  it("is replaced only after its client would have stopped its work, where the job says so", () => {
    const { simulator, node } = living({}, { Disconnect: { StopOnClientAfter: 2e9 } });
    says(simulator, node, "disconnected");
    expect(allocs(simulator).map((one) => one.ClientStatus)).toEqual(["lost"]);
    simulator.advance(8000);
    expect(allocs(simulator).map((one) => one.ClientStatus)).toEqual(["lost", "pending"]);
  });

  it("wakes nobody who waits for room, as nothing has ended there", () => {
    const { simulator, node } = living({}, {});
    const nowhere = { Constraints: [{ LTarget: "${node.class}", Operand: "=", RTarget: "none" }] };
    simulator.register(sampleJob("waits", nowhere));
    simulator.advance(100);
    const looks = vi.spyOn(simulator.operations.engine, "schedule");
    says(simulator, node, "disconnected");
    expect(allocs(simulator)[0]?.ClientStatus).toBe("lost");
    expect(looks.mock.calls.filter(([one]) => one.JobID === "waits")).toEqual([]);
  });
});

describe("a system job", () => {
  it("goes on where its node comes back, and its evaluation is not over before that node is ready", () => {
    const { simulator, node } = living({ Type: "system", Update: { MaxParallel: 1 } }, { Disconnect: silence });
    says(simulator, node, "disconnected");
    expect(allocs(simulator).map((one) => one.ClientStatus)).toEqual(["unknown", "running"]);
    says(simulator, node, "ready");
    report(simulator, [allocs(simulator)[0]], "running");
    simulator.advance(1000);
    const reconnect = () => evals(simulator).find((one) => one.TriggeredBy === "reconnect")?.Status;
    expect(reconnect()).toBe("pending");
    says(simulator, node, "ready");
    expect(reconnect()).toBe("complete");
    expect(allocs(simulator).map(stub)).toEqual([
      ["run", "running", ""],
      ["run", "running", ""],
    ]);
  });
});

it("a client that was silent goes on by itself, and its node is ready again", () => {
  const simulator = createSimulator({ nodes: 2 });
  simulator.register(
    sampleJob("j", noUpdates, { Disconnect: { ...silence, Reconcile: "keep_original" }, ReschedulePolicy: soon }),
  );
  simulator.advance(10_000);
  const [{ NodeID = "" } = {}] = allocs(simulator);
  simulator.loseNode(NodeID);
  simulator.advance(10_000);
  expect(allocs(simulator).map((one) => one.ClientStatus)).toEqual(["unknown", "running"]);
  simulator.returnNode(NodeID);
  simulator.advance(30_000);
  expect(simulator.state.nodes.get(NodeID)).toMatchObject({ Status: "ready", LastMissedHeartbeatIndex: 0 });
  expect(allocs(simulator).map((one) => [one.DesiredStatus, one.ClientStatus])).toEqual([
    ["run", "running"],
    ["stop", "complete"],
  ]);
});
