import { apiTable } from "./api-tables.ts";
import type { Field, Kind, Table } from "./schema.ts";
import type { Rec } from "./values.ts";

const EMPTY: Readonly<Record<Kind, unknown>> = {
  string: "",
  int: 0,
  duration: 0,
  bool: false,
  strings: null,
  ints: null,
  map: null,
  any: null,
  headers: null,
  bytes: null,
  struct: null,
  list: null,
  structmap: null,
};

/** What a field holds when nothing was said about it. */
export function emptyValue(field: Field): unknown {
  return field.pointer ? null : EMPTY[field.kind];
}

const blanks = new WeakMap<Table, Rec>();

/**
 * An object with every field of a table, nothing stated. Copied from a pattern: an object that is built key by key ends as a slow
 * dictionary in V8, one that was parsed and copied does not.
 */
export function blankOf(table: Table): Rec {
  let blank = blanks.get(table);
  if (blank === undefined) {
    const entries = table.fields.filter((field) => !field.omitted).map((field) => [field.name, emptyValue(field)]);
    blank = JSON.parse(JSON.stringify(Object.fromEntries(entries))) as Rec;
    blanks.set(table, blank);
  }
  return { ...blank };
}

/** An object of the client's form with every field, nothing stated. */
export function emptyApi(table: string): Rec {
  return blankOf(apiTable(table));
}
