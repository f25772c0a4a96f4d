/** Answers of two servers as they are compared: what no two servers have in common is masked, all else stays. */
import type { Answer, Pair } from "./twins.ts";

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const zeroTime = "0001-01-01T00:00:00Z";
const times = /(Time|TimeNs|Timestamp|UpdatedAt)$/;

export interface Normal {
  readonly status: number;
  readonly type: string;
  readonly hasIndex: boolean;
  readonly body: unknown;
}

export function normalAnswer(answer: Answer): Normal {
  const type = answer.type.split(";")[0] ?? "";
  const body = type === "application/json" ? normalValue(parsed(answer.body), "") : refusal(answer.body);
  return { status: answer.status, type, hasIndex: answer.index !== undefined, body };
}

/** Problems of volumes, and arguments that have no place, are told in the order of a Go map; so those are compared in order of text. */
function refusal(text: string): unknown {
  const prefix = "Failed to parse job: ";
  const lines = normalText(text.startsWith(prefix) ? text.slice(prefix.length) : text, "").split("\n");
  return lines.some((line) =>
    /volume validation|Unset variable|Unsupported argument|Unsuitable value type|Invalid value for variable/.test(line),
  )
    ? lines.sort()
    : lines;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Fields in order; nothing, null and empty are the same, as they are to every client. */
export function normalValue(value: unknown, key: string): unknown {
  if (typeof value === "string") return normalText(value, key);
  if (typeof value === "number") return normalNumber(value, key);
  if (Array.isArray(value)) return normalList(value, key);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .map(([name, one]) => [name, normalValue(one, name)] as const)
    .filter(([, one]) => !isNothing(one));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Objects of a diff stand in the order of a Go map where they come from one: in another order at each look. */
function normalList(list: readonly unknown[], key: string): unknown[] {
  const values = list.map((one) => normalValue(one, key));
  return key === "Objects" ? sorted(values) : values;
}

function sorted(values: readonly unknown[]): unknown[] {
  return values
    .map((value) => [JSON.stringify(value), value] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, value]) => value);
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function normalNumber(value: number, key: string): unknown {
  if (key === "AllocationTime") return 0;
  // Powers of ten differ in their last digit from one library to the next.
  if (!Number.isInteger(value)) return Number(value.toPrecision(12));
  if (key.endsWith("Index") && value !== 0) return "<index>";
  return times.test(key) && value > 1e9 ? "<time>" : value;
}

function normalText(value: string, key: string): string {
  if (key !== "NextPeriodicLaunch" && value !== zeroTime && instant.test(value)) return "<time>";
  return value
    .replace(uuid, "<id>")
    .replace(/\/dispatch-(?:[a-z0-9-]+-)?\d{10}-[0-9a-f]{8}/g, "/dispatch-<unix>-<hex>")
    .replace(/\/periodic-\d{10}/g, "/periodic-<unix>")
    .replace(/modify index:? \d+/g, "modify index <index>");
}

/** Where two answers differ, as `difference`. */
export function problemOf(pair: Pair): string | undefined {
  return difference(normalAnswer(pair.real), normalAnswer(pair.simulated));
}

/** The first place where two normal values differ, as a path with both values; undefined when they do not. */
export function difference(real: unknown, simulated: unknown, path = ""): string | undefined {
  if (Object.is(real, simulated)) return undefined;
  if (typeof real !== "object" || typeof simulated !== "object" || real === null || simulated === null) {
    return `${path || "all"}: real ${JSON.stringify(real)}, simulated ${JSON.stringify(simulated)}`;
  }
  if (Array.isArray(real) !== Array.isArray(simulated)) {
    return `${path || "all"}: real ${JSON.stringify(real)}, simulated ${JSON.stringify(simulated)}`;
  }
  const [a, b] = [real as Record<string, unknown>, simulated as Record<string, unknown>];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(a[key], b[key], `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
