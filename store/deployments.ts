import { type Deployment, engineActor, type FrozenHook, type Move, type NewDeployment } from "../model/deployment.ts";
import { ConflictError, NotFoundError } from "../model/errors.ts";
import { activeStates, type DeploymentState, transition } from "../model/lifecycle.ts";
import type { Connection } from "./connection.ts";
import { isUniqueViolation } from "./errors.ts";
import type { EventLog, NewEvent } from "./events.ts";
import type { Outbox } from "./outbox.ts";
import { rowQuery } from "./query.ts";
import { deploymentQuery } from "./rows.ts";
import { deploymentHooks, deployments } from "./schema.ts";
import { sealOf, storedJson } from "./sealed.ts";
import { preparedInsert, preparedUpdate } from "./statements.ts";

/** Columns that may change without a change of state. */
export type DeploymentChange = Partial<
  Pick<
    typeof deployments.$inferInsert,
    | "baseIndex"
    | "appliedIndex"
    | "appliedVersion"
    | "evalId"
    | "retriedBy"
    | "retriedAt"
    | "reschedule"
    | "rescheduleIntentAt"
    | "rerunUnknownHooks"
    | "promotionWaitSince"
    | "promotedAt"
  >
>;

/** An event about a deployment: the rest is known from the row. */
export type DeploymentEvent = Omit<NewEvent, "namespace" | "jobId" | "deploymentId" | "repository">;

/** The deployments table and its only writers: `create`, `move`, and guarded changes that keep the state (design D15). */
export class Deployments {
  readonly #connection: Connection;
  readonly #events: EventLog;
  readonly #outbox: Outbox;
  readonly #byId;
  readonly #update;
  readonly #hasActive;
  readonly #newest;
  readonly #paused;
  readonly #wishes;
  readonly #useLift;
  readonly #insertRow;
  readonly #insertHookRow;

  constructor(connection: Connection, events: EventLog, outbox: Outbox) {
    this.#connection = connection;
    this.#events = events;
    this.#outbox = outbox;
    const { raw } = connection;
    this.#byId = deploymentQuery(raw, "WHERE id = @id");
    this.#insertRow = preparedInsert(raw, deployments);
    this.#insertHookRow = preparedInsert(raw, deploymentHooks);
    this.#update = preparedUpdate(raw, deployments, "id = ? AND version = ?");
    this.#wishes = rowQuery(raw, deployments, ["notifyCompleted", "rescheduleIntentAt"], "WHERE id = @id");
    this.#paused = raw.prepare<{ namespace: string; jobId: string }, { readonly one: number }>(
      "SELECT 1 AS one FROM job_pauses WHERE namespace = @namespace AND job_id = @jobId AND resumed_at IS NULL " +
        "UNION ALL SELECT 1 FROM nops_pauses WHERE resumed_at IS NULL LIMIT 1",
    );
    this.#newest = raw
      .prepare<[string, string], string>("SELECT id FROM deployments WHERE namespace = ? AND job_id = ? ORDER BY id DESC LIMIT 1")
      .pluck();
    this.#hasActive = raw.prepare<[string, string], unknown>(
      ["SELECT 1 FROM deployments WHERE namespace = ? AND job_id = ? AND state IN (", activeList, ")"].join(""),
    );
    this.#useLift = raw.prepare<[string, string]>("DELETE FROM window_lifts WHERE namespace = ? AND job_id = ?");
  }

  /** See `CreationPort.create`. */
  async create(input: NewDeployment): Promise<Deployment> {
    try {
      return this.#connection.write(() => this.#insert(input));
    } catch (error) {
      throw isUniqueViolation(error) ? activeError(input, error) : error;
    }
  }

  /** See `MovePort.move`. */
  async move(id: string, version: number, move: Move): Promise<Deployment> {
    return this.#connection.write(() => this.moveWithin(this.requireVersion(id, version), move));
  }

  /** The row, by whatever transaction is open. */
  find(id: string): Deployment | undefined {
    return this.#byId.get({ id });
  }

  /** @throws NotFoundError `deployment_not_found`. */
  require(id: string): Deployment {
    const found = this.find(id);
    if (found === undefined) throw new NotFoundError(`there is no deployment ${id}`, { code: "deployment_not_found" });
    return found;
  }

  /** @throws NotFoundError; ConflictError `stale_version` when the row was written since the caller read it. */
  requireVersion(id: string, version: number): Deployment {
    const found = this.require(id);
    if (found.version === version) return found;
    throw new ConflictError(`deployment ${id} has version ${found.version}, not ${version}: somebody else moved first`, {
      code: "stale_version",
    });
  }

  /**
   * Nothing starts while it is paused, not even when the pause was stored after the caller had looked (operator §12.2): looking again
   * finds it. @throws ConflictError `paused`.
   */
  requireUnpaused(current: Deployment): void {
    const { namespace, jobId } = current;
    if (this.#paused.get({ namespace, jobId }) === undefined) return;
    throw new ConflictError(`deployment ${current.id} cannot start: a person paused it meanwhile`, { code: "paused" });
  }

  /**
   * Moves a row that was read in the same transaction. `decidedBy` replaces the actor's name as the one who decided.
   * @throws ConflictError `not_allowed` when the transition table has no such edge; `paused` for a start that a pause forbids.
   */
  moveWithin(current: Deployment, move: Move, decidedBy = move.actor.name): Deployment {
    const to = transition(current, move.trigger);
    if (to === undefined) {
      throw new ConflictError(`deployment ${current.id} cannot ${move.trigger} from ${current.state}`, { code: "not_allowed" });
    }
    if (move.trigger === "start" || move.trigger === "approve") this.requireUnpaused(current);
    const now = this.#connection.now();
    const decides = move.trigger === "approve" || move.trigger === "reject";
    const change = {
      state: to,
      reason: move.reason,
      error: to === "failed" ? this.#connection.redact(move.message) : current.error,
      decidedBy: decides ? decidedBy : current.decidedBy,
      decidedAt: decides ? now : current.decidedAt,
      enteredAt: now,
      updatedAt: now,
    };
    this.#write(current, change);
    const event = this.#events.append({ ...about(current), ...move, kind: "state", fromState: current.state, toState: to });
    this.#notify(current.id, to, event.seq);
    return { ...current, ...change, version: current.version + 1 };
  }

  /** Writes columns that are not the state, with an event that names the state twice (operator §10.3). */
  changeWithin(current: Deployment, change: DeploymentChange, event: DeploymentEvent): Deployment {
    this.#write(current, { ...change, updatedAt: this.#connection.now() });
    this.noteWithin(current, event);
    return this.require(current.id);
  }

  /** When `retry --reschedule` was stored as an intent, if it was. */
  rescheduleIntentAt(id: string): string | undefined {
    return this.#wishes.get({ id })?.rescheduleIntentAt;
  }

  /** Appends an event about a deployment that stays as it is. Gives the event's number. */
  noteWithin(current: Deployment, event: DeploymentEvent): number {
    return this.#events.append({ ...about(current), fromState: current.state, toState: current.state, ...event }).seq;
  }

  #insert(input: NewDeployment): Deployment {
    // The index guards active rows only; one that is born failed must not hide an active one either.
    if (input.state === "failed" && this.#hasActive.get(input.namespace, input.jobId) !== undefined) {
      throw activeError(input);
    }
    this.#requireNewest(input);
    const id = this.#connection.newId();
    const now = this.#connection.now();
    const { hooks, spec, diff, message, declaredPolicy, reschedule, retryOf, windowLiftedBy, ...plain } = input;
    const jobSpec = storedJson(spec.spec);
    const submission = storedJson(spec.submission);
    const text = this.#connection.redact(message);
    this.#insertRow({
      ...plain,
      id,
      jobSpec,
      submission,
      storedHash: sealOf(jobSpec, submission),
      planDiff: diff === undefined ? null : storedJson(diff),
      declaredPolicy: declaredPolicy ?? (input.reason === "policy_lowered" ? "auto" : input.policy),
      birthState: input.state,
      version: 1,
      error: input.state === "failed" ? text : null,
      hasPreHooks: hooks.some((hook) => hook.phase === "pre"),
      hasPostHooks: hooks.some((hook) => hook.phase === "post"),
      notifyCompleted: spec.spec.Meta?.nops_notify_completed === "true",
      retryOf: retryOf ?? null,
      reschedule: reschedule ?? (retryOf === undefined ? false : (this.find(retryOf)?.reschedule ?? false)),
      windowLiftedBy: windowLiftedBy ?? null,
      rerunUnknownHooks: false,
      enteredAt: now,
      createdAt: now,
      updatedAt: now,
    });
    for (const hook of hooks) this.#insertHook(id, hook);
    if (windowLiftedBy !== undefined) this.#useLift.run(input.namespace, input.jobId);
    const created = this.require(id);
    this.#noteBirth(created, input);
    return created;
  }

  #requireNewest({ namespace, jobId, over }: NewDeployment): void {
    if (over === undefined) return;
    const newest = this.#newest.get(namespace, jobId) ?? null;
    if (newest === over) return;
    throw new ConflictError(`job ${namespace}/${jobId} got deployment ${newest ?? "none"} meanwhile`, {
      code: "newer_deployment",
    });
  }

  #insertHook(deploymentId: string, hook: FrozenHook): void {
    const spec = storedJson(hook.spec);
    this.#insertHookRow({ ...hook, deploymentId, spec, storedHash: sealOf(spec, hook.hash, hook.revisionId) });
  }

  /** The log reads as if every deployment had been `detected` first (operator §8.3 i). */
  #noteBirth(created: Deployment, input: NewDeployment): void {
    const base = { ...about(created), kind: "state", actor: engineActor, reason: input.reason, message: input.message };
    let event = this.#events.append({ ...base, toState: "detected" });
    if (created.state !== "detected") event = this.#events.append({ ...base, fromState: "detected", toState: created.state });
    this.#notify(created.id, created.state, event.seq);
  }

  #notify(id: string, state: DeploymentState, eventId: number): void {
    if (state === "pending_approval" || state === "failed") this.#outbox.add(state, id, eventId);
    if (state === "completed" && this.#wantsCompleted(id)) this.#outbox.add("completed", id, eventId);
  }

  #wantsCompleted(id: string): boolean {
    return this.#wishes.get({ id })?.notifyCompleted === true;
  }

  /** Writes columns of a row that is still as it was read, and counts its version up. */
  #write(current: Deployment, change: Partial<typeof deployments.$inferInsert>): void {
    const { id, version } = current;
    if (this.#update({ ...change, version: version + 1 }, id, version) === 1) return;
    throw new ConflictError(`deployment ${current.id} was written by somebody else`, { code: "stale_version" });
  }
}

const activeList = activeStates.map((state) => `'${state}'`).join(", ");

function activeError(input: NewDeployment, cause?: unknown): ConflictError {
  return new ConflictError(`job ${input.namespace}/${input.jobId} already has an active deployment`, {
    code: "active_deployment",
    cause,
  });
}

function about(deployment: Deployment): Pick<NewEvent, "namespace" | "jobId" | "deploymentId" | "repository"> {
  return {
    namespace: deployment.namespace,
    jobId: deployment.jobId,
    deploymentId: deployment.id,
    repository: deployment.repository,
  };
}
