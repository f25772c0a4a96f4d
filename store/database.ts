import * as fs from "node:fs";
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { NopsError } from "../model/errors.ts";
import { makeFolders } from "../model/folders.ts";
import { StoreBrokenError, storeError, unwritableError } from "./errors.ts";

/** An open SQLite database. Statements on it are synchronous (design D15). */
export type SqliteDatabase = Database.Database;

/** Path that stands for a database in memory. */
export const inMemory = ":memory:";

/** Longest time that a statement waits for another writer, ms. The event loop stands still meanwhile, so it is short. */
export const busyTimeoutMs = 250;

export interface DatabaseOptions {
  /** Path of the file, or `:memory:`. */
  readonly path: string;
  /** For `:memory:`: contents to start from, as `serialize()` gave them. */
  readonly contents?: Uint8Array;
  /** Refuse to write, and do not create anything. */
  readonly readonly?: boolean;
  /** Called with each statement before it runs. For fault injection in tests. */
  readonly trace?: (sql: string) => void;
}

/**
 * Opens the database file (0600) and makes its folder (0700) when they are missing; sets every pragma that durability and
 * integrity rest on. `synchronous=FULL` is set after WAL on every open, since the build in use falls back to NORMAL in WAL mode
 * (reliability finding 1).
 * @throws NopsError `data_dir_unwritable`; `data_dir_exposed` when group or others may read the folder or the file (S07).
 * @throws StoreBrokenError when the file is damaged or no database.
 */
export function openDatabase(options: DatabaseOptions): SqliteDatabase {
  const { path } = options;
  if (path === inMemory) return openMemory(options);
  const folder = dirname(path);
  if (options.readonly !== true) createDataFolder(folder);
  refuseExposed(folder, "folder", "700");
  if (options.readonly !== true) createFile(path);
  refuseExposed(path, "file", "600");
  try {
    const database = new Database(path, {
      timeout: busyTimeoutMs,
      readonly: options.readonly === true,
      fileMustExist: true,
      ...(options.trace === undefined ? {} : { verbose: traceOf(options.trace) }),
    });
    try {
      if (options.readonly !== true) database.pragma("journal_mode = WAL");
      setPragmas(database);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  } catch (error) {
    throw storeError(error, path);
  }
}

/**
 * Makes sure that what `openDatabase` set is in force; called after the first write, because only then the build in use shows
 * the value it will really use.
 * @throws StoreBrokenError `not_durable`.
 */
export function assertDurable(database: SqliteDatabase, path: string): void {
  if (path === inMemory) return;
  const found = durability(database);
  if (found.journalMode === "wal" && found.synchronous === 2 && found.foreignKeys === 1) return;
  throw new StoreBrokenError(
    `the database ${path} does not keep what it is given: journal_mode=${found.journalMode}, synchronous=${found.synchronous}, foreign_keys=${found.foreignKeys}`,
    { code: "not_durable", hint: "data_dir must be on a local file system that supports write-ahead logging" },
  );
}

/** The pragmas that durability rests on, as SQLite reports them now. `synchronous` 2 means FULL. */
export function durability(database: SqliteDatabase): {
  readonly journalMode: string;
  readonly synchronous: number;
  readonly foreignKeys: number;
} {
  return {
    journalMode: String(database.pragma("journal_mode", { simple: true })),
    synchronous: Number(database.pragma("synchronous", { simple: true })),
    foreignKeys: Number(database.pragma("foreign_keys", { simple: true })),
  };
}

/** Empties the write-ahead log into the file and closes. Another reader may keep the log from being emptied; that loses nothing. */
export function closeDatabase(database: SqliteDatabase): void {
  if (!database.open) return;
  if (!database.memory && !database.readonly) database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
}

function openMemory(options: DatabaseOptions): SqliteDatabase {
  const source = options.contents === undefined ? inMemory : Buffer.from(options.contents);
  const database = new Database(source, options.trace === undefined ? {} : { verbose: traceOf(options.trace) });
  setPragmas(database);
  return database;
}

function setPragmas(database: SqliteDatabase): void {
  database.pragma("synchronous = FULL");
  database.pragma("foreign_keys = ON");
  database.pragma("trusted_schema = OFF");
}

function traceOf(trace: (sql: string) => void): (message?: unknown) => void {
  return (message) => trace(String(message));
}

/** Private from its first moment. @throws NopsError `data_dir_unwritable`. */
export function createDataFolder(folder: string): void {
  try {
    // The mode of mkdir passes the umask and only counts for a folder that was missing.
    if (makeFolders(fs, folder, 0o700)) chmodSync(folder, 0o700);
  } catch (error) {
    throw unwritableError(folder, error);
  }
}

function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw unwritableError(path, error);
  }
}

function refuseExposed(path: string, what: "folder" | "file", mode: string): void {
  if (process.platform === "win32") return;
  let found: number;
  try {
    found = statSync(path).mode & 0o777;
  } catch (error) {
    throw unwritableError(path, error);
  }
  if ((found & 0o077) === 0) return;
  throw new NopsError(`the ${what} ${path} can be used by others (mode ${found.toString(8)}); it holds secrets of your jobs`, {
    code: "data_dir_exposed",
    hint: `chmod ${mode} ${path}`,
  });
}
