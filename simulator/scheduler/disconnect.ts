import { groupOf, millis, serverTerminal } from "../state/facts.ts";
import { disconnectOf, lostAfter, withState } from "../state/silence.ts";
import type { Allocation, Evaluation, Job } from "../state/types.ts";
import { type AllocSet, setOf } from "./alloc-set.ts";
import { laterEvals } from "./followups.ts";
import { reasons, type Stop } from "./plan-types.ts";

/** The longest that a task is given to end, unless it says more, in nanoseconds. */
const killTimeout = 5e9;

interface Pass {
  readonly job: Job;
  /** Milliseconds. */
  readonly now: number;
  readonly evalPriority: number;
  readonly newId: () => string;
}

/**
 * Allocations whose node fell silent become unknown; an evaluation waits for the time at which they count as lost. The allocations are
 * told as they will be, by id.
 */
export function unknownFromNow(set: AllocSet, pass: Pass): { readonly allocs: AllocSet; readonly evals: readonly Evaluation[] } {
  const later = [...set.values()].map((alloc) => ({ alloc, at: pass.now + lostAfter(alloc) }));
  const made = laterEvals(later, pass.job, pass.evalPriority, "max-disconnect-timeout", pass.newId);
  const allocs = [...set.values()].map((alloc) => ({
    ...alloc,
    ClientStatus: "unknown",
    ClientDescription: reasons.unknown,
    AllocStates: withState(alloc, "unknown", pass.now),
    FollowupEvalID: made.byAlloc.get(alloc.ID) ?? "",
  }));
  return { allocs: setOf(allocs), evals: made.evals };
}

/** What its own client is to stop after a while, with the time, in milliseconds, until which nothing takes its place. */
export function stoppedByClients(lost: AllocSet, now: number): { readonly alloc: Allocation; readonly at: number }[] {
  return [...lost.values()].flatMap((alloc) => {
    const after = disconnectOf(alloc)?.StopOnClientAfter ?? 0;
    if (after === 0) return [];
    const tasks = groupOf(alloc.Job, alloc.TaskGroup)?.Tasks ?? [];
    const kill = Math.max(killTimeout, ...tasks.map((task) => task.KillTimeout ?? 0));
    return [{ alloc, at: now + millis(after + kill) }];
  });
}

export interface Reconnection {
  /** Those that go on. */
  readonly back: AllocSet;
  readonly stopped: AllocSet;
  readonly stops: readonly Stop[];
  /** Those that run again, with a note of it. */
  readonly noted: readonly Allocation[];
}

/**
 * What becomes of allocations whose node came back. One that failed, is of an older version or is to go is stopped; of the others either
 * it or what took its place, as the `disconnect` block prefers.
 */
export function reconnect(reconnecting: AllocSet, all: AllocSet, pass: Pass): Reconnection {
  const stopped: AllocSet = new Map();
  const stops: Stop[] = [];
  const stop = (alloc: Allocation, description: string, clientStatus = "") => {
    if (stopped.has(alloc.ID)) return;
    stopped.set(alloc.ID, alloc);
    stops.push({ alloc, clientStatus, description, followupEval: "" });
  };
  for (const alloc of reconnecting.values()) {
    if (!serverTerminal(alloc) && alloc.ClientStatus === "failed") stop(alloc, reasons.rescheduled, "failed");
    else if (mayNotGoOn(alloc, pass.job)) stop(alloc, reasons.notNeeded);
    else {
      for (const other of replacements(alloc, all)) {
        if (prefersOther(alloc, other)) stop(alloc, reasons.notNeeded);
        else stop(other, reasons.reconnected);
      }
    }
  }
  const back = setOf([...reconnecting.values()].filter(({ ID }) => !stopped.has(ID)));
  const noted = [...back.values()]
    .filter((alloc) => alloc.ClientStatus === "running")
    .map((alloc) => ({ ...alloc, Job: pass.job, AllocStates: withState(alloc, "running", pass.now) }));
  return { back, stopped, stops, noted };
}

function mayNotGoOn(alloc: Allocation, job: Job): boolean {
  const { Migrate, Reschedule, ForceReschedule } = alloc.DesiredTransition;
  const moving = Migrate === true || Reschedule === true || ForceReschedule === true;
  const older = alloc.Job.Version < job.Version || alloc.Job.CreateIndex < job.CreateIndex;
  return alloc.DesiredStatus !== "run" || moving || older;
}

/** Those that took an allocation's place, one after the other, and are wanted. */
function replacements(alloc: Allocation, all: AllocSet): Allocation[] {
  const found: Allocation[] = [];
  for (let next = all.get(alloc.NextAllocation); next !== undefined; next = all.get(next.NextAllocation)) found.push(next);
  return found.filter((one) => one !== alloc && !serverTerminal(one));
}

function prefersOther(alloc: Allocation, other: Allocation): boolean {
  if (other.Job.Version > alloc.Job.Version || other.Job.CreateIndex > alloc.Job.CreateIndex) return true;
  const strategy = disconnectOf(alloc)?.Reconcile ?? "best_score";
  if (strategy === "keep_original") return false;
  if (strategy === "keep_replacement") return true;
  if (strategy !== "longest_running") return hasBetterPlace(alloc, other);
  const [one, two] = [startOf(alloc), startOf(other)];
  if (one === undefined && two === undefined) return hasBetterPlace(alloc, other);
  return one === undefined || (two !== undefined && one >= two);
}

function hasBetterPlace(alloc: Allocation, other: Allocation): boolean {
  const score = ({ Metrics }: Allocation) => Metrics?.ScoreMetaData?.[0]?.NormScore;
  const [one, two] = [score(alloc), score(other)];
  const better = two !== undefined && (one === undefined || two > one);
  return better && (other.ClientStatus === "running" || alloc.ClientStatus !== "running");
}

/** When its leader started last, or the task that has run for longest, in milliseconds; undefined when none has. */
function startOf(alloc: Allocation): number | undefined {
  const tasks = groupOf(alloc.Job, alloc.TaskGroup)?.Tasks ?? [];
  const leader = tasks.find((task) => task.Leader === true);
  const starts = (leader === undefined ? tasks : [leader]).flatMap(({ Name }) => {
    const state = alloc.TaskStates?.[Name];
    const time = state === undefined ? null : state.Restarts > 0 ? state.LastRestart : state.StartedAt;
    return time === null || time === undefined ? [] : [Date.parse(time)];
  });
  return starts.length === 0 ? undefined : Math.min(...starts);
}
