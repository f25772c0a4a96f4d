import { and, asc, eq, inArray, lte, sql } from "drizzle-orm";
import { type Instant, toInstant } from "../model/clock.ts";
import type { Deployment } from "../model/deployment.ts";
import type { Connection } from "./connection.ts";
import { deploymentColumns, toDeployment } from "./rows.ts";
import { deployments, notifications } from "./schema.ts";
import { preparedInsert } from "./statements.ts";

/** What people are told without asking (operator §23). */
export type NotificationKind = "pending_approval" | "failed" | "promotion_wait" | "completed";

/** A notification that waits to be sent. */
export interface OutboxNotification {
  readonly id: number;
  readonly kind: NotificationKind;
  /** As it is now, which may be further than when the notification was written. */
  readonly deployment: Deployment;
  readonly eventId: number;
  readonly createdAt: Instant;
  /** From 1: this try included. */
  readonly attempt: number;
  /** Names of the receivers that already have it. */
  readonly deliveredTo: readonly string[];
}

/** Time after which a claimed notification that nobody reported on is handed out again, ms. */
export const claimLeaseMs = 60_000;

/** Notifications, written in the transaction of what they tell about and sent later: at least once to each receiver. */
export class Outbox {
  readonly #connection: Connection;
  readonly #insert;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#insert = preparedInsert(connection.raw, notifications);
  }

  /** Only inside the transaction of the event. */
  add(kind: NotificationKind, deploymentId: string, eventId: number): void {
    const now = this.#connection.now();
    this.#insert({ kind, deploymentId, eventId, createdAt: now, dueAt: now, status: "waiting", attempts: 0, deliveredTo: "[]" });
  }

  /**
   * Takes up to `limit` due notifications, oldest first. Each is handed out again after `claimLeaseMs` unless it is reported as
   * delivered or failed, so a crash while sending repeats rather than loses.
   */
  async claimNotifications(limit: number): Promise<readonly OutboxNotification[]> {
    const c = this.#connection;
    return c.write(() => {
      const rows = c.orm
        .select({ notification: notifications, deployment: deploymentColumns })
        .from(notifications)
        .innerJoin(deployments, eq(deployments.id, notifications.deploymentId))
        .where(and(eq(notifications.status, "waiting"), lte(notifications.dueAt, c.now())))
        .orderBy(asc(notifications.dueAt), asc(notifications.id))
        .limit(limit)
        .all();
      if (rows.length === 0) return [];
      c.orm
        .update(notifications)
        .set({ attempts: sql`${notifications.attempts} + 1`, dueAt: toInstant(c.nowMs() + claimLeaseMs) })
        .where(
          inArray(
            notifications.id,
            rows.map((row) => row.notification.id),
          ),
        )
        .run();
      return rows.map(({ notification, deployment }) => ({
        id: notification.id,
        kind: notification.kind,
        deployment: toDeployment(deployment),
        eventId: notification.eventId,
        createdAt: notification.createdAt,
        attempt: notification.attempts + 1,
        deliveredTo: JSON.parse(notification.deliveredTo) as string[],
      }));
    });
  }

  /** Every receiver has it. */
  async markDelivered(id: number): Promise<void> {
    this.#finish(id, { status: "delivered", lastError: null });
  }

  /**
   * At least one receiver does not have it. `retryAt` says when to try the others again; without it the notification is given up.
   * `deliveredTo` are all receivers that have it by now.
   */
  async markFailed(
    id: number,
    failure: { readonly error: string; readonly retryAt?: Instant | undefined; readonly deliveredTo?: readonly string[] },
  ): Promise<void> {
    const lastError = this.#connection.redact(failure.error);
    const delivered = failure.deliveredTo === undefined ? {} : { deliveredTo: JSON.stringify(failure.deliveredTo) };
    if (failure.retryAt === undefined) this.#finish(id, { status: "given_up", lastError, ...delivered });
    else this.#update(id, { dueAt: failure.retryAt, lastError, ...delivered });
  }

  #finish(id: number, change: Partial<typeof notifications.$inferInsert>): void {
    this.#update(id, { ...change, finishedAt: this.#connection.now() });
  }

  #update(id: number, change: Partial<typeof notifications.$inferInsert>): void {
    const c = this.#connection;
    c.write(() =>
      c.orm
        .update(notifications)
        .set(change)
        .where(and(eq(notifications.id, id), eq(notifications.status, "waiting")))
        .run(),
    );
  }
}
