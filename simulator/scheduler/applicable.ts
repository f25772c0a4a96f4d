import type { Node } from "../state/cluster-types.ts";
import { terminal } from "../state/facts.ts";
import { replacedWhenCutOff } from "../state/silence.ts";
import type { State } from "../state/state.ts";
import type { Allocation } from "../state/types.ts";
import type { SchedulePlan } from "./plan-types.ts";

/** What of a plan its nodes take, each of them all that concerns it or nothing; and whether they take all of it. */
export function applicable(state: State, plan: SchedulePlan): { readonly plan: SchedulePlan; readonly whole: boolean } {
  const refusing = new Set(plan.allocs.filter((alloc) => !takes(state, alloc)).map((alloc) => alloc.NodeID));
  if (refusing.size === 0) return { plan, whole: true };
  const kept = (alloc: Allocation) => !refusing.has(alloc.NodeID);
  return { plan: { ...plan, allocs: plan.allocs.filter(kept), stopped: plan.stopped.filter(kept) }, whole: false };
}

/** One that may not be scheduled on takes changes of what lives there; what is over there is as good as new to it. */
function takes(state: State, alloc: Allocation): boolean {
  const node = state.nodes.get(alloc.NodeID);
  if (node === undefined) return false;
  const known = state.allocs.get(alloc.ID);
  if (node.Status !== "ready") return takesCutOff(node, alloc, known);
  return node.SchedulingEligibility !== "ineligible" || (known !== undefined && !terminal(known));
}

/** Of one that cannot be reached only that can be said; not that an allocation is of another version now. */
function takesCutOff(node: Node, alloc: Allocation, known: Allocation | undefined): boolean {
  const unknown = alloc.ClientStatus === "unknown";
  if (node.Status === "disconnected") return unknown;
  if (node.Status !== "down") return false;
  return alloc.ClientStatus === "lost" || (unknown && alloc.EvalID === known?.EvalID && !replacedWhenCutOff(alloc));
}
