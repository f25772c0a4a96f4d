import { and, eq } from "drizzle-orm";
import type { Instant } from "../model/clock.ts";
import { type Actor, type Deployment, engineActor } from "../model/deployment.ts";
import { ConflictError } from "../model/errors.ts";
import type { Verdict } from "../model/facts.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import { isTerminal } from "../model/lifecycle.ts";
import type { Connection } from "./connection.ts";
import type { SqliteDatabase } from "./database.ts";
import type { Deployments } from "./deployments.ts";
import type { EventLog } from "./events.ts";
import { repositories, unknownRegistrations, verdicts, windowLifts } from "./schema.ts";
import { storedJson } from "./sealed.ts";
import { preparedInsert } from "./statements.ts";

/** The keys that one file last declared; none when they are not known. */
export interface JobFileKeys {
  readonly file: string;
  readonly keys: readonly JobKey[];
}

/** What detection remembers between its passes; see `DriftPort` and `SourcePort`. */
export class Detection {
  readonly #connection: Connection;
  readonly #deployments: Deployments;
  readonly #events: EventLog;
  readonly #saveVerdict;
  readonly #files;

  constructor(connection: Connection, deployments: Deployments, events: EventLog) {
    this.#connection = connection;
    this.#deployments = deployments;
    this.#events = events;
    this.#saveVerdict = prepareSaveVerdict(connection.raw);
    this.#files = prepareFiles(connection.raw);
  }

  async saveVerdict(key: JobKey, verdict: Verdict): Promise<void> {
    this.#connection.write(() =>
      this.#saveVerdict({
        ...splitJobKey(key),
        ...verdict,
        diff: verdict.diff === undefined ? null : storedJson(verdict.diff),
        failedPlacements: storedJson(verdict.failedPlacements),
        warnings: this.#connection.redact(verdict.warnings),
      }),
    );
  }

  async refreshBase(id: string, version: number, baseIndex: number): Promise<Deployment> {
    return this.#connection.write(() => {
      const current = this.#deployments.requireVersion(id, version);
      if (isTerminal(current.state) || current.appliedIndex !== undefined) {
        throw new ConflictError(`deployment ${id} no longer waits to be registered`, { code: "not_allowed" });
      }
      const message = `only the scale moved: the base index went from ${current.baseIndex} to ${baseIndex}`;
      return this.#deployments.changeWithin(
        current,
        { baseIndex },
        { kind: "base_refreshed", actor: engineActor, reason: "base_refreshed", message },
      );
    });
  }

  async dropLift(key: JobKey, reason: string): Promise<void> {
    const job = splitJobKey(key);
    this.#connection.write(() => {
      const dropped = this.#connection.orm
        .delete(windowLifts)
        .where(and(eq(windowLifts.namespace, job.namespace), eq(windowLifts.jobId, job.jobId)))
        .run();
      if (dropped.changes === 0) return;
      const message = `the Deploy now request cannot be used: ${reason}`;
      this.#events.append({ ...job, kind: "lift_dropped", actor: engineActor, message });
    });
  }

  async markUnknownRegistered(key: JobKey, specHash: string): Promise<void> {
    const row = { ...splitJobKey(key), specHash };
    this.#connection.write(() => {
      const same = and(
        eq(unknownRegistrations.namespace, row.namespace),
        eq(unknownRegistrations.jobId, row.jobId),
        eq(unknownRegistrations.specHash, specHash),
      );
      // Written anew, so that the newest row is the newest registration.
      this.#connection.orm.delete(unknownRegistrations).where(same).run();
      this.#connection.orm
        .insert(unknownRegistrations)
        .values({ ...row, at: this.#connection.now() })
        .run();
    });
  }

  /** Whether an `unknown` difference of exactly this spec was ever registered (design D29). */
  async wasUnknownRegistered(key: JobKey, specHash: string): Promise<boolean> {
    const { namespace, jobId } = splitJobKey(key);
    return this.#connection.single(
      () =>
        this.#connection.orm
          .select({ id: unknownRegistrations.id })
          .from(unknownRegistrations)
          .where(
            and(
              eq(unknownRegistrations.namespace, namespace),
              eq(unknownRegistrations.jobId, jobId),
              eq(unknownRegistrations.specHash, specHash),
            ),
          )
          .get() !== undefined,
    );
  }

  async jobFiles(repository: string): Promise<{ readonly commit: string | undefined; readonly files: readonly JobFileKeys[] }> {
    const rows = this.#connection.single(() => this.#files.select.all(repository));
    const files = new Map<string, JobKey[]>();
    for (const { file, namespace, jobId } of rows) {
      if (file === null || namespace === null || jobId === null) continue;
      const keys = files.get(file) ?? [];
      if (jobId !== "") keys.push(jobKey(namespace, jobId));
      files.set(file, keys);
    }
    return { commit: rows[0]?.lastGood ?? undefined, files: [...files].map(([file, keys]) => ({ file, keys })) };
  }

  async saveJobFiles(repository: string, commitSha: string, files: readonly JobFileKeys[]): Promise<void> {
    this.#connection.write(() => {
      const { remove, insert, lastGood } = this.#files;
      remove.run(repository);
      for (const { file, keys } of files) {
        if (keys.length === 0) insert.run(repository, file, "", "");
        for (const key of keys) insert.run(repository, file, splitJobKey(key).namespace, splitJobKey(key).jobId);
      }
      lastGood.run(repository, commitSha, this.#connection.now());
    });
  }

  /** A person's word that this commit may remove more than half of the jobs (design D32), with its event. */
  async acceptRemovals(repository: string, commitSha: string, actor: Actor): Promise<void> {
    this.#connection.write(() => {
      this.#upsertRepository(repository, { acceptedCommit: commitSha });
      const message = `the removals of commit ${commitSha} were accepted`;
      this.#events.append({ kind: "removals_accepted", repository, actor, message });
    });
  }

  /** The commit whose removals a person accepted last. */
  async acceptedRemovals(repository: string): Promise<string | undefined> {
    return this.#repository(repository)?.acceptedCommit ?? undefined;
  }

  async recordRepositoryEvent(repository: string, kind: string, actor: Actor, message: string): Promise<void> {
    this.#connection.write(() => this.#events.append({ kind, repository, actor, message }));
  }

  #repository(name: string): typeof repositories.$inferSelect | undefined {
    return this.#connection.single(() =>
      this.#connection.orm.select().from(repositories).where(eq(repositories.name, name)).get(),
    );
  }

  #upsertRepository(name: string, change: { readonly lastGoodCommit?: string; readonly acceptedCommit?: string }): void {
    const values = { ...change, updatedAt: this.#connection.now() };
    this.#connection.orm
      .insert(repositories)
      .values({ name, ...values })
      .onConflictDoUpdate({ target: repositories.name, set: values })
      .run();
  }
}

function prepareSaveVerdict(raw: SqliteDatabase) {
  return preparedInsert(
    raw,
    verdicts,
    [
      "ON CONFLICT (namespace, job_id) DO UPDATE SET spec_hash = excluded.spec_hash, target_hash = excluded.target_hash,",
      "job_modify_index = excluded.job_modify_index, drift = excluded.drift, diff = excluded.diff,",
      "failed_placements = excluded.failed_placements, warnings = excluded.warnings, planned_at = excluded.planned_at",
    ].join(" "),
  );
}

/** A repository with one key of one of its files, or with nothing when it has no files. */
interface FileRow {
  readonly lastGood: string | null;
  readonly file: string | null;
  readonly namespace: string | null;
  readonly jobId: string | null;
}

/** What each look at a repository reads and writes. */
function prepareFiles(raw: SqliteDatabase) {
  return {
    select: raw.prepare<[string], FileRow>(
      [
        "SELECT last_good_commit AS lastGood, file, namespace, job_id AS jobId FROM repositories",
        "LEFT JOIN job_files ON repository = name WHERE name = ? ORDER BY file, namespace, job_id",
      ].join(" "),
    ),
    remove: raw.prepare("DELETE FROM job_files WHERE repository = ?"),
    insert: raw.prepare("INSERT OR IGNORE INTO job_files (repository, file, namespace, job_id) VALUES (?, ?, ?, ?)"),
    lastGood: raw.prepare<[string, string, Instant]>(
      [
        "INSERT INTO repositories (name, last_good_commit, updated_at) VALUES (?, ?, ?)",
        "ON CONFLICT (name) DO UPDATE SET last_good_commit = excluded.last_good_commit, updated_at = excluded.updated_at",
      ].join(" "),
    ),
  };
}
