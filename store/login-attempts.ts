import { and, eq, gt, lte } from "drizzle-orm";
import { toInstant } from "../model/clock.ts";
import { sha256 } from "../model/hash.ts";
import type { LoginMethod } from "../model/login.ts";
import type { Connection } from "./connection.ts";
import { loginAttempts } from "./schema.ts";

/** So many wrong logins within the window are looked at; the next is refused unseen (S25). */
export const wrongLoginsAllowed = 5;
export const wrongLoginWindowMs = 5 * 60_000;

/** Where a login comes from and whom it claims to be. */
export interface LoginTry {
  readonly method: LoginMethod;
  /** Address of the client. */
  readonly source: string;
  /** As typed. */
  readonly account: string;
}

export type LoginAdmission =
  /** `id` is given to `loginSucceeded` when the credentials were right. */
  { readonly admitted: true; readonly id: number } | { readonly admitted: false; readonly retryAfterMs: number };

/**
 * Counts wrong logins per source and per account. In the database, so that neither a restart nor any number of other names makes it
 * forget; accounts by hash, since people type their password where the name belongs.
 */
export class LoginAttempts {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Counts a login as wrong before its credentials are looked at, so that many at once cannot slip through; what is refused here does not
   * count, else whoever knows a name could keep its owner out for good.
   */
  async admitLogin(login: LoginTry): Promise<LoginAdmission> {
    const c = this.#connection;
    const account = sha256(`${login.method}:${login.account}`);
    return c.administer(() => {
      const begin = toInstant(c.nowMs() - wrongLoginWindowMs);
      c.orm.delete(loginAttempts).where(lte(loginAttempts.at, begin)).run();
      const waits = [eq(loginAttempts.source, login.source), eq(loginAttempts.account, account)].map((same) =>
        this.#wait(same, begin),
      );
      const retryAfterMs = Math.max(...waits);
      if (retryAfterMs > 0) return { admitted: false, retryAfterMs };
      const row = { at: c.now(), source: login.source, account };
      return { admitted: true, id: Number(c.orm.insert(loginAttempts).values(row).run().lastInsertRowid) };
    });
  }

  /** Milliseconds until one more is looked at. */
  #wait(same: ReturnType<typeof eq>, begin: string): number {
    const c = this.#connection;
    const wrong = c.orm
      .select({ at: loginAttempts.at })
      .from(loginAttempts)
      .where(and(same, gt(loginAttempts.at, begin)))
      .orderBy(loginAttempts.at)
      .all();
    const leaving = wrong[wrong.length - wrongLoginsAllowed];
    return leaving === undefined ? 0 : Date.parse(leaving.at) + wrongLoginWindowMs - c.nowMs();
  }

  /** The login was right after all. */
  async loginSucceeded(id: number): Promise<void> {
    const c = this.#connection;
    c.administer(() => c.orm.delete(loginAttempts).where(eq(loginAttempts.id, id)).run());
  }
}
