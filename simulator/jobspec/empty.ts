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

/** An object of the client's form with every field, nothing stated. */
export function emptyApi(table: string | Table): Rec {
  const { fields } = typeof table === "string" ? apiTable(table) : table;
  const object: Rec = {};
  for (const field of fields) if (!field.omitted) object[field.name] = emptyValue(field);
  return object;
}
