import type { Deployment } from "../model/deployment.ts";
import { type JobKey, jobKey } from "../model/job-key.ts";
import type { AllocationStub, Evaluation, JobSpec, LiveJob, NomadDeployment } from "../model/nomad.ts";
import { isPromoted, isTemplateJob, judgeHealth, rolloutOf } from "../plan/health.ts";
import { type Health, wantedCount } from "../plan/health-words.ts";
import { hasScaling } from "../plan/scaling.ts";
import type { ApplyDeps } from "./apply-deps.ts";

export interface HealthWatch {
  readonly health: Health;
  /** With a promotion recorded, if one was noticed. */
  readonly deployment: Deployment;
}

/**
 * Reads what the judgement needs and no more (operator §14.6). Nomad's own rollout comes first: where it says it all, nothing
 * else is read, and the job itself is read only when the watch does not vouch that it is still ours.
 */
export async function readHealth(deployment: Deployment, spec: JobSpec, deps: ApplyDeps): Promise<HealthWatch> {
  const key = jobKey(deployment.namespace, deployment.jobId);
  const appliedIndex = deployment.appliedIndex ?? 0;
  const nomadDeployments = runsNothing(spec) ? [] : await deps.nomad.listNomadDeployments(key);
  const rollout = rolloutOf(nomadDeployments, appliedIndex);
  const enough = runsNothing(spec) || (rollout?.Status === "successful" && everyGroupIsWanted(rollout));
  const { allocations, evaluations } = enough ? nothingMore : await readPlacement(key, deps);
  const unevaluated = !enough && rollout === undefined && expectsRollout(spec) && !isEvaluated(evaluations, appliedIndex);
  if (unevaluated && deps.live.index(key) === appliedIndex) return { health: notEvaluated, deployment };
  const live = await liveJob(key, deployment, spec, rollout, deps);
  // A job that was changed or removed meanwhile is never evaluated at our index: that is judged, not waited for.
  if (unevaluated && live?.JobModifyIndex === appliedIndex && live.Stop !== true) return { health: notEvaluated, deployment };
  const health = judgeHealth({ appliedIndex, mode: deployment.mode, live, nomadDeployments, allocations, evaluations });
  const promoted =
    live !== undefined && rollout !== undefined && isUnnoticedPromotion(deployment, rollout) && isPromoted(rollout, live);
  return { health, deployment: promoted ? await deps.store.recordPromoted(deployment.id, deployment.version) : deployment };
}

const notEvaluated: Health = { state: "waiting", message: "Nomad has not evaluated the new version yet" };

const nothingMore: { readonly allocations: readonly AllocationStub[]; readonly evaluations: readonly Evaluation[] } = {
  allocations: [],
  evaluations: [],
};

async function readPlacement(key: JobKey, deps: ApplyDeps): Promise<typeof nothingMore> {
  const [allocations, evaluations] = await Promise.all([deps.nomad.listAllocations(key), deps.nomad.listEvaluations(key)]);
  return { allocations, evaluations };
}

/** Jobs of which nothing has to run now: registered is healthy, and no version of allocations has to be told apart. */
function runsNothing(spec: JobSpec): boolean {
  return isTemplateJob(spec) || (wantsNothing(spec) && !hasScaling(spec));
}

function wantsNothing(spec: JobSpec): boolean {
  const groups = spec.TaskGroups ?? [];
  return groups.length > 0 && groups.every((group) => wantedCount(group) === 0);
}

function everyGroupIsWanted(rollout: NomadDeployment): boolean {
  return Object.values(rollout.TaskGroups ?? {}).every((group) => group.DesiredTotal > 0);
}

/** Whether Nomad makes a deployment object for such a job once its evaluation is done (nomad-api §6.2). */
function expectsRollout(spec: JobSpec): boolean {
  const type = spec.Type ?? "service";
  return (type === "service" || type === "system") && (spec.TaskGroups ?? []).some((group) => wantedCount(group) > 0);
}

function isEvaluated(evaluations: readonly Evaluation[], appliedIndex: number): boolean {
  return evaluations.some((each) => (each.JobModifyIndex ?? 0) >= appliedIndex && each.Status !== "pending");
}

/** What was registered is the live job as long as the watch knows no other index; then it need not be read. */
async function liveJob(
  key: JobKey,
  deployment: Deployment,
  spec: JobSpec,
  rollout: NomadDeployment | undefined,
  deps: ApplyDeps,
): Promise<LiveJob | undefined> {
  const index = deployment.appliedIndex ?? 0;
  const known = deps.live.index(key) === index && (rollout !== undefined || runsNothing(spec));
  // What an autoscaler wanted at the moment of the register stands in the live job alone.
  if (!known || (hasScaling(spec) && wantsNothing(spec))) return deps.nomad.readJob(key);
  return {
    ...spec,
    Namespace: deployment.namespace,
    Status: "running",
    Version: rollout?.JobVersion ?? 0,
    CreateIndex: 0,
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}

/** The wait was noted, the promotion not yet. A rollout that is over needs no clock any more. */
function isUnnoticedPromotion(deployment: Deployment, rollout: NomadDeployment): boolean {
  return deployment.promotionWaitSince !== undefined && deployment.promotedAt === undefined && rollout.Status === "running";
}
