import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import type { Clock, Instant, Random } from "../model/clock.ts";
import { toInstant } from "../model/clock.ts";
import { NopsError, RetryAfterError } from "../model/errors.ts";
import { ulidSource } from "../model/ulid.ts";
import { inMemory, type SqliteDatabase } from "./database.ts";
import { StoreBrokenError, storeError } from "./errors.ts";
import { FileIdentity } from "./identity.ts";

/** Tries of a short administration transaction while the engine writes; each waits up to the busy timeout. */
const administrationTries = 8;

export interface ConnectionOptions {
  readonly database: SqliteDatabase;
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Applied to every free text before it is stored (design D25). */
  readonly redact: (text: string) => string;
}

/**
 * The one connection of a store: transactions, the epoch fence, identities, and the latch that refuses everything after a failure
 * which may have lost data. All work inside is synchronous, so a crash can only fall between transactions.
 */
export class Connection {
  readonly raw: SqliteDatabase;
  readonly orm: BetterSQLite3Database;
  readonly path: string;
  readonly redact: (text: string) => string;
  /** Strictly increasing ULIDs, also across restarts. */
  readonly newId: () => string;
  readonly #clock: Clock;
  readonly #run: ReturnType<SqliteDatabase["transaction"]>;
  readonly #listeners = new Set<() => void>();
  #epoch: string | undefined;
  #files: FileIdentity | undefined;
  #readEpoch: { get(): unknown } | undefined;
  #broken: StoreBrokenError | undefined;
  #appended = false;

  constructor(options: ConnectionOptions) {
    this.raw = options.database;
    this.orm = drizzle(options.database);
    this.path = options.path;
    this.redact = options.redact;
    this.#clock = options.clock;
    this.#run = options.database.transaction((work: () => unknown) => work());
    const greatest = options.database
      .prepare<[], string | null>(
        "SELECT max(id) FROM (SELECT max(id) AS id FROM deployments UNION ALL SELECT max(id) FROM hook_runs)",
      )
      .pluck()
      .get();
    this.newId = ulidSource(options.clock, options.random, greatest ?? undefined);
  }

  /** Whether the database lives in memory only. */
  get memory(): boolean {
    return this.path === inMemory;
  }

  /** The present time as it is stored. */
  now(): Instant {
    return toInstant(this.#clock.now());
  }

  nowMs(): number {
    return this.#clock.now();
  }

  /** From here on every write checks that no other process has claimed a later epoch (design D17), and that its file is still in place. */
  guardEpoch(epoch: number): void {
    this.#epoch = String(epoch);
    this.#files = this.memory ? undefined : new FileIdentity(this.path);
    this.#readEpoch = this.raw.prepare("SELECT value FROM meta WHERE key = 'epoch'").pluck();
  }

  /**
   * One IMMEDIATE transaction of the engine: all of `work` or nothing.
   * @throws StoreBrokenError `fenced` when another process took over; `not_engine` when this process never claimed the database.
   */
  write<T>(work: () => T): T {
    if (this.#epoch === undefined) {
      throw new NopsError("only the operator changes deployments", {
        code: "not_engine",
        hint: "use the API of the running operator",
      });
    }
    return this.#transact("immediate", () => {
      if (this.#readEpoch?.get() !== this.#epoch) throw fencedError(this.path);
      return work();
    });
  }

  /** One short IMMEDIATE transaction that also a second process may run beside the engine (design D35). */
  administer<T>(work: () => T): T {
    for (let tries = 1; ; tries++) {
      try {
        return this.#transact("immediate", work);
      } catch (error) {
        if (!(error instanceof RetryAfterError) || tries >= administrationTries) throw error;
      }
    }
  }

  /** Several reads of one consistent snapshot. */
  read<T>(work: () => T): T {
    return this.#transact("deferred", work);
  }

  /** A single statement, which needs no transaction. */
  single<T>(work: () => T): T {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      return work();
    } catch (error) {
      throw this.#judge(error);
    }
  }

  /** Called by whoever appends an event, inside the transaction. */
  eventAppended(): void {
    this.#appended = true;
  }

  /** Calls `listener` after each committed transaction of this process that appended events. Returns the way to stop. */
  onEvents(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The failure after which nothing is accepted any more. */
  get broken(): StoreBrokenError | undefined {
    return this.#broken;
  }

  #transact<T>(behavior: "immediate" | "deferred", work: () => T): T {
    if (this.#broken !== undefined) throw this.#broken;
    this.#appended = false;
    let result: T;
    try {
      if (behavior === "immediate") this.#files?.assertUnmoved();
      result = this.#run[behavior](work) as T;
    } catch (error) {
      throw this.#judge(error);
    }
    if (this.#appended) for (const listener of this.#listeners) listener();
    return result;
  }

  #judge(error: unknown): unknown {
    const judged = storeError(error, this.path);
    if (judged instanceof StoreBrokenError) this.#broken = judged;
    return judged;
  }
}

function fencedError(path: string): StoreBrokenError {
  return new StoreBrokenError(`another nops took over the database ${path}`, {
    code: "fenced",
    hint: "run one operator per database; this one has to start again",
  });
}
