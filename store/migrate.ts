import { closeSync, existsSync, fsyncSync, openSync, rmSync } from "node:fs";
import type { Instant } from "../model/clock.ts";
import { NopsError, TerminalError } from "../model/errors.ts";
import { sha256 } from "../model/hash.ts";
import { inMemory, type SqliteDatabase } from "./database.ts";
import { StoreBrokenError } from "./errors.ts";
import { migrations as allMigrations } from "./migrations/all.ts";
import type { Migration } from "./migrations/migration.ts";

/** Marks a file as ours: "nops" in ASCII. */
export const applicationId = 0x6e6f7073;

export interface MigrateOptions {
  readonly path: string;
  readonly now: Instant;
  /** Stop at this step. For tests of older schemas. */
  readonly upTo?: number;
  readonly migrations?: readonly Migration[];
  /** Copy the file before it is changed. Default: yes. */
  readonly backup?: boolean;
}

export interface MigrateResult {
  readonly from: number;
  readonly to: number;
  /** Copy of the file made before anything was changed; absent when nothing was there. */
  readonly backup: string | undefined;
}

interface AppliedRow {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
}

/**
 * Brings the schema forward (design D18): a copy of the file first, then every missing step in one exclusive transaction, with
 * foreign keys off outside of it (inside, switching them off does nothing and a rebuilt table would lose its children), then a
 * check of all foreign keys.
 * @throws NopsError `schema_too_new` (the file is of a newer nops), `not_a_nops_database`; TerminalError `schema_changed` (a step
 * that ran is not the one this program knows).
 */
export function migrate(database: SqliteDatabase, options: MigrateOptions): MigrateResult {
  const known = (options.migrations ?? allMigrations).filter((step) => step.number <= (options.upTo ?? Number.POSITIVE_INFINITY));
  refuseForeign(database, options.path);
  const from = checkApplied(database, options.path, options.migrations ?? allMigrations);
  const last = known.at(-1)?.number ?? 0;
  if (from >= last) return { from, to: from, backup: undefined };
  const backup =
    from > 0 && options.path !== inMemory && options.backup !== false ? copyBefore(database, options.path, from) : undefined;
  database.pragma("foreign_keys = OFF");
  try {
    database.transaction(() => runPending(database, options, known)).exclusive();
  } finally {
    database.pragma("foreign_keys = ON");
  }
  return { from, to: last, backup };
}

/** Number of the newest step that ran; 0 for an empty database. Reads only. */
export function schemaVersion(database: SqliteDatabase): number {
  return applied(database).at(-1)?.number ?? 0;
}

/** Number of the newest step that this program knows. */
export function newestSchema(): number {
  return allMigrations.at(-1)?.number ?? 0;
}

/** Whether nothing was ever stored in the file. */
export function isEmptyDatabase(database: SqliteDatabase): boolean {
  return database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0;
}

/**
 * Compares what ran with what this program knows; gives the number of the newest step that ran.
 * @throws as `migrate`.
 */
export function checkApplied(database: SqliteDatabase, path: string, known: readonly Migration[] = allMigrations): number {
  const rows = applied(database);
  const newest = known.at(-1)?.number ?? 0;
  const found = rows.at(-1)?.number ?? 0;
  if (found > newest) {
    throw new NopsError(`the database ${path} has schema ${found}, this nops knows schemas up to ${newest}`, {
      code: "schema_too_new",
      hint: "start the newer nops again, or restore a backup made before the update with `nops restore FILE`",
    });
  }
  for (const row of rows) {
    const step = known.find((candidate) => candidate.number === row.number);
    if (step !== undefined && sha256(step.sql) === row.sha256) continue;
    throw new TerminalError(`schema step ${row.number} (${row.name}) of ${path} is not the one this nops knows`, {
      code: "schema_changed",
      hint: "use an official build of nops",
    });
  }
  return found;
}

function runPending(database: SqliteDatabase, options: MigrateOptions, known: readonly Migration[]): void {
  database.exec(`CREATE TABLE IF NOT EXISTS schema_migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT`);
  const record = database.prepare("INSERT INTO schema_migrations (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)");
  // Read again: another process may have come first between the check and this lock.
  const done = schemaVersion(database);
  for (const step of known) {
    if (step.number <= done) continue;
    database.exec(step.sql);
    record.run(step.number, step.name, sha256(step.sql), options.now);
    database.pragma(`user_version = ${step.number}`);
  }
  database.pragma(`application_id = ${applicationId}`);
  const broken = database.pragma("foreign_key_check");
  if (Array.isArray(broken) && broken.length > 0) {
    throw new StoreBrokenError(`${broken.length} rows of ${options.path} refer to rows that do not exist`, {
      code: "foreign_keys_broken",
      hint: "restore a backup with `nops restore FILE`",
    });
  }
}

function applied(database: SqliteDatabase): readonly AppliedRow[] {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'").get();
  if (table === undefined) return [];
  return database.prepare<[], AppliedRow>("SELECT number, name, sha256 FROM schema_migrations ORDER BY number").all();
}

function refuseForeign(database: SqliteDatabase, path: string): void {
  if (isEmptyDatabase(database) || Number(database.pragma("application_id", { simple: true })) === applicationId) return;
  throw new NopsError(`${path} is a database of another program`, {
    code: "not_a_nops_database",
    hint: "give data_dir a folder of its own",
  });
}

function copyBefore(database: SqliteDatabase, path: string, from: number): string {
  const target = `${path}.schema-${from}.backup`;
  // A copy left by an update that failed half-way holds the same or an older state.
  if (existsSync(target)) rmSync(target);
  copyDatabase(database, target);
  return target;
}

/** Writes a consistent copy of the whole database to a new file (0600), on disk when this returns. */
export function copyDatabase(database: SqliteDatabase, target: string): void {
  closeSync(openSync(target, "wx", 0o600));
  database.prepare("VACUUM INTO ?").run(target);
  const file = openSync(target, "r+");
  fsyncSync(file);
  closeSync(file);
}
