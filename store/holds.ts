import { and, eq, isNull } from "drizzle-orm";
import type { Actor, Pause, WindowLift } from "../model/deployment.ts";
import { RefusedError } from "../model/errors.ts";
import { type JobKey, splitJobKey } from "../model/job-key.ts";
import type { Connection } from "./connection.ts";
import type { EventLog } from "./events.ts";
import { pauseQuery, toPause } from "./rows.ts";
import { jobPauses, nopsPauses, windowLifts } from "./schema.ts";

/** Pauses of jobs and of everything, and Deploy now requests (operator §12); each with its event in the same transaction. */
export class Holds {
  readonly #connection: Connection;
  readonly #events: EventLog;
  readonly #ofJob;
  readonly #ofAll;

  constructor(connection: Connection, events: EventLog) {
    this.#connection = connection;
    this.#events = events;
    const { raw } = connection;
    this.#ofJob = pauseQuery(raw, jobPauses, "WHERE namespace = @namespace AND job_id = @jobId AND resumed_at IS NULL");
    this.#ofAll = pauseQuery(raw, nopsPauses, "WHERE resumed_at IS NULL");
  }

  async pauseJob(key: JobKey, actor: Actor, reason: string): Promise<Pause> {
    const job = splitJobKey(key);
    return this.#connection.write(() => {
      const { orm } = this.#connection;
      if (this.#ofJob.get(job) !== undefined) throw alreadyPaused(`job ${key}`);
      const row = orm
        .insert(jobPauses)
        .values({ ...job, ...this.#begun(actor, reason) })
        .returning()
        .get();
      this.#events.append({ ...job, kind: "job_paused", actor, reason: "paused", message: pauseMessage(reason) });
      return toPause(row);
    });
  }

  async resumeJob(key: JobKey, actor: Actor): Promise<Pause> {
    const job = splitJobKey(key);
    return this.#connection.write(() => {
      if (this.#ofJob.get(job) === undefined) throw notPaused(`job ${key}`);
      const row = this.#connection.orm.update(jobPauses).set(this.#ended(actor)).where(pauseOf(job)).returning().get();
      this.#events.append({ ...job, kind: "job_resumed", actor, reason: "resumed", message: "resumed" });
      return toPause(row);
    });
  }

  async pauseAll(actor: Actor, reason: string): Promise<Pause> {
    return this.#connection.write(() => {
      const { orm } = this.#connection;
      if (this.#ofAll.get() !== undefined) throw alreadyPaused("everything");
      const row = orm.insert(nopsPauses).values(this.#begun(actor, reason)).returning().get();
      this.#events.append({ kind: "all_paused", actor, reason: "paused_all", message: pauseMessage(reason) });
      return toPause(row);
    });
  }

  async resumeAll(actor: Actor): Promise<Pause> {
    return this.#connection.write(() => {
      if (this.#ofAll.get() === undefined) throw notPaused("nops as a whole");
      const inForce = isNull(nopsPauses.resumedAt);
      const row = this.#connection.orm.update(nopsPauses).set(this.#ended(actor)).where(inForce).returning().get();
      this.#events.append({ kind: "all_resumed", actor, reason: "resumed", message: "resumed" });
      return toPause(row);
    });
  }

  async requestLift(key: JobKey, specHash: string, actor: Actor): Promise<WindowLift> {
    const job = splitJobKey(key);
    return this.#connection.write(() => {
      const request = { specHash, requestedBy: actor.name, requestedAt: this.#connection.now() };
      this.#connection.orm
        .insert(windowLifts)
        .values({ ...job, ...request })
        .onConflictDoUpdate({ target: [windowLifts.namespace, windowLifts.jobId], set: request })
        .run();
      const message = `the closed window shall be lifted once for spec ${specHash.slice(0, 12)}`;
      this.#events.append({ ...job, kind: "lift_requested", actor, reason: "deploy_now", message });
      return { ...job, ...request };
    });
  }

  #begun(actor: Actor, reason: string) {
    return { pausedBy: actor.name, pausedAt: this.#connection.now(), reason: this.#connection.redact(reason) };
  }

  #ended(actor: Actor) {
    return { resumedBy: actor.name, resumedAt: this.#connection.now() };
  }
}

function pauseOf(job: { readonly namespace: string; readonly jobId: string }) {
  return and(eq(jobPauses.namespace, job.namespace), eq(jobPauses.jobId, job.jobId), isNull(jobPauses.resumedAt));
}

function pauseMessage(reason: string): string {
  return reason === "" ? "paused" : `paused: ${reason}`;
}

function alreadyPaused(what: string): RefusedError {
  return new RefusedError(`${what} is already paused`, { code: "already_paused" });
}

function notPaused(what: string): RefusedError {
  return new RefusedError(`${what} is not paused`, { code: "not_paused" });
}
