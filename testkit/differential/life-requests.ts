import type { Rec } from "../../simulator/jobspec/values.ts";
import { type Alloc, type LifeSide, pathOf } from "./life-side.ts";
import type { LifeStep } from "./lives.ts";
import type { Exchange } from "./twins.ts";

/** The request by which a step is done on one of the servers, whose ids are its own; undefined when there is nothing to ask. */
export async function requestOf(side: LifeSide, name: string, step: LifeStep): Promise<Exchange | undefined> {
  switch (step.do) {
    case "register":
      return put("/v1/jobs", { Job: step.job, ...step.more?.fields, ...(await enforced(side, name, step.more?.index)) });
    case "plan":
      return put(`${pathOf(name)}/plan`, { Job: step.job, Diff: true });
    case "scale": {
      const { group, count, message, error } = step;
      return put(`${pathOf(name)}/scale`, { Count: count, Target: { Group: group }, Message: message, Error: error });
    }
    case "stop":
      return { method: "DELETE", path: `${pathOf(name)}?purge=${step.purge}` };
    case "evaluate":
      return put(`${pathOf(name)}/evaluate`, { JobID: name, EvalOptions: { ForceReschedule: step.reschedule } });
    case "dispatch":
      return put(`${pathOf(name)}/dispatch`, step.request);
    case "force":
      return put(`${pathOf(name)}/periodic/force`);
    case "stop-child": {
      const child = at(await side.children(name), step.at);
      return child === undefined ? undefined : { method: "DELETE", path: `${pathOf(child)}?purge=${step.purge}` };
    }
    case "deployment":
    case "health":
      return await deploymentRequest(side, name, step);
    case "stop-alloc": {
      const alloc = at(await side.allocs(name), step.at);
      return alloc && put(`/v1/allocation/${alloc.ID}/stop`);
    }
    case "collect":
      return put("/v1/system/gc");
    default:
      return await versionRequest(side, name, step);
  }
}

function put(path: string, body?: unknown): Exchange {
  return { method: "PUT", path, ...(body === undefined ? {} : { body }) };
}

async function versionRequest(side: LifeSide, name: string, step: LifeStep): Promise<Exchange | undefined> {
  const before = async (back: number) => Math.max(0, (await versionOf(side, name)) - back);
  switch (step.do) {
    case "revert": {
      const EnforcePriorVersion = step.enforce === true ? await before(0) : undefined;
      return put(`${pathOf(name)}/revert`, { JobID: name, JobVersion: await before(step.back), EnforcePriorVersion });
    }
    case "stable":
      return put(`${pathOf(name)}/stable`, { JobID: name, JobVersion: await before(step.back), Stable: step.stable });
    case "tag":
      return put(`${pathOf(name)}/versions/${step.tag}/tag`, {
        Version: await before(step.back),
        Description: step.description,
      });
    case "untag":
      return { method: "DELETE", path: `${pathOf(name)}/versions/${step.tag}/tag` };
    default:
      return undefined;
  }
}

async function versionOf(side: LifeSide, name: string): Promise<number> {
  return ((await side.read(pathOf(name))) as { readonly Version: number } | undefined)?.Version ?? 0;
}

async function enforced(side: LifeSide, name: string, index: "known" | "wrong" | undefined): Promise<Rec> {
  if (index === undefined) return {};
  const job = (await side.read(pathOf(name))) as { readonly JobModifyIndex: number } | undefined;
  return { EnforceIndex: true, JobModifyIndex: index === "wrong" ? 1 : (job?.JobModifyIndex ?? 0) };
}

async function deploymentRequest(
  side: LifeSide,
  name: string,
  step: Extract<LifeStep, { readonly do: "deployment" | "health" }>,
): Promise<Exchange | undefined> {
  const latest = (await side.read(`${pathOf(name)}/deployment`)) as { readonly ID: string } | null | undefined;
  if (latest === null || latest === undefined) return undefined;
  const { ID: DeploymentID } = latest;
  const ask = (verb: string, body: object) => put(`/v1/deployment/${verb}/${DeploymentID}`, { DeploymentID, ...body });
  if (step.do === "health") {
    const allocs = await side.allocs(name);
    const ids = chosen(
      allocs.filter((alloc) => alloc["DeploymentID"] === DeploymentID),
      step.at,
    ).map(({ ID }) => ID);
    return ask("allocation-health", { [step.healthy ? "HealthyAllocationIDs" : "UnhealthyAllocationIDs"]: ids });
  }
  const { action, groups } = step;
  if (action === "promote") return ask("promote", groups === undefined ? { All: true } : { Groups: groups });
  return action === "fail" ? ask("fail", {}) : ask("pause", { Pause: action === "pause" });
}

/** Those at some places of a list, counted from its start, round and round. */
export function chosen(allocs: readonly Alloc[], places: readonly number[]): Alloc[] {
  return [...new Set(places.flatMap((place) => at(allocs, place) ?? []))];
}

function at<T>(list: readonly T[], place: number): T | undefined {
  return list.length === 0 ? undefined : list[place % list.length];
}
