import type { ApiJob } from "./types.ts";

/** What parse with `Canonicalize: true` gives. The input is not changed. */
export function canonicalizeApiJob(job: ApiJob): ApiJob {
  return job;
}
