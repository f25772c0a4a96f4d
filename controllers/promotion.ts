import type { Actor, Deployment } from "../model/deployment.ts";
import { RefusedError } from "../model/errors.ts";
import { judgeHealth, rolloutOf } from "../plan/health.ts";
import { type DecisionDeps, keyOfDeployment, requireDeployment, requireNormalMode } from "./decision-deps.ts";

/**
 * Promotes the waiting canaries of a deployment (operator §14.8). The wish is recorded before Nomad is asked, and the clock
 * starts anew at the click. @throws NotFoundError; RefusedError `nothing_to_promote`; NomadError, with the wish on record.
 */
export async function promote(id: string, actor: Actor, deps: DecisionDeps): Promise<Deployment> {
  const { nomadDeploymentId } = await requireWaiting(id, deps);
  await deps.store.recordPromotionRequest(id, actor);
  await deps.nomad.promote(nomadDeploymentId);
  const current = await requireDeployment(id, deps);
  const promoted = current.state === "applying" ? await deps.store.recordPromoted(id, current.version) : current;
  deps.wakes.moved(promoted);
  return promoted;
}

/** Lets Nomad fail the waiting rollout, which ends the deployment. @throws as `promote`. */
export async function failRollout(id: string, actor: Actor, deps: DecisionDeps): Promise<Deployment> {
  const { nomadDeploymentId } = await requireWaiting(id, deps);
  await deps.store.recordFailRequest(id, actor);
  await deps.nomad.failDeployment(nomadDeploymentId);
  const current = await requireDeployment(id, deps);
  deps.wakes.moved(current);
  return current;
}

/** Store and Nomad have to agree, right now, that canaries wait for a person. */
async function requireWaiting(id: string, deps: DecisionDeps): Promise<{ readonly nomadDeploymentId: string }> {
  const deployment = await requireDeployment(id, deps);
  requireNormalMode(deps);
  const refuse = (why: string): never => {
    throw new RefusedError(`deployment ${id} has no canaries that wait for a person: ${why}`, { code: "nothing_to_promote" });
  };
  if (deployment.state !== "applying" || deployment.appliedIndex === undefined) return refuse(`it is ${deployment.state}`);
  if (deployment.promotionWaitSince === undefined) return refuse("they are not healthy yet");
  if (deployment.promotedAt !== undefined) return refuse("they were promoted already");
  const key = keyOfDeployment(deployment);
  const [live, nomadDeployments] = await Promise.all([deps.nomad.readJob(key), deps.nomad.listNomadDeployments(key)]);
  const input = {
    appliedIndex: deployment.appliedIndex,
    mode: deployment.mode,
    live,
    nomadDeployments,
    allocations: [],
    evaluations: [],
  };
  const health = judgeHealth(input);
  if (health.state === "awaiting_promotion") return { nomadDeploymentId: health.nomadDeploymentId };
  return refuse(`Nomad's deployment is ${rolloutOf(nomadDeployments, deployment.appliedIndex)?.Status ?? "not there"}`);
}
