import type { Approval, Deployment, DeploymentSpec, FrozenHook, HookRun } from "../model/deployment.ts";
import { NotFoundError } from "../model/errors.ts";
import type { JobFacts, JobOnRecord, Verdict } from "../model/facts.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import { activeStates, isTerminal } from "../model/lifecycle.ts";
import type { JobSpec } from "../model/nomad.ts";
import type { Connection } from "./connection.ts";
import type { SqliteDatabase } from "./database.ts";
import { membersOf, rowQuery } from "./query.ts";
import { approvalQuery, deploymentQuery, hookRunQuery, pauseQuery } from "./rows.ts";
import { deploymentHooks, deployments, jobPauses, nopsPauses, unknownRegistrations, verdicts, windowLifts } from "./schema.ts";
import { checkSeal, parseStored } from "./sealed.ts";

/** The reads that a pass starts from; see `FactsPort`. */
export class Facts {
  readonly #connection: Connection;
  readonly #statements: ReturnType<typeof prepareFacts>;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#statements = prepareFacts(connection.raw);
  }

  async jobFacts(key: JobKey): Promise<JobFacts> {
    const job = splitJobKey(key);
    const s = this.#statements;
    return this.#connection.read(() => {
      const latest = s.latest.get(job);
      const completed = latest?.state === "completed" ? latest : s.completed.get(job);
      const verdict = s.verdict.get(job);
      return {
        // Only the newest can be active: none is created beside an active one.
        active: latest === undefined || isTerminal(latest.state) ? undefined : latest,
        latest,
        latestCompleted: completed,
        jobPause: s.jobPause.get(job),
        globalPause: s.globalPause.get(),
        lift: s.lift.get(job),
        verdict: verdict === undefined ? undefined : toVerdict(verdict),
        policyFloor: latest !== undefined && s.floor.get(job)?.declaredPolicy === "approval" ? "approval" : undefined,
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
    checkSeal(row.storedHash, `the stored spec of deployment ${id}`, row.jobSpec, row.submission);
    return { spec: parseStored<JobSpec>(row.jobSpec), submission: parseStored<DeploymentSpec["submission"]>(row.submission) };
  }

  async frozenHooks(id: string): Promise<readonly FrozenHook[]> {
    const rows = this.#connection.single(() => this.#statements.frozenHooks.all({ id }));
    return rows.map(({ spec, storedHash, ...rest }) => {
      checkSeal(storedHash, `the stored hook ${rest.hookId} of deployment ${id}`, spec, rest.hash, rest.revisionId);
      return { ...rest, spec: parseStored<JobSpec>(spec) };
    });
  }

  async hookRuns(id: string): Promise<readonly HookRun[]> {
    return this.#connection.single(() => this.#statements.runs.all({ id }));
  }

  async approvals(id: string): Promise<readonly Approval[]> {
    return this.#connection.single(() => this.#statements.approvals.all({ id }));
  }

  async activeDeployments(): Promise<readonly Deployment[]> {
    return this.#connection.single(() => this.#statements.active.all());
  }

  async jobsOnRecord(namespace: string): Promise<readonly JobOnRecord[]> {
    const rows = this.#connection.single(() => this.#statements.onRecord.all({ namespace }));
    return rows.map(({ jobId, newest, seen }) => ({ key: jobKey(namespace, jobId), newestDeployment: newest, seenIndex: seen }));
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
    return this.#connection.single(() => this.#statements.starts.get(repository, commitSha) ?? 0);
  }
}

function toVerdict(row: VerdictRow): Verdict {
  const { diff, failedPlacements } = row;
  return {
    ...row,
    diff: diff === undefined ? undefined : parseStored<NonNullable<Verdict["diff"]>>(diff),
    failedPlacements: parseStored<Verdict["failedPlacements"]>(failedPlacements),
  };
}

type VerdictRow = NonNullable<ReturnType<ReturnType<typeof prepareJobState>["verdict"]["get"]>>;

const ofJob = "WHERE namespace = @namespace AND job_id = @jobId";

function prepareFacts(raw: SqliteDatabase) {
  const newestOfJob = (condition: string) => deploymentQuery(raw, [ofJob, condition, "ORDER BY id DESC LIMIT 1"].join(" "));
  return {
    ...prepareJobState(raw),
    ...prepareOverviews(raw),
    byId: deploymentQuery(raw, "WHERE id = @id"),
    latest: newestOfJob(""),
    completed: newestOfJob("AND state = 'completed'"),
    atCommit: newestOfJob("AND commit_sha = @commitSha"),
    active: deploymentQuery(raw, ["WHERE state IN (", activeList, ") ORDER BY id"].join("")),
    floor: rowQuery(raw, deployments, ["declaredPolicy"], [ofJob, "AND", decidesFloor, "ORDER BY id DESC LIMIT 1"].join(" ")),
    spec: rowQuery(raw, deployments, ["jobSpec", "submission", "storedHash"], "WHERE id = @id"),
    frozenHooks: rowQuery(
      raw,
      deploymentHooks,
      membersOf(deploymentHooks, "deploymentId"),
      "WHERE deployment_id = @id ORDER BY phase DESC, position",
    ),
    runs: hookRunQuery(raw, "WHERE deployment_id = @id ORDER BY phase DESC, position"),
    approvals: approvalQuery(raw, "WHERE deployment_id = @id ORDER BY id"),
  };
}

const activeList = activeStates.map((state) => `'${state}'`).join(", ");

function prepareOverviews(raw: SqliteDatabase) {
  return {
    onRecord: raw.prepare<{ namespace: string }, { readonly jobId: string; readonly newest: string; readonly seen: number }>(
      `SELECT d.job_id AS jobId, max(d.id) AS newest,
         max(max(d.base_index, coalesce(d.applied_index, 0), coalesce(v.job_modify_index, 0))) AS seen
       FROM deployments d LEFT JOIN verdicts v ON v.namespace = d.namespace AND v.job_id = d.job_id
       WHERE d.namespace = @namespace GROUP BY d.job_id`,
    ),
    completedJobs: raw.prepare<[], { readonly namespace: string; readonly jobId: string }>(
      "SELECT DISTINCT namespace, job_id AS jobId FROM deployments WHERE state = 'completed'",
    ),
    revisions: raw.prepare<[], { readonly namespace: string; readonly revisionId: string }>(
      [
        "SELECT DISTINCT namespace, revision_id AS revisionId FROM deployments",
        "INNER JOIN deployment_hooks ON deployment_hooks.deployment_id = deployments.id",
        `WHERE state IN (${activeList})`,
      ].join(" "),
    ),
    // A person's retry and one that was replaced before it began are no automatic starts (design D32).
    starts: raw
      .prepare<[string, string], number>(
        [
          "SELECT count(*) FROM deployments WHERE repository = ? AND commit_sha = ? AND policy = 'auto'",
          "AND birth_state = 'detected' AND retry_of IS NULL AND state <> 'superseded'",
        ].join(" "),
      )
      .pluck(),
  };
}

/**
 * The newest deployment that tells which policy people have agreed to (design D31): one completed under `approval`, one completed
 * under `auto`, or one that git declares `auto` and that a person approved while the stricter policy still counted.
 */
const decidesFloor = `(
  (declared_policy = 'approval' AND state = 'completed')
  OR (declared_policy = 'auto' AND (
    (policy = 'auto' AND state = 'completed') OR (decided_by IS NOT NULL AND state <> 'rejected'))))`;

function prepareJobState(raw: SqliteDatabase) {
  return {
    jobPause: pauseQuery(raw, jobPauses, [ofJob, "AND resumed_at IS NULL"].join(" ")),
    globalPause: pauseQuery(raw, nopsPauses, "WHERE resumed_at IS NULL"),
    lift: rowQuery(raw, windowLifts, membersOf(windowLifts), ofJob),
    verdict: rowQuery(raw, verdicts, membersOf(verdicts, "namespace", "jobId"), ofJob),
    unknown: rowQuery(raw, unknownRegistrations, ["specHash"], [ofJob, "ORDER BY id DESC LIMIT 1"].join(" ")),
  };
}
