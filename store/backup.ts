import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import type { Clock, Random } from "../model/clock.ts";
import { toInstant } from "../model/clock.ts";
import { NopsError, NotFoundError, RefusedError } from "../model/errors.ts";
import type { FileLock } from "../model/lock.ts";
import { Connection } from "./connection.ts";
import { closeDatabase, createDataFolder, openDatabase, type SqliteDatabase } from "./database.ts";
import { StoreBrokenError } from "./errors.ts";
import { type AuditHead, EventLog, genesisHash } from "./events.ts";
import { Guard, readMark, syncFolder, writeMark } from "./guard.ts";
import { checkApplied, copyDatabase, migrate } from "./migrate.ts";

export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  readonly schema: number;
  /** Newest event in the copy; keep it with the file to prove later that nothing was cut off. */
  readonly head: AuditHead;
}

/** Path of the lock that the operator holds while it runs. */
export function lockPath(dataDir: string): string {
  return join(dataDir, "nops.lock");
}

/** Path of the database in a data folder. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "nops.db");
}

/**
 * Writes a consistent copy of the running database to a new file (0600), checked and on disk when this returns. Other processes
 * go on writing meanwhile.
 * @throws RefusedError `file_exists`; NopsError `backup_failed`; StoreBrokenError `backup_damaged`.
 */
export function writeBackup(database: SqliteDatabase, file: string): BackupReport {
  if (existsSync(file)) throw new RefusedError(`${file} exists; a backup never replaces a file`, { code: "file_exists" });
  const partial = `${file}.partial`;
  try {
    rmSync(partial, { force: true });
    copyDatabase(database, partial);
    const report = inspect(partial);
    renameSync(partial, file);
    syncFolder(dirname(file));
    return { file, bytes: statSync(file).size, ...report };
  } catch (error) {
    rmSync(partial, { force: true });
    if (error instanceof NopsError) throw error;
    throw new NopsError(`the backup ${file} cannot be written`, {
      code: "backup_failed",
      hint: "the folder must exist, be writable, and have room for a copy of the database",
      cause: error,
    });
  }
}

export interface RestoreOptions {
  /** The backup. */
  readonly from: string;
  readonly dataDir: string;
  readonly lock: FileLock;
  readonly clock: Clock;
  readonly random: Random;
}

export interface RestoreReport {
  readonly head: AuditHead;
  /** Where the database that was there before is now. */
  readonly replaced: string | undefined;
}

/**
 * Puts a backup in the place of the database. Only while no operator runs; the former database is kept beside it. The restored one
 * is marked, so that the operator only looks until a person accepts it (design D34).
 * @throws RefusedError `lock_held`; NotFoundError `backup_not_found`; NopsError `schema_too_new`, `not_a_nops_database`,
 * `backup_incomplete`; StoreBrokenError `backup_damaged`.
 */
export function restoreBackup(options: RestoreOptions): RestoreReport {
  if (!existsSync(options.from)) throw new NotFoundError(`there is no file ${options.from}`, { code: "backup_not_found" });
  // Before the lock makes it with the wider mode of a project's folder.
  createDataFolder(options.dataDir);
  const outcome = options.lock.acquire(lockPath(options.dataDir));
  if (!outcome.held) {
    const who = outcome.holder.pid === undefined ? "holder unknown" : `process ${outcome.holder.pid}`;
    throw new RefusedError(`nops runs on ${options.dataDir} (${who})`, { code: "lock_held", hint: "stop it, then restore" });
  }
  try {
    return replaceDatabase(options, databasePath(options.dataDir));
  } finally {
    outcome.lock.release();
  }
}

function replaceDatabase(options: RestoreOptions, path: string): RestoreReport {
  const fresh = `${path}.restoring`;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(fresh + suffix, { force: true });
  copyIn(options.from, fresh);
  const restored = markFresh(fresh, options, readMark(path)?.epoch ?? 0);
  const replaced = setAside(path, options.clock);
  renameSync(fresh, path);
  syncFolder(dirname(path));
  writeMark(path, restored);
  return { head: { seq: restored.seq, hash: restored.hash }, replaced };
}

function copyIn(from: string, to: string): void {
  if (existsSync(`${from}-wal`) && statSync(`${from}-wal`).size > 0) {
    throw new NopsError(`${from} has a write-ahead log beside it: it is a database in use, not a backup`, {
      code: "backup_incomplete",
      hint: "make backups with `nops backup FILE`",
    });
  }
  inspect(from);
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  chmodSync(to, 0o600);
}

/** Brings the copy to the present schema and marks it as restored. */
function markFresh(path: string, options: RestoreOptions, seenEpoch: number): AuditHead & { readonly epoch: number } {
  const database = openDatabase({ path });
  try {
    migrate(database, { path, now: toInstant(options.clock.now()), backup: false });
    const connection = new Connection({ ...options, database, path, redact: (text) => text });
    const log = new EventLog(connection);
    const head = log.head();
    const guard = new Guard(connection, log);
    guard.markRestoredNow(`restored from a backup that ended with event ${head.seq}`, seenEpoch);
    const marked = log.head();
    return { ...marked, epoch: Math.max(seenEpoch, guard.epoch()) };
  } finally {
    closeDatabase(database);
    const file = openSync(path, "r+");
    fsyncSync(file);
    closeSync(file);
  }
}

/** Keeps the former database under another name, its log written into it where that is still possible. */
function setAside(path: string, clock: Clock): string | undefined {
  if (!existsSync(path)) return undefined;
  const aside = `${path}.before-restore-${toInstant(clock.now()).replaceAll(/[:.]/g, "-")}`;
  try {
    closeDatabase(openDatabase({ path }));
  } catch {
    // It may be damaged, which is a reason to restore. Its files are kept as they are.
  }
  for (const suffix of ["-wal", "-shm"]) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  // A link first: at no instant is there no database under its name.
  linkSync(path, aside);
  return aside;
}

/** Checks a copy from end to end. */
function inspect(path: string): { readonly schema: number; readonly head: AuditHead } {
  let database: SqliteDatabase | undefined;
  try {
    database = new Database(path, { readonly: true, fileMustExist: true });
    const verdict = database.pragma("integrity_check", { simple: true });
    if (verdict !== "ok") throw new Error(String(verdict));
    const schema = checkApplied(database, path);
    const head = database.prepare<[], AuditHead>("SELECT id AS seq, hash FROM events ORDER BY id DESC LIMIT 1").get();
    return { schema, head: head ?? { seq: 0, hash: genesisHash } };
  } catch (error) {
    if (error instanceof NopsError) throw error;
    throw new StoreBrokenError(`${path} is no sound nops database`, { code: "backup_damaged", cause: error });
  } finally {
    database?.close();
  }
}
