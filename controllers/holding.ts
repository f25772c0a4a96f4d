import type { Actor, Deployment, Pause } from "../model/deployment.ts";
import { InvalidRequestError, NotFoundError, RefusedError } from "../model/errors.ts";
import { type JobKey, splitJobKey } from "../model/job-key.ts";
import { isTerminal } from "../model/lifecycle.ts";
import { evaluateGates } from "../plan/gates.ts";
import { type DecisionDeps, lookNow, requireNormalMode } from "./decision-deps.ts";
import { priorities } from "./wakes.ts";

/** Longest reason of a pause, bytes. */
const longestReason = 500;

function checkReason(reason: string): string {
  const trimmed = reason.trim();
  if (Buffer.byteLength(trimmed) > longestReason) {
    throw new InvalidRequestError(`the reason is longer than ${longestReason} bytes`, { code: "reason_too_long" });
  }
  return trimmed;
}

/** @throws NotFoundError for a job that git does not declare; RefusedError `already_paused`; InvalidRequestError. */
export async function pauseJob(key: JobKey, reason: string, actor: Actor, deps: DecisionDeps): Promise<Pause> {
  const text = checkReason(reason);
  const { kind } = deps.desired.state(key);
  if (kind !== "managed" && kind !== "frozen") {
    const { namespace, jobId } = splitJobKey(key);
    throw new NotFoundError(`git has no managed job ${jobId} in namespace ${namespace}`, { code: "unknown_job" });
  }
  const pause = await deps.store.pauseJob(key, actor, text);
  deps.wakes.job(key, priorities.person);
  return pause;
}

/** Works also for a job that left git. @throws RefusedError `not_paused`. */
export async function resumeJob(key: JobKey, actor: Actor, deps: DecisionDeps): Promise<Pause> {
  const pause = await deps.store.resumeJob(key, actor);
  deps.wakes.job(key, priorities.person);
  return pause;
}

export async function pauseAll(reason: string, actor: Actor, deps: DecisionDeps): Promise<Pause> {
  const pause = await deps.store.pauseAll(actor, checkReason(reason));
  wakeAll(deps);
  return pause;
}

export async function resumeAll(actor: Actor, deps: DecisionDeps): Promise<Pause> {
  const pause = await deps.store.resumeAll(actor);
  wakeAll(deps);
  return pause;
}

function wakeAll(deps: DecisionDeps): void {
  for (const job of deps.desired.managed()) deps.wakes.job(job.key);
}

/**
 * Lifts a closed window once, for exactly the spec that was looked at (operator §12.8). Answers the deployment, or `undefined` when
 * it could not be made yet; the request then waits in the store.
 * @throws NotFoundError; RefusedError `stale_spec`, `not_held`, or the reason of whatever else stands in the way.
 */
export async function deployNow(
  key: JobKey,
  specHash: string,
  actor: Actor,
  deps: DecisionDeps,
): Promise<Deployment | undefined> {
  const { namespace, jobId } = splitJobKey(key);
  requireNormalMode(deps);
  if (deps.desired.job(key) === undefined)
    throw new NotFoundError(`git has no managed job ${jobId} in namespace ${namespace}`, { code: "unknown_job" });
  const { input } = await lookNow(key, deps);
  if (input.desired.kind === "managed" && input.desired.job.specHash !== specHash) {
    throw new RefusedError("git wants another spec than the one that was looked at", {
      code: "stale_spec",
      hint: "look at the job's difference again",
    });
  }
  if (input.facts.active !== undefined && !isTerminal(input.facts.active.state)) {
    throw new RefusedError(`deployment ${input.facts.active.id} of the job is under way`, { code: "active_deployment" });
  }
  const { failing } = evaluateGates(input);
  if (failing?.name !== "window") {
    const why = failing === undefined ? "no window holds it" : failing.fact;
    throw new RefusedError(`Deploy now only lifts a closed window, and that is not what keeps the job: ${why}`, {
      code: failing?.reason ?? "not_held",
    });
  }
  await deps.store.requestLift(key, specHash, actor);
  await deps.drift.runNow(key);
  const { latest } = await deps.store.jobFacts(key);
  return latest !== undefined && latest.windowLiftedBy !== undefined && latest.specHash === specHash ? latest : undefined;
}
