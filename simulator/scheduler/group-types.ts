import type { Allocation, Deployment, Evaluation, Job, TaskGroup } from "../state/types.ts";
import type { AllocSet, Tainted } from "./alloc-set.ts";
import type { NameIndex } from "./names.ts";
import type { Counts, DraftState, Placement, Stop } from "./plan-types.ts";

/** The job as the reconciler sees it. `deployment` is the one of this version, `old` an earlier or finished one. */
export interface GenericInput {
  readonly job: Job;
  readonly batch: boolean;
  readonly tainted: Tainted;
  readonly now: number;
  readonly evalId: string;
  readonly evalPriority: number;
  readonly old: Deployment | undefined;
  readonly newId: () => string;
  /** Ignore, in place (with the room for it on the node checked) or destructive. */
  readonly updateOf: (alloc: Allocation, group: TaskGroup) => "ignore" | "in_place" | "destructive";
}

export interface DeploymentDraft {
  /** The deployment that is there, or the one that this pass makes. */
  row: Deployment | undefined;
  created: boolean;
  groups: Record<string, DraftState>;
}

export interface GroupResult {
  readonly desired: Counts;
  readonly places: Placement[];
  readonly destructive: Placement[];
  readonly inplace: Allocation[];
  /** Those whose node fell silent, and those whose node is back. */
  unknown: AllocSet;
  reconnected: readonly Allocation[];
  /** Failed ones that have to wait. */
  readonly attributes: Allocation[];
  readonly stops: Stop[];
  readonly followups: Evaluation[];
  names: NameIndex | undefined;
  complete: boolean;
}
