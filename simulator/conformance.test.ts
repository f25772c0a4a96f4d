import { systemClock } from "../cmd/system-clock.ts";
import { type ConformanceServer, nomadConformance } from "../testkit/suites/nomad.suite.ts";
import { nomadAclConformance } from "../testkit/suites/nomad-acl.suite.ts";
import { createSimulator } from "./server.ts";

async function startSimulator(options: { readonly acl?: boolean } = {}): Promise<ConformanceServer> {
  const simulator = createSimulator({ clock: systemClock, acl: options.acl === true });
  const { address } = await simulator.listen();
  return {
    address,
    token: options.acl === true ? await bootstrap(address) : undefined,
    // The simulator computes with numbers; this one is beyond 2^53 and still exact.
    bigInteger: "17280000000000000",
    stop: () => simulator.close(),
  };
}

async function bootstrap(address: string): Promise<string> {
  const answer = await fetch(`${address}/v1/acl/bootstrap`, { method: "POST" });
  return ((await answer.json()) as { readonly SecretID: string }).SecretID;
}

nomadConformance("the simulator", () => startSimulator());
nomadAclConformance("the simulator", () => startSimulator({ acl: true }), { login: true });
