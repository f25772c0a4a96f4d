import { compareNumbers, type HclNumber, numberFromInteger } from "./number.ts";

/** A type of the language (cty's type system, which Nomad's HCL2 uses). `any` is the type not known yet. */
export type Type = SimpleType | CollectionType | TupleType | ObjectType;

export interface SimpleType {
  readonly kind: "string" | "number" | "bool" | "any";
}

export interface CollectionType {
  readonly kind: "list" | "set" | "map";
  readonly element: Type;
}

export interface TupleType {
  readonly kind: "tuple";
  readonly items: readonly Type[];
}

export interface ObjectType {
  readonly kind: "object";
  readonly attributes: ReadonlyMap<string, Type>;
}

/** A value of the language. Plain data; never changed after it was made. */
export type Value =
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "number"; readonly value: HclNumber }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "null"; readonly type: Type }
  | { readonly kind: "unknown"; readonly type: Type }
  | { readonly kind: "list" | "set"; readonly element: Type; readonly items: readonly Value[] }
  | { readonly kind: "tuple"; readonly items: readonly Value[] }
  | { readonly kind: "map"; readonly element: Type; readonly entries: ReadonlyMap<string, Value> }
  | { readonly kind: "object"; readonly entries: ReadonlyMap<string, Value> };

export const STRING: Type = { kind: "string" };
export const NUMBER: Type = { kind: "number" };
export const BOOL: Type = { kind: "bool" };
export const ANY: Type = { kind: "any" };

/** A string; like cty it is kept in Unicode's composed form (NFC). */
export function stringValue(value: string): Value {
  return { kind: "string", value: value.normalize("NFC") };
}

export function numberValue(value: HclNumber): Value {
  return { kind: "number", value };
}

export function integerValue(value: number | bigint): Value {
  return { kind: "number", value: numberFromInteger(value) };
}

export function boolValue(value: boolean): Value {
  return { kind: "bool", value };
}

export function nullValue(type: Type = ANY): Value {
  return { kind: "null", type };
}

export function unknownValue(type: Type = ANY): Value {
  return { kind: "unknown", type };
}

export function tupleValue(items: readonly Value[]): Value {
  return { kind: "tuple", items };
}

/** A list of values that already have one type. */
export function listValue(items: readonly Value[], element: Type): Value {
  return { kind: "list", element, items };
}

/** A set: duplicates removed, in the order in which sets are walked. */
export function setValue(items: readonly Value[], element: Type): Value {
  const unique: Value[] = [];
  for (const item of items) if (!unique.some((other) => equalValues(other, item))) unique.push(item);
  return { kind: "set", element, items: unique.sort(compareForSet) };
}

/** An object; its attributes are walked in the order of their names. */
export function objectValue(entries: Iterable<readonly [string, Value]>): Value {
  return { kind: "object", entries: sortedEntries(entries) };
}

export function mapValue(entries: Iterable<readonly [string, Value]>, element: Type): Value {
  return { kind: "map", element, entries: sortedEntries(entries) };
}

function sortedEntries(entries: Iterable<readonly [string, Value]>): Map<string, Value> {
  return new Map([...new Map(entries)].sort(([a], [b]) => compareText(a, b)));
}

/** Order of texts by code point, which is the order of their UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function compareForSet(a: Value, b: Value): number {
  if (a.kind === "string" && b.kind === "string") return compareText(a.value, b.value);
  if (a.kind === "number" && b.kind === "number") return compareNumbers(a.value, b.value);
  if (a.kind === "bool" && b.kind === "bool") return Number(a.value) - Number(b.value);
  if (a.kind === "null") return b.kind === "null" ? 0 : 1;
  return b.kind === "null" ? -1 : 0;
}

/** The type of a value. */
export function typeOf(value: Value): Type {
  switch (value.kind) {
    case "string":
    case "number":
    case "bool":
      return { kind: value.kind };
    case "null":
    case "unknown":
      return value.type;
    case "list":
    case "set":
    case "map":
      return { kind: value.kind, element: value.element };
    case "tuple":
      return { kind: "tuple", items: value.items.map(typeOf) };
    case "object":
      return { kind: "object", attributes: new Map([...value.entries].map(([name, item]) => [name, typeOf(item)])) };
  }
}

/** Whether two types are the same. */
export function sameType(a: Type, b: Type): boolean {
  if ((a.kind === "list" || a.kind === "set" || a.kind === "map") && a.kind === b.kind) return sameType(a.element, b.element);
  if (a.kind === "tuple" && b.kind === "tuple") {
    return a.items.length === b.items.length && a.items.every((item, index) => sameType(item, b.items[index] ?? ANY));
  }
  if (a.kind === "object" && b.kind === "object") {
    if (a.attributes.size !== b.attributes.size) return false;
    for (const [name, type] of a.attributes) {
      const other = b.attributes.get(name);
      if (other === undefined || !sameType(type, other)) return false;
    }
    return true;
  }
  return a.kind === b.kind;
}

/** Whether two values are the same, types included (a list never equals a tuple). */
export function equalValues(a: Value, b: Value): boolean {
  if (a.kind === "null" || b.kind === "null") return a.kind === b.kind;
  if (!sameType(typeOf(a), typeOf(b))) return false;
  if ("items" in a && "items" in b) {
    if (a.kind !== b.kind || a.items.length !== b.items.length) return false;
    return a.items.every((item, index) => equalValues(item, b.items[index] ?? nullValue()));
  }
  if ("entries" in a && "entries" in b) {
    if (a.kind !== b.kind || a.entries.size !== b.entries.size) return false;
    return [...a.entries].every(([name, item]) => {
      const other = b.entries.get(name);
      return other !== undefined && equalValues(item, other);
    });
  }
  if (a.kind === "string" && b.kind === "string") return a.value === b.value;
  if (a.kind === "bool" && b.kind === "bool") return a.value === b.value;
  if (a.kind === "number" && b.kind === "number") return compareNumbers(a.value, b.value) === 0;
  return false;
}

/** Whether the value and everything in it is known. */
export function isWhollyKnown(value: Value): boolean {
  if (value.kind === "unknown") return false;
  if ("items" in value) return value.items.every(isWhollyKnown);
  if ("entries" in value) return [...value.entries.values()].every(isWhollyKnown);
  return true;
}
