import type { ApiJob } from "../../simulator/jobspec/types.ts";
import { seededRandom } from "../../simulator/random.ts";
import { editJob } from "../job-generator/edit-job.ts";
import { generateJob } from "../job-generator/generate-job.ts";
import type { Counts, Found } from "./counts.ts";
import { problemOf } from "./normal.ts";
import type { Exchange, Pair, Twins } from "./twins.ts";

/** A scheduler that ran into what its own language forbids. */
const panicked = /^failed to process eval: runtime error: /;

/** A gateway is written to Consul at once, of which the simulator pretends that there is one. */
const needsConsul = /http:\/\/localhost:8500\/v1\/config/;

/**
 * Parses a generated job file on both servers, registers the job, and plans that many edits of it. Returns the differences; adds to
 * the counts. The same seed makes the same file and the same edits.
 */
export async function comparePlans(twins: Twins, seed: number, edits: number, counts: Counts): Promise<Found[]> {
  const name = `job-${seed}`;
  const found: Found[] = [];
  const compare = async (what: keyof Counts, exchange: Exchange, before: readonly Exchange[] = []): Promise<Pair> => {
    const pair = await askAgain(twins, exchange);
    counts[what] += 1;
    const crashed = pair.real.status === 0 || panicked.test(pair.real.body);
    if (crashed) counts.crashes += 1;
    const problem = crashed || needsConsul.test(pair.real.body) ? undefined : problemOf(pair);
    if (problem !== undefined) found.push({ seed, what: `${exchange.path} ${problem}`, exchanges: [...before, exchange] });
    return pair;
  };
  const JobHCL = portsApart(generateJob(seededRandom(seed), name).hcl, seed);
  const parsed = await compare("parses", {
    method: "PUT",
    path: "/v1/jobs/parse",
    body: { JobHCL, Canonicalize: seed % 3 === 0 },
  });
  if (parsed.real.status !== 200 || found.length > 0) return found;
  const job = JSON.parse(parsed.real.body) as ApiJob;
  const plan = (Job: ApiJob): Exchange => ({ method: "PUT", path: `/v1/job/${name}/plan`, body: { Job, Diff: true } });
  await compare("plans", plan(job));
  const register: Exchange = { method: "PUT", path: "/v1/jobs", body: { Job: job } };
  const registered = await compareOnce(twins, register);
  counts.registers += 1;
  if (registered.what !== undefined && !needsConsul.test(registered.pair.real.body)) {
    found.push({ seed, what: `register ${registered.what}`, exchanges: [register] });
  }
  if (registered.pair.real.status !== 200) return found;
  await twins.settled();
  await compare("reads", { method: "GET", path: `/v1/job/${name}` }, [register]);
  const random = seededRandom(seed + 500_000);
  const jobs = Array.from({ length: edits }, (_, i) => (i === 0 ? job : editJob(random, job)));
  await Promise.all(jobs.map((one) => compare("plans", plan(one), [register])));
  await twins.ask({ method: "DELETE", path: `/v1/job/${name}?purge=true` });
  await twins.settled();
  return found;
}

/** Fixed ports of jobs that follow each other differ: what stopped holds them until its client says so. */
function portsApart(hcl: string, seed: number): string {
  return hcl.replace(/\bstatic = (\d{4,5})\b/g, (_, port: string) => `static = ${Number(port) + (seed % 50)}`);
}

async function compareOnce(
  twins: Twins,
  exchange: Exchange,
): Promise<{ readonly pair: Pair; readonly what: string | undefined }> {
  const pair = await twins.ask(exchange);
  return { pair, what: pair.real.status === 0 ? undefined : problemOf(pair) };
}

/**
 * How often a question that was answered differently is asked again: a difference that goes was one of time, as when a minute ended
 * between the answers, or of which group a real server looked at first, which the order of a Go map decides.
 */
const looks = 12;

async function askAgain(twins: Twins, exchange: Exchange): Promise<Pair> {
  let pair = await twins.ask(exchange);
  for (let look = 1; look < looks && problemOf(pair) !== undefined; look++) pair = await twins.ask(exchange);
  return pair;
}
