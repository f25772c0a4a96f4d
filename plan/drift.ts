import type { JobFacts, Verdict } from "../model/facts.ts";
import { canonicalJson } from "../model/hash.ts";
import type { FieldDiff, JobDiff, JobSpec, ObjectDiff } from "../model/nomad.ts";
import { ownKeyPrefix } from "../model/settings.ts";

/** The fields and blocks of a plan's diff that really differ, as paths; unchanged context is left out (nomad-api §2.3). */
export function differingLeaves(diff: JobDiff): string[] {
  if (diff.Type === "None") return [];
  const found: string[] = [];
  visitParts(diff, "", found);
  for (const group of diff.TaskGroups ?? []) {
    if (group.Type === "None") continue;
    if (group.Type !== "Edited") found.push(`group ${group.Name}`);
    visitParts(group, `group ${group.Name}`, found);
    for (const task of group.Tasks ?? []) {
      if (task.Type === "None") continue;
      const path = `group ${group.Name} task ${task.Name}`;
      if (task.Type !== "Edited") found.push(path);
      visitParts(task, path, found);
    }
  }
  return found;
}

function visitParts(
  parts: { readonly Fields?: readonly FieldDiff[] | null; readonly Objects?: readonly ObjectDiff[] | null },
  path: string,
  found: string[],
): void {
  const below = (name: string): string => (path === "" ? name : `${path} ${name}`);
  for (const field of parts.Fields ?? []) if (field.Type !== "None") found.push(below(field.Name));
  for (const object of parts.Objects ?? []) {
    if (object.Type === "None") continue;
    // A block that came or went counts by itself; an edited one only by what differs in it (nomad-api §2.5, scaling).
    if (object.Type !== "Edited") found.push(below(object.Name));
    visitParts(object, below(object.Name), found);
  }
}

/** Whether a differing path is one of nops's own annotations in the job-level meta. */
function isOwnKey(path: string): boolean {
  return path.startsWith(`Meta[${ownKeyPrefix}`);
}

/**
 * What a plan of git's spec says about the live job (design D3, D29):
 * - `none`: equal;
 * - `own_keys`: only nops_* annotations differ, which never start a deployment by themselves;
 * - `unknown`: Nomad says edited but names nothing, or says equal although a field it does not compare differs;
 * - `drift`: they differ, or the job does not exist.
 */
export function judgeDrift(diff: JobDiff, blindSpotsDiffer: boolean): Verdict["drift"] {
  if (diff.Type === "Added" || diff.Type === "Deleted") return "drift";
  if (diff.Type === "None") return blindSpotsDiffer ? "unknown" : "none";
  const leaves = differingLeaves(diff);
  if (leaves.length === 0) return "unknown";
  return leaves.every(isOwnKey) ? "own_keys" : "drift";
}

/**
 * Whether a verdict leaves something to register: a difference that can be named, or an unknown one that was not registered once
 * for this very spec (design D29). Everywhere else the live job counts as equal to git: for dependents, for a retry, on pages.
 */
export function leavesToRegister(verdict: Verdict, facts: Pick<JobFacts, "unknownRegistered">): boolean {
  return verdict.drift === "drift" || (verdict.drift === "unknown" && facts.unknownRegistered !== verdict.specHash);
}

/** Whether planning a spec that was just registered proves that the live job is it: nothing that can be named differs (design D7). */
export function provesApplied(diff: JobDiff): boolean {
  return diff.Type !== "Added" && diff.Type !== "Deleted" && differingLeaves(diff).length === 0;
}

/** Whether fields that Nomad's plan never compares differ between a target and the live job (nomad-api §2.4: the job's `spread`). */
export function blindSpotsDiffer(target: JobSpec, live: JobSpec): boolean {
  return canonicalJson(spreads(target)) !== canonicalJson(spreads(live));
}

function spreads(spec: JobSpec): unknown {
  const list = spec.Spreads;
  if (!Array.isArray(list)) return [];
  return list.map((spread: Record<string, unknown>) => ({
    attribute: spread.Attribute ?? "",
    weight: spread.Weight ?? 50,
    targets: Array.isArray(spread.SpreadTarget)
      ? spread.SpreadTarget.map((target: Record<string, unknown>) => [target.Value ?? "", target.Percent ?? 0])
      : [],
  }));
}
