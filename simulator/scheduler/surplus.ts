import { serverTerminal } from "../state/facts.ts";
import type { Allocation, TaskGroup } from "../state/types.ts";
import { type AllocSet, difference, setOf } from "./alloc-set.ts";
import { indexOfName, NameIndex } from "./names.ts";
import { reasons, type Stop } from "./plan-types.ts";

export interface SurplusInput {
  readonly group: TaskGroup;
  readonly names: NameIndex;
  readonly untainted: AllocSet;
  /** Allocations that need not move because they are stopped are taken out of it. */
  readonly migrate: AllocSet;
  /** How lost ones are stopped. */
  readonly lostStops: readonly Stop[];
  readonly canaries: AllocSet;
  readonly canarying: boolean;
}

/**
 * Which allocations of a group are too many. Lost ones go first; then those that promoted canaries replace, those that would
 * have to move, and those with the highest numbers.
 */
export function surplus(input: SurplusInput): { stops: Stop[]; ids: AllocSet; count: number } {
  const stops = [...input.lostStops];
  const ids: AllocSet = setOf(stops.map(({ alloc }) => alloc));
  const all = input.canarying ? difference(input.untainted, input.canaries) : input.untainted;
  let remove = input.migrate.size - input.group.Count;
  for (const alloc of all.values()) if (alloc.ClientStatus !== "unknown") remove++;
  if (remove <= 0) return { stops, ids, count: ids.size };
  const working = new Map([...all].filter(([, alloc]) => !serverTerminal(alloc)));
  const drop = (alloc: Allocation) => {
    ids.set(alloc.ID, alloc);
    stops.push({ alloc, clientStatus: "", description: reasons.notNeeded, followupEval: "" });
    working.delete(alloc.ID);
    remove--;
  };
  if (!input.canarying && input.canaries.size > 0) {
    const promoted = new Set([...input.canaries.values()].map((alloc) => alloc.Name));
    for (const alloc of difference(working, input.canaries).values()) {
      if (remove > 0 && promoted.has(alloc.Name)) drop(alloc);
    }
  }
  if (remove > 0 && input.migrate.size > 0) {
    const highest = new NameIndex("", "", input.group.Count, input.migrate).highest(remove);
    for (const alloc of [...input.migrate.values()]) {
      if (remove <= 0 || !highest.has(`.[${indexOfName(alloc)}]`)) continue;
      drop(alloc);
      input.migrate.delete(alloc.ID);
      input.names.unset(indexOfName(alloc));
    }
  }
  if (remove > 0) {
    const highest = input.names.highest(remove);
    for (const alloc of [...working.values()]) if (remove > 0 && highest.has(alloc.Name)) drop(alloc);
  }
  // Duplicate names leave some over.
  for (const alloc of [...working.values()]) if (remove > 0) drop(alloc);
  return { stops, ids, count: ids.size };
}
