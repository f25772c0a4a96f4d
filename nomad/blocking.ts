import type { JobKey } from "../model/job-key.ts";
import type { AllocationStub, Evaluation, JobStub, LiveJob, NomadDeployment } from "../model/nomad.ts";
import { jobPath, namespaceOf } from "./paths.ts";
import { jobListRequest, newestFirst } from "./rollout.ts";
import type { NomadRequest, NomadTransport } from "./transport.ts";

/** What a blocking query waits for. */
export interface BlockOptions {
  /** Answer when the index is above this one; 0: at once. Take it from `nextBlockIndex`. */
  readonly index: number;
  /** Milliseconds to wait at most, up to 300,000. Keep it at 60,000: after a restore Nomad may sleep through it (§7.1). */
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

/** A value and the index it stands for. The value may be the same as before: a wait that ran out answers too. */
export interface Blocked<T> {
  readonly index: number;
  readonly value: T;
}

const SLACK_MS = 10_000;
const MAX_WAIT_MS = 300_000;

/** Index for the next blocking query: starts over when the server's went back (snapshot restore), and never spins on 0 (nomad-api §7.1). */
export function nextBlockIndex(asked: number, answered: number): number {
  if (answered < asked) return 0;
  return Math.max(1, answered);
}

async function block(transport: NomadTransport, request: NomadRequest, options: BlockOptions): Promise<Blocked<unknown>> {
  const waitMs = Math.min(options.waitMs, MAX_WAIT_MS);
  const { value, index } = await transport.call({
    ...request,
    query: { ...request.query, index: options.index, wait: `${waitMs}ms` },
    long: true,
    // Nomad adds up to a sixteenth of jitter.
    timeoutMs: waitMs + waitMs / 16 + SLACK_MS,
    signal: options.signal,
  });
  return { index, value };
}

/** `undefined` when the job does not exist. */
export async function blockOnJob(
  transport: NomadTransport,
  key: JobKey,
  options: BlockOptions,
): Promise<Blocked<LiveJob | undefined>> {
  const request: NomadRequest = {
    operation: "block_on_job",
    what: `wait for job ${key}`,
    effect: "read",
    method: "GET",
    path: jobPath(key),
    query: namespaceOf(key),
    decoding: "exact",
    absent: "job not found",
  };
  const answer = await block(transport, request, options);
  return { index: answer.index, value: answer.value as LiveJob | undefined };
}

export async function blockOnJobs(
  transport: NomadTransport,
  namespace: string,
  options: BlockOptions,
): Promise<Blocked<readonly JobStub[]>> {
  const answer = await block(
    transport,
    {
      operation: "block_on_jobs",
      what: `wait for jobs of namespace ${namespace}`,
      effect: "read",
      method: "GET",
      path: "/v1/jobs",
      query: { namespace },
      shape: "list",
    },
    options,
  );
  return { index: answer.index, value: answer.value as readonly JobStub[] };
}

export async function blockOnAllocations(
  transport: NomadTransport,
  key: JobKey,
  options: BlockOptions,
): Promise<Blocked<readonly AllocationStub[]>> {
  const answer = await block(transport, jobListRequest(key, "allocations"), options);
  return { index: answer.index, value: answer.value as readonly AllocationStub[] };
}

export async function blockOnEvaluations(
  transport: NomadTransport,
  key: JobKey,
  options: BlockOptions,
): Promise<Blocked<readonly Evaluation[]>> {
  const answer = await block(transport, jobListRequest(key, "evaluations"), options);
  return { index: answer.index, value: newestFirst(answer.value as readonly Evaluation[]) };
}

export async function blockOnNomadDeployments(
  transport: NomadTransport,
  key: JobKey,
  options: BlockOptions,
): Promise<Blocked<readonly NomadDeployment[]>> {
  const answer = await block(transport, jobListRequest(key, "deployments"), options);
  return { index: answer.index, value: newestFirst(answer.value as readonly NomadDeployment[]) };
}
