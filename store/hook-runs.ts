import type { Instant } from "../model/clock.ts";
import {
  type Actor,
  engineActor,
  type FrozenHook,
  type HookPhase,
  type HookResolution,
  type HookRun,
  type HookRunState,
} from "../model/deployment.ts";
import { ConflictError, NotFoundError } from "../model/errors.ts";
import type { ReasonCode } from "../model/reasons.ts";
import type { Connection } from "./connection.ts";
import type { Deployments } from "./deployments.ts";
import type { EventLog } from "./events.ts";
import { hookRunQuery } from "./rows.ts";
import { hookRuns } from "./schema.ts";
import { preparedInsert, preparedUpdate } from "./statements.ts";

/** Changes of a run that a pass may store. `searchingSince: null` ends the search. */
export interface HookRunPatch {
  readonly state: HookRunState;
  readonly dispatchedJobId?: string;
  readonly error?: string;
  readonly logTail?: string;
  readonly searchingSince?: Instant | null;
}

const reasonOf: { readonly [S in HookRunState]?: ReasonCode } = {
  failed: "hook_failed",
  timed_out: "hook_timed_out",
  unknown: "hook_unknown",
};

/** Runs of hooks; see `HooksPort`. */
export class HookRuns {
  readonly #connection: Connection;
  readonly #deployments: Deployments;
  readonly #events: EventLog;
  readonly #byPlace;
  readonly #byId;
  readonly #endBefore;
  readonly #insert;
  readonly #update;

  constructor(connection: Connection, deployments: Deployments, events: EventLog) {
    this.#connection = connection;
    this.#deployments = deployments;
    this.#events = events;
    const { raw } = connection;
    this.#insert = preparedInsert(raw, hookRuns);
    this.#update = preparedUpdate(raw, hookRuns, "id = ?");
    this.#byId = hookRunQuery(raw, "WHERE id = @id");
    this.#byPlace = hookRunQuery(raw, "WHERE deployment_id = @deploymentId AND phase = @phase AND position = @position");
    this.#endBefore = raw
      .prepare<[string, HookPhase, number], Instant>(
        [
          "SELECT finished_at FROM hook_runs WHERE deployment_id = ? AND phase = ? AND position < ? AND finished_at IS NOT NULL",
          "ORDER BY position DESC LIMIT 1",
        ].join(" "),
      )
      .pluck();
  }

  /** @throws ConflictError `not_allowed` when the deployment is not in this hook's phase. */
  async ensureHookRun(deploymentId: string, hook: FrozenHook): Promise<HookRun> {
    const { phase, position, hookId, revisionId, timeoutMs } = hook;
    return this.#connection.write(() => {
      const existing = this.#byPlace.get({ deploymentId, phase, position });
      if (existing !== undefined) return existing;
      const deployment = this.#deployments.require(deploymentId);
      if (deployment.state !== `${phase}_hook`) {
        throw new ConflictError(`deployment ${deploymentId} is ${deployment.state}, not in ${phase}_hook`, {
          code: "not_allowed",
        });
      }
      const id = this.#connection.newId();
      const token = `${deploymentId}:${phase}:${position}`;
      const startedAt = this.#connection.now();
      this.#insert({ id, deploymentId, phase, position, hookId, revisionId, timeoutMs, token, state: "dispatching", startedAt });
      const message = `${phase}-hook ${hookId} (${revisionId}) begins`;
      this.#deployments.noteWithin(deployment, { kind: "hook", actor: engineActor, message });
      return this.require(id);
    });
  }

  /** @throws ConflictError `stale_hook_run` when the run is no longer in `from`, `not_allowed` when it has ended. */
  async updateHookRun(id: string, from: HookRunState, change: HookRunPatch): Promise<HookRun> {
    return this.#connection.write(() => {
      const current = this.require(id);
      if (current.state !== from) {
        throw new ConflictError(`hook run ${id} is ${current.state}, not ${from}`, { code: "stale_hook_run" });
      }
      if (ended(current.state)) throw new ConflictError(`hook run ${id} has ended`, { code: "not_allowed" });
      this.#store(current, change);
      if (change.state !== current.state) this.#note(current, change);
      return this.require(id);
    });
  }

  /**
   * From when the registering of this hook's revision counts: the end of the hook before it, or the beginning of the phase
   * (operator §13.4).
   * @throws ConflictError `not_allowed` when the deployment never was in that phase.
   */
  async phaseStepStartedAt(deploymentId: string, phase: HookPhase, position: number): Promise<Instant> {
    return this.#connection.read(() => {
      const before = this.#endBefore.get(deploymentId, phase, position);
      if (before !== undefined) return before;
      const deployment = this.#deployments.require(deploymentId);
      if (deployment.state === `${phase}_hook`) return deployment.enteredAt;
      const entered = this.#events.entered(deploymentId, `${phase}_hook`);
      if (entered !== undefined) return entered.at;
      throw new ConflictError(`deployment ${deploymentId} was never in ${phase}_hook`, { code: "not_allowed" });
    });
  }

  /** By whatever transaction is open. @throws NotFoundError `hook_run_not_found`. */
  require(id: string): HookRun {
    const row = this.#byId.get({ id });
    if (row === undefined) throw new NotFoundError(`there is no hook run ${id}`, { code: "hook_run_not_found" });
    return row;
  }

  #store(current: HookRun, change: HookRunPatch): void {
    const text = (value: string | undefined): string | undefined =>
      value === undefined ? undefined : this.#connection.redact(value);
    const written = {
      state: change.state,
      dispatchedJobId: change.dispatchedJobId,
      error: text(change.error),
      logTail: text(change.logTail),
      searchingSince: change.searchingSince,
      finishedAt: ended(change.state) ? this.#connection.now() : null,
    };
    this.#update(written, current.id);
  }

  /** A person's word on a run of unknown outcome. By whatever transaction is open. */
  resolve(id: string, resolution: HookResolution, actor: Actor): void {
    this.#update({ resolution, resolvedBy: actor.name, resolvedAt: this.#connection.now() }, id);
  }

  #note(current: HookRun, change: HookRunPatch): void {
    const error = change.error === undefined ? "" : `: ${change.error}`;
    this.#deployments.noteWithin(this.#deployments.require(current.deploymentId), {
      kind: "hook",
      actor: engineActor,
      reason: reasonOf[change.state],
      message: `${current.phase}-hook ${current.hookId} went from ${current.state} to ${change.state}${error}`,
    });
  }
}

function ended(state: HookRunState): boolean {
  return state !== "dispatching" && state !== "running";
}
