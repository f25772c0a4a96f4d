import type { Actor, Deployment } from "../model/deployment.ts";
import { RefusedError } from "../model/errors.ts";
import { reachedRegister } from "../plan/blocked.ts";
import { leavesToRegister } from "../plan/drift.ts";
import type { GateInput } from "../plan/gates.ts";
import { type DecisionDeps, keyOfDeployment, lookNow, requireDeployment, requireNormalMode } from "./decision-deps.ts";
import type { Gathered } from "./gather.ts";

export interface RetryWish {
  /** Ask Nomad to place the job again before its health is judged (design D12). */
  readonly reschedule: boolean;
  /** A person's word that hooks of unknown outcome may run again (design D33). */
  readonly rerunUnknownHooks: boolean;
}

/**
 * Buys one new try (operator §11.5). Marks the deployment, and the ordinary path makes the successor under the policy as usual;
 * a retry never approves. Answers the successor, or the marked deployment while there is none yet (a held job).
 * @throws NotFoundError; RefusedError `not_retryable`, `already_retried`, `not_latest`, `hook_outcome_unknown`, `job_frozen`, `nothing_to_retry`.
 */
export async function retry(id: string, wish: RetryWish, actor: Actor, deps: DecisionDeps): Promise<Deployment> {
  const deployment = await requireDeployment(id, deps);
  requireNormalMode(deps);
  if (deployment.state !== "failed" && deployment.state !== "rejected") {
    throw new RefusedError(`only a failed or rejected deployment can be retried, ${id} is ${deployment.state}`, {
      code: "not_retryable",
    });
  }
  if (deployment.retriedAt !== undefined) {
    throw new RefusedError(`deployment ${id} was already retried by ${deployment.retriedBy ?? "somebody"}`, {
      code: "already_retried",
    });
  }
  const key = keyOfDeployment(deployment);
  refuseWhatGitNoLongerWants(deployment, await lookNow(key, deps), wish);
  await deps.store.markRetried({ id, actor, ...wish });
  await deps.drift.runNow(key);
  const { latest } = await deps.store.jobFacts(key);
  if (latest !== undefined && latest.id !== id) return latest;
  deps.wakes.job(key);
  return requireDeployment(id, deps);
}

function refuseWhatGitNoLongerWants(deployment: Deployment, { input }: Gathered, wish: RetryWish): void {
  const refusal = refusalOf(deployment, input, wish);
  if (refusal !== undefined) throw new RefusedError(refusal.message, { code: refusal.code });
}

function refusalOf(
  deployment: Deployment,
  input: GateInput,
  wish: RetryWish,
): { readonly code: string; readonly message: string } | undefined {
  const { desired, facts, verdict } = input;
  if (facts.latest?.id !== deployment.id)
    return { code: "not_latest", message: `deployment ${deployment.id} is not the job's newest` };
  if (desired.kind === "frozen")
    return { code: "job_frozen", message: `the job cannot be judged now: ${desired.frozen.message}` };
  if (desired.kind !== "managed") return { code: "not_retryable", message: "git no longer has the job, or it is not managed" };
  if (desired.job.policy === "none") return { code: "not_retryable", message: "the job's policy is none" };
  if (desired.job.specHash !== deployment.specHash) {
    return { code: "not_retryable", message: "git wants another spec by now; trying this one again would be a rollback" };
  }
  const drifts = verdict !== undefined && leavesToRegister(verdict, facts);
  if (!drifts && !reachedRegister(deployment)) {
    return { code: "nothing_to_retry", message: "the live job already equals git, and nothing of this deployment is left to do" };
  }
  if (wish.reschedule && drifts) {
    return {
      code: "nothing_to_reschedule",
      message: "the live job differs from git: a plain retry registers it, there is nothing to place again",
    };
  }
  return undefined;
}
