import { describe, expect, it } from "vitest";
import { ask, sampleJob } from "../sample.ts";
import { createSimulator, type Simulator } from "../server.ts";
import type { Allocation } from "../state/types.ts";

const task = { Name: "t", Driver: "raw_exec", Config: { command: "/bin/sleep", args: ["infinity"] } };
const groups = [
  { Name: "g0", Count: 1, Tasks: [task] },
  { Name: "g1", Count: 1, Tasks: [task] },
];

/** A job on two nodes whose clients are silent. */
function placed(job: object): Simulator {
  const simulator = createSimulator({ nodes: 2 });
  for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
  simulator.register({ ...sampleJob("j"), ...job });
  simulator.advance(10);
  return simulator;
}

const allocs = (simulator: Simulator): Allocation[] => [...simulator.state.allocs.rows.values()];

function report(simulator: Simulator, chosen: readonly Allocation[], clientStatus: string): void {
  const update = { clientStatus, clientDescription: "", taskStates: null, health: undefined };
  simulator.clients.deliver(chosen.map(({ ID: id }) => ({ id, ...update })));
  simulator.advance(10);
}

/** What the last evaluation wanted of a group. */
async function desired(simulator: Simulator, group: string): Promise<unknown> {
  await ask(simulator, "PUT", "/v1/job/j/evaluate", { JobID: "j" });
  simulator.advance(10);
  const last = [...simulator.state.evals.rows.values()].findLast((one) => one.Status === "complete");
  return last?.PlanAnnotations?.DesiredTGUpdates[group];
}

describe("jobs of every node", () => {
  it("counts what ended on a lost node as long as another allocation of the job lives there", async () => {
    const simulator = placed({ Type: "sysbatch", TaskGroups: groups });
    const [first] = allocs(simulator).filter((alloc) => alloc.TaskGroup === "g1");
    report(simulator, first === undefined ? [] : [first], "failed");
    simulator.loseNode(first?.NodeID ?? "");
    simulator.advance(10);
    expect(await desired(simulator, "g1")).toMatchObject({ Ignore: 2, Place: 0 });
    // The other one is lost now, and with it all that the job had there.
    expect(await desired(simulator, "g1")).toMatchObject({ Ignore: 1, Place: 0 });
  });

  it("names their allocations after the job's name, as those of services are after its id", () => {
    expect(allocs(placed({ Name: "other", Type: "system" })).map((alloc) => alloc.Name)).toEqual(["other.g[0]", "other.g[0]"]);
    expect(allocs(placed({ Name: "other" })).map((alloc) => alloc.Name)).toEqual(["j.g[0]"]);
  });
});
