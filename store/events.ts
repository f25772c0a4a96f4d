import { hash as digest } from "node:crypto";
import { desc } from "drizzle-orm";
import type { Actor, EventRecord } from "../model/deployment.ts";
import type { DeploymentState } from "../model/lifecycle.ts";
import type { ReasonCode } from "../model/reasons.ts";
import type { Connection } from "./connection.ts";
import { membersOf, rowQuery } from "./query.ts";
import { eventAnchors, events } from "./schema.ts";
import { preparedInsert } from "./statements.ts";

/** What the first event of a log follows. */
export const genesisHash = "0".repeat(64);

/** What a writer says about an event; place and hash in the chain are added here. */
export interface NewEvent {
  readonly kind: string;
  readonly actor: Actor;
  readonly message: string;
  readonly namespace?: string | undefined;
  readonly jobId?: string | undefined;
  readonly repository?: string | undefined;
  readonly deploymentId?: string | undefined;
  readonly fromState?: DeploymentState | undefined;
  readonly toState?: DeploymentState | undefined;
  readonly reason?: ReasonCode | undefined;
}

/** The newest place of the chain: what a copy outside has to remember to notice a truncated log (S64). */
export interface AuditHead {
  /** 0 when the log is empty. */
  readonly seq: number;
  readonly hash: string;
}

type EventRow = typeof events.$inferSelect;

/**
 * Hash of an event: SHA-256 of the JSON array of its fields in fixed order, the hash of its predecessor first. Absent fields are
 * null. The order is part of the format of the log and never changes.
 */
export function eventHash(event: Omit<EventRow, "hash">): string {
  return digest(
    "sha256",
    JSON.stringify([
      event.prevHash,
      event.id,
      event.at,
      event.kind,
      event.namespace,
      event.jobId,
      event.repository,
      event.deploymentId,
      event.fromState,
      event.toState,
      event.actor,
      event.accessorId,
      event.identity,
      event.reason,
      event.message,
    ]),
  );
}

/** The audit log: appends inside a transaction, reads outside of it. */
export class EventLog {
  readonly #connection: Connection;
  readonly #insert;
  readonly #last;
  readonly #sequence;
  readonly #after;
  readonly #ofDeployment;
  readonly #entered;

  constructor(connection: Connection) {
    this.#connection = connection;
    const { raw } = connection;
    this.#insert = preparedInsert(raw, events);
    this.#last = raw.prepare<[], AuditHead>("SELECT id AS seq, hash FROM events ORDER BY id DESC LIMIT 1");
    this.#sequence = raw.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck();
    // A bare parameter as the limit would let SQLite plan the statement anew on each run.
    this.#after = rowQuery(raw, events, membersOf(events), "WHERE id > @after ORDER BY id LIMIT @limit + 0");
    this.#ofDeployment = rowQuery(raw, events, membersOf(events), "WHERE deployment_id = @deploymentId ORDER BY id");
    this.#entered = rowQuery(
      raw,
      events,
      membersOf(events),
      "WHERE deployment_id = @deploymentId AND to_state = @state AND from_state IS NOT to_state ORDER BY id DESC LIMIT 1",
    );
  }

  /** Appends to the chain. Only inside a transaction. */
  append(event: NewEvent): AuditHead {
    const last = this.head();
    const row = {
      // The sequence remembers a removed tail, so that its numbers are not given out a second time.
      id: Math.max(last.seq, this.#sequence.get() ?? 0) + 1,
      at: this.#connection.now(),
      kind: event.kind,
      namespace: event.namespace ?? null,
      jobId: event.jobId ?? null,
      repository: event.repository ?? null,
      deploymentId: event.deploymentId ?? null,
      fromState: event.fromState ?? null,
      toState: event.toState ?? null,
      actor: event.actor.name,
      accessorId: event.actor.accessorId ?? null,
      identity: event.actor.identity,
      reason: event.reason ?? null,
      message: this.#connection.redact(event.message),
      prevHash: last.hash,
    };
    const hash = eventHash(row);
    this.#insert({ ...row, hash });
    this.#connection.eventAppended();
    return { seq: row.id, hash };
  }

  /** The newest event's place and hash. */
  head(): AuditHead {
    return this.#last.get() ?? { seq: 0, hash: genesisHash };
  }

  /** Up to `limit` events after `after`, oldest first: for followers and exports. */
  after(after: number, limit: number): readonly EventRecord[] {
    return this.#after.all({ after, limit });
  }

  /** Events of one deployment, oldest first. */
  ofDeployment(deploymentId: string): readonly EventRecord[] {
    return this.#ofDeployment.all({ deploymentId });
  }

  /** The newest place from which the log was shortened by retention. */
  anchor(): AuditHead | undefined {
    return this.#connection.orm.select().from(eventAnchors).orderBy(desc(eventAnchors.seq)).limit(1).get();
  }

  /** The event that began the present stay in a state; same-state events do not count. */
  entered(deploymentId: string, state: DeploymentState): EventRecord | undefined {
    return this.#entered.get({ deploymentId, state });
  }
}
