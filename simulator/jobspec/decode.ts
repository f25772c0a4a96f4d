import { apiTable } from "./api-tables.ts";
import { blankOf } from "./empty.ts";
import type { Field, Table } from "./schema.ts";
import { AdmissionError, type ApiJob } from "./types.ts";
import { isRec, type Rec } from "./values.ts";

/** Where a value stands, for the error text: the Go type that holds the field, and the path from the request. */
interface Place {
  readonly owner: string;
  readonly path: string;
}

/**
 * Reads the `Job` of a request body into the client's form: every field present, in the types of the tables. As Nomad's decoder
 * does it: keys match without regard to case, unknown keys are passed over, null leaves a field unset.
 * Throws AdmissionError (400) with the decoder's text when a value has the wrong type (nomad-api §1).
 */
export function decodeApiJob(raw: unknown, request = "JobPlanRequest"): ApiJob {
  if (!isRec(raw)) throw mismatch(raw, { owner: request, path: "Job" }, "api.Job");
  return decodeObject(apiTable("Job"), raw, "Job");
}

function decodeObject(table: Table, raw: Rec, path: string): Rec {
  const object = blankOf(table);
  for (const key in raw) {
    const value = raw[key];
    if (value === null || value === undefined) continue;
    const field = table.byName.get(key) ?? table.byLowerName.get(key.toLowerCase());
    if (field === undefined) continue;
    object[field.name] =
      typeof value === field.plainType ? value : decodeField(field, value, { owner: table.name, path: `${path}.${field.name}` });
  }
  return object;
}

function decodeField(field: Field, value: unknown, place: Place): unknown {
  switch (field.kind) {
    case "string":
      return typeof value === "string" ? value : fail(value, place, "string");
    case "bool":
      return typeof value === "boolean" ? value : fail(value, place, "bool");
    case "int":
    case "duration":
      return decodeNumber(field, value, place);
    case "struct":
      return isRec(value) ? decodeObject(apiTable(field.table), value, place.path) : fail(value, place, field.goType);
    case "list":
      return decodeList(field, value, place);
    case "structmap":
      return decodeMap(value, place, field.goType, (v) =>
        isRec(v) ? decodeObject(apiTable(field.table), v, place.path) : fail(v, place, `api.${field.table}`),
      );
    default:
      return decodeCollection(field, value, place);
  }
}

function decodeCollection(field: Field, value: unknown, place: Place): unknown {
  switch (field.kind) {
    case "strings":
      return decodeStrings(value, place, field.goType);
    case "ints":
      return Array.isArray(value)
        ? value.map((v) => (typeof v === "number" ? v : fail(v, place, "uint16")))
        : fail(value, place, field.goType);
    case "map":
      return decodeMap(value, place, field.goType, (v) =>
        v === null ? "" : typeof v === "string" ? v : fail(v, place, "string"),
      );
    case "headers":
      return decodeMap(value, place, field.goType, (v) => (v === null ? null : decodeStrings(v, place, "[]string")));
    case "bytes":
      return typeof value === "string" ? checkBase64(value) : fail(value, place, field.goType);
    default:
      return isRec(value) ? value : fail(value, place, field.goType);
  }
}

function decodeNumber(field: Field, value: unknown, place: Place): number {
  if (typeof value !== "number") return fail(value, place, field.goType);
  const fits = Number.isInteger(value) && (field.kind === "duration" || (value >= field.min && value <= field.max));
  if (fits) return value;
  throw new AdmissionError(text(`number ${value}`, place, field.goType), 400);
}

function decodeStrings(value: unknown, place: Place, goType: string): string[] {
  if (!Array.isArray(value)) return fail(value, place, goType);
  return value.map((v) => (typeof v === "string" ? v : v === null ? "" : fail(v, place, "string")));
}

function decodeList(field: Field, value: unknown, place: Place): Rec[] {
  if (!Array.isArray(value)) return fail(value, place, field.goType);
  const table = apiTable(field.table);
  return value
    .filter((v) => v !== null)
    .map((v) => (isRec(v) ? decodeObject(table, v, place.path) : fail(v, place, `api.${field.table}`)));
}

function decodeMap(value: unknown, place: Place, goType: string, read: (value: unknown) => unknown): Rec {
  if (!isRec(value)) return fail(value, place, goType);
  const map: Rec = {};
  for (const key in value) map[key] = read(value[key]);
  return map;
}

function checkBase64(value: string): string {
  const bad = /[^A-Za-z0-9+/=\r\n]/.exec(value);
  if (bad !== null) throw new AdmissionError(`illegal base64 data at input byte ${bad.index}`, 400);
  return value;
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function text(what: string, place: Place, goType: string): string {
  return `json: cannot unmarshal ${what} into Go struct field ${place.owner}.${place.path} of type ${goType}`;
}

function mismatch(value: unknown, place: Place, goType: string): AdmissionError {
  return new AdmissionError(text(jsonKind(value), place, goType), 400);
}

function fail(value: unknown, place: Place, goType: string): never {
  throw mismatch(value, place, goType);
}
