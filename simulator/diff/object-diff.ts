import type { DiffType, FieldDiff, ObjectDiff } from "../../model/nomad.ts";
import { type Rec, rec, recs, sameJson, strings } from "../jobspec/values.ts";
import { type Flat, fieldDiffs, sortObjects, stringSetDiff, typeOf } from "./field-diff.ts";
import { type FlattenOptions, flattenAny, flattenObject } from "./flatten.ts";

/** Compares one child of two objects. An absent object is undefined. */
export type Child = (before: Rec | undefined, after: Rec | undefined, contextual: boolean) => readonly ObjectDiff[];

/** How objects of one table are compared. */
export interface ObjectSpec extends FlattenOptions {
  /** Under this name it is shown. */
  readonly name: string;
  readonly table: string;
  /**
   * By identity (the default): any difference counts, even one that no field shows. By fields: only what a field shows, and the kind
   * of change follows from the fields.
   */
  readonly byFields?: boolean;
  /** Equal fields are never listed. */
  readonly terse?: boolean;
  readonly children?: readonly Child[];
  /** Replaces the flat fields, for objects that have their own way. */
  readonly flat?: (object: Rec) => Flat;
  /** Further fields that are only compared when both objects are there. */
  readonly both?: (object: Rec) => Flat;
}

/** Compares two objects; undefined when there is nothing to show. */
export function objectDiff(
  spec: ObjectSpec,
  before: Rec | undefined,
  after: Rec | undefined,
  contextual: boolean,
): ObjectDiff | undefined {
  if (before === undefined && after === undefined) return undefined;
  if (sameJson(before, after)) return undefined;
  const fields = fieldDiffs(flat(spec, before, after), flat(spec, after, before), contextual && spec.terse !== true);
  if (spec.byFields === true) {
    const type = typeOf(fields);
    return type === "None" ? undefined : { Type: type, Name: spec.name, Fields: fields, Objects: null };
  }
  const objects = spec.children?.flatMap((child) => child(before, after, contextual)) ?? [];
  return shown(spec.name, presence(before, after), fields, objects);
}

function flat(spec: ObjectSpec, object: Rec | undefined, other: Rec | undefined): Flat {
  if (object === undefined) return [];
  const own = spec.flat === undefined ? flattenObject(spec.table, object, spec) : spec.flat(object);
  return spec.both === undefined || other === undefined ? own : [...own, ...spec.both(object)];
}

export function presence(before: unknown, after: unknown): DiffType {
  return before === undefined ? "Added" : after === undefined ? "Deleted" : "Edited";
}

export function shown(name: string, type: DiffType, fields: FieldDiff[], objects: readonly ObjectDiff[] = []): ObjectDiff {
  return { Type: type, Name: name, Fields: fields, Objects: objects.length === 0 ? null : [...objects] };
}

const NONE: readonly ObjectDiff[] = [];

function listed(diff: ObjectDiff | undefined): readonly ObjectDiff[] {
  return diff === undefined ? NONE : [diff];
}

/** A single object under `key`. */
export function one(key: string, spec: () => ObjectSpec): Child {
  return (before, after, contextual) => {
    if (before?.[key] === after?.[key]) return NONE;
    return listed(objectDiff(spec(), rec(before, key), rec(after, key), contextual));
  };
}

/** A list of texts under `key`, compared as a set. `quiet`: shown only when it differs. */
export function textSet(key: string, quiet = false): Child {
  return (before, after, contextual) => {
    if (quiet && before?.[key] === after?.[key]) return NONE;
    const found = stringSetDiff(key, strings(before, key).map(String), strings(after, key).map(String), contextual);
    return quiet && found?.Type === "None" ? [] : listed(found);
  };
}

/** A free-form map under `key`, shown as an object. `terse`: equal fields are not listed. */
export function freeForm(key: string, terse = false): Child {
  return (before, after, contextual) => {
    const [old, next] = [before?.[key], after?.[key]];
    if (sameJson(old, next)) return [];
    const [a, b] = [flattenAny(old), flattenAny(next)];
    const type = size(old) === 0 ? "Added" : size(next) === 0 ? "Deleted" : "Edited";
    return [shown(key, type, fieldDiffs(a, b, contextual && !terse))];
  };
}

function size(map: unknown): number {
  return typeof map === "object" && map !== null ? Object.keys(map).length : 0;
}

/** A list whose entries are known by a key; of entries with one key the last counts. */
export function keyed(key: string, idOf: (object: Rec) => string, spec: () => ObjectSpec): Child {
  return (before, after, contextual) => {
    if (before?.[key] === after?.[key]) return NONE;
    const [old, next] = [recs(before, key), recs(after, key)];
    if (old.length === 0 && next.length === 0) return [];
    return keyedDiffs(spec(), new Map(old.map((o) => [idOf(o), o])), new Map(next.map((o) => [idOf(o), o])), contextual);
  };
}

export function keyedDiffs(
  spec: ObjectSpec,
  old: ReadonlyMap<string, Rec>,
  next: ReadonlyMap<string, Rec>,
  contextual: boolean,
): ObjectDiff[] {
  const found: ObjectDiff[] = [];
  for (const [id, object] of old) found.push(...listed(objectDiff(spec, object, next.get(id), contextual)));
  for (const [id, object] of next) if (!old.has(id)) found.push(...listed(objectDiff(spec, undefined, object, contextual)));
  return sortObjects(found);
}

/** A list whose entries are compared by their place. */
export function placed(key: string, spec: () => ObjectSpec): Child {
  return (before, after, contextual) => {
    if (before?.[key] === after?.[key]) return NONE;
    const [old, next] = [recs(before, key), recs(after, key)];
    const found: ObjectDiff[] = [];
    for (let i = 0; i < Math.max(old.length, next.length); i++)
      found.push(...listed(objectDiff(spec(), old[i], next[i], contextual)));
    return sortObjects(found);
  };
}

/** Finds the partner of an entry among those that have none yet; -1: none. */
export type Match = (object: Rec, index: number, others: readonly Rec[], taken: readonly boolean[]) => number;

/** A list whose entries have no sure key: each old entry looks for the new one that resembles it most. */
export function matched(key: string, match: Match, spec: () => ObjectSpec): Child {
  return (before, after, contextual) => {
    const [old, next] = [recs(before, key), recs(after, key)];
    if (old.length === 0 && next.length === 0) return [];
    if (old.length === 1 && next.length === 1) return listed(objectDiff(spec(), old[0], next[0], contextual));
    const taken = next.map(() => false);
    const found: ObjectDiff[] = [];
    for (const [index, object] of old.entries()) {
      const partner = match(object, index, next, taken);
      if (partner >= 0) taken[partner] = true;
      found.push(...listed(objectDiff(spec(), object, next[partner], contextual)));
    }
    for (const [index, object] of next.entries()) {
      if (taken[index] !== true) found.push(...listed(objectDiff(spec(), undefined, object, contextual)));
    }
    return sortObjects(found);
  };
}
