import type { DiffType, FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from "../../model/nomad.ts";
import type { ServerJob } from "../jobspec/types.ts";
import { isUnset, num, type Rec, rec, recEntries, recs, sameJson, str } from "../jobspec/values.ts";
import { type Flat, fieldDiffs } from "./field-diff.ts";
import { type FlattenOptions, flattenObject } from "./flatten.ts";
import { type Child, freeForm, keyed, keyedDiffs, type ObjectSpec, one, presence, textSet } from "./object-diff.ts";
import { affinities, constraints, networks, simple } from "./specs-common.ts";
import { services } from "./specs-service.ts";
import { TASK_CHILDREN } from "./specs-task.ts";

/**
 * The difference as plan shows it, blind spots included (nomad-api §2.3–§2.5). Undefined stands for a job that does not exist.
 * `contextual`: an edited object also lists its equal fields, with Type None.
 */
export function jobDiff(old: ServerJob | undefined, next: ServerJob | undefined, contextual: boolean): JobDiff {
  const fields = changedFields("Job", old, next, JOB_FIELDS);
  const objects = childDiffs(JOB_CHILDREN, old, next, contextual);
  const groups = pairs(recs(old, "TaskGroups"), recs(next, "TaskGroups")).map(([a, b]) => groupDiff(a, b, contextual));
  const parts = [...fields, ...objects, ...groups];
  const whole: DiffType = parts.some((part) => part.Type !== "None") ? "Edited" : "None";
  const type = old === undefined || next === undefined ? (old === next ? "None" : presence(old, next)) : whole;
  return { Type: type, ID: str(next ?? old, "ID"), Fields: orNull(fields), Objects: orNull(objects), TaskGroups: orNull(groups) };
}

const JOB_FIELDS = {
  skip: [
    "ID",
    "Status",
    "StatusDescription",
    "Version",
    "Stable",
    "CreateIndex",
    "ModifyIndex",
    "JobModifyIndex",
    "Update",
    "SubmitTime",
    "NomadTokenID",
  ],
};

const PERIODIC: ObjectSpec = { name: "Periodic", table: "PeriodicConfig", children: [textSet("Specs", true)] };
const PARAMETERIZED: ObjectSpec = {
  name: "ParameterizedJob",
  table: "ParameterizedJobConfig",
  children: [textSet("MetaOptional"), textSet("MetaRequired")],
};
const REGION: ObjectSpec = { name: "Region", table: "MultiregionRegion", children: [textSet("Datacenters", true)] };
const MULTIREGION: ObjectSpec = {
  name: "Multiregion",
  table: "Multiregion",
  children: [
    simple("Strategy", "MultiregionStrategy"),
    keyed(
      "Regions",
      (region) => str(region, "Name"),
      () => REGION,
    ),
  ],
};
const LINK: ObjectSpec = { name: "Link", table: "JobUILink" };

const multiregionDiff: Child = one("Multiregion", () => MULTIREGION);
const NO_STRATEGY: Rec = { Strategy: { MaxParallel: 0, OnFailure: "" }, Regions: null };

/** Compared with an empty one where there was none. */
const multiregion: Child = (before, after, contextual) => {
  const [old, next] = [rec(before, "Multiregion"), rec(after, "Multiregion")];
  // A list of no regions is stored as none, so it differs from itself.
  if (old !== undefined && next !== undefined && sameJson(old, next) && recs(next, "Regions").length === 0) {
    return [{ Type: "Edited", Name: "Multiregion", Fields: null, Objects: null }];
  }
  if (old !== undefined || next === undefined) return multiregionDiff(before, after, contextual);
  const [diff] = multiregionDiff({ Multiregion: NO_STRATEGY }, after, contextual);
  return [{ ...diff, Type: "Added", Name: "Multiregion" }];
};

const NO_LINK: Rec = { Label: "", Url: "" };

/** Links are compared by their place; an absent one counts as an empty one. */
const links: Child = (before, after, contextual) => {
  const [old, next] = [recs(before, "Links"), recs(after, "Links")];
  const found: ObjectDiff[] = [];
  for (let i = 0; i < Math.max(old.length, next.length); i++) {
    const [a, b] = [old[i], next[i]];
    if (sameJson(a ?? NO_LINK, b ?? NO_LINK)) continue;
    const flat = (link: Rec | undefined) => flattenObject("JobUILink", link ?? NO_LINK, {});
    found.push({ Type: presence(a, b), Name: LINK.name, Fields: fieldDiffs(flat(a), flat(b), contextual), Objects: null });
  }
  return found;
};

const UI: ObjectSpec = { name: "UI", table: "JobUIConfig", children: [links] };

const JOB_CHILDREN: readonly Child[] = [
  textSet("Datacenters", true),
  constraints,
  affinities,
  one("Periodic", () => PERIODIC),
  one("ParameterizedJob", () => PARAMETERIZED),
  multiregion,
  one("UI", () => UI),
];

const DISCONNECT: ObjectSpec = { name: "Disconnect", table: "DisconnectStrategy", whole: true };
const SCALING: ObjectSpec = {
  name: "Scaling",
  table: "ScalingPolicy",
  terse: true,
  skip: ["CreateIndex", "ModifyIndex", "ID", "Type", "Target[Job]", "Target[Group]", "Target[Namespace]"],
  children: [freeForm("Policy", true)],
};
const MOUNT_OPTIONS: ObjectSpec = { name: "MountOptions", table: "CSIMountOptions", children: [textSet("MountFlags")] };
const VOLUME: ObjectSpec = { name: "Volume", table: "VolumeRequest", children: [one("MountOptions", () => MOUNT_OPTIONS)] };

const volumes: Child = (before, after, contextual) => {
  const [old, next] = [recEntries(before, "Volumes"), recEntries(after, "Volumes")];
  return old.length === 0 && next.length === 0 ? [] : keyedDiffs(VOLUME, new Map(old), new Map(next), contextual);
};

const GROUP_CHILDREN: readonly Child[] = [
  constraints,
  affinities,
  simple("RestartPolicy", "RestartPolicy"),
  simple("Migrate", "MigrateStrategy"),
  simple("ReschedulePolicy", "ReschedulePolicy"),
  simple("EphemeralDisk", "EphemeralDisk"),
  simple("Consul", "Consul"),
  simple("Update", "UpdateStrategy", "Update", ["Stagger"]),
  one("Disconnect", () => DISCONNECT),
  networks,
  one("Scaling", () => SCALING),
  services,
  volumes,
];

const GROUP_FIELDS = { skip: ["Name"] };
const TASK_FIELDS = { skip: ["Name", "Config"] };

function groupDiff(old: Rec | undefined, next: Rec | undefined, contextual: boolean): TaskGroupDiff {
  const both = old !== undefined && next !== undefined;
  const name = str(next ?? old, "Name");
  // An unchanged group still lists its tasks.
  const same = both && sameJson(old, next);
  const flat = (group: Rec | undefined, other: Rec | undefined): Flat => {
    const own = flattenObject("TaskGroup", group, GROUP_FIELDS, other);
    return both ? [...own, ["ShutdownDelay", isUnset(group?.["ShutdownDelay"]) ? "" : String(num(group, "ShutdownDelay"))]] : own;
  };
  const tasks = pairs(recs(old, "Tasks"), recs(next, "Tasks")).map(([a, b]) => taskDiff(a, b, contextual));
  return {
    Type: both ? (same ? "None" : "Edited") : presence(old, next),
    Name: name,
    Fields: same ? null : orNull(fieldDiffs(flat(old, next), flat(next, old), false)),
    Objects: same ? null : orNull(childDiffs(GROUP_CHILDREN, old, next, contextual)),
    Tasks: orNull(tasks),
    Updates: null,
  };
}

function taskDiff(old: Rec | undefined, next: Rec | undefined, contextual: boolean): TaskDiff {
  const name = str(next ?? old, "Name");
  const none = { Type: "None", Name: name, Fields: null, Objects: null, Annotations: null } as const;
  const both = old !== undefined && next !== undefined;
  if (both && sameJson(old, next)) return none;
  const fields = changedFields("Task", old, next, TASK_FIELDS);
  const objects = childDiffs(TASK_CHILDREN, old, next, contextual);
  return { ...none, Type: both ? "Edited" : presence(old, next), Fields: orNull(fields), Objects: orNull(objects) };
}

/** The fields of two objects that are not equal. */
function changedFields(table: string, old: Rec | undefined, next: Rec | undefined, options: FlattenOptions): FieldDiff[] {
  return fieldDiffs(flattenObject(table, old, options, next), flattenObject(table, next, options, old), false);
}

function childDiffs(children: readonly Child[], old: Rec | undefined, next: Rec | undefined, contextual: boolean): ObjectDiff[] {
  const found: ObjectDiff[] = [];
  for (const child of children) for (const diff of child(old, next, contextual)) found.push(diff);
  return found;
}

/** Partners by name, in the order of names. */
function pairs(old: readonly Rec[], next: readonly Rec[]): (readonly [Rec | undefined, Rec | undefined])[] {
  const [first, second] = [old[0], next[0]];
  if (old.length === 1 && next.length === 1 && str(first, "Name") === str(second, "Name")) return [[first, second]];
  const [a, b] = [new Map(old.map((o) => [str(o, "Name"), o])), new Map(next.map((o) => [str(o, "Name"), o]))];
  const names = [...new Set([...a.keys(), ...b.keys()])].sort();
  return names.map((name) => [a.get(name), b.get(name)] as const);
}

function orNull<T>(list: T[]): T[] | null {
  return list.length === 0 ? null : list;
}
