import { afterAll, beforeAll, describe } from "vitest";
import { clusterCases } from "./nomad-cluster.cases.ts";
import { dispatchCases } from "./nomad-dispatch.cases.ts";
import { jobCases } from "./nomad-job.cases.ts";
import { rolloutCases } from "./nomad-rollout.cases.ts";
import { type Bench, type ConformanceServer, openBench } from "./nomad-server.ts";
import { watchCases } from "./nomad-watch.cases.ts";

export type { ConformanceServer } from "./nomad-server.ts";

const START_MS = 60_000;

/**
 * What nops relies on in a Nomad, asked of any server through the client of `nomad/`: the simulator answers it in every
 * test run, a real agent wherever one is at hand. A rule that only one of the two keeps is a fault of the simulator.
 */
export function nomadConformance(name: string, makeServer: () => Promise<ConformanceServer>): void {
  describe(`conformance of ${name}`, () => {
    let server: ConformanceServer | undefined;
    let bench: Bench | undefined;

    beforeAll(async () => {
      server = await makeServer();
      bench = openBench(server);
    }, START_MS);

    afterAll(async () => {
      await bench?.clean();
      await server?.stop();
    }, START_MS);

    const use = (): Bench => {
      if (bench === undefined) throw new Error("the server did not start");
      return bench;
    };
    jobCases(use);
    rolloutCases(use);
    dispatchCases(use);
    watchCases(use);
    clusterCases(use);
  });
}
