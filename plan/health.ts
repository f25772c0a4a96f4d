import type { JobSpec, LiveJob, NomadDeployment } from "../model/nomad.ts";
import { judgeAllocations } from "./health-allocations.ts";
import { type Health, type HealthInput, placementWords, wantedCount, worstAllocation } from "./health-words.ts";

/** Nomad's own rollout of exactly the registered version; never simply the newest one (nomad-api §0.7). */
export function rolloutOf(deployments: readonly NomadDeployment[], appliedIndex: number): NomadDeployment | undefined {
  return deployments.find((deployment) => deployment.JobSpecModifyIndex === appliedIndex);
}

/**
 * Whether the registered version is healthy (design D8, nomad-api §6.3, §17). Pure; the clock is the caller's, and it comes
 * after this: a version that is healthy is healthy, however late it is looked at (operator §31.33).
 */
export function judgeHealth(input: HealthInput): Health {
  const rollout = rolloutOf(input.nomadDeployments, input.appliedIndex);
  const endedBadly = rollout?.Status === "failed" || rollout?.Status === "cancelled";
  if (rollout !== undefined && endedBadly && input.mode === "apply") return rolloutFailed(rollout, input);
  const changed = outsideChange(input, rollout);
  if (changed !== undefined) return changed;
  const { live } = input;
  if (live === undefined) return { state: "failed", reason: "conflict", message: "the job is gone from Nomad" };
  if (isTemplateJob(live)) return { state: "healthy", message: "the job is registered; its runs start on their own" };
  const groups = live.TaskGroups ?? [];
  if (groups.length > 0 && groups.every((group) => wantedCount(group) === 0)) {
    return { state: "healthy", message: "every group has count 0, so nothing has to run" };
  }
  if (rollout === undefined || endedBadly) return judgeAllocations(input, live, rollout?.Status === "failed");
  return judgeRollout(rollout, input, live);
}

/** Periodic and parameterized jobs are never run themselves (nomad-api §6.3). */
export function isTemplateJob(spec: JobSpec): boolean {
  return (spec.Periodic ?? null) !== null || (spec.ParameterizedJob ?? null) !== null;
}

function outsideChange(input: HealthInput, rollout: NomadDeployment | undefined): Health | undefined {
  if (input.live !== undefined && input.live.JobModifyIndex === input.appliedIndex && input.live.Stop !== true) return undefined;
  if (rollout?.Status === "successful")
    return { state: "healthy", message: "Nomad's deployment was successful before the job changed again" };
  const { live } = input;
  const now = live === undefined ? "it is gone" : live.Stop === true ? "it is stopped" : `its index is ${live.JobModifyIndex}`;
  const message = `the live job changed while it was becoming healthy: registered at index ${input.appliedIndex}, now ${now}`;
  return { state: "failed", reason: "conflict", message };
}

function judgeRollout(rollout: NomadDeployment, input: HealthInput, live: LiveJob): Health {
  switch (rollout.Status) {
    case "successful":
      return unplaced(rollout, input) ?? { state: "healthy", message: "Nomad's deployment is successful" };
    case "running": {
      const canaries = canaryState(rollout, live);
      if (canaries === "awaiting") {
        const message = "the canaries are healthy and wait for a person to promote them";
        return { state: "awaiting_promotion", message, nomadDeploymentId: rollout.ID };
      }
      return { state: "waiting", message: progressOf(rollout, input) };
    }
    default:
      return { state: "waiting", message: `Nomad's deployment is ${rollout.Status}` };
  }
}

/** A system job's deployment is `successful` with nothing placed when no node satisfies it (nomad-api §17). */
function unplaced(rollout: NomadDeployment, input: HealthInput): Health | undefined {
  const groups = Object.entries(rollout.TaskGroups ?? {});
  if (groups.every(([, group]) => group.DesiredTotal > 0)) return undefined;
  const placement = placementWords(input);
  const missing = groups.filter(([, group]) => group.DesiredTotal === 0).map(([name]) => name);
  const message = placement !== "" ? placement : `nothing of group ${missing.join(", ")} is placed: no node is eligible`;
  return { state: "waiting", message };
}

function rolloutFailed(rollout: NomadDeployment, input: HealthInput): Health {
  const cause = worstAllocation(input.allocations.filter((allocation) => allocation.JobVersion === rollout.JobVersion));
  const parts = [`Nomad's deployment is ${rollout.Status}: ${rollout.StatusDescription}`, cause, placementWords(input)];
  return { state: "failed", reason: "rollout_failed", message: parts.filter((part) => part !== "").join("; ") };
}

/** Canaries that a person has to promote: groups that want canaries and do not promote them by themselves (operator §14.7). */
function canaryState(rollout: NomadDeployment, live: LiveJob): "none" | "starting" | "awaiting" | "promoted" {
  const manual = Object.entries(rollout.TaskGroups ?? {}).filter(
    ([name, group]) => group.DesiredCanaries > 0 && !isAutoPromoted(name, group, live),
  );
  if (manual.length === 0) return "none";
  const open = manual.filter(([, group]) => !group.Promoted);
  if (open.length === 0) return "promoted";
  const ready = open.every(
    ([, group]) => (group.PlacedCanaries ?? []).length >= group.DesiredCanaries && group.HealthyAllocs >= group.DesiredCanaries,
  );
  return ready ? "awaiting" : "starting";
}

function isAutoPromoted(name: string, group: { readonly AutoPromote?: boolean }, live: LiveJob): boolean {
  const block = (live.TaskGroups ?? []).find((each) => each.Name === name)?.Update ?? live.Update;
  return group.AutoPromote ?? block?.AutoPromote === true;
}

/** Whether a rollout's hand-promoted canaries have all been promoted, by whomever. */
export function isPromoted(rollout: NomadDeployment, live: LiveJob): boolean {
  return rollout.Status !== "running" || canaryState(rollout, live) === "promoted";
}

function progressOf(rollout: NomadDeployment, input: HealthInput): string {
  const groups = Object.entries(rollout.TaskGroups ?? {}).map(
    ([name, group]) =>
      `${name} ${group.HealthyAllocs} of ${group.DesiredTotal} healthy${group.UnhealthyAllocs > 0 ? `, ${group.UnhealthyAllocs} unhealthy` : ""}`,
  );
  const cause = worstAllocation(input.allocations.filter((allocation) => allocation.JobVersion === rollout.JobVersion));
  return [groups.join(", "), placementWords(input), cause].filter((part) => part !== "").join("; ");
}
