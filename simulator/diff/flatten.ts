import { serverTable } from "../jobspec/api-tables.ts";
import type { Field } from "../jobspec/schema.ts";
import { isRec, isUnset, type Rec } from "../jobspec/values.ts";
import type { Flat } from "./field-diff.ts";

type Entry = readonly [name: string, value: string];

/** How far a struct is flattened. */
export interface FlattenOptions {
  /** Names left out. */
  readonly skip?: readonly string[];
  /** Also lists, free-form maps, and values that may be unset ("nil" when they are). */
  readonly whole?: boolean;
  /** Numbers that may be unset, listed only when they are set. */
  readonly ifSet?: readonly string[];
}

const PLAIN = new Set(["string", "int", "bool", "duration"]);
/** An absent map has no entries, while an absent list is "nil". */
const MAPS = new Set(["any", "headers"]);

interface Plan {
  readonly table: string;
  readonly fields: readonly Field[];
  /** Names left out that stand for one entry of a map, such as `Target[Job]`. */
  readonly deepSkip: readonly string[];
}

/** By the options themselves: each caller keeps its own. */
const plans = new WeakMap<FlattenOptions, Plan>();

/** The fields that are looked at, in name order. */
function planOf(table: string, options: FlattenOptions): Plan {
  const known = plans.get(options);
  if (known?.table === table) return known;
  const skip = new Set(options.skip);
  const fields = serverTable(table)
    .fields.filter(
      (f) => !skip.has(f.name) && (options.whole === true || isPrimitive(f) || options.ifSet?.includes(f.name) === true),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const plan = { table, fields, deepSkip: options.skip?.filter((name) => name.includes("[")) ?? [] };
  plans.set(options, plan);
  return plan;
}

/** Plain values and maps of plain values; a value that may be unset is a pointer to Nomad and is passed over. */
function isPrimitive(field: Field): boolean {
  return !field.pointer && (PLAIN.has(field.kind) || field.kind === "map");
}

/**
 * The fields of an object under flat names such as `Meta[owner]`; none for an absent object. Fields of which `other` holds the
 * very same value are left out.
 */
export function flattenObject(table: string, object: Rec | undefined, options: FlattenOptions, other?: Rec): Flat {
  if (object === undefined) return [];
  const entries: Entry[] = [];
  const { fields, deepSkip } = planOf(table, options);
  for (const field of fields) {
    const value = object[field.name];
    if (other !== undefined && value === other[field.name]) continue;
    if (field.pointer && isUnset(value)) {
      if (options.whole === true) entries.push([field.name, "nil"]);
    } else if (PLAIN.has(field.kind)) entries.push([field.name, plainText(field, value)]);
    else if (field.kind === "map") addMap(entries, field.name, value);
    else if (MAPS.has(field.kind) && isUnset(value)) continue;
    else flattenValue(field.name, value, entries);
  }
  return deepSkip.length === 0 ? entries : entries.filter(([name]) => !deepSkip.includes(name));
}

function plainText(field: Field, value: unknown): string {
  if (isUnset(value)) return field.kind === "string" ? "" : field.kind === "bool" ? "false" : "0";
  return typeof value === "string" ? value : String(value);
}

function addMap(entries: Entry[], name: string, value: unknown): void {
  if (!isRec(value)) return;
  for (const key in value) entries.push([`${name}[${key}]`, String(value[key])]);
}

/** A free-form map, each leaf under the path to it. */
export function flattenAny(value: unknown): Flat {
  const entries: Entry[] = [];
  if (isRec(value)) for (const key in value) flattenValue(key, value[key], entries);
  return entries;
}

function flattenValue(path: string, value: unknown, entries: Entry[]): void {
  if (isUnset(value)) entries.push([path, "nil"]);
  else if (typeof value === "number") entries.push([path, goFloat(value)]);
  else if (Array.isArray(value)) for (const [i, item] of value.entries()) flattenValue(`${path}[${i}]`, item, entries);
  else if (isRec(value)) for (const key in value) flattenValue(`${path}[${key}]`, value[key], entries);
  else entries.push([path, String(value)]);
}

/** A number from JSON as Go prints it: with an exponent from a million on and below a ten-thousandth. */
export function goFloat(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return Object.is(value, -0) ? "-0" : String(value);
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
