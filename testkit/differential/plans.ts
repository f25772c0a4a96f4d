import type { ApiJob } from "../../simulator/jobspec/types.ts";
import { seededRandom } from "../../simulator/random.ts";
import { editJob } from "../job-generator/edit-job.ts";
import { generateJob } from "../job-generator/generate-job.ts";
import { difference, normalAnswer } from "./normal.ts";
import type { Exchange, Pair, Twins } from "./twins.ts";

/** How often both servers were asked the same, by kind of request. */
export interface Counts {
  plans: number;
  parses: number;
  registers: number;
  reads: number;
}

/** Requests after which both answered otherwise; the last one shows the difference. */
export interface Found {
  readonly seed: number;
  readonly what: string;
  readonly exchanges: readonly Exchange[];
}

export interface PlanOptions {
  readonly seed: number;
  /** How many edits of each job are planned. */
  readonly edits: number;
}

/** Parses a generated job file on both servers, registers it, and plans edits of it. Returns the first difference. */
export async function comparePlans(twins: Twins, options: PlanOptions, counts: Counts): Promise<Found[]> {
  const { seed } = options;
  const name = `job-${seed}`;
  const hcl = portsApart(generateJob(seededRandom(seed), name).hcl, seed);
  const parse: Exchange = { method: "PUT", path: "/v1/jobs/parse", body: { JobHCL: hcl, Canonicalize: seed % 3 === 0 } };
  const parsed = await twins.ask(parse);
  counts.parses += 1;
  const parseProblem = problemOf(parsed);
  if (parseProblem !== undefined) return [{ seed, what: `parse ${parseProblem}`, exchanges: [parse] }];
  if (parsed.real.status !== 200) return [];
  const job = JSON.parse(parsed.real.body) as ApiJob;
  const found: Found[] = [];
  const compare = async (before: readonly Exchange[], exchange: Exchange): Promise<Pair> => {
    const pair = await askTwice(twins, exchange);
    const problem = problemOf(pair);
    if (problem !== undefined)
      found.push({ seed, what: `${exchange.method} ${exchange.path}: ${problem}`, exchanges: [...before, exchange] });
    return pair;
  };
  const plan = (body: ApiJob): Exchange => ({ method: "PUT", path: `/v1/job/${name}/plan`, body: { Job: body, Diff: true } });
  await compare([], plan(job));
  counts.plans += 1;
  const register: Exchange = { method: "PUT", path: "/v1/jobs", body: { Job: job } };
  const registered = await twins.ask(register);
  counts.registers += 1;
  const problem = problemOf(registered);
  if (problem !== undefined) return [...found, { seed, what: `register ${problem}`, exchanges: [register] }];
  if (registered.real.status !== 200) return found;
  await twins.settled();
  await compare([register], { method: "GET", path: `/v1/job/${name}` });
  counts.reads += 1;
  const random = seededRandom(seed + 500_000);
  await Promise.all(
    Array.from({ length: options.edits }, (_, i) => compare([register], plan(i === 0 ? job : editJob(random, job)))),
  );
  counts.plans += options.edits;
  await twins.ask({ method: "DELETE", path: `/v1/job/${name}?purge=true` });
  await twins.settled();
  await twins.finishAll();
  return found;
}

/** Fixed ports of jobs that follow each other differ: what stopped holds them until its client says so. */
function portsApart(hcl: string, seed: number): string {
  return hcl.replace(/\bstatic = (\d{4,5})\b/g, (_, port: string) => `static = ${Number(port) + (seed % 50)}`);
}

function problemOf(pair: Pair): string | undefined {
  return difference(normalAnswer(pair.real), normalAnswer(pair.simulated));
}

/** A difference that is gone at a second look was one of time, as when a minute ended between the answers. */
async function askTwice(twins: Twins, exchange: Exchange): Promise<Pair> {
  const pair = await twins.ask(exchange);
  return problemOf(pair) === undefined ? pair : await twins.ask(exchange);
}
