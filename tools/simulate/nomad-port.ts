/**
 * The simulator as the controllers' Nomad, without HTTP: the same operations, kinds of error and answers as through `nomad/client.ts`.
 * Every method takes effect at once; the gate in front decides when, and whether its answer arrives.
 */
import { NomadError } from "../../model/errors.ts";
import { type JobKey, jobKey, splitJobKey } from "../../model/job-key.ts";
import type {
  AllocationStub,
  Evaluation,
  JobDiff,
  JobSpec,
  JobStub,
  LiveJob,
  NomadDeployment,
  PlacementFailures,
  PlanResult,
  RegisterResult,
  StoredSubmission,
  Submission,
} from "../../model/nomad.ts";
import { answerError, type Effect } from "../../nomad/errors.ts";
import { withoutServerFields } from "../../nomad/job-body.ts";
import { newestFirst } from "../../nomad/rollout.ts";
import { allocStub, jobStub } from "../../simulator/http/views.ts";
import { AdmissionError } from "../../simulator/jobspec/types.ts";
import { dispatch } from "../../simulator/operations/dispatch.ts";
import { planJob } from "../../simulator/operations/plan.ts";
import { deregister, forceEvaluate, register } from "../../simulator/operations/register.ts";
import { Refusal } from "../../simulator/refusal.ts";
import { changeable, fail, promote } from "../../simulator/scheduler/deployment-ops.ts";
import type { Simulator } from "../../simulator/server.ts";
import { scoped } from "../../simulator/state/table.ts";
import type { Job } from "../../simulator/state/types.ts";
import { versionsOf } from "../../simulator/state/versions.ts";
import { parseText } from "./job-pool.ts";

/** Admitted forms of jobs by their text: a job is the same job however often it is sent. */
const admitted = new Map<string, { readonly job: Job; readonly warnings: string }>();
const mostAdmitted = 5_000;

export class SimulatedNomad {
  private readonly sim: Simulator;
  /** How many plans of a job are still to tell of an edit that is none; see `answerPlan`. */
  private readonly unstable = new Map<string, number>();
  /** The last plan of each job, which holds as long as neither the state nor the time moves. */
  private readonly planned = new Map<Job, { readonly moment: string; readonly result: PlanResult }>();

  constructor(sim: Simulator) {
    this.sim = sim;
    sim.state.onRestore(() => this.planned.clear());
  }

  parse(source: { readonly source: string }): JobSpec {
    const spec = parseText(source.source);
    if (spec === undefined)
      throw answerError({ what: "parse the job file", effect: "read" }, refusal(400, "Failed to parse job"));
    return spec;
  }

  /** From now on so many plans of the job show an edit that is none, at an index that stays. */
  disturbPlans(jobId: string, plans: number): void {
    this.unstable.set(jobId, plans);
  }

  /** All plans tell the truth again. */
  settlePlans(): void {
    this.unstable.clear();
  }

  /**
   * The plan as the operator is answered. A real server changes what it says at an unchanged index too: a field of which it does not keep
   * what it was given shows up as an edit, or one that was edited no longer does.
   */
  answerPlan(spec: JobSpec): PlanResult {
    const plan = this.plan(spec);
    const left = this.unstable.get(spec.ID) ?? 0;
    if (left === 0 || plan.jobModifyIndex === 0) return plan;
    this.unstable.set(spec.ID, left - 1);
    const edit = { Type: "Edited", Name: "Unstable", Old: String(left), New: String(left + 1), Annotations: null } as const;
    return { ...plan, diff: { ...plan.diff, Type: "Edited", Fields: [...(plan.diff.Fields ?? []), edit] } };
  }

  /** What a plan says in truth. */
  plan(spec: JobSpec): PlanResult {
    return this.answer(`plan job ${spec.ID}`, "read", () => {
      const { job, warnings } = this.admit(spec);
      const moment = `${this.sim.state.index} ${this.sim.clock.now()}`;
      const known = this.planned.get(job);
      if (known?.moment === moment) return known.result;
      const answer = planJob(this.sim.operations, job, true, warnings);
      const result = {
        diff: (answer.Diff ?? { Type: "None", ID: spec.ID }) as unknown as JobDiff,
        jobModifyIndex: answer.JobModifyIndex,
        failedPlacements: (answer.FailedTGAllocs ?? {}) as PlacementFailures,
        warnings: answer.Warnings,
      };
      this.planned.set(job, { moment, result });
      return result;
    });
  }

  register(spec: JobSpec, enforceIndex: number, submission: Submission): RegisterResult {
    return this.answer(`register job ${spec.ID}`, "write", () => {
      const { job, warnings } = this.admit(spec);
      const stored = {
        Source: submission.source,
        Format: submission.format,
        Variables: submission.variables,
        VariableFlags: submission.variableFlags ?? null,
      };
      const done = register(this.sim.operations, job, { enforceIndex, submission: stored });
      return { evalId: done.evalId, warnings };
    });
  }

  readJob(key: JobKey): LiveJob | undefined {
    return this.row(key) as unknown as LiveJob | undefined;
  }

  listJobs(
    namespace: string,
    options: { readonly meta?: boolean; readonly prefix?: string } = {},
  ): { readonly index: number; readonly jobs: readonly JobStub[] } {
    const { state } = this.sim;
    const jobs: JobStub[] = [];
    for (const job of state.jobs.sorted()) {
      if (job.Namespace !== namespace || !job.ID.startsWith(options.prefix ?? "")) continue;
      jobs.push(jobStub(job, undefined, options.meta === true) as JobStub);
    }
    return { index: state.indexOf("jobs", "job_summary"), jobs };
  }

  listAllocations(key: JobKey): readonly AllocationStub[] {
    const current = this.row(key);
    const rows = this.sim.state.allocs
      .by("job", scopedKey(key))
      .filter((alloc) => current === undefined || alloc.Job.CreateIndex === current.CreateIndex);
    return rows.sort((a, b) => (a.ID < b.ID ? -1 : 1)).map((alloc) => allocStub(alloc) as AllocationStub);
  }

  listEvaluations(key: JobKey): readonly Evaluation[] {
    return newestFirst(this.sim.state.evals.by("job", scopedKey(key)) as unknown as readonly Evaluation[]);
  }

  listNomadDeployments(key: JobKey): readonly NomadDeployment[] {
    const current = this.row(key);
    const rows = this.sim.state.deployment
      .by("job", scopedKey(key))
      .filter((one) => current === undefined || one.JobCreateIndex === current.CreateIndex);
    return newestFirst(rows as unknown as readonly NomadDeployment[]);
  }

  readSubmission(key: JobKey, version: number): StoredSubmission | undefined {
    return this.sim.state.job_submission.get(`${scopedKey(key)}\u0000${version}`) as StoredSubmission | undefined;
  }

  jobVersions(key: JobKey): readonly LiveJob[] {
    const { namespace, jobId } = splitJobKey(key);
    return versionsOf(this.sim.state, namespace, jobId) as unknown as readonly LiveJob[];
  }

  dispatch(
    parent: JobKey,
    token: string,
    meta: Readonly<Record<string, string>>,
  ): { readonly childId: string; readonly exists: boolean } {
    const { namespace, jobId } = splitJobKey(parent);
    const request = { payload: "", meta, idPrefix: "", priority: 0, token };
    const done = this.answer(`dispatch job ${parent}`, "write", () =>
      dispatch(this.sim.operations, namespace, jobId, request, this.sim.faults.phantom()),
    );
    const childId = done.DispatchedJobID;
    return { childId, exists: this.row(jobKey(namespace, childId)) !== undefined };
  }

  findDispatched(parent: JobKey, token: string): LiveJob | undefined {
    const children = this.sim.state.jobs.by("parent", scopedKey(parent));
    return children.find((job) => job.DispatchIdempotencyToken === token) as unknown as LiveJob | undefined;
  }

  stopJob(key: JobKey): void {
    const { namespace, jobId } = splitJobKey(key);
    this.answer(`stop job ${key}`, "write", () => deregister(this.sim.operations, namespace, jobId));
  }

  promote(id: string): void {
    this.answer(`promote Nomad deployment ${id}`, "write", () =>
      promote(this.sim.operations, changeable(this.sim.state, id, "promote"), undefined),
    );
  }

  failDeployment(id: string): void {
    this.answer(`fail Nomad deployment ${id}`, "write", () => {
      const row = changeable(this.sim.state, id, "fail");
      const revert = Object.values(row.TaskGroups).some((group) => group.AutoRevert);
      return fail(this.sim.operations, row, "Deployment marked as failed", revert);
    });
  }

  reschedule(key: JobKey): void {
    const { namespace, jobId } = splitJobKey(key);
    this.answer(`reschedule job ${key}`, "write", () => forceEvaluate(this.sim.operations, namespace, jobId, true));
  }

  readLogTail(_namespace: string, allocation: string, task: string, stream: "stdout" | "stderr", maxBytes: number): string {
    return (this.sim.clients.logs.read(allocation, task)?.[stream] ?? "").slice(-maxBytes);
  }

  private row(key: JobKey): Job | undefined {
    return this.sim.state.jobs.get(scopedKey(key));
  }

  private admit(spec: JobSpec): { readonly job: Job; readonly warnings: string } {
    const text = JSON.stringify(spec);
    const known = admitted.get(text);
    if (known !== undefined) return known;
    if (admitted.size >= mostAdmitted) admitted.clear();
    const made = this.sim.admit(withoutServerFields(spec));
    admitted.set(text, made);
    return made;
  }

  /** Turns a refusal of the server into the error that the client would make of its answer. */
  private answer<T>(what: string, effect: Effect, act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (error instanceof Refusal || error instanceof AdmissionError)
        throw answerError({ what, effect }, refusal(error.status, error.message));
      if (error instanceof NomadError) throw error;
      throw new Error(`the simulator itself failed to ${what}`, { cause: error });
    }
  }
}

function refusal(
  status: number,
  text: string,
): { readonly status: number; readonly text: string; readonly retryAfterMs: undefined } {
  return { status, text, retryAfterMs: undefined };
}

function scopedKey(key: JobKey): string {
  const { namespace, jobId } = splitJobKey(key);
  return scoped(namespace, jobId);
}
