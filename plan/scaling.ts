import { canonicalJson, withoutServerFields } from "../model/hash.ts";
import type { JobSpec, LiveJob, TaskGroupSpec } from "../model/nomad.ts";

/** Whether any group of the spec may be scaled from outside (design D6). */
export function hasScaling(spec: JobSpec): boolean {
  return (spec.TaskGroups ?? []).some(isScaled);
}

function isScaled(group: TaskGroupSpec): boolean {
  return group.Scaling !== null && group.Scaling !== undefined;
}

/**
 * The spec with the live count of each group that has a `scaling` block; other groups keep git's count (design D6). A live count outside of
 * what git's block allows goes to the nearest bound: Nomad refuses a count beyond the bounds, and the job could never be deployed again.
 */
export function substituteCounts(spec: JobSpec, live: JobSpec | undefined): JobSpec {
  if (live === undefined || !hasScaling(spec)) return spec;
  const counts = new Map((live.TaskGroups ?? []).map((group) => [group.Name, group.Count]));
  const groups = (spec.TaskGroups ?? []).map((group) => {
    const count = counts.get(group.Name);
    return isScaled(group) && count !== null && count !== undefined ? { ...group, Count: withinBounds(count, group) } : group;
  });
  return { ...spec, TaskGroups: groups };
}

function withinBounds(count: number, group: TaskGroupSpec): number {
  const { Min: min, Max: max } = group.Scaling ?? {};
  const raised = typeof min === "number" ? Math.max(count, min) : count;
  return typeof max === "number" ? Math.min(raised, max) : raised;
}

/**
 * Whether two versions of a live job differ in nothing but the counts of scaled groups. That the index moved says nothing:
 * an autoscaler moves it all day, and an approval given for a spec is not spoilt by it (design D6).
 */
export function movedOnlyByScale(before: LiveJob, now: LiveJob): boolean {
  return before.CreateIndex === now.CreateIndex && canonicalJson(withoutCounts(before)) === canonicalJson(withoutCounts(now));
}

/**
 * Whether everything that happened to a job between two indexes was scaling. Every version in between has to be looked at: Nomad's auto_revert
 * puts the old spec back *after* ours was live, and then first and last are equal although the job moved twice. A version that Nomad no longer
 * keeps may have been anything.
 */
export function onlyScaledBetween(versions: readonly LiveJob[], from: number, to: number): boolean {
  const between = versions
    .filter((version) => version.JobModifyIndex >= from && version.JobModifyIndex <= to)
    .toSorted((a, b) => a.Version - b.Version);
  const [first] = between;
  if (first === undefined || first.JobModifyIndex !== from || between.at(-1)?.JobModifyIndex !== to) return false;
  return between.every((version, at) => version.Version === first.Version + at && movedOnlyByScale(first, version));
}

function withoutCounts(job: LiveJob): unknown {
  const groups = (job.TaskGroups ?? []).map((group) => {
    if (!isScaled(group)) return group;
    const { Count: _count, Scaling: scaling, ...rest } = group;
    const { CreateIndex: _created, ModifyIndex: _modified, ID: _id, ...policy } = scaling ?? {};
    return { ...rest, Scaling: { ...policy, kept: true } };
  });
  const { Meta: meta, ...rest } = withoutServerFields(job);
  return { ...rest, Meta: meta ?? null, TaskGroups: groups };
}
