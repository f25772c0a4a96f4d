import { systemClock } from "../cmd/system-clock.ts";
import { type ConformanceServer, nomadConformance } from "../testkit/suites/nomad.suite.ts";
import { createSimulator } from "./server.ts";

async function startSimulator(): Promise<ConformanceServer> {
  const simulator = createSimulator({ clock: systemClock });
  const { address } = await simulator.listen();
  // The simulator computes with numbers; this one is beyond 2^53 and still exact.
  return { address, bigInteger: "17280000000000000", stop: () => simulator.close() };
}

nomadConformance("the simulator", startSimulator);
