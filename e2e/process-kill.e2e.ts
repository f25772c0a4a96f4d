/**
 * The real process, killed with SIGKILL at random instants and started again on the same database: no hook twice, no register twice,
 * no event lost, every deployment ends (R§1.3, case T3). The seed steers what happens; when it happens is the machine's.
 */
import { describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { createSimulator } from "../simulator/server.ts";
import { SeededRandom } from "../testkit/fake-clock.ts";
import { findNomad, startRealNomad } from "../testkit/real-nomad.ts";
import { KillLane, otherJobs, plainJobs } from "./suites/kill-lane.ts";
import { judgeLane } from "./suites/kill-verdict.ts";

interface Campaign {
  readonly address: string;
  readonly seed: number;
  /** Deaths with everything going on: hooks, approvals, outside edits, scaling. */
  readonly mixed: number;
  /** Deaths among automatic deployments without hooks. */
  readonly plain: number;
  readonly lifeMs: number;
}

/** The plain part comes last: meanwhile hooks whose outcome nobody can tell have come to their end. */
async function campaign({ address, seed, mixed, plain, lifeMs }: Campaign): Promise<void> {
  const lane = await KillLane.open({ nomad: address, random: new SeededRandom(seed), lifeMs, hookRun: "sleep 0.1" });
  const began = systemClock.now();
  try {
    for (let death = 0; death < mixed; death++) await lane.liveAndDie([...plainJobs, ...otherJobs]);
    for (let death = 0; death < plain; death++) await lane.liveAndDie(plainJobs);
    const killedFor = systemClock.now() - began;
    await lane.settle(90_000);
    const figures = await judgeLane(lane);
    console.info(
      `seed ${seed}: ${mixed + plain} deaths in ${(killedFor / 1_000).toFixed(1)} s, settled after ${((systemClock.now() - began - killedFor) / 1_000).toFixed(1)} s; ${JSON.stringify(figures)}; deaths by what was under way: ${JSON.stringify(Object.fromEntries(lane.deaths))}`,
    );
    expect(figures.registers).toBeGreaterThan((mixed + plain) / 2);
  } finally {
    await lane.close();
  }
}

const binary = await findNomad();
/** In all, by the environment's `KILLS` (200); a fifth of them over a real Nomad where there is one. */
const deaths = Number(process.env["KILLS"] ?? 200);
const overReal = binary === undefined ? 0 : Math.round(deaths / 5);

function parts(count: number): Pick<Campaign, "mixed" | "plain"> {
  const plain = Math.round(count * 0.3);
  return { mixed: count - plain, plain };
}

describe("kill -9 over the simulator", () => {
  it.concurrent.each([1, 2])(
    "lane %i: half of the deaths, three in ten of them among plain automatic deployments",
    async (seed) => {
      const simulator = createSimulator({ clock: systemClock });
      const { address, close } = await simulator.listen(0);
      try {
        await campaign({ address, seed, ...parts(Math.round((deaths - overReal) / 2)), lifeMs: 600 });
      } finally {
        await close();
      }
    },
    600_000,
  );
});

describe("kill -9 over a real Nomad", () => {
  if (binary === undefined)
    it("announces that it was not tried: no `nomad` on PATH", () => {
      console.warn("process-kill: no `nomad` on PATH; only the simulator was asked");
      expect(binary).toBeUndefined();
    });
  else
    it("a fifth of the deaths, three in ten of them among plain automatic deployments", async () => {
      const nomad = await startRealNomad(binary);
      try {
        await campaign({ address: nomad.address, seed: 3, ...parts(overReal), lifeMs: 1_500 });
      } finally {
        await nomad.stop();
      }
    }, 1_800_000);
});
