import { nanos } from "../state/facts.ts";
import type { Evaluation } from "../state/types.ts";
import type { SchedulePlan } from "./plan-types.ts";

/**
 * The evaluations that wait for capacity on behalf of one that could not place everything: one of a service or batch job, and of a
 * system job one for each node that had no room for a group, as it does not wait for nodes that may never take it. `now` in milliseconds.
 */
export function blockedEvals(evaluation: Evaluation, plan: SchedulePlan, newId: () => string, now: number): Evaluation[] {
  if (isSystem(evaluation)) {
    const { blockedNodes } = plan;
    return blockedNodes.map(({ id, failed, outlook }) => ({
      ...waitingEval(evaluation, { failed, outlook }, newId(), now),
      NodeID: id,
    }));
  }
  return Object.keys(plan.failed).length === 0 ? [] : [waitingEval(evaluation, plan, newId(), now)];
}

export function isSystem({ Type }: Evaluation): boolean {
  return Type === "system" || Type === "sysbatch";
}

/** The evaluation that waits on behalf of one whose plans nodes did not take. `now` in milliseconds. */
export function conflictEval(evaluation: Evaluation, plan: SchedulePlan, id: string, now: number): Evaluation {
  const waiting = waitingEval(evaluation, plan, id, now);
  return { ...waiting, TriggeredBy: "max-plan-attempts", StatusDescription: "created due to placement conflicts" };
}

function waitingEval(
  evaluation: Evaluation,
  { failed, outlook }: Pick<SchedulePlan, "failed" | "outlook">,
  id: string,
  now: number,
): Evaluation {
  return {
    ID: id,
    Namespace: evaluation.Namespace,
    Priority: evaluation.Priority,
    Type: evaluation.Type,
    TriggeredBy: "queued-allocs",
    JobID: evaluation.JobID,
    ...(evaluation.JobModifyIndex === undefined ? {} : { JobModifyIndex: evaluation.JobModifyIndex }),
    Status: "blocked",
    StatusDescription: "created to place remaining allocations",
    PreviousEval: evaluation.ID,
    ...(Object.keys(failed).length === 0 ? {} : { FailedTGAllocs: failed }),
    ...(outlook.missing.length === 0 ? {} : { MissingNonNodeResources: outlook.missing }),
    ...(outlook.escaped ? { EscapedComputedClass: true } : { ClassEligibility: outlook.classes }),
    CreateIndex: 0,
    ModifyIndex: 0,
    CreateTime: nanos(now),
    ModifyTime: nanos(now),
  };
}
