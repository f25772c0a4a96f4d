import { Refusal } from "../refusal.ts";
import { deploymentActive, isHealthy, nanos, requiresPromotion, rfc3339, terminal } from "./facts.ts";
import { markStable } from "./job-writes.ts";
import type { Tx } from "./state.ts";
import type { Allocation, Deployment, DeploymentState } from "./types.ts";

export interface StatusUpdate {
  readonly id: string;
  readonly status: string;
  readonly description: string;
}

/** Puts a deployment. A successful one makes its job version stable in the same write (nomad-api §3.6). */
export function upsertDeployment(tx: Tx, deployment: Deployment): void {
  const old = tx.state.deployment.get(deployment.ID);
  tx.put("deployment", { ...deployment, CreateIndex: old?.CreateIndex ?? tx.index, ModifyIndex: tx.index });
  if (deployment.Status === "successful") markStable(tx, deployment.Namespace, deployment.JobID, deployment.JobVersion, true);
}

/** Moves a deployment to another status. A terminal one stays as it is. */
export function setDeploymentStatus(tx: Tx, update: StatusUpdate, now: number): void {
  const old = tx.state.deployment.get(update.id);
  if (old === undefined || !deploymentActive(old)) return;
  const restartClock = update.status === "paused" || update.status === "running";
  const groups = mapGroups(old, (group) =>
    restartClock && group.ProgressDeadline !== 0
      ? { ...group, RequireProgressBy: rfc3339(now + group.ProgressDeadline / 1e6) }
      : group,
  );
  upsertDeployment(tx, {
    ...old,
    Status: update.status,
    StatusDescription: update.description,
    TaskGroups: groups,
    ModifyTime: nanos(now),
  });
}

export function mapGroups(
  deployment: Deployment,
  fn: (group: DeploymentState, name: string) => DeploymentState,
): Record<string, DeploymentState> {
  return Object.fromEntries(Object.entries(deployment.TaskGroups).map(([name, group]) => [name, fn(group, name)]));
}

/**
 * Counts an allocation in its deployment: placed, healthy, unhealthy. The progress deadline starts with the first placement and
 * moves with each healthy allocation; without any placement it never starts (nomad-api §17).
 */
export function countInDeployment(tx: Tx, alloc: Allocation, before: Allocation | undefined, now: number): Allocation {
  const deployment = alloc.DeploymentID === "" ? undefined : tx.state.deployment.get(alloc.DeploymentID);
  const group = deployment?.TaskGroups[alloc.TaskGroup];
  if (deployment === undefined || group === undefined) return alloc;
  const was = before?.DeploymentStatus?.Healthy ?? null;
  const is = alloc.DeploymentStatus?.Healthy ?? null;
  const placed = before === undefined || before.DeploymentID !== alloc.DeploymentID ? 1 : 0;
  let healthy = 0;
  let unhealthy = 0;
  if (placed === 0 && was === null && is !== null) [healthy, unhealthy] = is ? [1, 0] : [0, 1];
  else if (placed === 0 && was === true && is === false) [healthy, unhealthy] = [-1, 1];
  if (placed === 0 && healthy === 0 && unhealthy === 0) return alloc;
  const status = alloc.DeploymentStatus;
  const counted =
    status !== null && healthy + unhealthy !== 0 ? { ...alloc, DeploymentStatus: { ...status, ModifyIndex: tx.index } } : alloc;
  const next: DeploymentState = {
    ...group,
    PlacedAllocs: group.PlacedAllocs + placed,
    HealthyAllocs: group.HealthyAllocs + healthy,
    UnhealthyAllocs: group.UnhealthyAllocs + unhealthy,
    PlacedCanaries:
      status?.Canary && !(group.PlacedCanaries ?? []).includes(alloc.ID)
        ? [...(group.PlacedCanaries ?? []), alloc.ID]
        : group.PlacedCanaries,
    RequireProgressBy: progressBy(group, placed, healthy, now),
  };
  tx.put("deployment", {
    ...deployment,
    TaskGroups: { ...deployment.TaskGroups, [alloc.TaskGroup]: next },
    ModifyIndex: tx.index,
    ModifyTime: nanos(now),
  });
  return counted;
}

function progressBy(group: DeploymentState, placed: number, healthy: number, now: number): string | null {
  if (group.ProgressDeadline === 0) return group.RequireProgressBy;
  const deadline = rfc3339(now + group.ProgressDeadline / 1e6);
  if (placed !== 0 && group.RequireProgressBy === null) return deadline;
  return healthy !== 0 && deadline > (group.RequireProgressBy ?? "") ? deadline : group.RequireProgressBy;
}

/**
 * Promotes canaries. Throws Refusal when a group has fewer healthy ones than it wants.
 * `groups` undefined means all groups.
 */
export function promoteDeployment(tx: Tx, deployment: Deployment, groups: readonly string[] | undefined, now: number): void {
  const wanted = (name: string) => groups === undefined || groups.includes(name);
  const canaries = new Set(Object.values(deployment.TaskGroups).flatMap((group) => group.PlacedCanaries ?? []));
  const promotable = tx.state.allocs
    .by("deployment", deployment.ID)
    .filter(
      (alloc) => canaries.has(alloc.ID) && wanted(alloc.TaskGroup) && !terminal(alloc) && isHealthy(alloc.DeploymentStatus),
    );
  const lacking = Object.entries(deployment.TaskGroups).flatMap(([name, group]) => {
    if (!wanted(name) || group.DesiredCanaries === 0) return [];
    const have = promotable.filter((alloc) => alloc.TaskGroup === name).length;
    return have < group.DesiredCanaries ? [`Task group "${name}" has ${have}/${group.DesiredCanaries} healthy allocations`] : [];
  });
  if (lacking.length > 0) {
    const head = lacking.length === 1 ? "1 error occurred" : `${lacking.length} errors occurred`;
    throw new Refusal(500, `${head}:\n${lacking.map((line) => `\t* ${line}\n`).join("")}\n`);
  }
  const promoted: Deployment = {
    ...deployment,
    TaskGroups: mapGroups(deployment, (group, name) =>
      wanted(name)
        ? {
            ...group,
            Promoted: true,
            RequireProgressBy:
              group.ProgressDeadline > 0 && group.RequireProgressBy !== null
                ? rfc3339(now + group.ProgressDeadline / 1e6)
                : group.RequireProgressBy,
          }
        : group,
    ),
    // Nobody tells the server when it was.
    ModifyTime: 0,
  };
  const done = !requiresPromotion(promoted) && promoted.Status === "running";
  upsertDeployment(tx, done ? { ...promoted, StatusDescription: "Deployment is running" } : promoted);
  for (const alloc of promotable) {
    if (alloc.DeploymentStatus === null) continue;
    tx.put("allocs", {
      ...alloc,
      DeploymentStatus: { ...alloc.DeploymentStatus, Canary: false, ModifyIndex: tx.index },
      ModifyIndex: tx.index,
      AllocModifyIndex: tx.index,
    });
  }
  tx.touch("allocs");
}
