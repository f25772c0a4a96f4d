/** How recorded answers and new ones are compared: what differs from run to run is replaced by what it means. */

export type Vars = Record<string, unknown>;

type Dictionary = Readonly<Record<string, unknown>>;

function isDictionary(value: unknown): value is Dictionary {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const anyUuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const noise = new Set([
  "AllocationTime",
  "ScoreMetaData",
  "Scores",
  "NodesAvailable",
  "NodesInPool",
  "ResourcesExhausted",
  "NextPeriodicLaunch",
]);
const unordered = new Set(["Objects", "Constraints"]);

/** The value at a dotted path; `$` is the value itself, `length` that of a list. */
export function at(value: unknown, path: string): unknown {
  if (path === "$" || path === "") return value;
  let found = value;
  for (const key of path.split(".")) {
    if (found === null || found === undefined) return undefined;
    if (Array.isArray(found)) found = key === "length" ? found.length : found[Number(key)];
    else found = isDictionary(found) ? found[key] : undefined;
  }
  return found;
}

/** Puts captured values where `${name}` stands. A text that is nothing else takes the value's type. */
export function fill<T>(value: T, vars: Vars): T {
  return filled(value, vars) as T;
}

function filled(value: unknown, vars: Vars): unknown {
  if (typeof value === "string") {
    const whole = /^\$\{(\w+)\}$/.exec(value)?.[1];
    if (whole !== undefined && whole in vars) return vars[whole];
    return value.replace(/\$\{(\w+)\}/g, (all, name: string) => (name in vars ? String(vars[name]) : all));
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, vars));
  return isDictionary(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, vars)])) : value;
}

/** A body as JSON; integers beyond 2^53 are times and become `<ns>`. What is not JSON stays text. */
export function decode(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  if (!/^[[{"]|^null$|^true$|^false$|^-?\d/.test(trimmed)) return text;
  try {
    return JSON.parse(trimmed.replace(/([:[,]\s*)(-?\d{16,})(?=\s*[,\]}])/g, '$1"<ns>"'));
  } catch {
    return text;
  }
}

/** A value as it is compared. */
export function normalize(value: unknown, vars: Vars, key = ""): unknown {
  if (typeof value === "number") return normalNumber(value, vars, key);
  if (typeof value === "string") return normalText(value, vars, key);
  if (Array.isArray(value)) {
    const list = value.map((one) => normalize(one, vars, key));
    return unordered.has(key) ? list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : list;
  }
  if (!isDictionary(value)) return value;
  const entries = Object.entries(value).filter(([name]) => !noise.has(name));
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, one]) => [name, normalize(one, vars, name)]));
}

function nameOf(value: unknown, vars: Vars): string | undefined {
  const names = Object.entries(vars).filter(([, one]) => one === value);
  return names.map(([name]) => name).sort()[0];
}

function normalNumber(value: number, vars: Vars, key: string): unknown {
  if (/(Index|^index)$/.test(key)) {
    const name = nameOf(value, vars);
    return value === 0 ? 0 : name === undefined ? "<index>" : `=${name}`;
  }
  return /(Time|TimeNs|Timestamp|At)$/.test(key) && value > 1e12 ? "<ns>" : value;
}

function normalText(value: string, vars: Vars, key: string): string {
  if (value === "") return value;
  if (uuid.test(value)) {
    const name = nameOf(value, vars);
    return name === undefined ? "<id>" : `=${name}`;
  }
  if (value !== "0001-01-01T00:00:00Z" && instant.test(value)) return "<time>";
  if (key === "NodeName" || key === "Hostname") return "<node>";
  let text = value;
  for (const [name, one] of Object.entries(vars)) {
    if (typeof one === "string" && one.length >= 8) text = text.split(one).join(`=${name}`);
  }
  return text
    .replace(anyUuid, "<id>")
    .replace(/\/dispatch-(?:[a-z0-9-]+-)?\d{10}-[0-9a-f]{8}/g, "/dispatch-<unix>-<hex>")
    .replace(/\/periodic-\d{10}/g, "/periodic-<unix>")
    .replace(/modify index: \d+/g, "modify index: <index>")
    .replace(/modify index \d{2,}:/g, "modify index <index>:");
}

/** Null, absent and empty mean the same in Nomad's answers. */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isDictionary(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, withoutEmpty(one)] as const);
  return Object.fromEntries(entries.filter(([, one]) => !isNothing(one)));
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isDictionary(value) && Object.keys(value).length === 0;
}

/** Leaves out fields of these names, at any depth. */
export function drop(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => drop(one, names));
  if (!isDictionary(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => (names.has(key) ? [] : [[key, drop(one, names)]])));
}

export function sortBy(list: readonly unknown[], paths: readonly string[]): unknown[] {
  const key = (value: unknown) => paths.map((path) => JSON.stringify(at(value, path)) ?? "");
  return [...list].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const i = x.findIndex((one, n) => one !== y[n]);
    return i < 0 ? 0 : (x[i] ?? "") < (y[i] ?? "") ? -1 : 1;
  });
}

/** Whether a value is what a step waits for. */
export function holds(value: unknown, wanted: Dictionary): boolean {
  return Object.entries(wanted).every(([path, want]) => {
    const got = at(value, path);
    if (!isDictionary(want)) return got === want;
    if (Array.isArray(want["oneOf"])) return want["oneOf"].includes(got);
    if ("not" in want) return got !== undefined && got !== want["not"];
    return typeof got === "number" && got >= Number(want["atLeast"]);
  });
}
