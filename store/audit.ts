import type { Instant } from "../model/clock.ts";
import type { EventRecord } from "../model/deployment.ts";
import type { Connection } from "./connection.ts";
import { type AuditHead, type EventLog, eventHash, genesisHash } from "./events.ts";
import type { events } from "./schema.ts";

/** What a check of the audit log found. */
export type AuditReport =
  | {
      readonly ok: true;
      readonly events: number;
      /** First event that is still there; 1 unless retention removed older ones. */
      readonly first: number;
      readonly head: AuditHead;
    }
  | {
      readonly ok: false;
      /** The first event that is missing, changed or out of place. */
      readonly badSeq: number;
      readonly problem: string;
    };

type EventRow = typeof events.$inferSelect;

const chunk = 1000;

/** Reading the audit log as a whole (design D16). */
export class Audit {
  readonly #connection: Connection;
  readonly #events: EventLog;

  constructor(connection: Connection, log: EventLog) {
    this.#connection = connection;
    this.#events = log;
  }

  /** The newest event's number and hash, to be kept outside: only a copy elsewhere proves that the end was not cut off. */
  async auditHead(): Promise<AuditHead> {
    return this.#connection.single(() => this.#events.head());
  }

  /**
   * Walks the whole chain: numbers without a gap, each hash right and linked to the one before, a beginning that is either the
   * genesis or what retention left, an end that is not before the newest number ever given out nor before any of `anchors`;
   * then that each deployment is in the state that its last event says.
   */
  async verifyAudit(anchors: readonly AuditHead[] = []): Promise<AuditReport> {
    return this.#connection.read(() => {
      const anchor = this.#events.anchor();
      const start = anchor ?? { seq: 0, hash: genesisHash };
      const walked = this.#walk(start, anchors);
      if (!walked.ok) return walked;
      const truncated = this.#truncatedAt(walked.head.seq, anchors);
      if (truncated !== undefined) {
        return { ok: false, badSeq: truncated, problem: "events at the end of the log are missing" };
      }
      const evidence = this.#unexplainedAnchor(anchor);
      if (evidence !== undefined) return evidence;
      return this.#compareStates() ?? walked;
    });
  }

  /** Events from an instant on, oldest first, in pieces; all of them without one. */
  *exportEvents(since?: Instant): Generator<EventRecord> {
    let after = since === undefined ? 0 : this.#firstSince(since) - 1;
    for (;;) {
      const rows = this.#connection.single(() => this.#events.after(after, chunk));
      const last = rows.at(-1);
      if (last === undefined) return;
      yield* rows;
      after = last.id;
    }
  }

  /** Up to `limit` events after a number, oldest first: for followers that remember the last one they saw. */
  async eventsAfter(id: number, limit: number): Promise<readonly EventRecord[]> {
    return this.#connection.single(() => this.#events.after(id, limit));
  }

  #walk(start: AuditHead, anchors: readonly AuditHead[]): AuditReport {
    const outside = new Map(anchors.map((anchor) => [anchor.seq, anchor.hash]));
    let expected = start;
    let count = 0;
    for (const row of this.#rows()) {
      const problem =
        problemOf(row, expected) ??
        (isOther(outside.get(row.id), row.hash) ? "is not the one that an anchor outside remembers" : undefined);
      if (problem !== undefined) return { ok: false, badSeq: expected.seq + 1, problem: `event ${expected.seq + 1} ${problem}` };
      expected = { seq: row.id, hash: row.hash };
      count += 1;
    }
    return { ok: true, events: count, first: start.seq + 1, head: expected };
  }

  #rows(): IterableIterator<EventRow> {
    return this.#connection.raw.prepare<[], EventRow>(selectEvents).iterate();
  }

  #truncatedAt(last: number, anchors: readonly AuditHead[]): number | undefined {
    const given =
      this.#connection.raw.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck().get() ?? 0;
    const known = Math.max(given, ...anchors.map((anchor) => anchor.seq));
    return known > last ? last + 1 : undefined;
  }

  /** The anchor of retention is itself an event of the chain; an anchor that no event tells of was put there by hand. */
  #unexplainedAnchor(anchor: AuditHead | undefined): AuditReport | undefined {
    if (anchor === undefined) return undefined;
    const told = this.#connection.raw
      .prepare<[string], number>("SELECT count(*) FROM events WHERE kind = 'events_removed' AND message LIKE ?")
      .pluck()
      .get(`% ${anchor.seq} (${anchor.hash})%`);
    if (told !== undefined && told > 0) return undefined;
    return { ok: false, badSeq: anchor.seq, problem: `events up to ${anchor.seq} were removed, but not by retention` };
  }

  #compareStates(): AuditReport | undefined {
    const row = this.#connection.raw
      .prepare<[], { id: string; state: string; toState: string; seq: number }>(
        `SELECT d.id, d.state, e.to_state AS toState, max(e.id) AS seq FROM deployments d
         JOIN events e ON e.deployment_id = d.id AND e.kind = 'state'
         GROUP BY d.id HAVING e.to_state <> d.state ORDER BY seq LIMIT 1`,
      )
      .get();
    if (row === undefined) return undefined;
    return {
      ok: false,
      badSeq: row.seq,
      problem: `deployment ${row.id} is stored as ${row.state}, but event ${row.seq} left it ${row.toState}`,
    };
  }

  #firstSince(since: Instant): number {
    const seq = this.#connection.single(() =>
      this.#connection.raw.prepare<[string], number | null>("SELECT min(id) FROM events WHERE ts >= ?").pluck().get(since),
    );
    return seq ?? Number.MAX_SAFE_INTEGER;
  }
}

const selectEvents = `SELECT id, ts AS at, kind, namespace, job_id AS jobId, repository, deployment_id AS deploymentId,
  from_state AS fromState, to_state AS toState, actor, accessor_id AS accessorId, identity, reason, message,
  prev_hash AS prevHash, hash FROM events ORDER BY id`;

function problemOf(row: EventRow, before: AuditHead): string | undefined {
  if (row.id !== before.seq + 1) return "is missing";
  if (row.prevHash !== before.hash) return "does not follow the one before it";
  return eventHash(row) === row.hash ? undefined : "was changed";
}

function isOther(wanted: string | undefined, found: string): boolean {
  return wanted !== undefined && wanted !== found;
}
