import { and, asc, count, eq, gt, isNull } from "drizzle-orm";
import type { Actor, Deployment, HookResolution, HookRun } from "../model/deployment.ts";
import { ConflictError, RefusedError } from "../model/errors.ts";
import type { Connection } from "./connection.ts";
import type { Deployments } from "./deployments.ts";
import type { HookRuns } from "./hook-runs.ts";
import { approvals, deployments, hookRuns } from "./schema.ts";

export interface ApproveInput {
  readonly id: string;
  readonly version: number;
  readonly specHash: string;
  readonly actor: Actor;
  readonly comment: string | undefined;
  /** How many different identities have to approve. */
  readonly required: number;
}

export interface RetryInput {
  readonly id: string;
  readonly actor: Actor;
  readonly reschedule: boolean;
  readonly rerunUnknownHooks: boolean;
}

/** What people decide about deployments; see `DecisionsPort`. Every check happens inside the transaction that acts on it. */
export class Decisions {
  readonly #connection: Connection;
  readonly #deployments: Deployments;
  readonly #hookRuns: HookRuns;

  constructor(connection: Connection, table: Deployments, runs: HookRuns) {
    this.#connection = connection;
    this.#deployments = table;
    this.#hookRuns = runs;
  }

  async approve(input: ApproveInput): Promise<{ readonly deployment: Deployment; readonly approvals: number }> {
    return this.#connection.write(() => {
      const current = this.#deployments.require(input.id);
      if (current.state !== "pending_approval" || current.version !== input.version || current.specHash !== input.specHash) {
        throw new ConflictError(`deployment ${input.id} is no longer what was approved: it is ${current.state} now`, {
          code: "stale_approval",
          hint: "look at its difference again",
        });
      }
      this.#deployments.requireUnpaused(current);
      const added = this.#addApproval(input);
      const names = this.#approvers(input.id);
      const comment = input.comment === undefined || input.comment === "" ? "" : `: ${input.comment}`;
      if (names.length < input.required) {
        const message = `approved, ${names.length} of ${input.required}${comment}`;
        if (added) this.#deployments.noteWithin(current, { kind: "approval", actor: input.actor, reason: "approved", message });
        return { deployment: current, approvals: names.length };
      }
      const move = { trigger: "approve", actor: input.actor, reason: "approved", message: `approved${comment}` } as const;
      return { deployment: this.#deployments.moveWithin(current, move, names.join(", ")), approvals: names.length };
    });
  }

  /**
   * @throws RefusedError `not_retryable` (neither failed nor rejected), `already_retried`, `not_latest`, `hook_outcome_unknown`
   * (a hook may have run and nobody said that it may run again, design D33).
   */
  async markRetried(input: RetryInput): Promise<Deployment> {
    return this.#connection.write(() => {
      const current = this.#deployments.require(input.id);
      this.#refuseRetry(current, input.rerunUnknownHooks);
      const change = {
        retriedBy: input.actor.name,
        retriedAt: this.#connection.now(),
        // The successor takes it from here.
        reschedule: input.reschedule,
        rerunUnknownHooks: input.rerunUnknownHooks,
      };
      const again = input.rerunUnknownHooks ? "; hooks of unknown outcome may run again" : "";
      return this.#deployments.changeWithin(current, change, {
        kind: "retried",
        actor: input.actor,
        reason: "retry",
        message: `another try was asked for${again}`,
      });
    });
  }

  /** Whether the person who retried this deployment allowed hooks of unknown outcome to run again. */
  async mayRerunUnknownHooks(id: string): Promise<boolean> {
    const row = this.#connection.single(() =>
      this.#connection.orm.select({ may: deployments.rerunUnknownHooks }).from(deployments).where(eq(deployments.id, id)).get(),
    );
    return row?.may === true;
  }

  /** @throws RefusedError `nothing_to_promote`. */
  async recordPromotionRequest(id: string, actor: Actor): Promise<void> {
    this.#connection.write(() => {
      const current = this.#waitingForPromotion(id);
      const message = "the promotion of the canaries was asked for";
      this.#deployments.noteWithin(current, { kind: "promotion_requested", actor, reason: "promotion_requested", message });
    });
  }

  /** @throws RefusedError `nothing_to_promote`. */
  async recordFailRequest(id: string, actor: Actor): Promise<void> {
    this.#connection.write(() => {
      const current = this.#waitingForPromotion(id);
      const message = "Nomad is asked to fail the rollout";
      this.#deployments.noteWithin(current, { kind: "fail_requested", actor, reason: "fail_requested", message });
    });
  }

  /** @throws NotFoundError; RefusedError `hook_outcome_known` when its outcome is known, `already_resolved`. */
  async resolveHook(runId: string, resolution: HookResolution, actor: Actor): Promise<HookRun> {
    return this.#connection.write(() => {
      const run = this.#hookRuns.require(runId);
      if (run.state !== "unknown") {
        throw new RefusedError(`the outcome of hook run ${runId} is known: ${run.state}`, { code: "hook_outcome_known" });
      }
      if (run.resolution !== undefined) {
        throw new RefusedError(`hook run ${runId} was already settled by ${run.resolvedBy ?? "somebody"}`, {
          code: "already_resolved",
        });
      }
      this.#hookRuns.resolve(runId, resolution, actor);
      this.#deployments.noteWithin(this.#deployments.require(run.deploymentId), {
        kind: "hook_resolved",
        actor,
        reason: "hook_resolved",
        message: `${run.phase}-hook ${run.hookId} ${resolution === "ran" ? "did run" : "did not run"}, says a person`,
      });
      return this.#hookRuns.require(runId);
    });
  }

  /** Gives whether it is this identity's first approval. */
  #addApproval({ id, specHash, actor, comment }: ApproveInput): boolean {
    const { orm } = this.#connection;
    const mine = and(eq(approvals.deploymentId, id), eq(approvals.identity, actor.identity));
    if (orm.select({ id: approvals.id }).from(approvals).where(mine).get() !== undefined) return false;
    orm
      .insert(approvals)
      .values({
        deploymentId: id,
        specHash,
        actor: actor.name,
        identity: actor.identity,
        accessorId: actor.accessorId ?? null,
        comment: comment === undefined ? null : this.#connection.redact(comment),
        at: this.#connection.now(),
      })
      .run();
    return true;
  }

  #approvers(id: string): readonly string[] {
    return this.#connection.orm
      .select({ actor: approvals.actor })
      .from(approvals)
      .where(eq(approvals.deploymentId, id))
      .orderBy(asc(approvals.id))
      .all()
      .map((row) => row.actor);
  }

  #refuseRetry(current: Deployment, rerunUnknownHooks: boolean): void {
    const { id, namespace, jobId, state } = current;
    if (state !== "failed" && state !== "rejected") {
      throw new RefusedError(`deployment ${id} is ${state}: only a failed or rejected one can be retried`, {
        code: "not_retryable",
      });
    }
    if (current.retriedAt !== undefined) {
      throw new RefusedError(`deployment ${id} was already retried by ${current.retriedBy ?? "somebody"}`, {
        code: "already_retried",
      });
    }
    const newer = this.#connection.orm
      .select({ id: deployments.id })
      .from(deployments)
      .where(and(eq(deployments.namespace, namespace), eq(deployments.jobId, jobId), gt(deployments.id, id)))
      .limit(1)
      .get();
    if (newer !== undefined) {
      throw new RefusedError(`deployment ${id} is not the latest of ${namespace}/${jobId}`, { code: "not_latest" });
    }
    if (!rerunUnknownHooks && this.#unresolvedHooks(id) > 0) {
      throw new RefusedError(`nobody can tell whether a hook of deployment ${id} ran`, {
        code: "hook_outcome_unknown",
        hint: "settle it with `nops hook resolve`, or say that it may run again",
      });
    }
  }

  #unresolvedHooks(id: string): number {
    const row = this.#connection.orm
      .select({ count: count() })
      .from(hookRuns)
      .where(and(eq(hookRuns.deploymentId, id), eq(hookRuns.state, "unknown"), isNull(hookRuns.resolution)))
      .get();
    return row?.count ?? 0;
  }

  #waitingForPromotion(id: string): Deployment {
    const current = this.#deployments.require(id);
    if (current.state === "applying" && current.promotionWaitSince !== undefined && current.promotedAt === undefined)
      return current;
    throw new RefusedError(`deployment ${id} does not wait for a promotion`, { code: "nothing_to_promote" });
  }
}
