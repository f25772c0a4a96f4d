import type { Node } from "../state/cluster-types.ts";
import type { Allocation } from "../state/types.ts";
import { resolveTarget } from "./constraints.ts";

/** Allocations whose places count: those that are there, those that this evaluation stops, and those that it places or writes to. */
export interface PlacedAllocations {
  readonly existing: readonly Allocation[];
  readonly stopping: readonly Allocation[];
  readonly proposed: readonly Allocation[];
}

/**
 * How often each value of an attribute of nodes is used. What is stopped frees its value once, also where it had ended before and used
 * none; where something is placed as well, a value that is freed several times is freed once less.
 */
export function usedValues(
  attribute: string,
  allocs: PlacedAllocations,
  nodeOf: (id: string) => Node | undefined,
  name: (value: string) => string = (value) => value,
): Map<string, number> {
  const counted = (list: readonly Allocation[]) => {
    const counts = new Map<string, number>();
    for (const { NodeID } of list) {
      const node = nodeOf(NodeID);
      const value = node === undefined ? undefined : resolveTarget(attribute, node);
      if (value !== undefined) counts.set(name(value), (counts.get(name(value)) ?? 0) + 1);
    }
    return counts;
  };
  const [proposed, cleared] = [counted(allocs.proposed), counted(allocs.stopping)];
  for (const value of proposed.keys()) {
    const current = cleared.get(value) ?? 0;
    if (current > 1) cleared.set(value, current - 1);
  }
  const used = counted(allocs.existing);
  for (const [value, count] of proposed) used.set(value, (used.get(value) ?? 0) + count);
  for (const [value, count] of cleared) {
    const current = used.get(value);
    if (current !== undefined) used.set(value, Math.max(0, current - count));
  }
  return used;
}
