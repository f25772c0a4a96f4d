import { goTypes } from "./go-types.ts";
import type { Selector } from "./parse.ts";
import { FilterError } from "./peg.ts";

/** A value and its Go type, such as `*TaskGroup` or `map[string]string`. */
export interface Typed {
  readonly type: string;
  readonly value: unknown;
}

/** What names stand for inside `any` and `all`: a place in the row, or a key. */
export type Scope = readonly ({ readonly name: string } & ({ readonly path: readonly string[] } | { readonly key: Typed }))[];

/** A map lacks the key that was looked for. */
export const missing = Symbol("missing");

const parsed = new Map<string, ReadonlyMap<string, string>>();

/** Fields of a struct with their types. */
function fieldsOf(type: string): ReadonlyMap<string, string> {
  let fields = parsed.get(type);
  if (fields === undefined) {
    const list = (goTypes[type] ?? "").split("; ").filter((field) => field !== "");
    fields = new Map(list.map((field) => [field.slice(0, field.indexOf(" ")), field.slice(field.indexOf(" ") + 1)]));
    parsed.set(type, fields);
  }
  return fields;
}

/** The kind of a value whose pointers were followed; `invalid` where one led nowhere. */
export function kindOf({ type, value }: Typed): string {
  if (type === "any") return dynamicKind(value);
  if (type.startsWith("*")) return value === null || value === undefined ? "invalid" : kindOf({ type: type.slice(1), value });
  if (type.startsWith("[]")) return "slice";
  if (type.startsWith("map[")) return "map";
  const own = type.indexOf("=");
  if (own >= 0) return type.slice(own + 1);
  return /^[a-z0-9]+$/.test(type) ? type : "struct";
}

function dynamicKind(value: unknown): string {
  if (value === null || value === undefined) return "invalid";
  if (Array.isArray(value)) return "slice";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value === "string" ? "string" : "map";
}

export function elementOf(type: string): string {
  const bare = bareType(type);
  if (bare === "any") return "any";
  return bare.startsWith("[]") ? bare.slice(2) : bare.slice(bare.indexOf("]") + 1);
}

export function bareType(type: string): string {
  return type.replace(/^\*+/, "");
}

/** A type as Go prints it. */
export function shownType(type: string): string {
  return bareType(type)
    .replace(/([\w.]+)=\w+/g, "$1")
    .replace(/(?<![\w.])([A-Z]\w*)/g, "structs.$1")
    .replace(/\bany\b/, "interface {}");
}

/** What a value of a type is where JSON leaves it out. */
function filled(typed: Typed): Typed {
  if (typed.value !== undefined || typed.type.startsWith("*")) return typed;
  const kind = kindOf({ type: typed.type, value: null });
  if (kind === "bool") return { ...typed, value: false };
  if (kind === "string") return { ...typed, value: "" };
  if (/^u?int|^float/.test(kind)) return { ...typed, value: 0 };
  return { ...typed, value: kind === "struct" ? {} : null };
}

/** The value that a selector leads to, with its pointers as they are. Throws FilterError for a field that a struct lacks. */
export function resolve(selector: Pick<Selector, "path">, row: Typed, scope: Scope): Typed | typeof missing {
  let { path } = selector;
  for (const local of [...scope].reverse()) {
    if (local.name !== path[0]) continue;
    if ("path" in local) {
      path = [...local.path, ...path.slice(1)];
      continue;
    }
    if (path.length === 1) return local.key;
    const type = local.key.type;
    throw new FilterError(`${pointer([local.name])} references a ${type} so ${pointer(path)} is invalid`);
  }
  return follow(path, row);
}

function follow(path: readonly string[], row: Typed): Typed | typeof missing {
  let found = row;
  for (const [i, part] of path.entries()) {
    const next = step(found, part, path, i);
    if (next !== missing) {
      found = next;
      continue;
    }
    if (i === path.length - 1 && path.length > 1) return missing;
    throw wrong(path, i, `couldn't find key "${part}"`);
  }
  return found;
}

function pointer(path: readonly string[]): string {
  return `/${path.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
}

function wrong(path: readonly string[], i: number, why: string): FilterError {
  return new FilterError(`error finding value in datum: ${pointer(path)} at part ${i}: ${why}`);
}

function step(found: Typed, part: string, path: readonly string[], i: number): Typed | typeof missing {
  const kind = kindOf(found);
  const { value } = found;
  if (kind === "slice") return entry(found, part, path, i);
  if (kind === "map") {
    const map = (value ?? {}) as Readonly<Record<string, unknown>>;
    return Object.hasOwn(map, part) ? { type: elementOf(found.type), value: map[part] } : missing;
  }
  if (kind !== "struct") {
    throw new FilterError(`error finding value in datum: ${pointer(path)}: at part ${i}, invalid value kind: ${kind}`);
  }
  const type = fieldsOf(bareType(found.type)).get(part);
  if (type === undefined) throw wrong(path, i, `couldn't find key: struct field with name "${part}"`);
  const object = (value ?? {}) as Readonly<Record<string, unknown>>;
  // The fields of what is embedded stand beside it.
  return filled({ type, value: part === type && !(part in object) ? object : object[part] });
}

function entry(found: Typed, part: string, path: readonly string[], i: number): Typed {
  const list = listOf(found);
  if (!/^[+-]?\d+$/.test(part)) throw wrong(path, i, `couldn't convert value "${part}" to type int`);
  const index = Number(part);
  if (index < 0 || index >= list.length) {
    throw wrong(path, i, `index ${index} is out of range (length = ${list.length})`);
  }
  return { type: elementOf(found.type), value: list[index] };
}

/** The entries of a list; bytes are base64 in JSON. */
export function listOf({ type, value }: Typed): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "string" && bareType(type) === "[]uint8" ? [...Buffer.from(value, "base64")] : [];
}
