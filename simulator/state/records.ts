import { nanos } from "./facts.ts";
import type { Deployment, Evaluation, Job } from "./types.ts";

/** A new pending evaluation. `now` in milliseconds. */
export function newEval(
  id: string,
  job: Pick<Job, "ID" | "Namespace" | "Priority" | "Type">,
  triggeredBy: string,
  now: number,
): Evaluation {
  return {
    ID: id,
    Namespace: job.Namespace,
    Priority: job.Priority,
    Type: job.Type,
    TriggeredBy: triggeredBy,
    JobID: job.ID,
    Status: "pending",
    CreateIndex: 0,
    ModifyIndex: 0,
    CreateTime: nanos(now),
    ModifyTime: nanos(now),
  };
}

/** A new running deployment of a job version. `now` in milliseconds. */
export function newDeployment(id: string, job: Job, evalPriority: number, now: number): Deployment {
  return {
    ID: id,
    Namespace: job.Namespace,
    JobID: job.ID,
    JobVersion: job.Version,
    JobModifyIndex: job.ModifyIndex,
    JobSpecModifyIndex: job.JobModifyIndex,
    JobCreateIndex: job.CreateIndex,
    IsMultiregion: false,
    TaskGroups: {},
    Status: "running",
    StatusDescription: "Deployment is running",
    EvalPriority: evalPriority,
    CreateIndex: 0,
    ModifyIndex: 0,
    CreateTime: nanos(now),
    ModifyTime: 0,
  };
}
