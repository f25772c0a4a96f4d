import type { Random } from "../../model/clock.ts";
import { admitJob } from "../../simulator/jobspec/admit.ts";
import { apiTable } from "../../simulator/jobspec/api-tables.ts";
import { decodeApiJob } from "../../simulator/jobspec/decode.ts";
import type { AdmitContext } from "../../simulator/jobspec/types.ts";
import type { Rec } from "../../simulator/jobspec/values.ts";
import { type Chooser, chooser } from "./chooser.ts";
import { cohere } from "./cohere.ts";
import { HclWriter } from "./render.ts";
import { jobInJson } from "./render-json.ts";
import { sampleObject } from "./sample.ts";

const JOB_TYPES = ["service", "service", "service", "batch", "batch", "system", "sysbatch"];
const ATTEMPTS = 15;

/**
 * A random job file over the whole job specification, for comparing the simulator with a real server. Most of them are valid; the
 * others hold what Nomad refuses. The same seed makes the same file. `name`: the job's label.
 */
export function generateJob(random: Random, name = "generated"): { readonly hcl: string } {
  const choose = chooser(random);
  return { hcl: new HclWriter(choose).file(name, sampleJob(choose, name)) };
}

/** As `generateJob`, in JSON. */
export function generateJsonJob(random: Random, name = "generated"): string {
  const choose = chooser(random);
  return JSON.stringify(jobInJson(choose, name, sampleJob(choose, name)), null, choose.chance(0.5) ? 2 : undefined);
}

function sampleJob(choose: Chooser, name: string): Rec {
  const mayBeWrong = choose.chance(0.25);
  const wild = mayBeWrong ? 0.03 : 0;
  const jobType = choose.pick(JOB_TYPES);
  let density = choose.pick([0.4, 0.7, 1, 1.4]);
  let job: Rec = {};
  for (let i = 0; i < ATTEMPTS; i++) {
    job = sampleObject(choose, apiTable("Job"), { jobType, depth: 0, wild, density });
    cohere(job);
    if (mayBeWrong || isValid({ ...job, ID: name, Name: name })) break;
    density *= 0.85;
  }
  return job;
}

const ANYWHERE: AdmitContext = {
  region: "global",
  namespace: () => ({}),
  nodePool: () => ({}),
  memoryOversubscription: false,
};

function isValid(job: Rec): boolean {
  try {
    admitJob(decodeApiJob(job), ANYWHERE);
    return true;
  } catch {
    return false;
  }
}
