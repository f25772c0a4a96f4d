import type { Node } from "../state/cluster-types.ts";
import { nanos } from "../state/facts.ts";
import type { Allocation, AllocMetric, Evaluation, Job, TaskGroup } from "../state/types.ts";
import { allocatedResources, type Offer } from "./fit.ts";
import type { Stop } from "./plan-types.ts";

export interface NewAllocation {
  readonly id: string;
  readonly evaluation: Evaluation;
  readonly job: Job;
  readonly group: TaskGroup;
  readonly name: string;
  readonly node: Node;
  readonly offer: Offer;
  readonly metrics: AllocMetric;
  readonly deploymentId: string;
  readonly canary: boolean;
  readonly previous: string;
  readonly tracker: Allocation["RescheduleTracker"];
  /** Milliseconds. */
  readonly now: number;
}

/** A new allocation that waits for its client. */
export function newAllocation(from: NewAllocation): Allocation {
  return {
    ID: from.id,
    Namespace: from.job.Namespace,
    EvalID: from.evaluation.ID,
    Name: from.name,
    NodeID: from.node.ID,
    NodeName: from.node.Name,
    JobID: from.job.ID,
    Job: from.job,
    TaskGroup: from.group.Name,
    AllocatedResources: allocatedResources(from.group, from.offer),
    Metrics: from.metrics,
    DesiredStatus: "run",
    DesiredDescription: "",
    DesiredTransition: {
      Migrate: null,
      Reschedule: null,
      ForceReschedule: null,
      NoShutdownDelay: null,
      MigrateDisablePlacement: null,
    },
    ClientStatus: "pending",
    ClientDescription: "",
    TaskStates: null,
    PreviousAllocation: from.previous,
    NextAllocation: "",
    DeploymentID: from.deploymentId,
    DeploymentStatus: from.canary ? { Healthy: null, Timestamp: null, Canary: true, ModifyIndex: 0 } : null,
    RescheduleTracker: from.tracker,
    FollowupEvalID: "",
    PreemptedAllocations: null,
    PreemptedByAllocation: "",
    CreateIndex: 0,
    ModifyIndex: 0,
    AllocModifyIndex: 0,
    CreateTime: nanos(from.now),
    ModifyTime: nanos(from.now),
  };
}

/** The allocation as it is when the server wants it to stop, which forgets that its node was ever silent. */
export function stoppedAllocation(stop: Stop): Allocation {
  return {
    ...stop.alloc,
    AllocStates: null,
    DesiredStatus: "stop",
    DesiredDescription: stop.description,
    ClientStatus: stop.clientStatus === "" ? stop.alloc.ClientStatus : stop.clientStatus,
    FollowupEvalID: stop.followupEval === "" ? stop.alloc.FollowupEvalID : stop.followupEval,
  };
}
