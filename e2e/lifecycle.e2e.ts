import { expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { createSimulator } from "../simulator/server.ts";
import { findNomad, startRealNomad } from "../testkit/real-nomad.ts";
import { lifecycleSuite } from "./suites/lifecycle.suite.ts";

lifecycleSuite("the simulator", async () => {
  const simulator = createSimulator({ clock: systemClock });
  const listening = await simulator.listen(0);
  return { address: listening.address, stop: () => listening.close() };
});

const address = process.env["NOMAD_ADDR_TEST"];
const binary = address === undefined ? await findNomad() : undefined;

if (address !== undefined)
  lifecycleSuite(`the Nomad at ${address}`, () => Promise.resolve({ address, stop: () => Promise.resolve() }));
else if (binary !== undefined) lifecycleSuite("a real Nomad", () => startRealNomad(binary));
else {
  it("announces that the lifecycle was not tried on a real Nomad: none on PATH, and NOMAD_ADDR_TEST is not set", () => {
    console.warn("lifecycle: no real Nomad; only the simulator was asked");
    expect(binary).toBeUndefined();
  });
}
