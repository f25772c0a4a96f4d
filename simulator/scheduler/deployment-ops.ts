import { Refusal } from "../refusal.ts";
import { promoteDeployment, setDeploymentStatus } from "../state/deployment-writes.ts";
import { putEval, upsertEvals } from "../state/eval-writes.ts";
import { deploymentActive } from "../state/facts.ts";
import { upsertJob } from "../state/job-writes.ts";
import { newEval } from "../state/records.ts";
import type { State } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Deployment, Evaluation, Job } from "../state/types.ts";
import { versionsOf } from "../state/versions.ts";

/** What changing a deployment needs beside the state. */
export interface DeploymentTools {
  readonly state: State;
  /** Milliseconds. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Whether two jobs differ in more than what the server keeps beside a specification. */
  readonly specChanged: (old: Job, next: Job) => boolean;
}

export interface DeploymentChange {
  readonly evalId: string;
  readonly index: number;
  readonly revertedTo?: number;
}

/** The evaluation that pushes a deployment on. */
export function deploymentEval(tools: DeploymentTools, deployment: Deployment): Evaluation {
  const job = tools.state.jobs.get(scoped(deployment.Namespace, deployment.JobID));
  const base = {
    ID: deployment.JobID,
    Namespace: deployment.Namespace,
    Priority: job?.Priority ?? 50,
    Type: job?.Type ?? "service",
  };
  return { ...newEval(tools.newId(), base, "deployment-watcher", tools.now()), DeploymentID: deployment.ID };
}

/** A deployment that may still be changed. Throws Refusal (500), as the server does. */
export function changeable(state: State, id: string, verb: string): Deployment {
  const deployment = state.deployment.get(id);
  if (deployment === undefined) throw new Refusal(500, "deployment not found");
  if (!deploymentActive(deployment)) throw new Refusal(500, `can't ${verb} terminal deployment`);
  return deployment;
}

/** Promotes the canaries of some groups, or of all. Throws Refusal when some are not healthy. */
export function promote(tools: DeploymentTools, deployment: Deployment, groups: readonly string[] | undefined): DeploymentChange {
  const evaluation = deploymentEval(tools, deployment);
  return tools.state.write("DeploymentPromotion", (tx) => {
    promoteDeployment(tx, deployment, groups, tools.now());
    putEval(tx, evaluation);
    return { evalId: evaluation.ID, index: tx.index };
  });
}

/**
 * Fails a deployment. With `revert` the latest stable version comes back as a new one in the same write, unless it says the
 * same as the current one (nomad-api §3.6).
 */
export function fail(tools: DeploymentTools, deployment: Deployment, description: string, revert: boolean): DeploymentChange {
  const { state } = tools;
  const evaluation = deploymentEval(tools, deployment);
  const target = revert ? rollbackTarget(tools, deployment) : undefined;
  const text = revert ? `${description}${target?.note ?? " - no stable job version to auto revert to"}` : description;
  return state.write("DeploymentStatusUpdate", (tx) => {
    setDeploymentStatus(tx, { id: deployment.ID, status: "failed", description: text }, tools.now());
    if (target?.job !== undefined) upsertJob(tx, target.job, { newId: tools.newId });
    upsertEvals(tx, [evaluation]);
    const reverted = target?.job === undefined ? {} : { revertedTo: target.job.Version };
    return { evalId: evaluation.ID, index: tx.index, ...reverted };
  });
}

/** Pauses a deployment or lets it go on. */
export function pause(tools: DeploymentTools, deployment: Deployment, paused: boolean): DeploymentChange {
  const evaluation = paused ? undefined : deploymentEval(tools, deployment);
  return tools.state.write("DeploymentStatusUpdate", (tx) => {
    const status = paused ? "paused" : "running";
    setDeploymentStatus(
      tx,
      { id: deployment.ID, status, description: paused ? "Deployment is paused" : "Deployment is running" },
      tools.now(),
    );
    if (evaluation !== undefined) upsertEvals(tx, [evaluation]);
    return { evalId: evaluation?.ID ?? "", index: tx.index };
  });
}

function rollbackTarget(tools: DeploymentTools, deployment: Deployment): { job: Job | undefined; note: string } | undefined {
  const { state } = tools;
  const stable = versionsOf(state, deployment.Namespace, deployment.JobID).find((version) => version.Stable);
  if (stable === undefined) return undefined;
  const current = state.jobs.get(scoped(deployment.Namespace, deployment.JobID));
  if (current !== undefined && !tools.specChanged(current, stable)) {
    return {
      job: undefined,
      note: ` - not rolling back to stable job version ${stable.Version} as current job has same specification`,
    };
  }
  return { job: stable, note: ` - rolling back to job version ${stable.Version}` };
}
