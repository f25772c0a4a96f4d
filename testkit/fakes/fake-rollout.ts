import type { AllocationStub, JobSpec, NomadDeployment } from "../../model/nomad.ts";

/** What becomes of a version that is registered. */
export type Fate = "healthy" | "failing" | "pending" | "canary";

interface Version {
  readonly spec: JobSpec;
  readonly createIndex: number;
  readonly jobModifyIndex: number;
  readonly version: number;
}

/** One allocation for each group, in the state that the fate brings about at once; that of a dispatched child runs. */
export function fakeAllocations(jobId: string, { spec, jobModifyIndex, version }: Version, fate: Fate): AllocationStub[] {
  return (spec.TaskGroups ?? []).map((group) => ({
    ID: `alloc-${jobModifyIndex}-${group.Name}`,
    JobID: jobId,
    JobVersion: version,
    TaskGroup: group.Name ?? "",
    DesiredStatus: "run",
    ClientStatus: jobId.includes("/dispatch-") ? "running" : clientStatus(spec, fate),
    CreateIndex: jobModifyIndex,
    ModifyIndex: jobModifyIndex,
  }));
}

function clientStatus(spec: JobSpec, fate: Fate): string {
  if (fate === "failing") return "failed";
  if (fate === "pending") return "pending";
  return spec.Type === "batch" && fate === "healthy" ? "complete" : "running";
}

const deploymentStatuses: Readonly<Record<Fate, string>> = {
  healthy: "successful",
  failing: "failed",
  pending: "running",
  canary: "running",
};

/** Nomad's rollout of a version; with the fate `canary` it waits for a promotion. */
export function fakeDeployment(namespace: string, jobId: string, held: Version, fate: Fate): NomadDeployment {
  const status = deploymentStatuses[fate];
  const canary = fate === "canary" ? 1 : 0;
  return {
    ID: `nd-${held.jobModifyIndex}`,
    JobID: jobId,
    Namespace: namespace,
    JobVersion: held.version,
    JobCreateIndex: held.createIndex,
    JobSpecModifyIndex: held.jobModifyIndex,
    Status: status,
    StatusDescription: status === "failed" ? "Failed due to unhealthy allocations" : "",
    TaskGroups: Object.fromEntries(
      (held.spec.TaskGroups ?? []).map((group) => [
        group.Name ?? "",
        {
          Promoted: false,
          AutoPromote: false,
          DesiredCanaries: canary,
          PlacedCanaries: canary === 1 ? ["c"] : [],
          DesiredTotal: group.Count ?? 1,
          PlacedAllocs: 1,
          HealthyAllocs: 1,
          UnhealthyAllocs: 0,
        },
      ]),
    ),
    CreateIndex: held.jobModifyIndex,
    ModifyIndex: held.jobModifyIndex,
  };
}
