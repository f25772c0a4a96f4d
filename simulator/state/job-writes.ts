import { Refusal } from "../refusal.ts";
import { jobStatus } from "./job-status.ts";
import type { Tx } from "./state.ts";
import { summarizeChild, summarizeJob } from "./summary.ts";
import { scoped } from "./table.ts";
import type { Job, ScalingPolicy, Submission } from "./types.ts";
import { putVersion } from "./versions.ts";

export interface UpsertJobOptions {
  readonly submission?: Pick<Submission, "Source" | "Format" | "VariableFlags" | "Variables"> | undefined;
  /** A change that makes no version: stability, tags. */
  readonly keepVersion?: boolean;
  /** Compare-and-set on JobModifyIndex; 0 means "must not exist". */
  readonly enforceIndex?: number | undefined;
  readonly preserveCounts?: boolean;
  readonly preserveResources?: boolean;
  readonly newId?: () => string;
}

/**
 * Refuses a register whose base is not the job that is there (nomad-api §3.2). A stopped job counts as existing.
 * Throws Refusal (500).
 */
export function enforceIndex(existing: Job | undefined, wanted: number): void {
  const say = (what: string) => new Refusal(500, `Enforcing job modify index ${wanted}: ${what}`);
  if (existing === undefined) {
    if (wanted !== 0) throw say("job does not exist");
    return;
  }
  if (wanted === 0) throw say("job already exists");
  if (wanted !== existing.JobModifyIndex) {
    throw say(`job exists with conflicting job modify index: ${existing.JobModifyIndex}`);
  }
}

/** Writes a job as a new version (nomad-api §3.4). A higher version in the payload is taken as it is (§17). */
export function upsertJob(tx: Tx, job: Job, options: UpsertJobOptions = {}): Job {
  const key = scoped(job.Namespace, job.ID);
  const existing = tx.state.jobs.get(key);
  if (options.enforceIndex !== undefined) enforceIndex(existing, options.enforceIndex);
  let submission = options.submission;
  let next: Job = { ...job, ModifyIndex: tx.index };
  if (existing === undefined) {
    next = { ...next, CreateIndex: tx.index, JobModifyIndex: tx.index };
  } else {
    next = { ...next, CreateIndex: existing.CreateIndex };
    if (!options.keepVersion) {
      next = { ...next, JobModifyIndex: tx.index };
      if (job.Version <= existing.Version) {
        submission ??= tx.state.job_submission.get(`${key}\u0000${job.Version}`);
        next = { ...next, Version: existing.Version + 1 };
      }
    }
  }
  next = { ...next, Status: jobStatus(tx, next) };
  next = preserve(next, existing, options);
  next = storeScaling(tx, next, options.newId);
  if (existing === undefined) summarizeChild(tx, next, "", next.Status);
  tx.put("jobs", next);
  summarizeJob(tx, next);
  putVersion(tx, next);
  if (submission !== undefined) storeSubmission(tx, next, submission);
  return next;
}

function preserve(job: Job, existing: Job | undefined, options: UpsertJobOptions): Job {
  if (existing === undefined || !(options.preserveCounts || options.preserveResources)) return job;
  const groups = job.TaskGroups.map((group) => {
    const old = existing.TaskGroups.find((other) => other.Name === group.Name);
    if (old === undefined) return group;
    const tasks = options.preserveResources
      ? group.Tasks.map((task) => {
          const oldTask = old.Tasks.find((other) => other.Name === task.Name);
          return oldTask === undefined ? task : { ...task, Resources: oldTask.Resources };
        })
      : group.Tasks;
    return { ...group, Tasks: tasks, Count: options.preserveCounts ? old.Count : group.Count };
  });
  return { ...job, TaskGroups: groups };
}

function storeSubmission(tx: Tx, job: Job, submission: NonNullable<UpsertJobOptions["submission"]>): void {
  const key = `${scoped(job.Namespace, job.ID)}\u0000${job.Version}`;
  if (tx.state.job_submission.get(key) !== undefined) return;
  tx.put("job_submission", {
    Source: submission.Source,
    Format: submission.Format,
    VariableFlags: submission.VariableFlags,
    Variables: submission.Variables,
    Namespace: job.Namespace,
    JobID: job.ID,
    Version: job.Version,
    JobModifyIndex: tx.index,
  });
  const all = tx.state.job_submission.by("job", scoped(job.Namespace, job.ID)).sort((a, b) => b.Version - a.Version);
  const tagged = new Set(
    tx.state.job_version
      .by("job", scoped(job.Namespace, job.ID))
      .filter((v) => v.VersionTag)
      .map((v) => v.Version),
  );
  for (const old of all.filter((one) => !tagged.has(one.Version)).slice(6)) {
    tx.delete("job_submission", tx.state.job_submission.keyOf(old));
  }
}

/**
 * Stores the scaling policies of a job. A policy that is new or changed carries its indexes in the stored job too, one that
 * is the same as before carries zeros: hence the one spurious version of a job with a `scaling` block (nomad-api §17).
 */
function storeScaling(tx: Tx, job: Job, newId: (() => string) | undefined): Job {
  const stored = tx.state.scaling_policy.by("job", scoped(job.Namespace, job.ID));
  const withPolicy = job.TaskGroups.filter((group) => group.Scaling);
  for (const old of stored) {
    const target = old.Target?.["Group"];
    if (!withPolicy.some((group) => group.Name === target)) tx.delete("scaling_policy", old.ID);
  }
  if (withPolicy.length === 0) return job;
  const groups = job.TaskGroups.map((group) => {
    const policy = group.Scaling;
    if (!policy) return group;
    const old = stored.find((one) => one.Target?.["Group"] === group.Name && one.Type === policy.Type);
    if (old !== undefined && samePolicy(old, policy)) return group;
    const next: ScalingPolicy = {
      ...policy,
      ID: old?.ID ?? (policy.ID || (newId?.() ?? scoped(job.ID, group.Name))),
      CreateIndex: old?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    };
    tx.put("scaling_policy", next);
    return { ...group, Scaling: next };
  });
  return { ...job, TaskGroups: groups };
}

function samePolicy(a: ScalingPolicy, b: ScalingPolicy): boolean {
  const plain = (policy: ScalingPolicy) =>
    JSON.stringify([policy.Type, policy.Min, policy.Max, policy.Enabled, policy.Policy ?? null]);
  return plain(a) === plain(b);
}

/**
 * Marks a version stable or not: only ModifyIndex moves. The server writes the version as if it were the current one, and so an older
 * one becomes the job that is current.
 */
export function markStable(tx: Tx, namespace: string, id: string, version: number, stable: boolean): void {
  const job = tx.state.job_version.get(`${scoped(namespace, id)}\u0000${version}`);
  if (job === undefined || job.Stable === stable) return;
  upsertJob(tx, { ...job, Stable: stable }, { keepVersion: true });
}

/** Stops a job: a new version with `Stop`, scaling policies off. */
export function stopJob(tx: Tx, job: Job, submitTime: number): Job {
  const groups = job.TaskGroups.map((group) =>
    group.Scaling ? { ...group, Scaling: { ...group.Scaling, Enabled: false } } : group,
  );
  return upsertJob(tx, { ...job, Stop: true, TaskGroups: groups, SubmitTime: submitTime });
}

/** Removes a job with all that hangs on it; its pending evaluations are closed (nomad-api §4, §17). */
export function deleteJob(tx: Tx, job: Job): void {
  const key = scoped(job.Namespace, job.ID);
  if (job.ParentID !== "" && job.Status !== "dead") summarizeChild(tx, job, job.Status, "dead");
  tx.delete("jobs", key);
  tx.touch("jobs");
  const { state } = tx;
  for (const row of state.job_version.by("job", key)) tx.delete("job_version", state.job_version.keyOf(row));
  for (const row of state.deployment.by("job", key)) tx.delete("deployment", row.ID);
  for (const row of state.evals.by("job", key)) {
    if (row.Status === "pending") {
      tx.put("evals", { ...row, Status: "complete", StatusDescription: `job ${job.ID} deleted` });
    }
  }
  for (const row of state.allocs.by("job", key)) tx.delete("allocs", row.ID);
  for (const row of state.job_submission.by("job", key)) tx.delete("job_submission", state.job_submission.keyOf(row));
  for (const row of state.scaling_policy.by("job", key)) tx.delete("scaling_policy", row.ID);
  tx.delete("job_summary", key);
  tx.delete("scaling_event", key);
  tx.delete("periodic_launch", key);
  for (const name of ["allocs", "job_summary", "scaling_event"] as const) tx.touch(name);
}
