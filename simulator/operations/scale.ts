import { Refusal } from "../refusal.ts";
import { latestDeployment } from "../scheduler/tainted.ts";
import type { ScalingEvent } from "../state/cluster-types.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { deploymentActive, isParameterized, isPeriodic, nanos } from "../state/facts.ts";
import { upsertJob } from "../state/job-writes.ts";
import type { Tx } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Job } from "../state/types.ts";
import type { Operations } from "./context.ts";
import { evalFor, type Registered } from "./register.ts";

export interface ScaleRequest {
  readonly group: string;
  readonly count: number | null;
  readonly message: string;
  readonly error: boolean;
  readonly meta: Readonly<Record<string, unknown>> | null;
  readonly jobModifyIndex: number;
}

/** Events kept per group. */
const keptEvents = 20;

/** Changes the count of one group: a new version of the job, refused while a deployment runs (nomad-api §3.2). Throws Refusal. */
export function scale(ops: Operations, namespace: string, id: string, request: ScaleRequest): Registered {
  const { state } = ops;
  const job = state.jobs.get(scoped(namespace, id));
  if (job === undefined) throw new Refusal(404, `job "${id}" not found`);
  if (job.Type === "system" && (request.count ?? 0) > 1) {
    throw new Refusal(400, 'jobs of type "system" can only be scaled between 0 and 1');
  }
  const group = job.TaskGroups.find((one) => one.Name === request.group);
  if (group === undefined) throw new Refusal(400, `task group "${request.group}" specified for scaling does not exist in job`);
  const now = ops.now();
  const event: ScalingEvent = {
    Time: nanos(now),
    PreviousCount: group.Count,
    Count: request.count,
    Message: request.message,
    Error: request.error,
    Meta: request.meta,
    EvalID: null,
    CreateIndex: 0,
  };
  let evalId = "";
  let evalCreateIndex = 0;
  let jobModifyIndex = job.ModifyIndex;
  if (request.count !== null) {
    checkCount(ops, job, group, request, request.count);
    const count = request.count;
    const groups = job.TaskGroups.map((one) => (one.Name === request.group ? { ...one, Count: count } : one));
    jobModifyIndex = state.write("JobRegister", (tx) => {
      upsertJob(
        tx,
        { ...job, TaskGroups: groups, SubmitTime: nanos(now) },
        { enforceIndex: job.JobModifyIndex, newId: ops.newId },
      );
      return tx.index;
    });
    if (!isPeriodic(job) && !isParameterized(job)) {
      const evaluation = { ...evalFor(ops, job, "job-scaling"), JobModifyIndex: jobModifyIndex };
      evalId = evaluation.ID;
      evalCreateIndex = state.write("EvalUpdate", (tx) => {
        upsertEvals(tx, [evaluation]);
        return tx.index;
      });
    }
  }
  const index = state.write("ScalingEventRegister", (tx) => {
    storeEvent(tx, job, request.group, { ...event, EvalID: evalId === "" ? null : evalId, CreateIndex: tx.index });
    return tx.index;
  });
  return { evalId, evalCreateIndex, jobModifyIndex, index };
}

function checkCount(ops: Operations, job: Job, group: Job["TaskGroups"][number], request: ScaleRequest, count: number): void {
  const policy = group.Scaling;
  if (policy && count < policy.Min)
    throw new Refusal(400, `group count was less than scaling policy minimum: ${count} < ${policy.Min}`);
  if (policy && count > policy.Max)
    throw new Refusal(400, `group count was greater than scaling policy maximum: ${count} > ${policy.Max}`);
  const deployment = latestDeployment(ops.state, job.Namespace, job.ID);
  if (deployment !== undefined && deploymentActive(deployment) && deployment.JobCreateIndex === job.CreateIndex) {
    throw new Refusal(400, "job scaling blocked due to active deployment");
  }
  if (request.jobModifyIndex > 0 && request.jobModifyIndex !== job.JobModifyIndex) {
    const text = `Enforcing job modify index ${request.jobModifyIndex}: job exists with conflicting job modify index: ${job.JobModifyIndex}`;
    throw new Refusal(500, text);
  }
}

function storeEvent(tx: Tx, job: Job, group: string, event: ScalingEvent): void {
  const old = tx.state.scaling_event.get(scoped(job.Namespace, job.ID));
  const events = [event, ...(old?.ScalingEvents[group] ?? [])].slice(0, keptEvents);
  tx.put("scaling_event", {
    Namespace: job.Namespace,
    JobID: job.ID,
    ScalingEvents: { ...old?.ScalingEvents, [group]: events },
    ModifyIndex: tx.index,
  });
}
