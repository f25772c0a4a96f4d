import { canonicalJson, withoutServerFields } from "../../model/hash.ts";
import type { FieldDiff, JobDiff, JobSpec, TaskGroupDiff } from "../../model/nomad.ts";

/** A plan's diff in Nomad's shape, good enough for controllers: leaves by path, map members as `Name[key]`. */
export function fakeDiff(live: JobSpec | undefined, spec: JobSpec): JobDiff {
  if (live === undefined) return { Type: "Added", ID: spec.ID, Fields: [], Objects: [], TaskGroups: [] };
  const fields = leafDiffs(jobPart(live), jobPart(spec));
  const groups = groupDiffs(live, spec);
  const type = fields.length === 0 && groups.length === 0 ? "None" : "Edited";
  return { Type: type, ID: spec.ID, Fields: fields, Objects: [], TaskGroups: groups };
}

/** Spread is not compared, as in the real one (nomad-api §2.4). */
function jobPart(spec: JobSpec): Record<string, unknown> {
  const {
    TaskGroups: _groups,
    Spreads: _spreads,
    ID: _id,
    Namespace: _namespace,
    Name: _name,
    Stop,
    ...rest
  } = withoutServerFields(spec);
  return { ...rest, Stop: Stop === true };
}

function groupDiffs(live: JobSpec, spec: JobSpec): TaskGroupDiff[] {
  const names = new Set([...(live.TaskGroups ?? []), ...(spec.TaskGroups ?? [])].map((group) => group.Name ?? ""));
  return [...names].flatMap((name): TaskGroupDiff[] => {
    const before = live.TaskGroups?.find((group) => group.Name === name);
    const after = spec.TaskGroups?.find((group) => group.Name === name);
    if (before === undefined || after === undefined)
      return [{ Type: before === undefined ? "Added" : "Deleted", Name: name, Fields: [], Objects: [], Tasks: [] }];
    const fields = leafDiffs({ ...before }, { ...after });
    return fields.length === 0 ? [] : [{ Type: "Edited", Name: name, Fields: fields, Objects: [], Tasks: [] }];
  });
}

function leafDiffs(before: Record<string, unknown>, after: Record<string, unknown>): FieldDiff[] {
  const old = leaves(before);
  const next = leaves(after);
  return [...new Set([...old.keys(), ...next.keys()])]
    .filter((name) => old.get(name) !== next.get(name))
    .map((name) => ({ Type: "Edited", Name: name, Old: old.get(name) ?? "", New: next.get(name) ?? "" }));
}

function leaves(value: unknown, name = "", found = new Map<string, string>()): Map<string, string> {
  const plain: unknown = JSON.parse(canonicalJson(value));
  if (typeof plain !== "object" || plain === null) {
    if (plain !== undefined) found.set(name, String(plain));
    return found;
  }
  for (const [key, member] of Object.entries(plain)) leaves(member, name === "" ? key : `${name}[${key}]`, found);
  return found;
}
