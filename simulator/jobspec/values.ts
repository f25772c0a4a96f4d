/** Small readers of untyped job JSON. An absent or null field reads as the empty value of its kind. */

export type Rec = Record<string, unknown>;

export function isRec(value: unknown): value is Rec {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function str(object: Rec | undefined, key: string): string {
  const value = object?.[key];
  return typeof value === "string" ? value : "";
}

export function num(object: Rec | undefined, key: string): number {
  const value = object?.[key];
  return typeof value === "number" ? value : 0;
}

export function flag(object: Rec | undefined, key: string): boolean {
  return object?.[key] === true;
}

export function rec(object: Rec | undefined, key: string): Rec | undefined {
  const value = object?.[key];
  return isRec(value) ? value : undefined;
}

const NONE: readonly never[] = [];

/** The objects of a list; entries that are no objects are left out. */
export function recs(object: Rec | undefined, key: string): readonly Rec[] {
  const value = object?.[key];
  if (!Array.isArray(value) || value.length === 0) return NONE;
  return value.every(isRec) ? (value as Rec[]) : value.filter(isRec);
}

export function strings(object: Rec | undefined, key: string): readonly string[] {
  const value = object?.[key];
  return Array.isArray(value) ? (value as string[]) : NONE;
}

/** The entries of a map of objects, in the order of their names. */
export function recEntries(object: Rec | undefined, key: string): readonly (readonly [string, Rec])[] {
  const map = rec(object, key);
  if (map === undefined) return NONE;
  const found: (readonly [string, Rec])[] = [];
  for (const name of Object.keys(map).sort()) {
    const value = map[name];
    if (isRec(value)) found.push([name, value]);
  }
  return found;
}

export function isUnset(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** True for null, absent, an empty list and an empty map. */
export function isEmpty(value: unknown): boolean {
  if (isUnset(value)) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object") {
    for (const _ in value) return false;
    return true;
  }
  return false;
}

/** Deep equality of JSON values; unlike a textual comparison it ignores the order of keys. Null and absent are equal. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isUnset(a) || isUnset(b)) return isUnset(a) && isUnset(b);
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameList(a, b);
  return sameRec(a as Rec, b as Rec);
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!sameJson(a[i], b[i])) return false;
  return true;
}

function sameRec(a: Rec, b: Rec): boolean {
  for (const key in a) if (!sameJson(a[key], b[key])) return false;
  for (const key in b) if (!(key in a) && !isUnset(b[key])) return false;
  return true;
}

/** As `sameJson`; a list or a map that is empty also equals one that is not there, at every depth. */
export function sameButForEmpty(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((one, i) => sameButForEmpty(one, b[i]));
  }
  const [x, y] = [a as Rec, b as Rec];
  for (const key in x) if (!sameButForEmpty(x[key], y[key])) return false;
  for (const key in y) if (!(key in x) && !isEmpty(y[key])) return false;
  return true;
}
