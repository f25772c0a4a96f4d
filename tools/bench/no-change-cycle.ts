/** A look at all live jobs when nothing changed, against one bare list with decode in the same run (reliability §4.3, B1). */
import { get } from "node:http";
import { systemClock, systemRandom } from "../../cmd/system-clock.ts";
import { LiveIndex } from "../../controllers/live-index.ts";
import { createNomadClient } from "../../nomad/client.ts";
import { createSimulator } from "../../simulator/server.ts";

export interface CycleFigure {
  readonly jobs: number;
  /** Median, ms. */
  readonly bareMs: number;
  readonly cycleMs: number;
  readonly ratio: number;
}

const rounds = 7;

function bareList(address: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    get(`${address}/v1/jobs?namespace=default&meta=true`, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => resolve(JSON.parse(Buffer.concat(parts).toString("utf8"))));
    }).on("error", reject);
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Both are measured by turns, so that whatever else the machine does falls on both. */
export async function benchNoChangeCycle(jobs: number): Promise<CycleFigure> {
  const simulator = createSimulator({ clock: systemClock });
  const listening = await simulator.listen(0);
  const client = createNomadClient({ address: listening.address, clock: systemClock, random: systemRandom });
  const live = new LiveIndex();
  const cycle = async (): Promise<void> => {
    const list = await client.listJobs("default", { meta: true });
    live.listed({ namespace: "default", jobs: list.jobs, index: list.index, wentBack: false }, systemClock.now());
  };
  try {
    for (let index = 0; index < jobs; index += 1) {
      const group = { Name: "g", Count: 0, Tasks: [{ Name: "t", Driver: "raw_exec", Config: { command: "/bin/true" } }] };
      simulator.register({ ID: `job-${index}`, Name: `job-${index}`, Meta: { nops_managed: "true" }, TaskGroups: [group] });
    }
    await cycle();
    const bare: number[] = [];
    const cycles: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await timed(() => bareList(listening.address)));
      cycles.push(await timed(cycle));
    }
    const [bareMs, cycleMs] = [median(bare), median(cycles)];
    return { jobs, bareMs, cycleMs, ratio: cycleMs / bareMs };
  } finally {
    client.close();
    await listening.close();
    await simulator.close();
  }
}
