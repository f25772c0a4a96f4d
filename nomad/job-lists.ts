import type { JobStub } from "../model/nomad.ts";
import type { NomadTransport } from "./transport.ts";

const LIST_TIMEOUT_MS = 60_000;

export interface ListJobsOptions {
  /** Adds job meta to each line. */
  readonly meta?: boolean;
  /** Only jobs whose ID begins so. */
  readonly prefix?: string;
  /** Expression on the stored job (nomad-api §7.2), for example `DispatchIdempotencyToken == "x"`. */
  readonly filter?: string;
  readonly signal?: AbortSignal;
}

/**
 * All jobs of a namespace (`*`: of every namespace that may be seen), every page.
 * `index` is that of the first page, so a change between pages shows as a higher index later.
 */
export async function listJobs(
  transport: NomadTransport,
  namespace: string,
  options: ListJobsOptions = {},
): Promise<{ readonly index: number; readonly jobs: readonly JobStub[] }> {
  const jobs: JobStub[] = [];
  let first: number | undefined;
  let page: string | undefined;
  do {
    const answer = await transport.call({
      operation: "list_jobs",
      what: `list jobs of namespace ${namespace}`,
      effect: "read",
      method: "GET",
      path: "/v1/jobs",
      query: {
        namespace,
        per_page: transport.pageSize,
        next_token: page,
        prefix: options.prefix,
        filter: options.filter,
        meta: options.meta === true ? true : undefined,
      },
      shape: "list",
      timeoutMs: LIST_TIMEOUT_MS,
      signal: options.signal,
    });
    const part = answer.value as readonly JobStub[];
    if (first === undefined && answer.nextToken === undefined) return { index: answer.index, jobs: part };
    first ??= answer.index;
    for (const job of part) jobs.push(job);
    // A page without jobs cannot lead anywhere: better a short list than an endless loop.
    page = part.length === 0 ? undefined : answer.nextToken;
  } while (page !== undefined);
  return { index: first, jobs };
}
