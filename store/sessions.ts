import { eq, lt } from "drizzle-orm";
import { type Instant, type Random, toInstant } from "../model/clock.ts";
import type { Actor } from "../model/deployment.ts";
import { sha256 } from "../model/hash.ts";
import type { LoginMethod } from "../model/login.ts";
import type { Connection } from "./connection.ts";
import type { EventLog } from "./events.ts";
import { sessions } from "./schema.ts";

/** A session ends when it was not used for so long, ms. */
export const sessionIdleMs = 8 * 3_600_000;
/** No session is older than this, ms. */
export const sessionLongestMs = 24 * 3_600_000;

const secretBytes = 32;
/** The time of last use is stored once a minute, so that reading the API costs no write. */
const usePrecisionMs = 60_000;

/** Somebody who logged in, without the secret in the cookie, which only the browser has. */
export interface Session {
  /** Public. */
  readonly id: string;
  readonly method: LoginMethod;
  /** What the method calls the person for good. */
  readonly subject: string;
  /** For display. */
  readonly name: string;
  readonly email: string | undefined;
  /** What the method needs to know later, as it gave it. Never a secret in clear. */
  readonly claims: unknown;
  /** When the method last said that the claims hold. */
  readonly checkedAt: Instant;
  readonly createdAt: Instant;
  readonly endsAt: Instant;
}

export interface NewSession extends Pick<Session, "method" | "subject" | "name" | "email"> {
  /** Made from the secret of the session, so that something may be sealed with it. */
  readonly claims: (secret: string) => unknown;
  /** Milliseconds until the session ends at the latest; never more than `sessionLongestMs`. */
  readonly longestMs: number;
  /** The session that the browser had before: it ends, so that none can be foisted on anybody (S23). */
  readonly replaces: string | undefined;
  /** The person, as the audit log names them. */
  readonly actor: (id: string) => Actor;
}

type SessionRow = typeof sessions.$inferSelect;

/** Sessions of people. They are found by the hash of their secret and survive a restart. */
export class Sessions {
  readonly #connection: Connection;
  readonly #events: EventLog;
  readonly #random: Random;

  constructor(connection: Connection, events: EventLog, random: Random) {
    this.#connection = connection;
    this.#events = events;
    this.#random = random;
  }

  /** The secret is in the answer and nowhere else; its SHA-256 is stored. */
  async openSession(input: NewSession): Promise<{ readonly session: Session; readonly secret: string }> {
    const secret = Buffer.from(this.#random.bytes(secretBytes)).toString("base64url");
    const claims = JSON.stringify(input.claims(secret));
    const c = this.#connection;
    return c.administer(() => {
      if (input.replaces !== undefined) c.orm.delete(sessions).where(bySecret(input.replaces)).run();
      const now = c.now();
      const row: SessionRow = {
        id: c.newId(),
        secretHash: sha256(secret),
        method: input.method,
        subject: input.subject,
        name: input.name,
        email: input.email ?? null,
        claims,
        checkedAt: now,
        createdAt: now,
        lastUsedAt: now,
        endsAt: toInstant(c.nowMs() + Math.min(input.longestMs, sessionLongestMs)),
      };
      c.orm.insert(sessions).values(row).run();
      const actor = input.actor(row.id);
      this.#events.append({ kind: "logged_in", actor, message: `${input.name} logged in by ${input.method}` });
      return { session: toSession(row), secret };
    });
  }

  /**
   * The session of a secret; `undefined` when there is none, or it ended. `use` counts as activity of the person; a stream that stays open
   * does not. The search goes by hash, so its time tells nothing about the secret.
   */
  async findSession(secret: string, use: boolean): Promise<Session | undefined> {
    const c = this.#connection;
    const row = c.single(() => c.orm.select().from(sessions).where(bySecret(secret)).get());
    if (row === undefined || row.endsAt <= c.now() || row.lastUsedAt <= toInstant(c.nowMs() - sessionIdleMs)) return undefined;
    if (use && row.lastUsedAt <= toInstant(c.nowMs() - usePrecisionMs)) {
      c.administer(() => c.orm.update(sessions).set({ lastUsedAt: c.now() }).where(eq(sessions.id, row.id)).run());
    }
    return toSession(row);
  }

  /** Its method just said what holds now. */
  async recheckSession(id: string, claims: unknown): Promise<void> {
    const c = this.#connection;
    const now = { claims: JSON.stringify(claims), checkedAt: c.now() };
    c.administer(() => c.orm.update(sessions).set(now).where(eq(sessions.id, id)).run());
  }

  /** Ends a session at once. Ending one that is gone does nothing. */
  async endSession(id: string, actor: Actor, why: string): Promise<void> {
    const c = this.#connection;
    c.administer(() => {
      if (c.orm.delete(sessions).where(eq(sessions.id, id)).run().changes === 0) return;
      this.#events.append({ kind: "logged_out", actor, message: `the session of ${actor.name} ended: ${why}` });
    });
  }

  /** Removes sessions that ended by time. Gives how many. */
  async pruneSessions(): Promise<number> {
    const c = this.#connection;
    return c.administer(() => {
      const idle = lt(sessions.lastUsedAt, toInstant(c.nowMs() - sessionIdleMs));
      return (
        c.orm.delete(sessions).where(idle).run().changes +
        c.orm.delete(sessions).where(lt(sessions.endsAt, c.now())).run().changes
      );
    });
  }
}

function bySecret(secret: string) {
  return eq(sessions.secretHash, sha256(secret));
}

function toSession(row: SessionRow): Session {
  const { id, method, subject, name, checkedAt, createdAt, endsAt } = row;
  const claims: unknown = JSON.parse(row.claims);
  return { id, method, subject, name, email: row.email ?? undefined, claims, checkedAt, createdAt, endsAt };
}
