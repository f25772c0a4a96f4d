import type { Timer } from "../../model/clock.ts";
import { deploymentActive, evalTerminal, groupOf, isParameterized, terminal } from "../state/facts.ts";
import { setJobStatus } from "../state/job-status.ts";
import { deleteJob } from "../state/job-writes.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Deployment, Evaluation, Job } from "../state/types.ts";
import type { Operations } from "./context.ts";

/** How old, in milliseconds, something must be before it is collected; 0 collects all that is over (`/v1/system/gc`). */
export interface GcThresholds {
  readonly job: number;
  readonly evaluation: number;
  readonly batchEvaluation: number;
  readonly deployment: number;
  readonly node: number;
}

const defaultThresholds: GcThresholds = {
  job: 4 * 3_600_000,
  evaluation: 3_600_000,
  batchEvaluation: 24 * 3_600_000,
  deployment: 3_600_000,
  node: 24 * 3_600_000,
};

/** Milliseconds between two rounds of a server's own garbage collection. */
const rounds = 300_000;

/** Lets the server tidy up by itself every few minutes, until it is cancelled. */
export function keepTidy(ops: Operations): Timer {
  const next = () =>
    ops.clock.setTimer(rounds, () => {
      collectGarbage(ops, defaultThresholds);
      timer = next();
    });
  let timer = next();
  return { cancel: () => timer.cancel() };
}

const everything: GcThresholds = { job: 0, evaluation: 0, batchEvaluation: 0, deployment: 0, node: 0 };

/**
 * Removes what is over: dead jobs, evaluations with their allocations, deployments, nodes that are down. A finished batch job goes
 * although nobody stopped it, and with it the token of a dispatched child (nomad-api §4, §5). What goes is decided before anything goes.
 */
export function collectGarbage(ops: Operations, thresholds: GcThresholds = everything): void {
  const jobs = collectableJobs(ops, thresholds);
  const evals = collectableEvals(ops, thresholds);
  const deployments = collectableDeployments(ops, thresholds);
  forgetEvals(
    ops,
    jobs.flatMap((one) => one.collected),
  );
  if (jobs.length > 0) {
    ops.state.write("JobBatchDeregister", (tx) => {
      for (const { job } of jobs) {
        const row = tx.state.jobs.get(scoped(job.Namespace, job.ID));
        if (row !== undefined) deleteJob(tx, row);
      }
    });
  }
  forgetEvals(ops, evals);
  if (deployments.length > 0) {
    ops.state.write("DeploymentDelete", (tx) => {
      for (const row of deployments) tx.delete("deployment", row.ID);
    });
  }
  collectNodes(ops, thresholds);
}

function old(ops: Operations, timeNs: number, threshold: number): boolean {
  return threshold === 0 || ops.now() - timeNs / 1e6 >= threshold;
}

/** What of an evaluation may go: it, or some of its allocations only. */
interface Collected {
  readonly evaluation: Evaluation;
  readonly whole: boolean;
  readonly allocs: readonly Allocation[];
}

/** With `finished` also that of a batch job that is done. */
function collectEval(ops: Operations, evaluation: Evaluation, threshold: number, finished: boolean): Collected {
  const nothing = { evaluation, whole: false, allocs: [] };
  if (!evalTerminal(evaluation) || !old(ops, evaluation.ModifyTime, threshold)) return nothing;
  const job = ops.state.jobs.get(scoped(evaluation.Namespace, evaluation.JobID));
  const own = ops.state.allocs.by("eval", evaluation.ID);
  const aged = own.filter((alloc) => terminal(alloc) && old(ops, alloc.ModifyTime, threshold));
  const over = job === undefined || (job.Status === "dead" && (job.Stop || finished));
  // The latest work of a batch job that is there proves that it was done: without it the job would run again.
  const allocs =
    evaluation.Type === "batch" && !over
      ? aged.filter((alloc) => alloc.CreateIndex < job.JobModifyIndex)
      : aged.filter((alloc) => isForgettable(alloc, job, ops.now()));
  return { evaluation, whole: allocs.length === own.length, allocs };
}

/** Nothing may still ask for an allocation that is over: neither its client nor whoever would place it again. */
function isForgettable(alloc: Allocation, job: Job | undefined, now: number): boolean {
  if (alloc.ClientStatus === "running") return false;
  if (job === undefined || job.Stop || job.Status === "dead") return true;
  if (alloc.DesiredStatus === "stop" || alloc.ClientStatus !== "failed") return true;
  const policy = groupOf(job, alloc.TaskGroup)?.ReschedulePolicy;
  if (!policy || (!policy.Unlimited && policy.Attempts === 0) || alloc.NextAllocation !== "") return true;
  const last = alloc.RescheduleTracker?.Events?.at(-1);
  return !policy.Unlimited && last !== undefined && now - last.RescheduleTime / 1e6 > policy.Interval / 1e6;
}

function collectableEvals(ops: Operations, thresholds: GcThresholds): Collected[] {
  return [...ops.state.evals.rows.values()].map((row) =>
    collectEval(ops, row, row.Type === "batch" ? thresholds.batchEvaluation : thresholds.evaluation, false),
  );
}

/** Removes evaluations and allocations; a job that has none left of them is over. */
function forgetEvals(ops: Operations, collected: readonly Collected[]): void {
  const evals = collected.filter((one) => one.whole).map(({ evaluation }) => evaluation);
  const allocs = collected.flatMap((one) => one.allocs);
  if (evals.length + allocs.length === 0) return;
  ops.state.write("EvalDelete", (tx) => {
    for (const { ID } of evals) tx.delete("evals", ID);
    for (const { ID } of allocs) tx.delete("allocs", ID);
    for (const key of new Set(evals.map(({ Namespace, JobID }) => scoped(Namespace, JobID)))) {
      const job = tx.state.jobs.get(key);
      if (job !== undefined) setJobStatus(tx, job, true);
    }
  });
}

function collectableDeployments(ops: Operations, thresholds: GcThresholds): Deployment[] {
  const { state } = ops;
  return [...state.deployment.rows.values()].filter(
    (row) =>
      !deploymentActive(row) &&
      old(ops, row.ModifyTime, thresholds.deployment) &&
      !state.allocs.by("deployment", row.ID).some((alloc) => !terminal(alloc)),
  );
}

function isCollectable(job: Job): boolean {
  if (job.Periodic?.Enabled || isParameterized(job)) return job.Stop;
  return job.Status === "dead" && (job.Stop || job.Type === "batch" || job.Type === "sysbatch");
}

/** Jobs that may go with all their evaluations; one of which a version is tagged is kept. */
function collectableJobs(ops: Operations, thresholds: GcThresholds): { job: Job; collected: Collected[] }[] {
  const { state } = ops;
  return [...state.jobs.rows.values()].flatMap((job) => {
    if (!isCollectable(job) || !old(ops, job.SubmitTime, thresholds.job)) return [];
    const key = scoped(job.Namespace, job.ID);
    if (state.job_version.by("job", key).some((version) => version.VersionTag)) return [];
    const collected = state.evals.by("job", key).map((row) => collectEval(ops, row, thresholds.job, true));
    return collected.every((one) => one.whole) ? [{ job, collected }] : [];
  });
}

function collectNodes(ops: Operations, thresholds: GcThresholds): void {
  const { state } = ops;
  const gone = [...state.nodes.rows.values()].filter(
    (node) =>
      node.Status === "down" &&
      old(ops, node.StatusUpdatedAt * 1e9, thresholds.node) &&
      state.allocs.by("node", node.ID).every(terminal),
  );
  if (gone.length === 0) return;
  state.write("NodeDeregister", (tx) => {
    for (const node of gone) tx.delete("nodes", node.ID);
  });
}
