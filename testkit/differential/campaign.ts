import { seededRandom } from "../../simulator/random.ts";
import type { Counts, Found } from "./counts.ts";
import { Lane } from "./lane.ts";
import { generateLife, type LifeStep } from "./lives.ts";
import { compareParse } from "./parses.ts";
import { comparePlans } from "./plans.ts";
import type { Twins } from "./twins.ts";

const editsOfEach = 40;
/** Registered jobs after which their stopped allocations are said to be over. */
const tidyAfter = 5;
/** More are found out one by one. */
const enough = 10;

/** At least that many plans of edits of generated jobs. */
export async function planCampaign(twins: Twins, seed: number, plans: number, counts: Counts): Promise<Found[]> {
  const found: Found[] = [];
  for (let i = 0; counts.plans < plans && found.length < enough; i++) {
    found.push(...(await comparePlans(twins, seed * 1_000_003 + i, editsOfEach, counts)));
    if (i % tidyAfter === 0) await twins.finishAll();
  }
  await twins.finishAll();
  return found;
}

export async function parseCampaign(twins: Twins, seed: number, parses: number, counts: Counts): Promise<Found[]> {
  const found: Found[] = [];
  for (let i = 0; i < parses && found.length < enough; i += 4) {
    const four = [0, 1, 2, 3].map((more) => compareParse(twins, seed * 1_000_003 + i + more, counts));
    found.push(...(await Promise.all(four)).flat());
  }
  return found;
}

export interface FoundLife {
  readonly seed: number;
  readonly what: string;
  readonly steps: readonly LifeStep[];
}

/** One life in that many is lived by itself, because in it the server collects garbage, which concerns every job. */
const collecting = 10;
/**
 * How often a life that differed is lived anew before it counts: where a server leaves something to chance, one of its answers is right.
 * It does so, by the order of a Go map, with which group is placed first where room is short; with which of several failed allocations
 * that find no new place is noted; and, where a system job's canaries replace a canary and something that was none, with whether both are
 * kept. By the race of two of its threads, with whether a node's change or what waited for its room is looked at first.
 */
const times = 8;

/**
 * Lives of jobs, several at a time on nodes of their own, and then those in which garbage is collected, one by one. A difference is
 * shown with as few steps as still show it.
 */
export async function lifeCampaign(
  twins: Twins,
  seed: number,
  lives: number,
  lanes: number,
  counts: Counts,
): Promise<FoundLife[]> {
  const found: FoundLife[] = [];
  const together = lives - Math.floor(lives / collecting);
  let next = 0;
  const lane = async (k: number): Promise<void> => {
    const here = await Lane.open(twins, `lane-${k}`);
    while (next < together && found.length < enough)
      found.push(...(await oneLife(here, seed * 1_000_003 + next++, false, counts)));
  };
  await Promise.all(Array.from({ length: lanes }, (_, k) => lane(k)));
  // A node that is down goes with the garbage, so each of these lives has nodes of its own.
  for (; next < lives && found.length < enough; next++) {
    const here = await Lane.open(twins, `lane-${lanes + next}`);
    found.push(...(await oneLife(here, seed * 1_000_003 + next, true, counts)));
  }
  return found;
}

async function oneLife(lane: Lane, seed: number, collects: boolean, counts: Counts): Promise<FoundLife[]> {
  const before = lane.compared;
  const name = `life-${String(seed).padStart(12, "0")}`;
  const steps = generateLife(seededRandom(seed), name, lane.datacenter, collects);
  let found = await lane.live(name, steps);
  const differed = found !== undefined;
  for (let i = 0; found !== undefined && i < times; i++) found = await liveAnew(lane, name, steps, i);
  counts.lives += 1;
  if (differed && found === undefined) counts.chances += 1;
  counts.reads += lane.compared - before;
  return found === undefined ? [] : [{ seed, ...(await shorten(lane, name, steps.slice(0, found.after), found.what)) }];
}

/** Under another name: what is left of an earlier life, such as its evaluations, must not show in the next. */
async function liveAnew(lane: Lane, name: string, steps: readonly LifeStep[], time: number): ReturnType<Lane["live"]> {
  const other = `${name}-again-${time}`;
  return await lane.live(other, JSON.parse(JSON.stringify(steps).replaceAll(name, other)) as LifeStep[]);
}

async function shorten(
  lane: Lane,
  name: string,
  all: readonly LifeStep[],
  first: string,
): Promise<{ readonly what: string; readonly steps: readonly LifeStep[] }> {
  let [steps, what] = [all, first];
  for (let at = steps.length - 2; at > 0; at--) {
    const fewer = steps.filter((_, i) => i !== at);
    const still = await liveAnew(lane, name, fewer, times + at);
    if (still !== undefined) [steps, what] = [fewer.slice(0, still.after), still.what];
  }
  return { what, steps };
}

/** The figures in one line, with the seed that makes them again. */
export function summaryLine(seed: number, counts: Counts, differences: number): string {
  const n = (count: number) => count.toLocaleString("en-US");
  const { plans, parses, registers, reads, lives, chances, crashes } = counts;
  const crashed = crashes === 0 ? "" : ` (${crashes} requests at which the real server crashed were left out)`;
  const figures = `${n(plans)} plans, ${n(parses)} parses, ${n(registers)} registers, ${n(lives)} lives, ${n(reads)} reads`;
  const dice = chances === 0 ? "" : ` (${chances} lives went otherwise at first and alike when lived anew)`;
  return `differential: ${figures} on seed ${seed}, ${differences} differences${dice}${crashed}`;
}
