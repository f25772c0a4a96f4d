import { deploymentActive, evalTerminal, isParameterized, isPeriodic, terminal } from "./facts.ts";
import type { Tx } from "./state.ts";
import { summarizeChild } from "./summary.ts";
import { scoped } from "./table.ts";
import type { Job } from "./types.ts";
import { putVersion } from "./versions.ts";

/**
 * `pending`, `running` or `dead` (nomad-api §4): system, periodic and parameterized jobs run until they are stopped;
 * others run while a deployment or an allocation does, wait while an evaluation does, and are dead after that. Without any evaluation a
 * job is new, unless its evaluations were `forgotten`.
 */
export function jobStatus(tx: Tx, job: Job, forgotten = false): string {
  if (job.Type === "system" || isParameterized(job) || isPeriodic(job)) return job.Stop ? "dead" : "running";
  const key = scoped(job.Namespace, job.ID);
  if (tx.state.deployment.by("job", key).some(deploymentActive)) return "running";
  if (tx.state.allocs.by("job", key).some((alloc) => !terminal(alloc))) return "running";
  const evals = tx.state.evals.by("job", key);
  if (evals.some((evaluation) => !evalTerminal(evaluation))) return "pending";
  return evals.length > 0 || job.Stop || forgotten ? "dead" : "pending";
}

/** Writes the status of a job when it moved: ModifyIndex moves with it, JobModifyIndex does not (nomad-api §3.4). */
export function setJobStatus(tx: Tx, job: Job, forgotten = false): Job {
  const status = jobStatus(tx, job, forgotten);
  if (status === job.Status) return job;
  const next = { ...job, Status: status, ModifyIndex: tx.index };
  tx.put("jobs", next);
  summarizeChild(tx, next, job.Status, status);
  putVersion(tx, next);
  return next;
}
