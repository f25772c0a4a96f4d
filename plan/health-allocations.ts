import type { AllocationStub, LiveJob } from "../model/nomad.ts";
import {
  ailingAllocation,
  explainAllocation,
  type Health,
  type HealthInput,
  placementWords,
  wantedCount,
} from "./health-words.ts";

interface Count {
  readonly wanted: number;
  readonly running: number;
  readonly complete: number;
  readonly pending: number;
  /** Failed or lost, neither replaced nor to be replaced. */
  readonly over: readonly AllocationStub[];
}

/**
 * Health where Nomad keeps no deployment: batch and sysbatch jobs, system jobs of older servers, `max_parallel = 0`, no update
 * block, and verification after a rollout that ended badly. Wanted is compared with running per group, replaced allocations
 * are not counted, and one that Nomad will reschedule is waited for (design D8). `rolloutFailed`: Nomad's deployment of this version
 * failed.
 */
export function judgeAllocations(input: HealthInput, live: LiveJob, rolloutFailed: boolean): Health {
  const ours = input.allocations.filter((allocation) => allocation.JobVersion === live.Version);
  const pendingEvaluations = input.evaluations.filter((each) => each.Status === "pending");
  const onEveryNode = live.Type === "system" || live.Type === "sysbatch";
  const counts = (live.TaskGroups ?? [])
    .filter((group) => wantedCount(group) > 0)
    .map((group) => {
      const name = group.Name ?? "";
      return {
        name,
        ...countGroup(
          ours.filter((each) => each.TaskGroup === name),
          onEveryNode ? undefined : wantedCount(group),
          (each) => pendingEvaluations.length > 0 || (hasFollowUp(each) && !(rolloutFailed && isUnhealthy(each))),
        ),
      };
    });
  const over = counts.flatMap((count) => count.over);
  const finite = live.Type === "batch" || live.Type === "sysbatch";
  const placement = placementWords(input);
  const lacking = counts.filter((count) => (finite ? count.complete : count.running) < count.wanted || count.wanted === 0);
  if (lacking.length === 0 && placement === "" && over.length === 0) {
    return { state: "healthy", message: finite ? "every allocation has completed" : "every wanted allocation is running" };
  }
  const words = [
    counts.map((count) => describe(count, finite)).join(", "),
    placement,
    over[0] === undefined ? ailingAllocation(ours) : explainAllocation(over[0]),
  ];
  const message = words.filter((word) => word !== "").join("; ");
  const moving = pendingEvaluations.length > 0 || placement !== "" || counts.some((count) => count.pending > 0);
  if (over.length > 0 && !moving) return failed(over, counts, message, input.mode);
  if (nothingLeft(ours, counts, finite) && !moving)
    return { state: "failed", reason: "nothing_runs", message: `nothing of the job runs and nothing is pending; ${message}` };
  const goodEnough =
    finite &&
    over.length === 0 &&
    placement === "" &&
    counts.every((count) => count.wanted > 0 && count.running + count.complete >= count.wanted);
  return { state: "waiting", message, ...(goodEnough ? { goodEnough } : {}) };
}

function failed(over: readonly AllocationStub[], counts: readonly Count[], message: string, mode: HealthInput["mode"]): Health {
  const alive = counts.some((count) => count.running > 0);
  const first = over[0];
  if (first === undefined || alive) return { state: "failed", reason: "allocation_failed", message };
  const reason = mode === "verify" ? "nothing_runs" : "allocation_failed";
  return { state: "failed", reason, message: `${explainAllocation(first)}; nothing of the job runs and nothing is pending` };
}

/** All allocations of the version are over, and not by having done their work. */
function nothingLeft(ours: readonly AllocationStub[], counts: readonly Count[], finite: boolean): boolean {
  return (
    ours.length > 0 &&
    counts.every((count) => count.running === 0 && count.pending === 0 && (!finite || count.complete < count.wanted))
  );
}

/** `willReturn`: whether Nomad still means to place a failed allocation again. */
function countGroup(
  allocations: readonly AllocationStub[],
  wanted: number | undefined,
  willReturn: (allocation: AllocationStub) => boolean,
): Count {
  const current = allocations.filter((each) => (each.NextAllocation ?? "") === "");
  const by = (status: string): AllocationStub[] =>
    current.filter((each) => each.ClientStatus === status && each.DesiredStatus === "run");
  const running = by("running").filter((each) => each.DeploymentStatus?.Healthy !== false).length;
  const complete = by("complete").length;
  const bad = current.filter((each) => each.ClientStatus === "failed" || each.ClientStatus === "lost");
  const over = bad.filter((each) => !willReturn(each));
  return {
    wanted: wanted ?? current.filter((each) => each.DesiredStatus === "run").length,
    running,
    complete,
    pending: by("pending").length + (bad.length - over.length),
    over: over.filter((each) => each.DesiredStatus === "run" || each.ClientStatus === "failed"),
  };
}

/** Its ID stays after that evaluation is over, also where it placed nothing. */
function hasFollowUp(allocation: AllocationStub): boolean {
  return (allocation.FollowupEvalID ?? "") !== "";
}

/** With the rollout failed: its fault. Nomad does not place such an allocation again unless a person asks (seen on 2.0). */
function isUnhealthy(allocation: AllocationStub): boolean {
  return allocation.DeploymentStatus?.Healthy === false;
}

function describe(count: Count & { readonly name: string }, finite: boolean): string {
  const done = finite ? `${count.complete} of ${count.wanted} complete` : `${count.running} of ${count.wanted} running`;
  const rest = finite && count.running > 0 ? `, ${count.running} running` : "";
  return `${count.name} ${done}${rest}${count.pending > 0 ? `, ${count.pending} pending` : ""}`;
}
