import type { FieldDiff, JobDiff, TaskDiff, TaskGroupDiff } from "../../model/nomad.ts";
import type { DesiredUpdates } from "../jobspec/types.ts";

const UPDATES: readonly (readonly [keyof DesiredUpdates, string])[] = [
  ["Ignore", "ignore"],
  ["Place", "create"],
  ["Migrate", "migrate"],
  ["Stop", "destroy"],
  ["Canary", "canary"],
  ["InPlaceUpdate", "in-place update"],
  ["DestructiveUpdate", "create/destroy update"],
];

/**
 * Adds to a diff what a dry run wants to do: `Updates` of the groups, and `Annotations` of counts and tasks (nomad-api §2.3).
 * Returns a new diff. `updates` is the dry run's `DesiredTGUpdates`; a group it does not name gets none.
 */
export function annotateDiff(diff: JobDiff, updates: Readonly<Record<string, DesiredUpdates>>): JobDiff {
  return { ...diff, TaskGroups: diff.TaskGroups?.map((group) => annotateGroup(group, updates[group.Name])) ?? null };
}

function annotateGroup(group: TaskGroupDiff, wanted: DesiredUpdates | undefined): TaskGroupDiff {
  return {
    ...group,
    Fields: group.Fields?.map(annotateCount) ?? null,
    Tasks: group.Tasks?.map((task) => annotateTask(task, group)) ?? null,
    Updates: wanted === undefined ? null : updatesOf(wanted),
  };
}

function updatesOf(wanted: DesiredUpdates): Record<string, number> {
  const updates: Record<string, number> = {};
  for (const [key, name] of UPDATES) if (wanted[key] !== 0) updates[name] = wanted[key];
  return updates;
}

function annotateCount(field: FieldDiff): FieldDiff {
  if (field.Name !== "Count") return field;
  const [before, after] = [Number(field.Old), Number(field.New)];
  if (before === after) return field;
  return { ...field, Annotations: [before < after ? "forces create" : "forces destroy"] };
}

function annotateTask(task: TaskDiff, group: TaskGroupDiff): TaskDiff {
  if (task.Type === "None") return task;
  const whole = group.Type === "Added" || group.Type === "Deleted";
  if (whole && task.Type === "Added") return { ...task, Annotations: ["forces create"] };
  if (whole && task.Type === "Deleted") return { ...task, Annotations: ["forces destroy"] };
  return { ...task, Annotations: [forcesReplacement(task) ? "forces create/destroy update" : "forces in-place update"] };
}

const IN_PLACE = new Set(["Service", "Constraint", "Affinity", "Spread"]);

/** Nomad judges this by the diff alone, so its word can differ from what the scheduler does. */
function forcesReplacement(task: TaskDiff): boolean {
  if (task.Fields?.some((field) => field.Name !== "KillTimeout") === true) return true;
  return (
    task.Objects?.some((object) => {
      if (object.Name === "LogConfig") return object.Fields?.some((field) => field.Name === "Disabled") === true;
      return !IN_PLACE.has(object.Name);
    }) === true
  );
}
