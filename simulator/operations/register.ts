import { Refusal } from "../refusal.ts";
import { wish } from "../state/alloc-writes.ts";
import { putEval, upsertEvals } from "../state/eval-writes.ts";
import { isParameterized, isPeriodic, nanos } from "../state/facts.ts";
import { setJobStatus } from "../state/job-status.ts";
import { deleteJob, enforceIndex, stopJob, type UpsertJobOptions, upsertJob } from "../state/job-writes.ts";
import { newEval } from "../state/records.ts";
import type { Tx } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Evaluation, Job, Service } from "../state/types.ts";
import { versionAt } from "../state/versions.ts";
import type { Operations } from "./context.ts";

export interface RegisterOptions {
  readonly enforceIndex?: number | undefined;
  readonly preserveCounts?: boolean;
  readonly preserveResources?: boolean;
  readonly evalPriority?: number;
  readonly submission?: UpsertJobOptions["submission"];
}

interface Check {
  readonly TaskName: string;
}

export interface Registered {
  readonly evalId: string;
  readonly evalCreateIndex: number;
  /** Of the job, or of its last change at all when nothing changed (nomad-api §3.3). */
  readonly jobModifyIndex: number;
  readonly index: number;
}

/** Writes an admitted job and the evaluation that makes it run. Throws Refusal. */
export function register(ops: Operations, admitted: Job, options: RegisterOptions = {}): Registered {
  const { state } = ops;
  const existing = state.jobs.get(scoped(admitted.Namespace, admitted.ID));
  if (options.enforceIndex !== undefined) enforceIndex(existing, options.enforceIndex);
  ops.rules.checkUpdate(existing, admitted);
  const now = ops.now();
  const job: Job = { ...withPolicyIds(existing, admitted, ops.newId), SubmitTime: nanos(now) };
  const evaluation = needsEval(job) ? evalFor(ops, job, "job-register", options.evalPriority) : undefined;
  // What is to be preserved is put in its place only afterwards: the job is compared as it was sent.
  if (existing !== undefined && !ops.rules.specChanged(existing, job)) {
    const jobModifyIndex = existing.ModifyIndex;
    if (evaluation === undefined) return { evalId: "", evalCreateIndex: 0, jobModifyIndex, index: jobModifyIndex };
    const index = state.write("EvalUpdate", (tx) => {
      upsertEvals(tx, [evaluation]);
      return tx.index;
    });
    return { evalId: evaluation.ID, evalCreateIndex: index, jobModifyIndex, index };
  }
  return state.write("JobRegister", (tx) => {
    upsertJob(tx, withCheckTasks(job), {
      submission: options.submission,
      enforceIndex: options.enforceIndex,
      preserveCounts: options.preserveCounts ?? false,
      preserveResources: options.preserveResources ?? false,
      newId: ops.newId,
    });
    if (evaluation !== undefined) evaluate(tx, job, { ...evaluation, JobModifyIndex: tx.index });
    return {
      evalId: evaluation?.ID ?? "",
      evalCreateIndex: evaluation === undefined ? 0 : tx.index,
      jobModifyIndex: tx.index,
      index: tx.index,
    };
  });
}

function needsEval(job: Job): boolean {
  return !isPeriodic(job) && !isParameterized(job);
}

export function evalFor(ops: Operations, job: Job, triggeredBy: string, priority?: number): Evaluation {
  const evaluation = newEval(ops.newId(), job, triggeredBy, ops.now());
  return priority === undefined || priority <= 0 ? evaluation : { ...evaluation, Priority: priority };
}

/** Puts an evaluation together with its job, whose status follows. */
export function evaluate(tx: Tx, job: Pick<Job, "Namespace" | "ID">, evaluation: Evaluation): void {
  putEval(tx, evaluation);
  const row = tx.state.jobs.get(scoped(job.Namespace, job.ID));
  if (row !== undefined) setJobStatus(tx, row);
}

/**
 * The log completes a job once more. By then a native service has got the task that admission found for it, and its checks, which
 * admission completes before that, belong there too.
 */
function withCheckTasks(job: Job): Job {
  const isLeft = ({ TaskName, Checks }: Service): boolean =>
    TaskName !== "" && (Checks as readonly Check[] | null | undefined)?.some((check) => check.TaskName === "") === true;
  if (!job.TaskGroups.some(({ Services }) => Services?.some(isLeft))) return job;
  const completed = (service: Service): Service => {
    const { TaskName, Checks } = service;
    return isLeft(service)
      ? { ...service, Checks: (Checks as readonly Check[]).map((check) => ({ ...check, TaskName: check.TaskName || TaskName })) }
      : service;
  };
  const groups = job.TaskGroups.map((group) => ({ ...group, Services: group.Services?.map(completed) ?? null }));
  return { ...job, TaskGroups: groups };
}

/** Scaling policies keep their ids from version to version; new ones get one. */
export function withPolicyIds(existing: Job | undefined, job: Job, newId: () => string): Job {
  if (!job.TaskGroups.some((group) => group.Scaling?.ID === "")) return job;
  const groups = job.TaskGroups.map((group) => {
    if (group.Scaling?.ID !== "") return group;
    const old = existing?.TaskGroups.find((other) => other.Name === group.Name)?.Scaling;
    return { ...group, Scaling: { ...group.Scaling, ID: old?.ID ?? newId() } };
  });
  return { ...job, TaskGroups: groups };
}

export interface DeregisterOptions {
  readonly purge?: boolean;
  readonly evalPriority?: number;
  readonly noShutdownDelay?: boolean;
}

export interface Deregistered {
  readonly evalId: string;
  readonly index: number;
}

/** Stops a job, or removes it with its history. A job that is not there is no error (nomad-api §4): index 0. */
export function deregister(ops: Operations, namespace: string, id: string, options: DeregisterOptions = {}): Deregistered {
  const job = ops.state.jobs.get(scoped(namespace, id));
  if (job === undefined) return { evalId: "", index: 0 };
  const evaluation = needsEval(job)
    ? { ...evalFor(ops, job, "job-deregister", options.evalPriority), Type: "service" }
    : undefined;
  return ops.state.write("JobDeregister", (tx) => {
    if (options.noShutdownDelay) {
      for (const alloc of tx.state.allocs.by("job", scoped(namespace, id))) wish(tx, alloc, { NoShutdownDelay: true });
    }
    if (options.purge) deleteJob(tx, job);
    else stopJob(tx, job, nanos(ops.now()));
    if (evaluation !== undefined) evaluate(tx, job, { ...evaluation, JobModifyIndex: tx.index });
    return { evalId: evaluation?.ID ?? "", index: tx.index };
  });
}

export interface RevertOptions {
  readonly version: number;
  readonly enforcePriorVersion?: number | undefined;
  readonly tokenId?: string;
}

/** Brings an older version back as a new one. Throws Refusal with the server's texts (nomad-api §3.6). */
export function revert(ops: Operations, namespace: string, id: string, options: RevertOptions): Registered {
  const current = ops.state.jobs.get(scoped(namespace, id));
  if (current === undefined) throw new Refusal(500, `job "${id}" not found`);
  if (options.version === current.Version) throw new Refusal(500, "can't revert to current version");
  const old = versionAt(ops.state, namespace, id, options.version);
  if (old === undefined)
    throw new Refusal(500, `job "${id}" in namespace "${namespace}" at version ${options.version} not found`);
  const prior = options.enforcePriorVersion;
  if (prior !== undefined && prior !== current.Version) {
    throw new Refusal(500, `Current job has version ${current.Version}; enforcing version ${prior}`);
  }
  const job = { ...old, VersionTag: null, Stable: false, NomadTokenID: options.tokenId ?? old.NomadTokenID };
  return register(ops, job, { enforceIndex: prior === undefined ? undefined : current.JobModifyIndex });
}

/** Makes a new evaluation of a job; with `forceReschedule` its failed allocations are placed again at once. */
export function forceEvaluate(ops: Operations, namespace: string, id: string, forceReschedule: boolean): Registered {
  const { state } = ops;
  const job = state.jobs.get(scoped(namespace, id));
  if (job === undefined) throw new Refusal(500, "job not found");
  if (isPeriodic(job)) throw new Refusal(500, "can't evaluate periodic job");
  if (isParameterized(job)) throw new Refusal(500, "can't evaluate parameterized job");
  const evaluation = { ...evalFor(ops, job, "job-register"), JobModifyIndex: job.ModifyIndex };
  const failed = state.allocs.by("job", scoped(namespace, id)).filter((alloc) => {
    const policy = job.TaskGroups.find((group) => group.Name === alloc.TaskGroup)?.ReschedulePolicy;
    const enabled = policy !== null && policy !== undefined && (policy.Attempts > 0 || policy.Unlimited);
    return forceReschedule && enabled && alloc.NextAllocation === "" && alloc.ClientStatus === "failed";
  });
  const index = state.write("AllocationUpdateDesiredStatus", (tx) => {
    for (const alloc of failed) wish(tx, alloc, { ForceReschedule: true });
    upsertEvals(tx, [evaluation]);
    return tx.index;
  });
  return { evalId: evaluation.ID, evalCreateIndex: index, jobModifyIndex: job.ModifyIndex, index };
}
