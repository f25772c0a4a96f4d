import type { DesiredUpdates, UpdateKind } from "../jobspec/types.ts";
import type { StatusUpdate } from "../state/deployment-writes.ts";
import type { Allocation, AllocMetric, Deployment, DeploymentState, Evaluation, Job, TaskGroup } from "../state/types.ts";
import type { AllocSet } from "./alloc-set.ts";

export type Counts = { -readonly [K in keyof DesiredUpdates]: number };
export type DraftState = { -readonly [K in keyof DeploymentState]: DeploymentState[K] };

export function noUpdates(): Counts {
  return {
    Ignore: 0,
    Place: 0,
    Migrate: 0,
    Stop: 0,
    InPlaceUpdate: 0,
    DestructiveUpdate: 0,
    Canary: 0,
    Preemptions: 0,
    Disconnect: 0,
    Reconnect: 0,
    RescheduleNow: 0,
    RescheduleLater: 0,
  };
}

/** A group's share of a new deployment. */
export function newGroupState(group: TaskGroup): DraftState {
  const update = group.Update;
  const used = update !== null && update !== undefined && update.MaxParallel !== 0;
  return {
    AutoRevert: used ? update.AutoRevert : false,
    AutoPromote: used ? update.AutoPromote : false,
    ProgressDeadline: used ? update.ProgressDeadline : 0,
    RequireProgressBy: null,
    Promoted: false,
    PlacedCanaries: null,
    DesiredCanaries: 0,
    DesiredTotal: 0,
    PlacedAllocs: 0,
    HealthyAllocs: 0,
    UnhealthyAllocs: 0,
  };
}

/** An allocation that is wanted. */
export interface Placement {
  readonly name: string;
  readonly group: TaskGroup;
  readonly canary: boolean;
  readonly previous: Allocation | undefined;
  readonly reschedule: boolean;
  /** While canaries wait, everything else is placed as the last promoted version. */
  readonly downgrade: boolean;
  /** A destructive update stops the previous one only when the new one finds a place. */
  readonly stopPrevious: boolean;
}

export interface Stop {
  readonly alloc: Allocation;
  readonly clientStatus: string;
  readonly description: string;
  readonly followupEval: string;
}

export const reasons = {
  notNeeded: "alloc not needed due to job update",
  migrating: "alloc is being migrated",
  updating: "alloc is being updated due to job update",
  lost: "alloc is lost since its node is down",
  unknown: "alloc is unknown since its node is disconnected",
  nodeTainted: "alloc not needed as node is tainted",
  rescheduled: "alloc was rescheduled because it failed",
  reconnected: "alloc not needed due to disconnected client reconnect",
} as const;

export function stopAll(set: AllocSet, description: string, clientStatus = ""): Stop[] {
  return [...set.values()].map((alloc) => ({ alloc, clientStatus, description, followupEval: "" }));
}

/** What a scheduler wants to do for one evaluation. Nothing is written yet. */
export interface SchedulePlan {
  readonly desired: Readonly<Record<string, DesiredUpdates>>;
  readonly allocs: readonly Allocation[];
  readonly stopped: readonly Allocation[];
  readonly deployment: Deployment | undefined;
  readonly deploymentUpdates: readonly StatusUpdate[];
  readonly followups: readonly Evaluation[];
  readonly failed: Readonly<Record<string, AllocMetric>>;
  readonly queued: Readonly<Record<string, number>>;
  /** Deployment that the evaluation belongs to. */
  readonly deploymentId: string;
  /** Nodes that had no room, for system jobs: for each of them one evaluation waits, as things stood then. */
  readonly blockedNodes: readonly BlockedNode[];
  /** What was known at the end. */
  readonly outlook: Outlook;
}

/** What schedulers know of where else room might come free. */
export interface Outlook {
  /** Classes of nodes that were looked at, and whether any group may go there. */
  readonly classes: Readonly<Record<string, boolean>>;
  /** A constraint speaks of single nodes, so that classes say nothing. */
  readonly escaped: boolean;
  /** What the cluster lacks beside room on nodes, such as volumes. */
  readonly missing: readonly string[];
}

export interface BlockedNode {
  readonly id: string;
  readonly outlook: Outlook;
  readonly failed: SchedulePlan["failed"];
}

export type UpdateOf = (existing: Job, next: Job, group: string) => UpdateKind;
