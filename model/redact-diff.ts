import { readableValue } from "./diff-values.ts";
import type { FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from "./nomad.ts";
import { isDistinctive, isSecretFlag, isSecretName, redactedMarker } from "./redact-patterns.ts";

/**
 * A copy of a plan's diff for people, in which names and kinds of change stay, durations read as in a job file, and values go wherever
 * they are or may be secret (operator §17). A value that is masked in one place is masked in every other place of the same diff (reliability S06).
 */
export function redactDiffWith(diff: JobDiff, maskText: (text: string) => string): JobDiff {
  const masked = new Set<string>();
  collectMasked(diff, false, masked);
  const values = [...masked].sort((a, b) => b.length - a.length);
  const mask = (text: string): string => maskText(values.reduce((rest, value) => rest.replaceAll(value, redactedMarker), text));
  return {
    ...diff,
    ...redactParts(diff, false, mask),
    ...(diff.TaskGroups == null ? {} : { TaskGroups: diff.TaskGroups.map((group) => redactGroup(group, mask)) }),
  };
}

function redactGroup(group: TaskGroupDiff, mask: (text: string) => string): TaskGroupDiff {
  const tasks = group.Tasks?.map((task): TaskDiff => ({ ...task, ...redactParts(task, false, mask) }));
  return { ...group, ...redactParts(group, false, mask), ...(tasks === undefined ? {} : { Tasks: tasks }) };
}

interface Parts {
  readonly Name?: string;
  readonly Fields?: readonly FieldDiff[] | null;
  readonly Objects?: readonly ObjectDiff[] | null;
}

function redactParts(parts: Parts, below: boolean, mask: (text: string) => string): Parts {
  const afterFlags = fieldsAfterFlags(parts.Fields);
  const object = parts.Name ?? "";
  const fields = parts.Fields?.map((field): FieldDiff => {
    const hide = below || isSecretField(field.Name) || afterFlags.has(field.Name);
    const value = (text: string): string =>
      text === "" ? "" : hide ? redactedMarker : mask(readableValue(object, field.Name, text));
    return { ...field, Old: value(field.Old ?? ""), New: value(field.New ?? "") };
  });
  const objects = parts.Objects?.map(
    (child): ObjectDiff => ({ ...child, ...redactParts(child, below || isSecretObject(child.Name), mask) }),
  );
  return { ...(fields === undefined ? {} : { Fields: fields }), ...(objects === undefined ? {} : { Objects: objects }) };
}

function isSecretField(name: string): boolean {
  return (
    /^Env\[/.test(name) || name === "EmbeddedTmpl" || name === "Payload" || /^GetterHeaders\[/.test(name) || isSecretName(name)
  );
}

function isSecretObject(name: string): boolean {
  return name === "Header" || isSecretName(name);
}

/** Names of list elements that follow a flag such as `--token` in the same list. */
function fieldsAfterFlags(fields: readonly FieldDiff[] | null | undefined): Set<string> {
  const names = new Set<string>();
  for (const field of fields ?? []) {
    if (!isSecretFlag(field.Old ?? "") && !isSecretFlag(field.New ?? "")) continue;
    const parts = /^(.*)\[(\d+)\]$/.exec(field.Name);
    if (parts?.[2] !== undefined) names.add(`${parts[1]}[${Number(parts[2]) + 1}]`);
  }
  return names;
}

function collectMasked(
  parts: Parts & { readonly TaskGroups?: readonly TaskGroupDiff[] | null },
  below: boolean,
  masked: Set<string>,
): void {
  const afterFlags = fieldsAfterFlags(parts.Fields);
  for (const field of parts.Fields ?? []) {
    const named = below || afterFlags.has(field.Name) || isSecretName(field.Name);
    if (!named && !isSecretField(field.Name)) continue;
    for (const value of [field.Old ?? "", field.New ?? ""]) {
      if (named ? value.length >= 6 && !/^(?:true|false|\d{1,5})$/.test(value) : isDistinctive(value)) masked.add(value);
    }
  }
  for (const object of parts.Objects ?? []) collectMasked(object, below || isSecretObject(object.Name), masked);
  for (const group of parts.TaskGroups ?? []) {
    collectMasked(group, false, masked);
    for (const task of group.Tasks ?? []) collectMasked(task, false, masked);
  }
}
