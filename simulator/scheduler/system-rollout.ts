import type { StatusUpdate } from "../state/deployment-writes.ts";
import { deploymentActive, hasAutoPromote, requiresPromotion } from "../state/facts.ts";
import { newDeployment } from "../state/records.ts";
import type { Allocation, Deployment, Evaluation, Job } from "../state/types.ts";
import type { SchedulerEnvironment } from "./environment.ts";
import { type DraftState, newGroupState } from "./plan-types.ts";
import { latestDeployment } from "./tainted.ts";

export interface CanaryBudget {
  readonly required: number;
  left: number;
}

/** The deployment of a system job during one pass: which one counts, whether there is a new one, whether it is done. */
export class SystemRollout {
  readonly #env: SchedulerEnvironment;
  readonly #sysbatch: boolean;
  readonly updates: StatusUpdate[] = [];
  /** The latest deployment, whatever became of it. */
  readonly #latest: Deployment | undefined;
  row: Deployment | undefined;
  groups: Record<string, DraftState> = {};
  #old: Deployment | undefined;
  #created = false;

  constructor(env: SchedulerEnvironment, evaluation: Evaluation, job: Job | undefined, sysbatch: boolean) {
    this.#env = env;
    this.#sysbatch = sysbatch;
    const latest = sysbatch ? undefined : latestDeployment(env.state, evaluation.Namespace, evaluation.JobID);
    this.#latest = latest;
    if (latest === undefined) return;
    const active = deploymentActive(latest);
    const cancel = (description: string) => this.updates.push({ id: latest.ID, status: "cancelled", description });
    if (job === undefined || job.Stop) {
      if (active) cancel("Cancelled because job is stopped");
      return;
    }
    const older = latest.JobCreateIndex !== job.CreateIndex || latest.JobVersion !== job.Version;
    if (older && active) cancel("Cancelled due to newer version of job");
    if ((older && active) || latest.Status === "successful") {
      this.#old = latest;
      return;
    }
    // One that failed or was cancelled stays the current one, also for later versions: they get none of their own.
    this.row = latest;
    this.groups = Object.fromEntries(Object.entries(latest.TaskGroups).map(([name, state]) => [name, { ...state }]));
  }

  /** Id that the evaluation names; none when the latest one is done and no node is to have any of its groups. */
  shownId(candidates: Readonly<Record<string, number>>): string {
    if (this.row !== undefined) return this.row.ID;
    const idle = Object.keys(this.#latest?.TaskGroups ?? {}).every((name) => (candidates[name] ?? 0) < 1);
    return this.#latest === undefined || (this.#latest.Status === "successful" && idle) ? "" : this.#latest.ID;
  }

  /** Of the deployment of this version, else of the one before, whatever became of it; "" without any. */
  get latestId(): string {
    return this.row?.ID ?? this.#latest?.ID ?? "";
  }

  /** Its id while it may still place, else "". */
  get activeId(): string {
    return this.row !== undefined && deploymentActive(this.row) ? this.row.ID : "";
  }

  /** Makes a deployment when this version is new here and some node is to have one of its groups. */
  create(job: Job, candidates: Readonly<Record<string, number>>, existing: readonly Allocation[], updating: boolean): void {
    if (this.#sysbatch) return;
    const status = this.row?.Status;
    if (status === "paused" || status === "failed" || this.#old?.JobVersion === job.Version) return;
    const ranBefore = existing.some((alloc) => alloc.Job.Version === job.Version && alloc.Job.CreateIndex === job.CreateIndex);
    if (this.row === undefined && ranBefore) return;
    for (const group of job.TaskGroups) {
      const strategy = group.Update !== null && group.Update !== undefined && group.Update.MaxParallel !== 0;
      if (candidates[group.Name] === undefined) continue;
      if (!strategy || this.groups[group.Name] !== undefined || (ranBefore && !updating)) continue;
      if (this.row === undefined) {
        this.row = newDeployment(this.#env.newId(), job, job.Priority, this.#env.now());
        this.#created = true;
        // The server moves it to "running" at once, which starts the clock of every group.
        this.updates.push({ id: this.row.ID, status: "running", description: "Deployment is running" });
      }
      this.groups[group.Name] = newGroupState(group);
    }
  }

  /** System jobs state their canaries in percent of the nodes. */
  canaries(
    job: Job,
    ignored: readonly Allocation[],
    destructive: Readonly<Record<string, number>>,
  ): Record<string, CanaryBudget> {
    const budgets: Record<string, CanaryBudget> = {};
    for (const group of job.TaskGroups) {
      const percent = group.Update?.Canary ?? 0;
      const state = this.groups[group.Name];
      const outdated = destructive[group.Name] ?? 0;
      if (percent === 0 || state === undefined || state.Promoted || job.Version === 0 || outdated === 0) continue;
      const placed = ignored.filter((alloc) => alloc.TaskGroup === group.Name && alloc.DeploymentStatus?.Canary).length;
      const required = Math.min(Math.ceil((percent * (outdated + placed)) / 100), group.Update?.MaxParallel ?? 1);
      state.DesiredCanaries = required;
      budgets[group.Name] = { required, left: required - placed };
    }
    return budgets;
  }

  /** Also one that is done keeps its count of what is wanted, as long as any of its groups is wanted somewhere. */
  #recount(candidates: Readonly<Record<string, number>>): void {
    const done = this.#latest;
    if (done === undefined || done.Status !== "successful") return;
    const moved = Object.entries(done.TaskGroups).some(([name, { DesiredTotal }]) => {
      const total = candidates[name] ?? 0;
      return total >= 1 && total !== DesiredTotal;
    });
    if (!moved) return;
    const groups = Object.entries(done.TaskGroups).map(([name, state]) => {
      const total = candidates[name] ?? 0;
      return [name, total < 1 ? state : { ...state, DesiredTotal: total }] as const;
    });
    this.row = { ...done, TaskGroups: Object.fromEntries(groups) };
  }

  /** Counts what is wanted now, and closes the deployment when all of it is healthy. */
  finish(job: Job, candidates: Readonly<Record<string, number>>): void {
    const deployment = this.row;
    if (deployment === undefined) {
      this.#recount(candidates);
      return;
    }
    let complete = true;
    let counted = false;
    for (const group of job.TaskGroups) {
      const state = this.groups[group.Name];
      const total = candidates[group.Name] ?? 0;
      if (state === undefined || total < 1) continue;
      counted = true;
      state.DesiredTotal = total;
      if (state.HealthyAllocs < total || (state.DesiredCanaries > 0 && !state.Promoted)) complete = false;
    }
    const row = { ...deployment, TaskGroups: { ...this.groups } };
    const waits = requiresPromotion(row);
    const waiting = hasAutoPromote(row)
      ? "Deployment is running pending automatic promotion"
      : "Deployment is running but requires manual promotion";
    this.row = { ...row, StatusDescription: waits ? waiting : deployment.StatusDescription };
    // Nothing to place anywhere still ends as "successful": Nomad's answer misleads here, and so must this one (nomad-api §17).
    if (complete && !waits && deploymentActive(deployment) && (counted || this.#created)) {
      this.updates.push({ id: deployment.ID, status: "successful", description: "Deployment completed successfully" });
    }
  }
}
