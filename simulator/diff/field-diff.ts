import type { DiffType, FieldDiff, ObjectDiff } from "../../model/nomad.ts";

/** One field, or undefined when it is equal and equal ones are not wanted. "" stands for absent. */
export function fieldDiff(name: string, before: string, after: string, contextual: boolean): FieldDiff | undefined {
  if (before === after) return contextual ? { Type: "None", Name: name, Old: before, New: after, Annotations: null } : undefined;
  const type: DiffType = before === "" ? "Added" : after === "" ? "Deleted" : "Edited";
  return { Type: type, Name: name, Old: before, New: after, Annotations: null };
}

/** Fields under their flat names, in name order. */
export type Flat = readonly (readonly [name: string, value: string])[];

/** Compares two flat objects; an absent object has no entries. */
export function fieldDiffs(before: Flat, after: Flat, contextual: boolean): FieldDiff[] {
  const found = sameNames(before, after) ? pairedDiffs(before, after, contextual) : unpairedDiffs(before, after, contextual);
  return found.length < 2 ? found : found.sort(byField);
}

/** Whether both list the same names in the same order, as objects without maps do. */
function sameNames(before: Flat, after: Flat): boolean {
  if (before.length !== after.length) return false;
  for (let i = 0; i < after.length; i++) if (before[i]?.[0] !== after[i]?.[0]) return false;
  return true;
}

function pairedDiffs(before: Flat, after: Flat, contextual: boolean): FieldDiff[] {
  const found: FieldDiff[] = [];
  for (let i = 0; i < after.length; i++) {
    const [name = "", value = ""] = after[i] ?? [];
    push(found, fieldDiff(name, before[i]?.[1] ?? "", value, contextual));
  }
  return found;
}

function unpairedDiffs(before: Flat, after: Flat, contextual: boolean): FieldDiff[] {
  const found: FieldDiff[] = [];
  const old = new Map(before);
  const seen = new Set<string>();
  for (const [name, value] of after) {
    seen.add(name);
    push(found, fieldDiff(name, old.get(name) ?? "", value, contextual));
  }
  for (const [name, value] of before) if (!seen.has(name)) push(found, fieldDiff(name, value, "", contextual));
  return found;
}

function push<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function byField(a: FieldDiff, b: FieldDiff): number {
  return compare(a.Name, b.Name) || compare(a.Old, b.Old) || compare(a.New, b.New);
}

const TYPE_ORDER: Readonly<Record<DiffType, number>> = { Edited: 0, Added: 1, Deleted: 2, None: 3 };

/** Objects by name, kind of change, and size; what stays equal keeps its place. */
export function sortObjects(objects: ObjectDiff[]): ObjectDiff[] {
  return objects.sort(
    (a, b) =>
      compare(a.Name, b.Name) ||
      TYPE_ORDER[a.Type] - TYPE_ORDER[b.Type] ||
      (a.Fields?.length ?? 0) - (b.Fields?.length ?? 0) ||
      (a.Objects?.length ?? 0) - (b.Objects?.length ?? 0) ||
      compareFields(a.Fields ?? [], b.Fields ?? []),
  );
}

function compareFields(a: readonly FieldDiff[], b: readonly FieldDiff[]): number {
  for (const [i, field] of a.entries()) {
    const other = b[i];
    const order = other === undefined ? 1 : byField(field, other);
    if (order !== 0) return order;
  }
  return 0;
}

/** Two sets of texts, shown as one object whose fields all bear its name. Undefined when there is nothing to show. */
export function stringSetDiff(
  name: string,
  before: readonly string[],
  after: readonly string[],
  contextual: boolean,
): ObjectDiff | undefined {
  if (before.length === 0 && after.length === 0) return undefined;
  const [old, next] = [new Set(before), new Set(after)];
  const fields: FieldDiff[] = [];
  for (const text of old) push(fields, fieldDiff(name, text, next.has(text) ? text : "", contextual));
  for (const text of next) if (!old.has(text)) push(fields, fieldDiff(name, "", text, contextual));
  const type = typeOf(fields);
  if (fields.length === 0 || (type === "None" && !contextual)) return undefined;
  return { Type: type, Name: name, Fields: fields.sort(byField), Objects: null };
}

/** What the fields together amount to. */
export function typeOf(fields: readonly FieldDiff[]): DiffType {
  let [added, deleted] = [false, false];
  for (const field of fields) {
    if (field.Type === "Edited") return "Edited";
    if (field.Type === "Added") added = true;
    if (field.Type === "Deleted") deleted = true;
  }
  if (added && deleted) return "Edited";
  return added ? "Added" : deleted ? "Deleted" : "None";
}
