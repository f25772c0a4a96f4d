import { countInDeployment, type StatusUpdate, setDeploymentStatus, upsertDeployment } from "./deployment-writes.ts";
import { nanos, terminal } from "./facts.ts";
import { setJobStatus } from "./job-status.ts";
import { isMissed } from "./silence.ts";
import type { Tx } from "./state.ts";
import { summarizeAlloc } from "./summary.ts";
import { scoped } from "./table.ts";
import type { Allocation, Deployment, DeploymentState, DesiredTransition } from "./types.ts";

/** What a scheduler decided, ready to be written in one raft entry. */
export interface PlanWrite {
  readonly evalId: string;
  readonly allocs: readonly Allocation[];
  readonly stopped: readonly Allocation[];
  readonly deployment: Deployment | undefined;
  readonly deploymentUpdates: readonly StatusUpdate[];
}

/** Writes a scheduler's plan. `now` in milliseconds. */
export function applyPlan(tx: Tx, plan: PlanWrite, now: number): void {
  if (plan.deployment !== undefined) {
    const existing = tx.state.deployment.get(plan.deployment.ID);
    upsertDeployment(tx, existing === undefined ? plan.deployment : keepClientValues(plan.deployment, existing));
  }
  for (const update of plan.deploymentUpdates) setDeploymentStatus(tx, update, now);
  const evaluation = tx.state.evals.get(plan.evalId);
  if (evaluation !== undefined) tx.put("evals", { ...evaluation, ModifyIndex: tx.index });
  upsertAllocs(tx, [...plan.allocs, ...plan.stopped], now);
}

/** What clients reported meanwhile wins over what the scheduler saw. */
function keepClientValues(next: Deployment, existing: Deployment): Deployment {
  const groups: Record<string, DeploymentState> = { ...existing.TaskGroups };
  for (const [name, group] of Object.entries(next.TaskGroups)) {
    const old = existing.TaskGroups[name];
    groups[name] =
      old === undefined
        ? group
        : {
            ...group,
            Promoted: old.Promoted || group.Promoted,
            PlacedAllocs: old.PlacedAllocs,
            HealthyAllocs: old.HealthyAllocs,
            UnhealthyAllocs: old.UnhealthyAllocs,
            RequireProgressBy: old.RequireProgressBy,
          };
  }
  return { ...next, TaskGroups: groups };
}

/** Puts allocations as a scheduler wants them: what their client reported is kept. */
export function upsertAllocs(tx: Tx, allocs: readonly Allocation[], now: number): void {
  const jobs = new Set<string>();
  for (const wanted of allocs) {
    const old = tx.state.allocs.get(wanted.ID);
    const jobKey = scoped(wanted.Namespace, wanted.JobID);
    const job = tx.state.jobs.get(jobKey);
    if (old === undefined && (job === undefined || job.Stop)) continue;
    const kept = old === undefined ? fresh(tx, wanted) : merged(tx, wanted, old);
    const alloc = countInDeployment(tx, { ...kept, ModifyTime: nanos(now) }, old, now);
    summarizeAlloc(tx, alloc, old);
    tx.put("allocs", alloc);
    if (alloc.PreviousAllocation !== "") {
      const previous = tx.state.allocs.get(alloc.PreviousAllocation);
      if (previous !== undefined) tx.put("allocs", { ...previous, NextAllocation: alloc.ID, ModifyIndex: tx.index });
    }
    jobs.add(jobKey);
  }
  tx.touch("allocs");
  for (const key of jobs) {
    const job = tx.state.jobs.get(key);
    if (job !== undefined) setJobStatus(tx, job);
  }
}

function fresh(tx: Tx, alloc: Allocation): Allocation {
  const status = alloc.DeploymentStatus;
  return {
    ...alloc,
    CreateIndex: tx.index,
    ModifyIndex: tx.index,
    AllocModifyIndex: tx.index,
    DeploymentStatus: status === null ? null : { ...status, ModifyIndex: tx.index },
  };
}

function merged(tx: Tx, alloc: Allocation, old: Allocation): Allocation {
  const forced = alloc.ClientStatus === "lost" || alloc.ClientStatus === "unknown";
  return {
    ...alloc,
    CreateIndex: old.CreateIndex,
    ModifyIndex: tx.index,
    AllocModifyIndex: tx.index,
    NextAllocation: old.NextAllocation === "" ? alloc.NextAllocation : old.NextAllocation,
    TaskStates: old.TaskStates,
    ClientStatus: forced ? alloc.ClientStatus : old.ClientStatus,
    ClientDescription: forced ? alloc.ClientDescription : old.ClientDescription,
  };
}

/** Writes what becomes of an allocation, by the wish of a person or of the server. */
export function wish(tx: Tx, alloc: Allocation, wished: DesiredTransition): void {
  const DesiredTransition = { ...alloc.DesiredTransition, ...wished };
  tx.put("allocs", { ...copied(alloc), DesiredTransition, ModifyIndex: tx.index, AllocModifyIndex: tx.index });
}

/** A server that copies an allocation makes an empty list of tries of none, which its scheduler tells apart. */
function copied(alloc: Allocation): Allocation {
  const tracker = alloc.RescheduleTracker;
  return tracker === null || tracker.Events !== null ? alloc : { ...alloc, RescheduleTracker: { ...tracker, Events: [] } };
}

/** What was missed and is heard of again is waited for no longer, nor is what waited for it, unless others of the job do as well. */
function endWait(tx: Tx, alloc: Allocation): Allocation {
  const { FollowupEvalID, ClientStatus } = alloc;
  const heard = ["running", "complete", "failed"].includes(ClientStatus);
  if (!heard || FollowupEvalID === "" || !isMissed(alloc)) return alloc;
  const others = tx.state.allocs.by("job", scoped(alloc.Namespace, alloc.JobID)).filter(({ ID }) => ID !== alloc.ID);
  const waiting = tx.state.evals.get(FollowupEvalID);
  if (waiting !== undefined && !others.some((one) => one.FollowupEvalID === FollowupEvalID && !terminal(one)))
    tx.put("evals", { ...waiting, Status: "canceled", StatusDescription: "allocs reconnected", ModifyIndex: tx.index });
  return { ...alloc, FollowupEvalID: "" };
}

/** What a client reports about one of its allocations. */
export interface ClientUpdate {
  readonly id: string;
  readonly clientStatus: string;
  readonly clientDescription: string;
  readonly taskStates: Allocation["TaskStates"];
  readonly health: { readonly healthy: boolean; readonly timestamp: string } | undefined;
}

/** Writes what a client reports. */
export function applyClientUpdate(tx: Tx, update: ClientUpdate, now: number): void {
  const old = tx.state.allocs.get(update.id);
  if (old === undefined) return;
  const status = old.DeploymentStatus;
  const health =
    update.health === undefined || status?.Healthy === update.health.healthy
      ? status
      : {
          Healthy: update.health.healthy,
          Timestamp: update.health.timestamp,
          Canary: status?.Canary ?? false,
          ModifyIndex: tx.index,
        };
  const next: Allocation = {
    ...copied(old),
    ClientStatus: update.clientStatus,
    ClientDescription: update.clientDescription,
    TaskStates: update.taskStates,
    DeploymentStatus: health,
    ModifyIndex: tx.index,
    ModifyTime: nanos(now),
  };
  const counted = countInDeployment(tx, next, old, now);
  summarizeAlloc(tx, counted, old);
  tx.put("allocs", endWait(tx, counted));
  const job = tx.state.jobs.get(scoped(old.Namespace, old.JobID));
  if (job !== undefined) setJobStatus(tx, job);
}
