import { describe, expect, it } from "vitest";
import { sampleJob } from "../sample.ts";
import { createSimulator, type Simulator } from "../server.ts";

const report = (id: string, clientStatus: string) => ({
  id,
  clientStatus,
  clientDescription: "",
  taskStates: null,
  health: undefined,
});

/** A placed job whose client is silent, so that the test says what becomes of it. */
function placed(job: object = {}, group: object = {}): { simulator: Simulator; ids: string[] } {
  const simulator = createSimulator();
  for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
  simulator.register(sampleJob("j", { ...job }, { ...group }));
  simulator.advance(10);
  return { simulator, ids: [...simulator.state.allocs.rows.keys()] };
}

const triggers = (simulator: Simulator) => [...simulator.state.evals.rows.values()].map((one) => one.TriggeredBy);

describe("what clients report", () => {
  it("makes one evaluation for all failures of a job that may be placed again", () => {
    const { simulator, ids } = placed({}, { Count: 3 });
    simulator.clients.deliver(ids.map((id) => report(id, "failed")));
    expect(triggers(simulator)).toEqual(["job-register", "alloc-failure"]);
  });

  it("makes none when the policy allows no other try, nor while all is well", () => {
    const { simulator, ids } = placed({}, { ReschedulePolicy: { Attempts: 0, Unlimited: false } });
    simulator.clients.deliver(ids.map((id) => report(id, "running")));
    simulator.clients.deliver(ids.map((id) => report(id, "failed")));
    expect(triggers(simulator)).toEqual(["job-register"]);
  });

  it("makes one when the allocation belongs to nobody any more", async () => {
    const { simulator, ids } = placed({ Type: "batch" });
    await simulator.request({ method: "DELETE", path: "/v1/job/j?purge=true" });
    simulator.clients.deliver(ids.map((id) => report(id, "complete")));
    expect(triggers(simulator).at(-1)).toBe("job-deregister");
  });

  it("frees the room of an allocation only when its client says that it is over", () => {
    const simulator = createSimulator({ nodes: [{ memoryMb: 500 }] });
    for (const id of simulator.state.nodes.rows.keys()) simulator.clients.setSilent(id, true);
    const big = (id: string) => sampleJob(id, {}, {}, { Resources: { CPU: 100, MemoryMB: 400 } });
    simulator.register(big("first"));
    simulator.advance(10);
    const [id = ""] = [...simulator.state.allocs.rows.keys()];
    simulator.register({ ...big("first"), Stop: true });
    simulator.register(big("second"));
    simulator.advance(10);
    expect([...simulator.state.allocs.rows.values()].map((one) => one.JobID)).toEqual(["first"]);
    simulator.clients.deliver([report(id, "complete")]);
    simulator.advance(10);
    expect([...simulator.state.allocs.rows.values()].map((one) => one.JobID)).toEqual(["first", "second"]);
  });
});
