/**
 * Approve and reject: bound to one deployment at one spec hash, checked against git and Nomad at that very moment. Owns approve and reject.
 */
import type { Actor, Deployment } from "../model/deployment.ts";
import { RefusedError } from "../model/errors.ts";
import { pauseOf } from "../plan/holds.ts";
import { revalidate } from "../plan/revalidate.ts";
import {
  type DecisionDeps,
  keyOfDeployment,
  lookNow,
  requireDeployment,
  requireNormalMode,
  settleStale,
  tidy,
} from "./decision-deps.ts";
import type { Gathered } from "./gather.ts";

/**
 * @throws NotFoundError; RefusedError `not_pending`, `stale_approval` (with what changed), `job_frozen`, `paused`,
 * `dependency`, `own_commit`; NomadError when the job cannot be looked at.
 */
export async function approve(
  id: string,
  specHash: string,
  comment: string | undefined,
  actor: Actor,
  deps: DecisionDeps,
): Promise<Deployment> {
  const deployment = await requireDeployment(id, deps);
  requireNormalMode(deps);
  if (deployment.state !== "pending_approval") {
    throw new RefusedError(`deployment ${id} does not wait for approval: it is ${deployment.state}`, { code: "not_pending" });
  }
  if (deployment.specHash !== specHash) {
    throw stale(
      `what was looked at (spec ${specHash.slice(0, 12)}) is not what deployment ${id} would do (spec ${deployment.specHash.slice(0, 12)})`,
    );
  }
  await refuseOwnCommit(deployment, actor, deps);
  const gathered = await lookNow(keyOfDeployment(deployment), deps);
  const current = await requireCurrent(deployment, gathered, deps);
  requireUnheld(gathered);
  const required = deps.settings.approval.required;
  const { deployment: decided } = await deps.store.approve({
    id,
    version: current.version,
    specHash,
    actor,
    comment: tidy(comment),
    required,
  });
  deps.wakes.moved(decided);
  return decided;
}

/** Works also where approving would be refused (operator §10.5). @throws NotFoundError; RefusedError `not_pending`. */
export async function reject(id: string, comment: string | undefined, actor: Actor, deps: DecisionDeps): Promise<Deployment> {
  const deployment = await requireDeployment(id, deps);
  if (deployment.state !== "pending_approval") {
    throw new RefusedError(`deployment ${id} does not wait for approval: it is ${deployment.state}`, { code: "not_pending" });
  }
  const why = tidy(comment);
  // No colon after a name: "bootstrap token: no" reads like a secret, and would be stored without its first word.
  const message = why === undefined ? `rejected by ${actor.name}` : `rejected by ${actor.name} (${why})`;
  const decided = await deps.store.move(id, deployment.version, { trigger: "reject", reason: "rejected", message, actor });
  deps.wakes.moved(decided);
  return decided;
}

function stale(message: string): RefusedError {
  return new RefusedError(message, { code: "stale_approval", hint: "look at the job's difference again" });
}

/** The deployment as it may be approved now, its base refreshed if only the scale moved (design D6). */
async function requireCurrent(deployment: Deployment, gathered: Gathered, deps: DecisionDeps): Promise<Deployment> {
  const { input } = gathered;
  if (input.facts.active?.id !== deployment.id) throw stale(`deployment ${deployment.id} is no longer the job's waiting one`);
  const { desired } = input;
  if (desired.kind === "frozen")
    throw new RefusedError(`the job cannot be judged now: ${desired.frozen.message}`, { code: "job_frozen" });
  if (desired.kind === "absent" && !desired.certain) {
    throw new RefusedError("no repository that could be read has the job, and not all could be read", { code: "job_frozen" });
  }
  const decision = revalidate(input);
  switch (decision?.act) {
    case undefined:
      return input.facts.active;
    case "refresh_base":
      return deps.store.refreshBase(
        deployment.id,
        input.facts.active.version,
        input.verdict?.jobModifyIndex ?? deployment.baseIndex,
      );
    case "move":
      if (decision.trigger === "supersede" || decision.trigger === "in_sync") {
        await settleStale(input.facts.active, decision.trigger, decision.reason, decision.message, deps);
      }
      throw stale(`deployment ${deployment.id} is out of date: ${decision.message}`);
    default:
      throw stale(`deployment ${deployment.id} is out of date`);
  }
}

/** A pause blocks approvals, a window never does (operator §12.2); a dependency that is behind would make the go-ahead meaningless. */
function requireUnheld({ input }: Gathered): void {
  const pause = pauseOf(input.facts);
  if (pause !== undefined) throw new RefusedError(pause.message, { code: pause.reason, hint: "resume it first" });
  if (!input.dependencies.ok) throw new RefusedError(input.dependencies.message, { code: input.dependencies.reason });
}

/** Where authors may not approve their own commit (S57): by the vouched email, or by the name that the commit bears. */
async function refuseOwnCommit(deployment: Deployment, actor: Actor, deps: DecisionDeps): Promise<void> {
  if (deps.settings.approval.authorMayApprove) return;
  const same = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && a !== "" && a.trim().toLowerCase() === b.trim().toLowerCase();
  const email = await deps.store.commitAuthorEmail(deployment.id);
  if (same(actor.email, email) || same(actor.name, email) || same(actor.name, deployment.commitAuthor)) {
    throw new RefusedError(`${actor.name} wrote the commit, and authors may not approve their own`, { code: "own_commit" });
  }
}
