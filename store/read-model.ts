import { and, asc, count, desc, eq, gte, inArray, isNull, lt, max, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Approval, Deployment, EventRecord, FrozenHook, HookRun, Pause, WindowLift } from "../model/deployment.ts";
import { InvalidRequestError } from "../model/errors.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import { activeStates, allStates, type DeploymentState } from "../model/lifecycle.ts";
import type { JobDiff } from "../model/nomad.ts";
import { isUlid } from "../model/ulid.ts";
import type { Connection } from "./connection.ts";
import type { EventLog } from "./events.ts";
import { deploymentColumns, toApproval, toDeployment, toEvent, toHookRun, toLift, toPause } from "./rows.ts";
import { approvals, deploymentHooks, deployments, events, hookRuns, jobPauses, nopsPauses, windowLifts } from "./schema.ts";
import { parseStored } from "./sealed.ts";

/** What a list is narrowed by. Absent: not at all. */
export interface ListFilter {
  /** From 1; more than `longestPage` is cut to it. */
  readonly limit: number;
  /** As the page before gave it. */
  readonly cursor?: string | undefined;
  readonly namespace?: string | undefined;
  /** Job ID. */
  readonly job?: string | undefined;
  readonly state?: string | undefined;
  readonly repository?: string | undefined;
  /** Instant: deployments created, events written at or after it. */
  readonly since?: string | undefined;
  /** Namespaces that the reader may see. */
  readonly covers?: ((namespace: string) => boolean) | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** `null` on the last page. */
  readonly nextCursor: string | null;
}

/** A frozen hook without its spec. */
export type FrozenHookSummary = Omit<FrozenHook, "spec">;

/** All that is shown of a deployment. Never its spec. */
export interface DeploymentDetail {
  readonly deployment: Deployment;
  /** Redacted. */
  readonly diff: JobDiff | undefined;
  readonly hooks: readonly FrozenHookSummary[];
  readonly hookRuns: readonly HookRun[];
  readonly approvals: readonly Approval[];
  /** Oldest first. */
  readonly events: readonly EventRecord[];
  /** The deployment that a retry of this one made. */
  readonly successor: string | undefined;
}

export interface JobPause extends Pause {
  readonly namespace: string;
  readonly jobId: string;
}

/** Most rows that one page gives. */
export const longestPage = 1000;

/** Queries of API, dashboard, CLI and metrics. They change nothing and never touch a spec. */
export class ReadModel {
  readonly #connection: Connection;
  readonly #events: EventLog;

  constructor(connection: Connection, log: EventLog) {
    this.#connection = connection;
    this.#events = log;
  }

  /** Newest first. @throws InvalidRequestError `bad_cursor`. */
  async listDeployments(filter: ListFilter): Promise<Page<Deployment>> {
    return this.#connection.read(() => {
      if (filter.cursor !== undefined && !isUlid(filter.cursor)) throw badCursor();
      const conditions = [
        filter.cursor === undefined ? undefined : lt(deployments.id, filter.cursor),
        filter.state === undefined ? undefined : sql`${deployments.state} = ${filter.state}`,
        filter.since === undefined ? undefined : gte(deployments.createdAt, filter.since),
        ...this.#common(filter, deployments),
      ];
      const size = pageSize(filter.limit);
      const rows = this.#connection.orm
        .select(deploymentColumns)
        .from(deployments)
        .where(and(...conditions))
        .orderBy(desc(deployments.id))
        .limit(size + 1)
        .all();
      return page(rows.map(toDeployment), size, (row) => row.id);
    });
  }

  /** Newest first. Events of pauses of everything, tokens and repositories have no namespace; `covers` leaves them out. */
  async listEvents(filter: ListFilter): Promise<Page<EventRecord>> {
    return this.#connection.read(() => {
      if (filter.cursor !== undefined && !/^\d{1,15}$/.test(filter.cursor)) throw badCursor();
      const conditions = [
        filter.cursor === undefined ? undefined : lt(events.id, Number(filter.cursor)),
        filter.state === undefined ? undefined : sql`${events.toState} = ${filter.state}`,
        filter.since === undefined ? undefined : gte(events.at, filter.since),
        ...this.#common(filter, events),
      ];
      const size = pageSize(filter.limit);
      const rows = this.#connection.orm
        .select()
        .from(events)
        .where(and(...conditions))
        .orderBy(desc(events.id))
        .limit(size + 1)
        .all();
      return page(rows.map(toEvent), size, (row) => String(row.id));
    });
  }

  async deploymentDetail(id: string): Promise<DeploymentDetail | undefined> {
    const { orm } = this.#connection;
    return this.#connection.read(() => {
      const row = orm
        .select({ deployment: deploymentColumns, diff: deployments.planDiff })
        .from(deployments)
        .where(eq(deployments.id, id))
        .get();
      if (row === undefined) return undefined;
      const successor = orm
        .select({ id: max(deployments.id) })
        .from(deployments)
        .where(eq(deployments.retryOf, id))
        .get();
      const placed = <T extends { phase: SQLiteColumn; position: SQLiteColumn }>(table: T) => [
        desc(table.phase),
        asc(table.position),
      ];
      return {
        deployment: toDeployment(row.deployment),
        diff: row.diff === null ? undefined : parseStored<JobDiff>(row.diff),
        hooks: orm
          .select(hookSummary)
          .from(deploymentHooks)
          .where(eq(deploymentHooks.deploymentId, id))
          .orderBy(...placed(deploymentHooks))
          .all(),
        hookRuns: orm
          .select()
          .from(hookRuns)
          .where(eq(hookRuns.deploymentId, id))
          .orderBy(...placed(hookRuns))
          .all()
          .map(toHookRun),
        approvals: orm
          .select()
          .from(approvals)
          .where(eq(approvals.deploymentId, id))
          .orderBy(asc(approvals.id))
          .all()
          .map(toApproval),
        events: this.#events.ofDeployment(id),
        successor: successor?.id ?? undefined,
      };
    });
  }

  /** Redacted diff of a deployment. */
  async deploymentDiff(id: string): Promise<JobDiff | undefined> {
    const row = this.#connection.single(() =>
      this.#connection.orm.select({ diff: deployments.planDiff }).from(deployments).where(eq(deployments.id, id)).get(),
    );
    return row?.diff === undefined || row.diff === null ? undefined : parseStored<JobDiff>(row.diff);
  }

  /** Email of the commit's author; only to tell whether an approver wrote the commit. */
  async commitAuthorEmail(id: string): Promise<string | undefined> {
    const row = this.#connection.single(() =>
      this.#connection.orm.select({ email: deployments.commitAuthorEmail }).from(deployments).where(eq(deployments.id, id)).get(),
    );
    return row?.email;
  }

  /** Deployments of one job, newest first. */
  async jobDeployments(key: JobKey, limit: number): Promise<readonly Deployment[]> {
    const { namespace, jobId } = splitJobKey(key);
    return (await this.listDeployments({ limit, namespace, job: jobId })).items;
  }

  /** The newest deployment of each job; with `state`, the newest in that state. */
  async latestPerJob(state?: DeploymentState): Promise<readonly Deployment[]> {
    const newest = this.#connection.orm
      .select({ id: max(deployments.id) })
      .from(deployments)
      .where(state === undefined ? undefined : eq(deployments.state, state))
      .groupBy(deployments.namespace, deployments.jobId);
    return this.#connection.single(() =>
      this.#connection.orm
        .select(deploymentColumns)
        .from(deployments)
        .where(inArray(deployments.id, newest))
        .orderBy(asc(deployments.namespace), asc(deployments.jobId))
        .all()
        .map(toDeployment),
    );
  }

  /** How many deployments are in each state, zeros included. */
  async countByState(): Promise<Readonly<Record<DeploymentState, number>>> {
    const rows = this.#connection.single(() =>
      this.#connection.orm
        .select({ state: deployments.state, count: count() })
        .from(deployments)
        .groupBy(deployments.state)
        .all(),
    );
    const counts = Object.fromEntries(allStates.map((state) => [state, 0])) as Record<DeploymentState, number>;
    for (const row of rows) counts[row.state] = row.count;
    return counts;
  }

  /** When the longest-waiting deployment of each active state entered it. */
  async oldestByState(): Promise<Readonly<Partial<Record<DeploymentState, string>>>> {
    const rows = this.#connection.single(() =>
      this.#connection.orm
        .select({ state: deployments.state, since: sql<string>`min(${deployments.enteredAt})` })
        .from(deployments)
        .where(inArray(deployments.state, [...activeStates]))
        .groupBy(deployments.state)
        .all(),
    );
    return Object.fromEntries(rows.map((row) => [row.state, row.since]));
  }

  async pausesInForce(): Promise<{ readonly all: Pause | undefined; readonly jobs: readonly JobPause[] }> {
    return this.#connection.read(() => {
      const { orm } = this.#connection;
      const all = orm.select().from(nopsPauses).where(isNull(nopsPauses.resumedAt)).get();
      const jobs = orm.select().from(jobPauses).where(isNull(jobPauses.resumedAt)).orderBy(asc(jobPauses.id)).all();
      return {
        all: all === undefined ? undefined : toPause(all),
        jobs: jobs.map((row) => ({ namespace: row.namespace, jobId: row.jobId, ...toPause(row) })),
      };
    });
  }

  /** Deploy now requests that wait to be used. */
  async lifts(): Promise<readonly WindowLift[]> {
    return this.#connection.single(() => this.#connection.orm.select().from(windowLifts).all().map(toLift));
  }

  /** Keys of all jobs that anything is stored about: deployments, or pauses in force. */
  async knownJobs(): Promise<readonly JobKey[]> {
    const rows = this.#connection.single(() =>
      this.#connection.orm.all<{ namespace: string; job_id: string }>(sql`
        SELECT namespace, job_id FROM deployments UNION SELECT namespace, job_id FROM job_pauses WHERE resumed_at IS NULL
        ORDER BY namespace, job_id`),
    );
    return rows.map((row) => jobKey(row.namespace, row.job_id));
  }

  #common(filter: ListFilter, table: typeof deployments | typeof events): readonly (SQL | undefined)[] {
    return [
      filter.namespace === undefined ? undefined : eq(table.namespace, filter.namespace),
      filter.job === undefined ? undefined : eq(table.jobId, filter.job),
      filter.repository === undefined ? undefined : eq(table.repository, filter.repository),
      filter.covers === undefined ? undefined : inArray(table.namespace, this.#covered(filter.covers)),
    ];
  }

  #covered(covers: (namespace: string) => boolean): string[] {
    const rows = this.#connection.orm.all<{ namespace: string }>(
      sql`SELECT DISTINCT namespace FROM deployments UNION SELECT DISTINCT namespace FROM events WHERE namespace IS NOT NULL`,
    );
    return rows.map((row) => row.namespace).filter(covers);
  }
}

const hookSummary = {
  phase: deploymentHooks.phase,
  position: deploymentHooks.position,
  hookId: deploymentHooks.hookId,
  hash: deploymentHooks.hash,
  revisionId: deploymentHooks.revisionId,
  timeoutMs: deploymentHooks.timeoutMs,
};

function pageSize(limit: number): number {
  return Math.max(1, Math.min(longestPage, Math.floor(limit)));
}

function page<T>(rows: readonly T[], size: number, cursorOf: (row: T) => string): Page<T> {
  const items = rows.slice(0, size);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > size && last !== undefined ? cursorOf(last) : null };
}

function badCursor(): InvalidRequestError {
  return new InvalidRequestError("the cursor is none that a list gave", { code: "bad_cursor" });
}
