/** What is known of allocations whose node falls silent. */
import { groupOf, millis, rfc3339 } from "./facts.ts";
import type { Allocation } from "./types.ts";

interface Disconnect {
  readonly LostAfter?: number;
  readonly StopOnClientAfter?: number | null;
  readonly Replace?: boolean | null;
  readonly Reconcile?: string;
}

/** What the group says of nodes that fall silent. */
export function disconnectOf(alloc: Allocation): Disconnect | undefined {
  return (groupOf(alloc.Job, alloc.TaskGroup)?.["Disconnect"] as Disconnect | null | undefined) ?? undefined;
}

/** Milliseconds for which it may be unknown; 0 when it is lost with its node. */
export function lostAfter(alloc: Allocation): number {
  return millis(disconnectOf(alloc)?.LostAfter ?? 0);
}

/** Whether another takes its place while its node is silent. */
export function replacedWhenCutOff(alloc: Allocation): boolean {
  return disconnectOf(alloc)?.Replace ?? true;
}

/** It was unknown, and no scheduler has noted since that it is back. */
export function needsToReconnect(alloc: Allocation): boolean {
  return ["unknown", "running", "failed"].includes(alloc.ClientStatus) && isMissed(alloc);
}

/** Whether the last that schedulers noted of its client is that it is silent. */
export function isMissed({ AllocStates }: Allocation): boolean {
  return AllocStates?.findLast((state) => state.Field === "ClientStatus")?.Value === "unknown";
}

/** What schedulers noted of its client, with another note of this moment. `now` in milliseconds. */
export function withState(alloc: Allocation, Value: string, now: number): Allocation["AllocStates"] {
  return [...(alloc.AllocStates ?? []), { Field: "ClientStatus", Value, Time: rfc3339(now) }];
}

/** When it became unknown the last time, in milliseconds; undefined when it never was. */
export function lastUnknown(alloc: Allocation): number | undefined {
  const states = alloc.AllocStates ?? [];
  const end = states.findLastIndex((state) => state.Value === "unknown");
  if (end < 0) return undefined;
  const before = states.findLastIndex((state, i) => i < end && state.Value !== "unknown");
  return Date.parse(states[before + 1]?.Time ?? "");
}

/** Whether it has been unknown for longer than the job waits. */
export function hasExpired(alloc: Allocation, now: number): boolean {
  const since = alloc.ClientStatus === "unknown" ? lastUnknown(alloc) : undefined;
  return since !== undefined && now >= since + lostAfter(alloc);
}
