import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { eq, sql } from "drizzle-orm";
import type { Instant } from "../model/clock.ts";
import { type Actor, engineActor } from "../model/deployment.ts";
import { NopsError } from "../model/errors.ts";
import type { Connection } from "./connection.ts";
import { unwritableError } from "./errors.ts";
import type { AuditHead, EventLog } from "./events.ts";
import { events, meta, sessions } from "./schema.ts";

/** What the data folder remembers beside the database: the highest epoch and a place of the audit log. */
export interface FolderMark extends AuditHead {
  readonly epoch: number;
}

/** Why a database is taken for a restored older one; until a person accepts it nops only looks (design D34). */
export interface RestoredMark {
  readonly at: Instant;
  readonly message: string;
}

const restoredKey = "restored";
const acceptedKey = "restore_accepted_at";
const epochKey = "epoch";

/** Path of the mark beside a database. */
export function markPath(databasePath: string): string {
  return join(dirname(databasePath), "nops.mark");
}

/**
 * Keeps an older copy of the database from acting. Each start of the engine claims the next epoch, in the database and in a mark
 * file beside it: a process that lost the database to a later one can write nothing more (design D17), and a database that knows
 * less than the mark was put back from a backup (design D34).
 */
export class Guard {
  readonly #connection: Connection;
  readonly #events: EventLog;
  readonly #value;

  constructor(connection: Connection, log: EventLog) {
    this.#connection = connection;
    this.#events = log;
    this.#value = connection.raw.prepare<[string], string>("SELECT value FROM meta WHERE key = ?").pluck();
  }

  /** Claims the database for this process. Gives the epoch. The caller holds the lock of the data folder. */
  claim(): number {
    const c = this.#connection;
    const mark = c.memory ? undefined : readMark(c.path);
    const epoch = c.administer(() => {
      const stored = Number(this.#read(epochKey) ?? 0);
      const problem = mark === undefined ? undefined : this.#older(mark, stored);
      if (problem !== undefined && this.#read(restoredKey) === undefined) this.#setRestored(problem);
      const next = Math.max(stored, mark?.epoch ?? 0) + 1;
      this.#write(epochKey, String(next));
      return next;
    });
    c.guardEpoch(epoch);
    this.saveMark();
    return epoch;
  }

  /** Writes the present place of the audit log beside the database; nothing for a database in memory. */
  saveMark(): void {
    const c = this.#connection;
    if (c.memory) return;
    // As long as nobody accepted an older database the mark keeps what proves that it is one.
    if (this.#read(restoredKey) !== undefined) return;
    writeMark(c.path, { epoch: Number(this.#read(epochKey) ?? 0), ...this.#events.head() });
  }

  /** The mark beside the database: an anchor outside of it for `verifyAudit`. */
  folderMark(): FolderMark | undefined {
    return this.#connection.memory ? undefined : readMark(this.#connection.path);
  }

  /** Set while the database counts as a restored older one. */
  async restored(): Promise<RestoredMark | undefined> {
    const value = this.#connection.single(() => this.#read(restoredKey));
    return value === undefined ? undefined : (JSON.parse(value) as RestoredMark);
  }

  /** Marks the database as a restored older one, for whoever finds that Nomad knows more than it does. Once; later calls change nothing. */
  async markRestored(message: string): Promise<void> {
    this.#connection.administer(() => {
      if (this.#read(restoredKey) === undefined) this.#setRestored(message);
    });
  }

  /** Marks anew, whatever was marked before, and never lets the epoch fall behind what the folder has seen. For `restoreBackup`. */
  markRestoredNow(message: string, seenEpoch: number): void {
    this.#connection.administer(() => {
      this.#write(epochKey, String(Math.max(seenEpoch, this.epoch())));
      this.#setRestored(message);
    });
  }

  /** The epoch claimed last. */
  epoch(): number {
    return Number(this.#read(epochKey) ?? 0);
  }

  /** A person's word that this database is to be used from here on. Gives whether it was marked. */
  async acceptRestored(actor: Actor): Promise<boolean> {
    const accepted = this.#connection.administer(() => {
      const value = this.#read(restoredKey);
      if (value === undefined) return false;
      this.#connection.orm.delete(meta).where(eq(meta.key, restoredKey)).run();
      this.#write(acceptedKey, this.#connection.now());
      this.#events.append({ kind: "restore_accepted", actor, message: "the restored database is used from here on" });
      return true;
    });
    if (accepted) this.saveMark();
    return accepted;
  }

  /** When a person last accepted this database in spite of what it does not know. */
  async restoreAcceptedAt(): Promise<Instant | undefined> {
    return this.#connection.single(() => this.#read(acceptedKey));
  }

  #older(mark: FolderMark, epoch: number): string | undefined {
    if (mark.epoch > epoch) return `the database is of start ${epoch}, but this folder has seen start ${mark.epoch}`;
    if (mark.seq === 0 || mark.seq <= (this.#events.anchor()?.seq ?? 0)) return undefined;
    const row = this.#connection.orm.select({ hash: events.hash }).from(events).where(eq(events.id, mark.seq)).get();
    return row?.hash === mark.hash ? undefined : `the audit log does not hold event ${mark.seq}, which this folder has seen`;
  }

  #setRestored(message: string): void {
    // An older database has sessions again that were ended since.
    this.#connection.orm.delete(sessions).run();
    this.#write(restoredKey, JSON.stringify({ at: this.#connection.now(), message } satisfies RestoredMark));
    this.#events.append({ kind: "restored", actor: engineActor, reason: "restored_database", message });
  }

  #read(key: string): string | undefined {
    return this.#value.get(key);
  }

  #write(key: string, value: string): void {
    this.#connection.orm
      .insert(meta)
      .values({ key, value })
      .onConflictDoUpdate({ target: meta.key, set: { value: sql`excluded.value` } })
      .run();
  }
}

/** The mark of a data folder; `undefined` when there is none. @throws NopsError `bad_mark` when it cannot be read. */
export function readMark(databasePath: string): FolderMark | undefined {
  const path = markPath(databasePath);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw unwritableError(path, error);
  }
  const match = /^(\d{1,15}) (\d{1,15}) ([0-9a-f]{64})\n$/.exec(text);
  if (match !== null) return { epoch: Number(match[1]), seq: Number(match[2]), hash: match[3] ?? "" };
  throw new NopsError(`${path} is damaged`, {
    code: "bad_mark",
    hint: "remove it if you know that the database beside it is the newest one",
  });
}

/** Replaces the mark; on disk when this returns. */
export function writeMark(databasePath: string, mark: FolderMark): void {
  const path = markPath(databasePath);
  const fresh = `${path}.new`;
  try {
    const file = openSync(fresh, "w", 0o600);
    writeSync(file, `${mark.epoch} ${mark.seq} ${mark.hash}\n`);
    fsyncSync(file);
    closeSync(file);
    renameSync(fresh, path);
    syncFolder(dirname(path));
  } catch (error) {
    throw unwritableError(path, error);
  }
}

/** Makes renames in a folder durable. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
