import { annotateDiff } from "../diff/annotate.ts";
import { jobDiff } from "../diff/job-diff.ts";
import type { DesiredUpdates, ServerJob } from "../jobspec/types.ts";
import { blockedEvals } from "../scheduler/blocked.ts";
import { isPeriodic } from "../state/facts.ts";
import { omitEmpty } from "../state/omit-empty.ts";
import { newEval } from "../state/records.ts";
import { scoped } from "../state/table.ts";
import type { AllocMetric, Job } from "../state/types.ts";
import type { Operations } from "./context.ts";
import { nextLaunch, textInZone } from "./cron.ts";
import { withPolicyIds } from "./register.ts";

export interface PlanAnswer {
  readonly Annotations: { readonly DesiredTGUpdates: Readonly<Record<string, DesiredUpdates>>; readonly PreemptedAllocs: null };
  readonly FailedTGAllocs: Readonly<Record<string, AllocMetric>> | null;
  readonly JobModifyIndex: number;
  readonly CreatedEvals: readonly unknown[] | null;
  readonly Diff: ReturnType<typeof jobDiff> | null;
  readonly NextPeriodicLaunch: string | null;
  readonly Warnings: string;
  readonly Index: number;
}

/** The dry run: what a register of this admitted job would do, and how it differs from what is there (nomad-api §2). */
export function planJob(ops: Operations, admitted: Job, diff: boolean, warnings: string): PlanAnswer {
  const existing = ops.state.jobs.get(scoped(admitted.Namespace, admitted.ID));
  const job = withPolicyIds(existing, admitted, ops.newId);
  const trial = trialJob(ops, existing, job);
  const changed = existing !== undefined && trial !== existing;
  const evaluation = {
    ...newEval(ops.newId(), trial, "job-register", ops.now()),
    ...(changed ? { JobModifyIndex: trial.JobModifyIndex } : {}),
  };
  const plan = ops.engine.schedule(evaluation, trial);
  const updates = plan.desired;
  const found = diff ? annotateDiff(jobDiff(asServer(existing), asServer(job), true), updates) : null;
  const failed = Object.keys(plan.failed).length > 0;
  // Here all of them tell of everything that found no place.
  const blocked = blockedEvals(evaluation, plan, ops.newId, ops.now()).map((one) => ({ ...one, FailedTGAllocs: plan.failed }));
  const followups = plan.followups.map((one) => ({ ...one, PreviousEval: evaluation.ID }));
  const created = [...blocked, ...followups];
  const index = existing?.JobModifyIndex ?? 0;
  return {
    Annotations: { DesiredTGUpdates: updates, PreemptedAllocs: null },
    FailedTGAllocs: failed ? plan.failed : null,
    JobModifyIndex: index,
    CreatedEvals: created.length === 0 ? null : created.map(omitEmpty),
    Diff: found,
    NextPeriodicLaunch: isPeriodic(job) && job.Periodic?.Enabled ? launchText(job, ops.now()) : null,
    Warnings: warnings,
    Index: index,
  };
}

/** The job as a register would store it; one that says the same as before stays the stored one, so that nothing moves. */
function trialJob(ops: Operations, existing: Job | undefined, job: Job): Job {
  if (existing === undefined) return { ...job, CreateIndex: 100, ModifyIndex: 100, JobModifyIndex: 100 };
  if (!ops.rules.specChanged(existing, job)) return existing;
  const JobModifyIndex = existing.JobModifyIndex + 1;
  const Version = Math.max(job.Version, existing.Version + 1);
  return { ...job, CreateIndex: existing.CreateIndex, ModifyIndex: JobModifyIndex, JobModifyIndex, Version };
}

function asServer(job: Job | undefined): ServerJob | undefined {
  return job as ServerJob | undefined;
}

function launchText(job: Job, now: number): string | null {
  const next = nextLaunch(job, now);
  return next === undefined ? null : textInZone(next, job.Periodic?.TimeZone ?? "");
}
