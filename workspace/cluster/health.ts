import type { AllocationStub, Evaluation, LiveJob, NomadDeployment, PlacementFailures } from "../../model/nomad.ts";
import { explainPlacement } from "../../plan/placement.ts";
import type { HealthVerdict, HealthView } from "../ports.ts";

/** Health of the live version of a job, one look (nomad-api §6.3, design D8). */
export function judgeHealth(view: HealthView): HealthVerdict {
  const { job } = view;
  if (job.Stop === true) return { kind: "failed", detail: "the job is stopped" };
  if (isPresent(job.Periodic) || isPresent(job.ParameterizedJob)) return { kind: "healthy" };
  const wanted = new Map((job.TaskGroups ?? []).map((group) => [group.Name ?? "", group.Count ?? 1]));
  const allocations = view.allocations.filter((allocation) => allocation.JobVersion === job.Version);
  if (job.Type === "batch" || job.Type === "sysbatch") return judgeBatch(job, wanted, allocations, view.evaluations);
  if ([...wanted.values()].every((count) => count === 0)) return { kind: "healthy" };
  const unplaced = placementFailures(view.evaluations, job);
  const deployment = view.deployments.find((one) => one.JobVersion === job.Version && one.JobCreateIndex === job.CreateIndex);
  if (deployment !== undefined) return judgeDeployment(job, deployment, unplaced);
  if (unplaced !== "") return { kind: "unplaced", detail: `cannot be placed: ${unplaced}` };
  return job.Type === "system" ? judgeSystem(allocations, view.evaluations) : judgeCounts(wanted, allocations);
}

function judgeDeployment(job: LiveJob, deployment: NomadDeployment, unplaced: string): HealthVerdict {
  const placing = unplaced === "" ? "" : `; cannot be placed: ${unplaced}`;
  if (deployment.Status === "successful") {
    // A system job that no node satisfies gets a successful deployment of nothing (nomad-api §17).
    const nothing = job.Type === "system" && unplaced !== "" && totals(deployment) === 0;
    return nothing ? { kind: "failed", detail: `nothing was placed${placing}` } : { kind: "healthy" };
  }
  if (deployment.Status === "failed" || deployment.Status === "cancelled") {
    return { kind: "failed", detail: `Nomad's deployment ${deployment.Status}: ${deployment.StatusDescription}${placing}` };
  }
  if (unplaced !== "") return { kind: "unplaced", detail: `cannot be placed: ${unplaced}` };
  return { kind: "waiting", detail: `Nomad's deployment ${deployment.ID.slice(0, 8)} is ${deployment.Status}${healthyOf(deployment)}` };
}

function totals(deployment: NomadDeployment): number {
  return Object.values(deployment.TaskGroups ?? {}).reduce((sum, group) => sum + group.PlacedAllocs, 0);
}

function healthyOf(deployment: NomadDeployment): string {
  const groups = Object.entries(deployment.TaskGroups ?? {}).map(([name, group]) => `${name} ${group.HealthyAllocs}/${group.DesiredTotal}`);
  return groups.length === 0 ? "" : ` (healthy: ${groups.join(", ")})`;
}

function judgeBatch(
  job: LiveJob,
  wanted: ReadonlyMap<string, number>,
  allocations: readonly AllocationStub[],
  evaluations: readonly Evaluation[],
): HealthVerdict {
  const unplaced = placementFailures(evaluations, job);
  if (unplaced !== "") return { kind: "unplaced", detail: `cannot be placed: ${unplaced}` };
  const complete = (name: string): number =>
    allocations.filter((allocation) => allocation.TaskGroup === name && allocation.ClientStatus === "complete").length;
  const done =
    job.Type === "sysbatch"
      ? allocations.length > 0 && allocations.every((allocation) => allocation.ClientStatus === "complete")
      : [...wanted].every(([name, count]) => complete(name) >= count);
  if (done) return { kind: "healthy" };
  const failed = allocations.find((allocation) => isFailed(allocation));
  if (job.Status === "dead" && failed !== undefined) return { kind: "failed", detail: describeFailure(failed) };
  if (job.Status === "dead" && allocations.length === 0 && evaluations.length > 0 && evaluations.every((one) => one.Status === "complete")) {
    return { kind: "failed", detail: "the job is dead and nothing of it ran" };
  }
  return { kind: "waiting", detail: `the job is ${job.Status}` };
}

function judgeSystem(allocations: readonly AllocationStub[], evaluations: readonly Evaluation[]): HealthVerdict {
  if (evaluations.some((one) => one.Status === "pending")) return { kind: "waiting", detail: "an evaluation is pending" };
  const wanted = allocations.filter((allocation) => allocation.DesiredStatus === "run");
  const failed = wanted.find(isFailed);
  if (failed !== undefined) return { kind: "failed", detail: describeFailure(failed) };
  if (wanted.length > 0 && wanted.every((allocation) => allocation.ClientStatus === "running")) return { kind: "healthy" };
  return { kind: "waiting", detail: `${wanted.filter((one) => one.ClientStatus === "running").length}/${wanted.length} running` };
}

function judgeCounts(wanted: ReadonlyMap<string, number>, allocations: readonly AllocationStub[]): HealthVerdict {
  const parts: string[] = [];
  for (const [name, count] of wanted) {
    const group = allocations.filter((allocation) => allocation.TaskGroup === name && allocation.DesiredStatus === "run");
    const running = group.filter((allocation) => allocation.ClientStatus === "running").length;
    // One that was replaced or waits for its replacement is history, not failure.
    const lost = group.find((one) => isFailed(one) && (one.NextAllocation ?? "") === "" && (one.FollowupEvalID ?? "") === "");
    if (running < count && lost !== undefined) return { kind: "failed", detail: describeFailure(lost) };
    if (running < count) parts.push(`${name} ${running}/${count}`);
  }
  return parts.length === 0 ? { kind: "healthy" } : { kind: "waiting", detail: `running: ${parts.join(", ")}` };
}

function isFailed(allocation: AllocationStub): boolean {
  return allocation.ClientStatus === "failed" || allocation.ClientStatus === "lost";
}

/** Which allocation failed and what its last telling task event was. */
export function describeFailure(allocation: AllocationStub): string {
  for (const [task, state] of Object.entries(allocation.TaskStates ?? {})) {
    if (!state.Failed) continue;
    const event = state.Events?.findLast((one) => (one.DisplayMessage ?? "") !== "");
    return `allocation ${allocation.ID.slice(0, 8)}, task ${task}: ${event?.DisplayMessage ?? "failed"}`;
  }
  return `allocation ${allocation.ID.slice(0, 8)} ${allocation.ClientStatus}: ${allocation.ClientDescription ?? ""}`;
}

/** Why groups of the live version cannot be placed now, in words; empty when nothing is blocked. */
function placementFailures(evaluations: readonly Evaluation[], job: LiveJob): string {
  const blocked = evaluations.some((one) => one.Status === "blocked");
  const newest = evaluations
    .filter((one) => one.FailedTGAllocs !== null && one.FailedTGAllocs !== undefined && Object.keys(one.FailedTGAllocs).length > 0)
    .sort((a, b) => b.CreateIndex - a.CreateIndex)[0];
  const current = newest !== undefined && (newest.JobModifyIndex ?? 0) >= job.JobModifyIndex;
  const failures: PlacementFailures | null | undefined = blocked || current ? newest?.FailedTGAllocs : undefined;
  return explainPlacement(failures);
}

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined;
}
