import type { Node } from "../state/cluster-types.ts";
import { ranSuccessfully, serverTerminal, terminal } from "../state/facts.ts";
import { hasExpired, lostAfter, needsToReconnect, replacedWhenCutOff } from "../state/silence.ts";
import type { Allocation, Deployment, Job } from "../state/types.ts";
import { foundNoPlace, rescheduling } from "./reschedule.ts";

export type AllocSet = Map<string, Allocation>;

export function setOf(allocs: Iterable<Allocation>): AllocSet {
  const set: AllocSet = new Map();
  for (const alloc of allocs) set.set(alloc.ID, alloc);
  return set;
}

export function union(...sets: readonly AllocSet[]): AllocSet {
  const all: AllocSet = new Map();
  for (const set of sets) for (const [id, alloc] of set) all.set(id, alloc);
  return all;
}

export function difference(set: AllocSet, ...others: readonly AllocSet[]): AllocSet {
  const rest: AllocSet = new Map(set);
  for (const other of others) for (const id of other.keys()) rest.delete(id);
  return rest;
}

export function pick(set: AllocSet, ids: readonly string[]): AllocSet {
  return setOf(ids.flatMap((id) => set.get(id) ?? []));
}

/** By name, then by age: the order in which a group's allocations are updated. */
export function nameOrder(set: AllocSet): Allocation[] {
  const index = (alloc: Allocation) => Number(/\[(\d+)\]$/.exec(alloc.Name)?.[1] ?? 0);
  return [...set.values()].sort((a, b) => index(a) - index(b) || a.CreateIndex - b.CreateIndex);
}

/** Nodes of allocations that are down, gone, draining or cut off; undefined for a node that is no longer known. */
export type Tainted = ReadonlyMap<string, Node | undefined>;

export interface Classes {
  readonly untainted: AllocSet;
  readonly migrate: AllocSet;
  readonly lost: AllocSet;
  readonly disconnecting: AllocSet;
  readonly reconnecting: AllocSet;
  readonly ignore: AllocSet;
  /** Unknown for longer than the job waits. */
  readonly expiring: AllocSet;
}

/** Sorts allocations by what became of their nodes. */
export function classify(set: AllocSet, tainted: Tainted, now: number): Classes {
  const classes: Classes = {
    untainted: new Map(),
    migrate: new Map(),
    lost: new Map(),
    disconnecting: new Map(),
    reconnecting: new Map(),
    ignore: new Map(),
    expiring: new Map(),
  };
  for (const alloc of set.values()) classes[classOf(alloc, tainted, now)].set(alloc.ID, alloc);
  return classes;
}

function classOf(alloc: Allocation, tainted: Tainted, now: number): keyof Classes {
  const reconnect = needsToReconnect(alloc);
  const isTainted = tainted.has(alloc.NodeID);
  const node = tainted.get(alloc.NodeID);
  if (reconnect && alloc.DesiredStatus === "run" && alloc.ClientStatus === "failed") return "reconnecting";
  if (terminal(alloc) && !reconnect) {
    if (serverTerminal(alloc)) return alloc.DesiredTransition.MigrateDisablePlacement ? "untainted" : "ignore";
    return alloc.DeploymentStatus?.Canary && alloc.DesiredTransition.Migrate ? "migrate" : "untainted";
  }
  if (hasExpired(alloc, now)) return "expiring";
  if (reconnect && alloc.ClientStatus === "failed" && alloc.DesiredStatus === "stop") return "ignore";
  if (node?.Status === "disconnected") return classOfCutOff(alloc);
  if (alloc.DesiredTransition.Migrate) return "migrate";
  if (!isTainted || node?.Status === "ready") return reconnect ? "reconnecting" : "untainted";
  if (node === undefined) return "lost";
  if (node.Status !== "down") return "untainted";
  if (replacedWhenCutOff(alloc)) return "lost";
  if (alloc.ClientStatus === "unknown") return "untainted";
  return alloc.ClientStatus === "running" ? "disconnecting" : "lost";
}

function classOfCutOff(alloc: Allocation): keyof Classes {
  if (alloc.ClientStatus === "unknown") return "untainted";
  return alloc.ClientStatus === "pending" || lostAfter(alloc) === 0 ? "lost" : "disconnecting";
}

export interface RescheduleClasses {
  readonly untainted: AllocSet;
  readonly now: AllocSet;
  readonly later: { readonly alloc: Allocation; readonly at: number }[];
}

/**
 * Sorts allocations by whether they stay as they are, are placed again now, or later. `cutOff`: their node falls silent just now, so that
 * they are placed again as if they had failed.
 */
export function byRescheduling(
  set: AllocSet,
  batch: boolean,
  now: number,
  evalId: string,
  deployment: Deployment | undefined,
  cutOff = false,
): RescheduleClasses {
  const result: RescheduleClasses = { untainted: new Map(), now: new Map(), later: [] };
  for (const alloc of set.values()) {
    if (cutOff && alloc.ClientStatus === "unknown") continue;
    if (alloc.NextAllocation !== "" && terminal(alloc)) continue;
    const verdict = settled(alloc, batch);
    if (verdict === "ignore") continue;
    if (verdict === "untainted" && !cutOff) {
      result.untainted.set(alloc.ID, alloc);
      continue;
    }
    const next = rescheduling(alloc, now, evalId, deployment, cutOff);
    if (next.kind === "now") {
      result.now.set(alloc.ID, alloc);
      continue;
    }
    result.untainted.set(alloc.ID, alloc);
    if (next.kind === "later") result.later.push({ alloc, at: next.at });
  }
  return result;
}

/** Allocations about which the reschedule policy has no say. A batch allocation that ended well stays forever. */
function settled(alloc: Allocation, batch: boolean): "untainted" | "ignore" | undefined {
  if (batch) {
    if (alloc.DesiredTransition.MigrateDisablePlacement) return "untainted";
    if (alloc.DesiredTransition.Reschedule) return undefined;
    if (alloc.DesiredStatus === "stop" && ranSuccessfully(alloc)) return "untainted";
    if (alloc.DesiredStatus === "stop") return foundNoPlace(alloc) ? undefined : "ignore";
    if (alloc.DesiredStatus === "evict") return "ignore";
    return alloc.ClientStatus === "failed" ? undefined : "untainted";
  }
  if (serverTerminal(alloc)) return foundNoPlace(alloc) ? undefined : "ignore";
  return alloc.ClientStatus === "complete" || alloc.ClientStatus === "lost" ? "ignore" : undefined;
}

/** Terminal allocations of older versions of a batch job no longer count: a new version runs the work again (nomad-api §6.3). */
export function oldTerminal(set: AllocSet, job: Job): AllocSet {
  return new Map(
    [...set].filter(
      ([, alloc]) => (alloc.Job.Version < job.Version || alloc.Job.CreateIndex < job.CreateIndex) && terminal(alloc),
    ),
  );
}
