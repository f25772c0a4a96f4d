import type { Deployment } from "../state/types.ts";
import { type AllocSet, byRescheduling, classify, difference, pick, type RescheduleClasses, union } from "./alloc-set.ts";
import { reconnect, unknownFromNow } from "./disconnect.ts";
import { laterEvals } from "./followups.ts";
import type { GenericInput, GroupResult } from "./group-types.ts";

type Later = RescheduleClasses["later"][number];

/** Allocations of a group by what is to be done about them. */
export interface GroupSets {
  readonly untainted: AllocSet;
  readonly migrate: AllocSet;
  readonly lost: AllocSet;
  /** Placed again at once, or later. */
  readonly again: AllocSet;
  readonly later: readonly Later[];
}

/** What becomes of the allocations of a group for the sake of their nodes, and of those that failed. */
export function sortGroup(all: AllocSet, input: GenericInput, deployment: Deployment | undefined, out: GroupResult): GroupSets {
  const { desired } = out;
  const { batch, now, evalId, tainted } = input;
  const classes = classify(all, tainted, now);
  desired.Ignore += classes.ignore.size;
  const rescheduled = byRescheduling(classes.untainted, batch, now, evalId, deployment);
  const migrating = byRescheduling(classes.migrate, batch, now, evalId, deployment);
  const later = [...rescheduled.later, ...migrating.later];
  let again = union(rescheduled.now, migrating.now);
  const { back, stopped, stops, noted } = reconnect(classes.reconnecting, all, input);
  out.stops.push(...stops);
  out.reconnected = noted;
  desired.Stop += stopped.size;
  desired.Reconnect = noted.length;
  let untainted = union(difference(rescheduled.untainted, stopped), back);
  const disconnecting = difference(classes.disconnecting, stopped);
  if (disconnecting.size > 0) {
    const cutOff = byRescheduling(disconnecting, batch, now, evalId, deployment, true);
    untainted = union(untainted, cutOff.untainted);
    later.push(...cutOff.later);
    const unknown = unknownFromNow(disconnecting, input);
    out.followups.push(...unknown.evals);
    out.unknown = unknown.allocs;
    again = union(again, new Map([...cutOff.now.keys()].flatMap((id) => [...pick(unknown.allocs, [id])])));
    Object.assign(desired, { Disconnect: disconnecting.size, RescheduleNow: again.size, RescheduleLater: later.length });
  }
  const lost = union(difference(classes.lost, stopped), classes.expiring);
  return { untainted, migrate: difference(classes.migrate, stopped), lost, again, later };
}

/** A failed allocation that must wait gets an evaluation for its time, and carries that evaluation's id. */
export function retryLater(
  later: readonly Later[],
  all: AllocSet,
  migrate: AllocSet,
  input: GenericInput,
  out: GroupResult,
): void {
  if (later.length === 0) return;
  const { unknown, attributes } = out;
  const made = laterEvals(later, input.job, input.evalPriority, "alloc-reschedule", input.newId);
  out.followups.push(...made.evals);
  out.desired.RescheduleLater = later.length;
  for (const { alloc } of later) {
    const FollowupEvalID = made.byAlloc.get(alloc.ID) ?? "";
    const [cutOff, moving] = [unknown.get(alloc.ID), migrate.get(alloc.ID)];
    if (cutOff !== undefined) unknown.set(alloc.ID, { ...cutOff, FollowupEvalID });
    else if (moving !== undefined) migrate.set(alloc.ID, { ...moving, FollowupEvalID });
    else attributes.push({ ...(all.get(alloc.ID) ?? alloc), FollowupEvalID });
  }
}
