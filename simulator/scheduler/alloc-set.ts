import type { Node } from "../state/cluster-types.ts";
import { deploymentActive, groupOf, ranSuccessfully, serverTerminal, terminal } from "../state/facts.ts";
import type { Allocation, Deployment, Job } from "../state/types.ts";
import { rescheduling } from "./reschedule.ts";

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
  if (expired(alloc, now)) return "lost";
  if (node?.Status === "disconnected") {
    if (alloc.ClientStatus === "unknown") return "untainted";
    return alloc.ClientStatus === "pending" || disconnectOf(alloc) === undefined ? "lost" : "disconnecting";
  }
  if (alloc.DesiredTransition.Migrate) return "migrate";
  if (!isTainted || node?.Status === "ready") return reconnect ? "reconnecting" : "untainted";
  if (node === undefined || node.Status === "down") {
    const keep = node !== undefined && disconnectOf(alloc)?.Replace === false;
    if (keep && alloc.ClientStatus === "unknown") return "untainted";
    return keep && alloc.ClientStatus === "running" ? "disconnecting" : "lost";
  }
  return "untainted";
}

interface Disconnect {
  readonly LostAfter?: number;
  readonly StopOnClientAfter?: number | null;
  readonly Replace?: boolean | null;
  readonly Reconcile?: string;
}

/** The group's `disconnect` block, when it lets allocations outlive their node's silence. */
export function disconnectOf(alloc: Allocation): Disconnect | undefined {
  const block = groupOf(alloc.Job, alloc.TaskGroup)?.["Disconnect"] as Disconnect | null | undefined;
  return block && (block.LostAfter ?? 0) > 0 ? block : undefined;
}

/** It was unknown, and its client has reported since. */
export function needsToReconnect(alloc: Allocation): boolean {
  if (!["unknown", "running", "failed"].includes(alloc.ClientStatus)) return false;
  return alloc.AllocStates?.filter((state) => state.Field === "ClientStatus").at(-1)?.Value === "unknown";
}

function expired(alloc: Allocation, now: number): boolean {
  const block = disconnectOf(alloc);
  if (alloc.ClientStatus !== "unknown" || block === undefined) return false;
  const since = alloc.AllocStates?.findLast((state) => state.Value === "unknown")?.Time;
  return since !== undefined && now >= Date.parse(since) + (block.LostAfter ?? 0) / 1e6;
}

export interface RescheduleClasses {
  readonly untainted: AllocSet;
  readonly now: AllocSet;
  readonly later: { readonly alloc: Allocation; readonly at: number }[];
}

/** Sorts allocations by whether they stay as they are, are placed again now, or later. */
export function byRescheduling(
  set: AllocSet,
  batch: boolean,
  now: number,
  evalId: string,
  deployment: Deployment | undefined,
): RescheduleClasses {
  const result: RescheduleClasses = { untainted: new Map(), now: new Map(), later: [] };
  const active = deployment !== undefined && deploymentActive(deployment);
  for (const alloc of set.values()) {
    if (alloc.NextAllocation !== "" && terminal(alloc)) continue;
    const verdict = settled(alloc, batch);
    if (verdict === "ignore") continue;
    if (verdict === "untainted") {
      result.untainted.set(alloc.ID, alloc);
      continue;
    }
    const next = rescheduling(alloc, now, evalId, deployment, active);
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
    if (alloc.DesiredStatus === "stop") return ranSuccessfully(alloc) ? "untainted" : "ignore";
    if (alloc.DesiredStatus === "evict") return "ignore";
    return alloc.ClientStatus === "failed" ? undefined : "untainted";
  }
  if (serverTerminal(alloc)) return "ignore";
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
