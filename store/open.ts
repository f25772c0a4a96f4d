import { type Clock, type Random, toInstant } from "../model/clock.ts";
import { NopsError } from "../model/errors.ts";
import { type Log, silentLog } from "../model/log.ts";
import { Applying } from "./applying.ts";
import { Audit } from "./audit.ts";
import { type BackupReport, writeBackup } from "./backup.ts";
import { Connection } from "./connection.ts";
import { assertDurable, closeDatabase, openDatabase, type SqliteDatabase } from "./database.ts";
import { Decisions } from "./decisions.ts";
import { Deployments } from "./deployments.ts";
import { Detection } from "./detection.ts";
import { storeError } from "./errors.ts";
import { EventLog } from "./events.ts";
import { Facts } from "./facts.ts";
import { Guard } from "./guard.ts";
import { Health } from "./health.ts";
import { Holds } from "./holds.ts";
import { HookRuns } from "./hook-runs.ts";
import { LoginAttempts } from "./login-attempts.ts";
import { checkApplied, isEmptyDatabase, migrate, newestSchema } from "./migrate.ts";
import { Outbox } from "./outbox.ts";
import { ReadModel } from "./read-model.ts";
import { Retention } from "./retention.ts";
import { Sessions } from "./sessions.ts";
import { Tokens } from "./tokens.ts";

export interface StoreOptions {
  /** Path of the database file, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
  /** Applied to messages, errors, comments and log tails before they are stored (design D25). */
  readonly redact?: (text: string) => string;
  /**
   * `engine` (default): the operator, which holds the lock of the data folder; migrates and claims the database.
   * `admin`: a second process beside it; reads, and writes tokens only (design D35).
   */
  readonly role?: "engine" | "admin";
  /** For `:memory:`: what an earlier `serialize()` gave. */
  readonly contents?: Uint8Array;
  /** Called with each statement before it runs. For fault injection in tests. */
  readonly trace?: (sql: string) => void;
}

/** Everything the store can do; satisfies the controllers' `StorePort`. */
export type Store = ReturnType<typeof composeStore>;

/**
 * Opens the store: file and folder with their modes, pragmas, migrations, the epoch of this start.
 * @throws NopsError `data_dir_unwritable`, `data_dir_exposed`, `schema_too_new`, `schema_outdated` (admin only),
 * `not_a_nops_database`, `schema_changed`, `bad_mark`; StoreBrokenError.
 */
export function openStore(options: StoreOptions): Store {
  const database = openDatabase(options);
  try {
    prepareSchema(database, options);
    const connection = new Connection({ ...options, database, redact: options.redact ?? ((text) => text) });
    if (options.role !== "admin") new Guard(connection, new EventLog(connection)).claim();
    assertDurable(database, options.path);
    return composeStore(connection, options);
  } catch (error) {
    database.close();
    throw storeError(error, options.path);
  }
}

function prepareSchema(database: SqliteDatabase, options: StoreOptions): void {
  const now = toInstant(options.clock.now());
  const fresh = isEmptyDatabase(database);
  if (options.role === "admin" && !fresh) {
    // A newer command must not change the schema under an older operator that runs.
    if (checkApplied(database, options.path) < newestSchema()) {
      throw new NopsError(`the database ${options.path} has an older schema`, {
        code: "schema_outdated",
        hint: "start `nops serve` of this version once: it brings the schema forward",
      });
    }
    return;
  }
  const result = migrate(database, { path: options.path, now });
  if (result.from === result.to) return;
  const log = options.log ?? silentLog;
  log.info("the database schema was brought forward", { from: result.from, to: result.to, backup: result.backup });
}

function composeStore(connection: Connection, options: StoreOptions) {
  const events = new EventLog(connection);
  const outbox = new Outbox(connection);
  const table = new Deployments(connection, events, outbox);
  const runs = new HookRuns(connection, table, events);
  const guard = new Guard(connection, events);
  const { path } = options;
  return {
    ...methodsOf(table, "create", "move"),
    ...controllerRecords(connection, { events, outbox, table, runs }),
    ...methodsOf(new ReadModel(connection, events), ...readModelMethods),
    ...methodsOf(new Audit(connection, events), "auditHead", "verifyAudit", "exportEvents", "eventsAfter"),
    ...methodsOf(new Tokens(connection, events, options.random), "createToken", "revokeToken", "listTokens", "findToken"),
    ...methodsOf(
      new Sessions(connection, events, options.random),
      "openSession",
      "recheckSession",
      "findSession",
      "endSession",
      "pruneSessions",
    ),
    ...methodsOf(new LoginAttempts(connection), "admitLogin", "loginSucceeded"),
    ...methodsOf(outbox, "claimNotifications", "markDelivered", "markFailed"),
    ...methodsOf(new Retention(connection, events), "prune"),
    ...methodsOf(guard, "folderMark", "restored", "markRestored", "acceptRestored", "restoreAcceptedAt"),
    ...methodsOf(new Health(connection), "health", "probe"),
    /** Calls back after each transaction of this process that appended events; gives the way to stop. */
    onEvents: (listener: () => void): (() => void) => connection.onEvents(listener),
    /** A consistent, checked copy in a new file; see `writeBackup`. */
    backup: async (file: string): Promise<BackupReport> => connection.single(() => writeBackup(connection.raw, file)),
    /** The whole database as bytes, to be opened again as `contents` in memory. */
    serialize: (): Uint8Array => connection.raw.serialize(),
    /** The epoch that this start claimed. */
    epoch: (): number => guard.epoch(),
    /** Empties the write-ahead log, remembers the place of the audit log beside the database, and closes. Repeating does nothing. */
    close: async (): Promise<void> => closeStore(connection, guard, options),
    path,
  };
}

function controllerRecords(connection: Connection, parts: RecordParts) {
  const { events, outbox, table, runs } = parts;
  return {
    ...methodsOf(new Facts(connection), ...factsMethods),
    ...methodsOf(new Detection(connection, table, events), ...detectionMethods),
    ...methodsOf(
      new Applying(connection, table, events, outbox),
      "recordApplied",
      "recordPromotionWait",
      "recordPromoted",
      "recordRescheduleIntent",
    ),
    ...methodsOf(runs, "ensureHookRun", "updateHookRun", "phaseStepStartedAt"),
    ...methodsOf(new Decisions(connection, table, runs), ...decisionsMethods),
    ...methodsOf(new Holds(connection, events), "pauseJob", "resumeJob", "pauseAll", "resumeAll", "requestLift"),
  };
}

interface RecordParts {
  readonly events: EventLog;
  readonly outbox: Outbox;
  readonly table: Deployments;
  readonly runs: HookRuns;
}

const factsMethods = [
  "jobFacts",
  "deployment",
  "deploymentSpec",
  "frozenHooks",
  "hookRuns",
  "approvals",
  "activeDeployments",
  "jobsOnRecord",
  "completedJobs",
  "revisionsInUse",
  "deploymentAtCommit",
  "countAutomaticStarts",
] as const;

const detectionMethods = [
  "saveVerdict",
  "refreshBase",
  "dropLift",
  "markUnknownRegistered",
  "wasUnknownRegistered",
  "jobFiles",
  "saveJobFiles",
  "acceptRemovals",
  "acceptedRemovals",
  "recordRepositoryEvent",
] as const;

const decisionsMethods = [
  "approve",
  "markRetried",
  "mayRerunUnknownHooks",
  "recordPromotionRequest",
  "recordFailRequest",
  "resolveHook",
] as const;

const readModelMethods = [
  "listDeployments",
  "listEvents",
  "deploymentDetail",
  "deploymentDiff",
  "commitAuthorEmail",
  "jobDeployments",
  "latestPerJob",
  "countByState",
  "oldestByState",
  "pausesInForce",
  "lifts",
  "knownJobs",
] as const;

function closeStore(connection: Connection, guard: Guard, options: StoreOptions): void {
  if (!connection.raw.open) return;
  // A broken database is left exactly as it is for the next start to look at.
  if (connection.broken === undefined && options.role !== "admin") guard.saveMark();
  try {
    closeDatabase(connection.raw);
  } catch (error) {
    throw storeError(error, options.path);
  }
}

/** Methods of an object that keep it as their `this`. */
function methodsOf<T extends object, K extends keyof T>(target: T, ...names: readonly K[]): Pick<T, K> {
  const bound = names.map((name) => {
    const method = target[name];
    return [name, typeof method === "function" ? method.bind(target) : method];
  });
  return Object.fromEntries(bound) as Pick<T, K>;
}
