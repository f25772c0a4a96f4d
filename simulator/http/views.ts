import type { Node } from "../state/cluster-types.ts";
import { isParameterized } from "../state/facts.ts";
import type { JobSummary } from "../state/summary-types.ts";
import type { Allocation, Job } from "../state/types.ts";

/** One line of the job list (nomad-api §7.2). */
export function jobStub(job: Job, summary: JobSummary | undefined, meta: boolean): unknown {
  return {
    ID: job.ID,
    ParentID: job.ParentID,
    Name: job.Name,
    Namespace: job.Namespace,
    Datacenters: job.Datacenters ?? null,
    NodePool: job.NodePool,
    Multiregion: job["Multiregion"] ?? null,
    Type: job.Type,
    Priority: job.Priority,
    Periodic: job.Periodic !== null && job.Periodic !== undefined,
    ParameterizedJob: isParameterized(job),
    Stop: job.Stop,
    Status: job.Status,
    StatusDescription: job.StatusDescription,
    JobSummary: summary ?? null,
    CreateIndex: job.CreateIndex,
    ModifyIndex: job.ModifyIndex,
    JobModifyIndex: job.JobModifyIndex,
    SubmitTime: job.SubmitTime,
    ...(meta && job.Meta ? { Meta: job.Meta } : {}),
  };
}

/** One line of an allocation list (nomad-api §6.4). */
export function allocStub(
  alloc: Allocation,
  options: { readonly resources?: boolean; readonly taskStates?: boolean } = {},
): unknown {
  return {
    ID: alloc.ID,
    EvalID: alloc.EvalID,
    Name: alloc.Name,
    Namespace: alloc.Namespace,
    NodeID: alloc.NodeID,
    NodeName: alloc.NodeName,
    JobID: alloc.JobID,
    JobType: alloc.Job.Type,
    JobVersion: alloc.Job.Version,
    TaskGroup: alloc.TaskGroup,
    ...(options.resources ? { AllocatedResources: alloc.AllocatedResources } : {}),
    DesiredStatus: alloc.DesiredStatus,
    DesiredDescription: alloc.DesiredDescription,
    ClientStatus: alloc.ClientStatus,
    ClientDescription: alloc.ClientDescription,
    DesiredTransition: alloc.DesiredTransition,
    TaskStates: options.taskStates === false ? null : alloc.TaskStates,
    DeploymentStatus: alloc.DeploymentStatus,
    FollowupEvalID: alloc.FollowupEvalID,
    NextAllocation: alloc.NextAllocation,
    RescheduleTracker: alloc.RescheduleTracker,
    PreemptedAllocations: alloc.PreemptedAllocations,
    PreemptedByAllocation: alloc.PreemptedByAllocation,
    CreateIndex: alloc.CreateIndex,
    ModifyIndex: alloc.ModifyIndex,
    CreateTime: alloc.CreateTime,
    ModifyTime: alloc.ModifyTime,
  };
}

/** One line of the node list. */
export function nodeStub(node: Node, fields: { readonly resources: boolean; readonly os: boolean }): unknown {
  return {
    Address: "127.0.0.1",
    ID: node.ID,
    Datacenter: node.Datacenter,
    Name: node.Name,
    NodePool: node.NodePool,
    NodeClass: node.NodeClass,
    Version: node.Attributes["nomad.version"] ?? "",
    Drain: node.DrainStrategy !== null,
    SchedulingEligibility: node.SchedulingEligibility,
    Status: node.Status,
    StatusDescription: node.StatusDescription,
    Drivers: node.Drivers,
    HostVolumes: node.HostVolumes,
    ...(fields.os ? { Attributes: { "os.name": node.Attributes["os.name"] ?? "" } } : {}),
    ...(fields.resources ? { NodeResources: node.NodeResources, ReservedResources: node.ReservedResources } : {}),
    LastDrain: node.LastDrain,
    CreateIndex: node.CreateIndex,
    ModifyIndex: node.ModifyIndex,
  };
}
