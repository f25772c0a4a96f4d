import { and, asc, desc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Approval, Deployment, DeploymentSpec, FrozenHook, HookRun } from "../model/deployment.ts";
import { NotFoundError } from "../model/errors.ts";
import type { JobFacts, Verdict } from "../model/facts.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import { activeStates, isTerminal } from "../model/lifecycle.ts";
import type { JobSpec } from "../model/nomad.ts";
import type { Connection } from "./connection.ts";
import { deploymentQuery, toApproval, toHookRun, toLift, toPause } from "./rows.ts";
import {
  approvals,
  deploymentHooks,
  deployments,
  hookRuns,
  jobPauses,
  nopsPauses,
  unknownRegistrations,
  verdicts,
  windowLifts,
} from "./schema.ts";
import { checkSeal, parseStored } from "./sealed.ts";

/** The reads that a pass starts from; see `FactsPort`. */
export class Facts {
  readonly #connection: Connection;
  readonly #statements: ReturnType<typeof prepareFacts>;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#statements = prepareFacts(connection);
  }

  async jobFacts(key: JobKey): Promise<JobFacts> {
    const job = splitJobKey(key);
    const s = this.#statements;
    return this.#connection.read(() => {
      const latest = s.latest.get(job);
      const completed = latest?.state === "completed" ? latest : s.completed.get(job);
      return {
        // Only the newest can be active: none is created beside an active one.
        active: latest === undefined || isTerminal(latest.state) ? undefined : latest,
        latest,
        latestCompleted: completed,
        jobPause: mapped(s.jobPause.get(job), toPause),
        globalPause: mapped(s.globalPause.get(), toPause),
        lift: mapped(s.lift.get(job), toLift),
        verdict: mapped(s.verdict.get(job), toVerdict),
        policyFloor: latest === undefined ? undefined : s.floor.get(job)?.declared === "approval" ? "approval" : undefined,
        unknownRegistered: s.unknown.get(job)?.specHash,
      };
    });
  }

  async deployment(id: string): Promise<Deployment | undefined> {
    return this.#connection.single(() => this.#statements.byId.get({ id }));
  }

  async deploymentSpec(id: string): Promise<DeploymentSpec> {
    const row = this.#connection.single(() => this.#statements.spec.get({ id }));
    if (row === undefined) throw new NotFoundError(`there is no deployment ${id}`, { code: "deployment_not_found" });
    checkSeal(row.seal, `the stored spec of deployment ${id}`, row.spec, row.submission);
    return { spec: parseStored<JobSpec>(row.spec), submission: parseStored<DeploymentSpec["submission"]>(row.submission) };
  }

  async frozenHooks(id: string): Promise<readonly FrozenHook[]> {
    const rows = this.#connection.single(() => this.#statements.frozenHooks.all({ id }));
    return rows.map(({ deploymentId, spec, storedHash, ...rest }) => {
      checkSeal(storedHash, `the stored hook ${rest.hookId} of deployment ${deploymentId}`, spec, rest.hash, rest.revisionId);
      return { ...rest, spec: parseStored<JobSpec>(spec) };
    });
  }

  async hookRuns(id: string): Promise<readonly HookRun[]> {
    return this.#connection.single(() => this.#statements.runs.all({ id }).map(toHookRun));
  }

  async approvals(id: string): Promise<readonly Approval[]> {
    return this.#connection.single(() =>
      this.#connection.orm
        .select()
        .from(approvals)
        .where(eq(approvals.deploymentId, id))
        .orderBy(asc(approvals.id))
        .all()
        .map(toApproval),
    );
  }

  async activeDeployments(): Promise<readonly Deployment[]> {
    return this.#connection.single(() => this.#statements.active.all());
  }

  async completedJobs(): Promise<readonly JobKey[]> {
    return this.#connection.single(() => this.#statements.completedJobs.all().map((row) => jobKey(row.namespace, row.jobId)));
  }

  async revisionsInUse(): Promise<readonly JobKey[]> {
    return this.#connection.single(() => this.#statements.revisions.all().map((row) => jobKey(row.namespace, row.revisionId)));
  }

  async deploymentAtCommit(key: JobKey, commitSha: string): Promise<Deployment | undefined> {
    return this.#connection.single(() => this.#statements.atCommit.get({ ...splitJobKey(key), commitSha }));
  }

  async countAutomaticStarts(repository: string, commitSha: string): Promise<number> {
    return this.#connection.single(() => this.#statements.starts.get({ repository, commitSha })?.count ?? 0);
  }
}

function mapped<R, T>(row: R | undefined, map: (row: R) => T): T | undefined {
  return row === undefined ? undefined : map(row);
}

function toVerdict(row: typeof verdicts.$inferSelect): Verdict {
  const { namespace: _namespace, jobId: _jobId, diff, failedPlacements, ...rest } = row;
  return {
    ...rest,
    diff: diff === null ? undefined : parseStored<NonNullable<Verdict["diff"]>>(diff),
    failedPlacements: parseStored<Verdict["failedPlacements"]>(failedPlacements),
  };
}

function prepareFacts({ orm, raw }: Connection) {
  const p = sql.placeholder;
  const ofJob = and(eq(deployments.namespace, p("namespace")), eq(deployments.jobId, p("jobId")));
  const newestOfJob = (condition: string) =>
    deploymentQuery(raw, ["WHERE namespace = @namespace AND job_id = @jobId", condition, "ORDER BY id DESC LIMIT 1"].join(" "));
  return {
    ...prepareJobState({ orm }),
    ...prepareOverviews({ orm }),
    byId: deploymentQuery(raw, "WHERE id = @id"),
    latest: newestOfJob(""),
    completed: newestOfJob("AND state = 'completed'"),
    atCommit: newestOfJob("AND commit_sha = @commitSha"),
    active: deploymentQuery(raw, ["WHERE state IN (", activeList, ") ORDER BY id"].join("")),
    // No LIMIT here: drizzle binds it as a parameter, for which SQLite plans the statement anew on every run (forty times the cost
    // of the search). `get` stops at the first row anyway.
    floor: orm
      .select({ declared: deployments.declaredPolicy })
      .from(deployments)
      .where(and(ofJob, decidesFloor))
      .orderBy(desc(deployments.id))
      .prepare(),
    spec: orm
      .select({ spec: deployments.jobSpec, submission: deployments.submission, seal: deployments.storedHash })
      .from(deployments)
      .where(eq(deployments.id, p("id")))
      .prepare(),
    frozenHooks: orm
      .select()
      .from(deploymentHooks)
      .where(eq(deploymentHooks.deploymentId, p("id")))
      .orderBy(desc(deploymentHooks.phase), asc(deploymentHooks.position))
      .prepare(),
    runs: orm
      .select()
      .from(hookRuns)
      .where(eq(hookRuns.deploymentId, p("id")))
      .orderBy(desc(hookRuns.phase), asc(hookRuns.position))
      .prepare(),
  };
}

const activeList = activeStates.map((state) => `'${state}'`).join(", ");

function prepareOverviews({ orm }: Pick<Connection, "orm">) {
  const p = sql.placeholder;
  return {
    completedJobs: orm
      .selectDistinct({ namespace: deployments.namespace, jobId: deployments.jobId })
      .from(deployments)
      .where(sql`${deployments.state} = 'completed'`)
      .prepare(),
    revisions: orm
      .selectDistinct({ namespace: deployments.namespace, revisionId: deploymentHooks.revisionId })
      .from(deployments)
      .innerJoin(deploymentHooks, eq(deploymentHooks.deploymentId, deployments.id))
      .where(inArray(deployments.state, [...activeStates]))
      .prepare(),
    // A person's retry and one that was replaced before it began are no automatic starts (design D32).
    starts: orm
      .select({ count: sql<number>`count(*)` })
      .from(deployments)
      .where(
        and(
          eq(deployments.repository, p("repository")),
          eq(deployments.commitSha, p("commitSha")),
          eq(deployments.policy, "auto"),
          eq(deployments.birthState, "detected"),
          isNull(deployments.retryOf),
          sql`${deployments.state} <> 'superseded'`,
        ),
      )
      .prepare(),
  };
}

/**
 * The newest deployment that tells which policy people have agreed to (design D31): one completed under `approval`, one completed
 * under `auto`, or one that git declares `auto` and that a person approved while the stricter policy still counted.
 */
const decidesFloor = sql`(
  (${deployments.declaredPolicy} = 'approval' AND ${deployments.state} = 'completed')
  OR (${deployments.declaredPolicy} = 'auto' AND (
    (${deployments.policy} = 'auto' AND ${deployments.state} = 'completed')
    OR (${deployments.decidedBy} IS NOT NULL AND ${deployments.state} <> 'rejected'))))`;

function prepareJobState({ orm }: Pick<Connection, "orm">) {
  const p = sql.placeholder;
  return {
    jobPause: orm
      .select()
      .from(jobPauses)
      .where(and(eq(jobPauses.namespace, p("namespace")), eq(jobPauses.jobId, p("jobId")), isNull(jobPauses.resumedAt)))
      .prepare(),
    globalPause: orm.select().from(nopsPauses).where(isNull(nopsPauses.resumedAt)).prepare(),
    lift: orm
      .select()
      .from(windowLifts)
      .where(and(eq(windowLifts.namespace, p("namespace")), eq(windowLifts.jobId, p("jobId"))))
      .prepare(),
    verdict: orm
      .select()
      .from(verdicts)
      .where(and(eq(verdicts.namespace, p("namespace")), eq(verdicts.jobId, p("jobId"))))
      .prepare(),
    unknown: orm
      .select({ specHash: unknownRegistrations.specHash })
      .from(unknownRegistrations)
      .where(and(eq(unknownRegistrations.namespace, p("namespace")), eq(unknownRegistrations.jobId, p("jobId"))))
      .orderBy(desc(unknownRegistrations.id))
      .prepare(),
  };
}
