import type { AllocationStub, Evaluation, LiveJob, NomadDeployment, TaskEvent, TaskGroupSpec } from "../model/nomad.ts";
import type { ReasonCode } from "../model/reasons.ts";
import { explainPlacement } from "./placement.ts";

/** What was read about the version that a deployment registered. Absent parts were not needed. */
export interface HealthInput {
  readonly appliedIndex: number;
  /** `verify` ignores a rollout that had already ended badly before it began (design D12). */
  readonly mode: "apply" | "verify";
  /** The live job now; `undefined` when Nomad has none. */
  readonly live: LiveJob | undefined;
  /** Nomad deployments of the live incarnation, newest first. */
  readonly nomadDeployments: readonly NomadDeployment[];
  readonly allocations: readonly AllocationStub[];
  readonly evaluations: readonly Evaluation[];
}

export type Health =
  | { readonly state: "healthy"; readonly message: string }
  /** `goodEnough`: when the time is over, this counts as healthy (a batch job that still runs). */
  | { readonly state: "waiting"; readonly message: string; readonly goodEnough?: boolean }
  | { readonly state: "awaiting_promotion"; readonly message: string; readonly nomadDeploymentId: string }
  | { readonly state: "failed"; readonly message: string; readonly reason: ReasonCode };

/** Nomad's default count is 1. */
export function wantedCount(group: TaskGroupSpec): number {
  return group.Count ?? 1;
}

/** Placement failures of the newest evaluations of the registered version, in words. */
export function placementWords(input: Pick<HealthInput, "evaluations" | "appliedIndex">): string {
  const ours = input.evaluations.filter((evaluation) => (evaluation.JobModifyIndex ?? input.appliedIndex) === input.appliedIndex);
  const newest = ours
    .toSorted((a, b) => b.CreateIndex - a.CreateIndex)
    .find((each) => Object.keys(each.FailedTGAllocs ?? {}).length > 0);
  const blocked = ours.some((evaluation) => evaluation.Status === "blocked");
  const later = ours.some((each) => newest !== undefined && each.CreateIndex > newest.CreateIndex && each.Status === "complete");
  return newest !== undefined && (blocked || !later) ? explainPlacement(newest.FailedTGAllocs) : "";
}

/** Why the newest failed or lost allocation ended, else what keeps the newest one from being healthy, in words; empty when all is well. */
export function worstAllocation(allocations: readonly AllocationStub[]): string {
  const bad = newestFirst(allocations).find(endedBadly);
  return bad === undefined ? ailingAllocation(allocations) : explainAllocation(bad);
}

/** What keeps the newest allocation that has not ended from being healthy, in words; empty when nothing is known to. */
export function ailingAllocation(allocations: readonly AllocationStub[]): string {
  const words = newestFirst(allocations.filter((each) => !endedBadly(each))).map(explainAiling);
  return words.find((each) => each !== "") ?? "";
}

function newestFirst(allocations: readonly AllocationStub[]): AllocationStub[] {
  return allocations.toSorted((a, b) => b.ModifyIndex - a.ModifyIndex);
}

function endedBadly({ ClientStatus }: AllocationStub): boolean {
  return ClientStatus === "failed" || ClientStatus === "lost";
}

/** A task that Nomad goes on restarting has not failed yet, and often the rollout ends before it has. */
function explainAiling(allocation: AllocationStub): string {
  const healthy = allocation.DeploymentStatus?.Healthy;
  if (healthy === true) return "";
  const head = `allocation ${allocation.ID.slice(0, 8)} of group ${allocation.TaskGroup}`;
  for (const [task, state] of Object.entries(allocation.TaskStates ?? {})) {
    const events = state.Events ?? [];
    const end = events.findLast(({ Type }, at) => Type === "Terminated" && events[at + 1]?.Type === "Restarting");
    if (end !== undefined)
      return `${head}: task ${task} ended and is restarted: ${eventText(end)}, restarts: ${state.Restarts ?? 0}`;
  }
  return healthy === false ? explainAllocation(allocation, "is not healthy") : "";
}

function eventText(event: TaskEvent): string {
  const text = event.DisplayMessage ?? event.Message ?? "";
  return text === "" ? event.Type : text;
}

/** The task event that explains an end: an exit code or a failure to start, not the last one, which only says that it is over. */
const telling = [
  "Terminated",
  "Driver Failure",
  "Setup Failure",
  "Failed Artifact Download",
  "Failed Validation",
  "Template",
  "Alloc Unhealthy",
];

/** What became of an allocation and the task event that explains it. */
export function explainAllocation(
  allocation: AllocationStub,
  what = allocation.ClientStatus === "lost" ? "was lost" : "failed",
): string {
  const head = `allocation ${allocation.ID.slice(0, 8)} of group ${allocation.TaskGroup} ${what}`;
  for (const [task, state] of Object.entries(allocation.TaskStates ?? {}).toSorted(
    ([, a], [, b]) => Number(b.Failed) - Number(a.Failed),
  )) {
    const event = (state.Events ?? []).findLast(
      (each) => telling.includes(each.Type) && (each.Type !== "Terminated" || state.Failed),
    );
    if (event === undefined) continue;
    return `${head}: task ${task}: ${eventText(event)}`;
  }
  const description = allocation.ClientDescription ?? "";
  return description === "" ? head : `${head}: ${description}`;
}
