import Database from "better-sqlite3";
import { NopsError, RetryAfterError } from "../model/errors.ts";

/**
 * The database can no longer be trusted to keep what it was given (failed fsync, I/O error, full disk, damaged file, or another
 * process took over). Fatal: the process ends and starts again; nothing is tried a second time after a failed fsync (reliability §1.3).
 */
export class StoreBrokenError extends NopsError {
  override readonly name: string = "StoreBrokenError";
}

const fatal = ["SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CORRUPT", "SQLITE_NOTADB"];
const unwritable = ["SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"];
const busy = ["SQLITE_BUSY", "SQLITE_LOCKED"];

/** Milliseconds after which a busy database is worth another try. */
const busyRetryMs = 100;

/**
 * What a failure of SQLite means to the caller: fatal (`StoreBrokenError` `store_broken`), a data folder that cannot be written
 * (`data_dir_unwritable`), another writer (`RetryAfterError` `database_busy`). Anything else is handed on as it is.
 */
export function storeError(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  const is = (prefix: string): boolean => code.startsWith(prefix);
  if (fatal.some(is)) {
    return new StoreBrokenError(`the database ${path} failed: ${code}`, {
      code: "store_broken",
      hint: hintFor(code),
      cause: error,
    });
  }
  if (unwritable.some(is)) return unwritableError(path, error);
  if (busy.some(is)) {
    return new RetryAfterError(`the database ${path} is busy`, busyRetryMs, { code: "database_busy", cause: error });
  }
  return error;
}

/** `data_dir_unwritable`: the file or its folder cannot be created or written. */
export function unwritableError(path: string, cause: unknown): NopsError {
  return new NopsError(`cannot write ${path}`, {
    code: "data_dir_unwritable",
    hint: "give data_dir a folder on a writable local file system that belongs to the user nops runs as",
    cause,
  });
}

/** The code of an error that SQLite raised, else `undefined`. */
export function sqliteCode(error: unknown): string | undefined {
  return error instanceof Database.SqliteError ? error.code : undefined;
}

/** Whether a unique index refused the row. */
export function isUniqueViolation(error: unknown): boolean {
  return sqliteCode(error) === "SQLITE_CONSTRAINT_UNIQUE";
}

function hintFor(code: string): string {
  if (code.startsWith("SQLITE_FULL")) return "free space on the disk that holds data_dir, then start nops again";
  if (code.startsWith("SQLITE_NOTADB")) return "the file is no SQLite database; restore a backup with `nops restore FILE`";
  if (code.startsWith("SQLITE_CORRUPT")) return "the file is damaged; restore a backup with `nops restore FILE`";
  return "check the disk that holds data_dir, then start nops again";
}
