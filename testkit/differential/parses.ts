import { seededRandom } from "../../simulator/random.ts";
import { breakText } from "../job-generator/break-text.ts";
import { generateJob, generateJsonJob } from "../job-generator/generate-job.ts";
import type { Counts, Found } from "./counts.ts";
import { problemOf } from "./normal.ts";
import type { Exchange, Twins } from "./twins.ts";

/** What several arguments have wrong is told in another order at each look; so much looking must do. */
const looks = 6;

/** Parses a generated file, in HCL or in JSON and mostly with mistakes in it, on both servers. */
export async function compareParse(twins: Twins, seed: number, counts: Counts): Promise<Found[]> {
  const whole = seed % 3 === 0 ? generateJsonJob(seededRandom(seed), "j") : generateJob(seededRandom(seed), "j").hcl;
  const JobHCL = seed % 10 === 0 ? whole : breakText(seededRandom(seed + 700_000), whole);
  const exchange: Exchange = { method: "PUT", path: "/v1/jobs/parse", body: { JobHCL, Canonicalize: seed % 2 === 0 } };
  counts.parses += 1;
  let what: string | undefined;
  for (let look = 0; look < looks; look++) {
    const pair = await twins.ask(exchange);
    what = pair.real.status === 0 ? undefined : problemOf(pair);
    if (what === undefined) return [];
  }
  return [{ seed, what: `parse ${what}`, exchanges: [exchange] }];
}
