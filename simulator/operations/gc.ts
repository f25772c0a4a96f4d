import type { Timer } from "../../model/clock.ts";
import { deploymentActive, evalTerminal, isParameterized, isPeriodic, terminal } from "../state/facts.ts";
import { deleteJob } from "../state/job-writes.ts";
import { scoped } from "../state/table.ts";
import type { Job } from "../state/types.ts";
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
 * Removes what is over: evaluations with their allocations, dead jobs, deployments, nodes that are down. A finished batch job goes
 * although nobody stopped it, and with it the token of a dispatched child (nomad-api §4, §5).
 */
export function collectGarbage(ops: Operations, thresholds: GcThresholds = everything): void {
  collectEvals(ops, thresholds);
  collectDeployments(ops, thresholds);
  collectJobs(ops, thresholds);
  collectNodes(ops, thresholds);
}

function old(ops: Operations, timeNs: number, threshold: number): boolean {
  return threshold === 0 || ops.now() - timeNs / 1e6 >= threshold;
}

function collectEvals(ops: Operations, thresholds: GcThresholds): void {
  const { state } = ops;
  const evals: string[] = [];
  const allocs: string[] = [];
  for (const row of state.evals.rows.values()) {
    if (!evalTerminal(row)) continue;
    const batch = row.Type === "batch" || row.Type === "sysbatch";
    if (!old(ops, row.ModifyTime, batch ? thresholds.batchEvaluation : thresholds.evaluation)) continue;
    const job = state.jobs.get(scoped(row.Namespace, row.JobID));
    const own = state.allocs.by("eval", row.ID);
    // Work of a batch job that is still there proves that it was done: it goes only with the job.
    if (batch && own.length > 0 && job !== undefined && !job.Stop && job.Status !== "dead") continue;
    if (batch && job !== undefined && !(job.Status === "dead")) continue;
    const goes = own.filter(
      (alloc) =>
        terminal(alloc) &&
        alloc.ClientStatus !== "running" &&
        (alloc.NextAllocation !== "" || alloc.DesiredStatus !== "run" || job === undefined || job.Stop || job.Status === "dead"),
    );
    allocs.push(...goes.map((alloc) => alloc.ID));
    if (goes.length === own.length) evals.push(row.ID);
  }
  if (evals.length + allocs.length === 0) return;
  state.write("EvalDelete", (tx) => {
    for (const id of evals) tx.delete("evals", id);
    for (const id of allocs) tx.delete("allocs", id);
  });
}

function collectDeployments(ops: Operations, thresholds: GcThresholds): void {
  const { state } = ops;
  const gone = [...state.deployment.rows.values()].filter(
    (row) =>
      !deploymentActive(row) &&
      old(ops, row.ModifyTime, thresholds.deployment) &&
      !state.allocs.by("deployment", row.ID).some((alloc) => !terminal(alloc)),
  );
  if (gone.length === 0) return;
  state.write("DeploymentDelete", (tx) => {
    for (const row of gone) tx.delete("deployment", row.ID);
  });
}

function collectable(job: Job): boolean {
  if (job.VersionTag) return false;
  if (isPeriodic(job) || isParameterized(job)) return job.Stop;
  if (job.Status !== "dead") return false;
  return job.Stop || job.Type === "batch" || job.Type === "sysbatch";
}

function collectJobs(ops: Operations, thresholds: GcThresholds): void {
  const { state } = ops;
  const gone = [...state.jobs.rows.values()].filter((job) => {
    if (!collectable(job) || !old(ops, job.SubmitTime, thresholds.job)) return false;
    const key = scoped(job.Namespace, job.ID);
    return (
      state.evals.by("job", key).every(evalTerminal) &&
      state.allocs.by("job", key).every((alloc) => terminal(alloc) && alloc.ClientStatus !== "running")
    );
  });
  if (gone.length === 0) return;
  state.write("JobBatchDeregister", (tx) => {
    for (const job of gone) {
      for (const row of tx.state.evals.by("job", scoped(job.Namespace, job.ID))) tx.delete("evals", row.ID);
      deleteJob(tx, job);
    }
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
