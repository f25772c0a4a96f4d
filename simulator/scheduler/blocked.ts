import { nanos } from "../state/facts.ts";
import type { Evaluation } from "../state/types.ts";
import type { SchedulePlan } from "./plan-types.ts";

/**
 * The evaluation that waits for capacity on behalf of one that could not place everything, or undefined when waiting is of no use:
 * a system job does not wait for nodes that may never take it. `now` in milliseconds.
 */
export function blockedEval(evaluation: Evaluation, plan: SchedulePlan, id: string, now: number): Evaluation | undefined {
  const system = evaluation.Type === "system" || evaluation.Type === "sysbatch";
  if (Object.keys(plan.failed).length === 0 || (system && plan.blockedNodes.length === 0)) return undefined;
  return waitingEval(evaluation, plan, id, now);
}

/** The evaluation that waits on behalf of one whose plans nodes did not take. `now` in milliseconds. */
export function conflictEval(evaluation: Evaluation, plan: SchedulePlan, id: string, now: number): Evaluation {
  const waiting = waitingEval(evaluation, plan, id, now);
  return { ...waiting, TriggeredBy: "max-plan-attempts", StatusDescription: "created due to placement conflicts" };
}

function waitingEval(evaluation: Evaluation, plan: SchedulePlan, id: string, now: number): Evaluation {
  return {
    ID: id,
    Namespace: evaluation.Namespace,
    Priority: evaluation.Priority,
    Type: evaluation.Type,
    TriggeredBy: "queued-allocs",
    JobID: evaluation.JobID,
    ...(evaluation.JobModifyIndex === undefined ? {} : { JobModifyIndex: evaluation.JobModifyIndex }),
    ...(plan.blockedNodes[0] === undefined ? {} : { NodeID: plan.blockedNodes[0] }),
    Status: "blocked",
    StatusDescription: "created to place remaining allocations",
    PreviousEval: evaluation.ID,
    ...(Object.keys(plan.failed).length === 0 ? {} : { FailedTGAllocs: plan.failed }),
    ...(plan.missing.length === 0 ? {} : { MissingNonNodeResources: plan.missing }),
    ...(plan.escaped ? { EscapedComputedClass: true } : { ClassEligibility: plan.classes }),
    CreateIndex: 0,
    ModifyIndex: 0,
    CreateTime: nanos(now),
    ModifyTime: nanos(now),
  };
}
