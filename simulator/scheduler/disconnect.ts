import { rfc3339 } from "../state/facts.ts";
import type { Allocation, Evaluation, Job } from "../state/types.ts";
import { type AllocSet, type Classes, disconnectOf } from "./alloc-set.ts";
import { laterEvals } from "./followups.ts";
import { type Counts, reasons, type Stop } from "./plan-types.ts";

interface Out {
  readonly desired: Counts;
  readonly attributes: Allocation[];
  readonly stops: Stop[];
  readonly followups: Evaluation[];
}

function withState(alloc: Allocation, value: string, now: number): Allocation["AllocStates"] {
  return [...(alloc.AllocStates ?? []), { Field: "ClientStatus", Value: value, Time: rfc3339(now) }];
}

/**
 * Allocations whose node fell silent under a `disconnect` block become unknown; an evaluation waits for the time at which they
 * count as lost. With `replace` they are placed again at once.
 */
export function disconnectChanges(
  set: AllocSet,
  input: { readonly job: Job; readonly now: number; readonly evalPriority: number; readonly newId: () => string },
  out: Out,
): { untainted: AllocSet; replace: AllocSet } {
  const untainted: AllocSet = new Map();
  const replace: AllocSet = new Map();
  if (set.size === 0) return { untainted, replace };
  const later = [...set.values()].map((alloc) => ({ alloc, at: input.now + (disconnectOf(alloc)?.LostAfter ?? 0) / 1e6 }));
  const made = laterEvals(later, input.job, input.evalPriority, "max-disconnect-timeout", input.newId);
  out.followups.push(...made.evals);
  for (const alloc of set.values()) {
    out.attributes.push({
      ...alloc,
      ClientStatus: "unknown",
      ClientDescription: reasons.unknown,
      AllocStates: withState(alloc, "unknown", input.now),
      FollowupEvalID: made.byAlloc.get(alloc.ID) ?? "",
    });
    out.desired.Disconnect++;
    (disconnectOf(alloc)?.Replace === false ? untainted : replace).set(alloc.ID, alloc);
  }
  return { untainted, replace };
}

/**
 * A node came back with allocations that were unknown: they go on, and their replacements stop, unless the version moved on or
 * the block prefers the replacement.
 */
export function reconnectChanges(untainted: AllocSet, classes: Classes, all: AllocSet, job: Job, out: Out): AllocSet {
  const next: AllocSet = new Map(untainted);
  for (const alloc of classes.reconnecting.values()) {
    const replacement = all.get(alloc.NextAllocation);
    const live = replacement !== undefined && replacement.DesiredStatus === "run" && replacement.ClientStatus !== "failed";
    const outdated = alloc.Job.Version < job.Version || alloc.DesiredTransition.Migrate === true;
    const keepNew = live && disconnectOf(alloc)?.Reconcile === "keep_replacement";
    if (alloc.ClientStatus === "failed" || outdated || keepNew) {
      const description = alloc.ClientStatus === "failed" ? reasons.rescheduled : reasons.notNeeded;
      out.stops.push({ alloc, clientStatus: alloc.ClientStatus === "failed" ? "failed" : "", description, followupEval: "" });
      out.desired.Stop++;
      next.delete(alloc.ID);
      continue;
    }
    next.set(alloc.ID, alloc);
    out.attributes.push({
      ...alloc,
      AllocStates: [
        ...(alloc.AllocStates ?? []),
        { Field: "ClientStatus", Value: alloc.ClientStatus, Time: alloc.AllocStates?.at(-1)?.Time ?? "" },
      ],
    });
    out.desired.Reconnect++;
    if (live) {
      out.stops.push({ alloc: replacement, clientStatus: "", description: reasons.reconnected, followupEval: "" });
      out.desired.Stop++;
      next.delete(replacement.ID);
    }
  }
  return next;
}
