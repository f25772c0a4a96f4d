import { systemClock } from "../../../cmd/system-clock.ts";
import { seededRandom } from "../../../simulator/random.ts";
import { chooser } from "../../job-generator/chooser.ts";
import { Twins } from "../twins.ts";
import { closeConnections, type Request } from "./ask.ts";
import { generateRead } from "./reads.ts";
import { Stage } from "./stage.ts";
import { world } from "./world.ts";
import { generateWrite } from "./writes.ts";

/** A request that both servers answered otherwise, each time they were asked. */
export interface FoundRequest {
  readonly request: Request;
  /** What differs, real and simulated. */
  readonly what: string;
}

export interface RequestCounts {
  reads: number;
  writes: number;
}

const atOnce = 6;
const gatheringMs = 2_000;
/** More are found out one by one. */
const enough = 10;

/** A stage on which the world was made. Throws when the servers did not make it alike. */
export async function openStage(twins: Twins, token?: string): Promise<Stage> {
  const nodes = [
    ["n1", await twins.addNode({ name: "n1", datacenter: "dc1" })],
    ["n2", await twins.addNode({ name: "n2", class: "big", pool: "pool-a" })],
  ] as const;
  const stage = await Stage.open(twins, token);
  for (const [name, id] of nodes) for (const { book } of [stage.real, stage.simulated]) book.put(`node:${name}`, id);
  for (const step of world) {
    const { what, status } = await stage.play(step);
    if (what !== undefined || status >= 400) throw new Error(`the world: ${status} ${JSON.stringify(step)} ${what ?? ""}`);
  }
  // Servers gather for a second what they see of a deployment before they push it on.
  await systemClock.sleep(gatheringMs);
  await twins.settled();
  await stage.look();
  return stage;
}

/** Asks both so many generated reads of the same world. The same seed asks the same. */
export async function compareReads(stage: Stage, seed: number, reads: number, counts: RequestCounts): Promise<FoundRequest[]> {
  const choose = chooser(seededRandom(seed));
  const found: FoundRequest[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < reads && found.length < enough) {
      next += 1;
      const request = generateRead(choose);
      counts.reads += 1;
      if ((await stage.compare(request)).what === undefined) continue;
      const { what } = await stage.compare(request);
      if (what !== undefined) found.push({ request, what });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return found;
}

/** Asks both, one after the other, for so many generated changes, nearly all of which are refused. */
export async function compareWrites(stage: Stage, seed: number, writes: number, counts: RequestCounts): Promise<FoundRequest[]> {
  const choose = chooser(seededRandom(seed));
  const found: FoundRequest[] = [];
  for (let i = 0; i < writes && found.length < enough; i++) {
    const request = generateWrite(choose);
    counts.writes += 1;
    const { what, real } = await stage.compare(request);
    if (real.status < 400) await stage.twins.settled();
    if (i % 20 === 0) await stage.look();
    if (what !== undefined) found.push({ request, what });
  }
  return found;
}

/** Starts both servers, makes the world on them and asks. */
export async function requestCampaign(
  binary: string,
  seed: number,
  reads: number,
  writes: number,
  counts: RequestCounts,
): Promise<FoundRequest[]> {
  const twins = await Twins.start(binary);
  try {
    const stage = await openStage(twins);
    const found = await compareReads(stage, seed * 1_000_003, reads, counts);
    return [...found, ...(await compareWrites(stage, seed * 1_000_003, writes, counts))];
  } finally {
    await twins.stop();
    closeConnections();
  }
}
