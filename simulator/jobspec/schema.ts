/**
 * The shape of a job, as data. Each block of the job specification is one table; everything generic (reading a JSON body, decoding
 * HCL, filling in empty values, turning the client's form into the server's) walks these tables.
 *
 * One entry is `Name kind hcl`:
 * - kind: `string int bool duration strings ints map any headers bytes time`, `X` (an object of table X), `[]X` (a list of them),
 *   `{}X` (a map of them). A leading `*` means the value may be unset (null), which is not the same as empty.
 * - hcl: the attribute's name; `name{}` for a block; `#name` for a block label; `name!` when the attribute is required;
 *   `-` when HCL cannot set it. A trailing `?` on the kind leaves the key out of JSON while it is unset.
 */
export type Scalar = "string" | "int" | "bool" | "duration" | "strings" | "ints" | "map" | "any" | "headers" | "bytes";
export type Kind = Scalar | "struct" | "list" | "structmap";

export interface Field {
  readonly name: string;
  readonly kind: Kind;
  /** Unset is null and differs from empty. */
  readonly pointer: boolean;
  /** The key is left out of JSON while unset. */
  readonly omitted: boolean;
  /** Go's name of the type, for the texts of decode errors. */
  readonly goType: string;
  readonly table: string;
  /** What `typeof` says of a value that needs no further look; "" when each does. */
  readonly plainType: "string" | "boolean" | "";
  readonly hcl: string | undefined;
  readonly place: "attribute" | "block" | "label" | "none";
  readonly required: boolean;
  readonly min: number;
  readonly max: number;
}

export interface Table {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
  readonly byLowerName: ReadonlyMap<string, Field>;
  readonly byAttribute: ReadonlyMap<string, Field>;
  readonly byBlock: ReadonlyMap<string, Field>;
  readonly label: Field | undefined;
}

// The largest doubles below 2^63 and 2^64: times in nanoseconds are far beyond the integers a number holds exactly.
const largestInt64 = 2 ** 63 - 1024;
const largestUint64 = 2 ** 64 - 2048;

const INTS: Readonly<Record<string, readonly [number, number]>> = {
  int: [-(2 ** 63), largestInt64],
  int64: [-(2 ** 63), largestInt64],
  int8: [-128, 127],
  uint8: [0, 255],
  uint16: [0, 65_535],
  uint32: [0, 4_294_967_295],
  uint64: [0, largestUint64],
};
const GO_TYPES: Readonly<Record<string, string>> = {
  duration: "time.Duration",
  strings: "[]string",
  ints: "[]uint16",
  map: "map[string]string",
  any: "map[string]interface {}",
  headers: "map[string][]string",
  bytes: "[]uint8",
};
const SCALARS = new Set(["string", "bool", ...Object.keys(GO_TYPES)]);

function typed(kind: string): Pick<Field, "kind" | "table" | "goType" | "min" | "max"> {
  const range = INTS[kind];
  if (range !== undefined) return { kind: "int", table: "", goType: kind, min: range[0], max: range[1] };
  const plain = { table: "", min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };
  if (SCALARS.has(kind)) return { ...plain, kind: kind as Scalar, goType: GO_TYPES[kind] ?? kind };
  const table = kind.replace(/^(\[\]|\{\})/, "");
  const struct: Kind = kind.startsWith("[]") ? "list" : kind.startsWith("{}") ? "structmap" : "struct";
  const goType = struct === "list" ? `[]*api.${table}` : struct === "structmap" ? `map[string]*api.${table}` : `api.${table}`;
  return { ...plain, kind: struct, table, goType };
}

function placed(hcl: string): Pick<Field, "hcl" | "place" | "required"> {
  if (hcl === "-") return { hcl: undefined, place: "none", required: false };
  if (hcl.startsWith("#")) return { hcl: hcl.slice(1), place: "label", required: true };
  if (hcl.endsWith("{}")) return { hcl: hcl.slice(0, -2), place: "block", required: false };
  const required = hcl.endsWith("!");
  return { hcl: required ? hcl.slice(0, -1) : hcl, place: "attribute", required };
}

function parseField(text: string): Field {
  const [name = "", rawKind = "", hcl = "-"] = text.split(" ");
  const pointer = rawKind.startsWith("*");
  const omitted = rawKind.endsWith("?");
  const kind = rawKind.slice(pointer ? 1 : 0, omitted ? -1 : undefined);
  const plainType = kind === "string" ? "string" : kind === "bool" ? "boolean" : "";
  return { name, pointer, omitted, plainType, ...typed(kind), ...placed(hcl) };
}

function parseTable(name: string, text: string): Table {
  const fields = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map(parseField);
  const at = (place: Field["place"]) => fields.filter((f) => f.place === place).map((f) => [f.hcl ?? "", f] as const);
  return {
    name,
    fields,
    byName: new Map(fields.map((f) => [f.name, f])),
    byLowerName: new Map(fields.map((f) => [f.name.toLowerCase(), f])),
    byAttribute: new Map(at("attribute")),
    byBlock: new Map(at("block")),
    label: fields.find((f) => f.place === "label"),
  };
}

export type Tables = ReadonlyMap<string, Table>;

/** Reads the tables of one form of the job. */
export function readTables(source: Readonly<Record<string, string>>): Tables {
  return new Map(Object.entries(source).map(([name, text]) => [name, parseTable(name, text)]));
}

/** The table of that name. Throws on a misspelt table name: a mistake in the tables, not in a job. */
export function tableOf(tables: Tables, name: string): Table {
  const found = tables.get(name);
  if (found === undefined) throw new Error(`no table ${name}`);
  return found;
}
