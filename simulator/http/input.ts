import { Refusal } from "../refusal.ts";
import { goDuration } from "../tasks/behaviour.ts";
import { goJsonError } from "./go-json.ts";
import type { ApiRequest, Call } from "./message.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The JSON object of a body, for a Go type. Throws Refusal (400) in the decoder's words. */
export function bodyOf(request: ApiRequest, type = "struct"): Fields {
  const { body } = request;
  if (body === undefined || body === "") throw new Refusal(400, "Request body is empty");
  if (typeof body !== "string") return body as Fields;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new Refusal(400, goJsonError(body));
  }
  if (value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Fields;
  const kind = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  throw new Refusal(400, `json: cannot unmarshal ${kind} into Go value of type ${type}`);
}

/** A field whatever its case, as Go's decoder finds it. */
export function field(object: Fields, name: string): unknown {
  if (name in object) return object[name] ?? undefined;
  const lower = name.toLowerCase();
  const key = Object.keys(object).find((one) => one.toLowerCase() === lower);
  return key === undefined ? undefined : (object[key] ?? undefined);
}

export function text(object: Fields, name: string): string {
  const value = field(object, name);
  return typeof value === "string" ? value : "";
}

export function number(object: Fields, name: string): number {
  const value = field(object, name);
  return typeof value === "number" ? value : 0;
}

export function flag(object: Fields, name: string): boolean {
  return field(object, name) === true;
}

export function record(object: Fields, name: string): Fields | undefined {
  const value = field(object, name);
  return value !== undefined && typeof value === "object" && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function list(object: Fields, name: string): readonly unknown[] {
  const value = field(object, name);
  return Array.isArray(value) ? value : [];
}

export function texts(object: Fields, name: string): string[] {
  return list(object, name).filter((one): one is string => typeof one === "string");
}

/** A map of texts. */
export function textMap(object: Fields, name: string): Record<string, string> {
  const entries = Object.entries(record(object, name) ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, typeof value === "string" ? value : String(value)]));
}

/** Answers only these methods; others get 405. */
export function allow(call: Call, ...methods: readonly string[]): void {
  if (!methods.includes(call.request.method)) throw new Refusal(405, "Invalid method");
}

const trues = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const falses = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** A boolean of the query. Throws Refusal (500), as the server does. */
export function queryFlag(request: ApiRequest, name: string): boolean {
  const value = request.query.get(name);
  if (value === null || value === "" || falses.has(value)) return false;
  if (trues.has(value)) return true;
  throw new Refusal(
    500,
    `Failed to parse value of "${name}" (${value}) as a bool: strconv.ParseBool: parsing "${value}": invalid syntax`,
  );
}

/** A whole number of the query; 0 when it is not there. */
export function queryNumber(request: ApiRequest, name: string): number {
  const value = request.query.get(name);
  if (value === null || value === "") return 0;
  if (!/^[+-]?\d+$/.test(value)) {
    throw new Refusal(
      500,
      `Failed to parse value of "${name}" (${value}) as a int: strconv.Atoi: parsing "${value}": invalid syntax`,
    );
  }
  return Number(value);
}

export interface BlockingQuery {
  /** 0: answer at once. */
  readonly index: number;
  /** Milliseconds. */
  readonly wait: number;
}

/** What every read takes, looked at in the server's order: `stale`, `per_page`, `wait`, `index` (nomad-api §7.1). Throws Refusal (400). */
export function readOptions(request: ApiRequest): BlockingQuery {
  const { query } = request;
  const stale = query.get("stale") ?? "";
  if (stale !== "" && !trues.has(stale) && !falses.has(stale)) {
    throw new Refusal(400, "Expect `true` or `false` for `stale` query string parameter");
  }
  const perPage = query.get("per_page") ?? "";
  const within = /^[+-]?\d+$/.test(perPage) && BigInt(perPage) >= -(2n ** 31n) && BigInt(perPage) < 2n ** 31n;
  if (perPage !== "" && !within) throw new Refusal(400, "Expect a number for `per_page` query string parameter");
  const wait = query.get("wait") ?? "";
  const waitMs = wait === "" ? 0 : goDuration(wait);
  if (waitMs === undefined) throw new Refusal(400, "Invalid wait time");
  const index = query.get("index") ?? "";
  if (index !== "" && !isUint64(index)) throw new Refusal(400, "Invalid index");
  return { index: Number(index), wait: waitMs };
}

/** For what asks for no right, by which the region would be looked at. Throws Refusal (500) where that is not this one. */
export function inThisRegion(call: Call, region: string): void {
  if ((call.request.query.get("region") || region) !== region) throw new Refusal(500, "No path to region");
}

/** A whole number of the query that no index exceeds. */
export function isUint64(text: string): boolean {
  return /^\d+$/.test(text) && BigInt(text) < 2n ** 64n;
}

/** A boolean of the query of which the server does not mind when it is none. */
export function laxFlag(request: ApiRequest, name: string): boolean {
  return trues.has(request.query.get(name) ?? "");
}
