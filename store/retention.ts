import { toInstant } from "../model/clock.ts";
import { engineActor } from "../model/deployment.ts";
import type { Connection } from "./connection.ts";
import type { EventLog } from "./events.ts";

export interface RetentionPolicy {
  /** Finished deployments untouched for so long are removed, ms. 0: keep. */
  readonly deploymentsMs: number;
  /** Events older than this are removed, ms. 0: keep. */
  readonly eventsMs: number;
}

export interface RetentionResult {
  readonly deployments: number;
  readonly events: number;
  readonly notifications: number;
}

/** Removal of what is old (contract §2 `retention`). */
export class Retention {
  readonly #connection: Connection;
  readonly #events: EventLog;

  constructor(connection: Connection, events: EventLog) {
    this.#connection = connection;
    this.#events = events;
  }

  /**
   * Removes what is older than the policy says, in one transaction. Of each job the newest deployment, the newest completed one and
   * an active one stay: they decide what happens next. The audit log is only ever shortened from its beginning; the last removed
   * event stays as an anchor, and a new event of the chain tells of it, so that `verifyAudit` still proves the rest.
   */
  async prune(policy: RetentionPolicy): Promise<RetentionResult> {
    const c = this.#connection;
    return c.write(() => {
      const nowMs = c.nowMs();
      const deployments = policy.deploymentsMs > 0 ? this.#deployments(toInstant(nowMs - policy.deploymentsMs)) : 0;
      const events = policy.eventsMs > 0 ? this.#oldEvents(toInstant(nowMs - policy.eventsMs)) : 0;
      const notifications = policy.deploymentsMs > 0 ? this.#notifications(toInstant(nowMs - policy.deploymentsMs)) : 0;
      return { deployments, events, notifications };
    });
  }

  #deployments(before: string): number {
    const removed = this.#connection.raw
      .prepare<{ before: string }>(`
        DELETE FROM deployments
        WHERE state IN ('completed', 'failed', 'rejected', 'superseded') AND updated_at < @before
          AND id NOT IN (SELECT max(id) FROM deployments GROUP BY namespace, job_id)
          AND id NOT IN (SELECT max(id) FROM deployments WHERE state = 'completed' GROUP BY namespace, job_id)`)
      .run({ before }).changes;
    if (removed > 0) {
      const message = `${removed} deployments finished before ${before} were removed`;
      this.#events.append({ kind: "deployments_removed", actor: engineActor, message });
    }
    return removed;
  }

  #oldEvents(before: string): number {
    const { raw } = this.#connection;
    const last = raw
      .prepare<[string], { id: number; hash: string }>(
        `SELECT id, hash FROM events
         WHERE id < coalesce((SELECT min(id) FROM events WHERE ts >= ?), (SELECT max(id) FROM events))
         ORDER BY id DESC LIMIT 1`,
      )
      .get(before);
    if (last === undefined) return 0;
    const message = `events up to ${last.id} (${last.hash}), older than ${before}, were removed`;
    this.#events.append({ kind: "events_removed", actor: engineActor, message });
    // The trigger lets go only of what an anchor covers.
    raw.prepare("INSERT INTO event_anchors (seq, hash, at) VALUES (?, ?, ?)").run(last.id, last.hash, this.#connection.now());
    raw.prepare("DELETE FROM event_anchors WHERE seq < ?").run(last.id);
    return raw.prepare("DELETE FROM events WHERE id <= ?").run(last.id).changes;
  }

  #notifications(before: string): number {
    return this.#connection.raw.prepare("DELETE FROM notifications WHERE status <> 'waiting' AND finished_at < ?").run(before)
      .changes;
  }
}
