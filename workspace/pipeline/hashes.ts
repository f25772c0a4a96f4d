import { InvalidRequestError } from "../../model/errors.ts";
import { sha256 } from "../../model/hash.ts";
import type { Json } from "../../model/nomad.ts";

/** Fingerprints of steps and scopes (workspace §7). Frozen by test vectors: a change here re-runs everybody's pipelines. */

/** What a step does, after rendering. */
export interface StepBody {
  readonly type: string;
  readonly cmd: string;
  readonly with: Readonly<Record<string, Json>> | null | undefined;
}

/** A gate as it enters the hash. `require` as a list is a set. */
export interface GateInput {
  readonly state: "readable" | "missing";
  readonly require: "required" | "all" | readonly string[];
  readonly command?: string;
  readonly with?: Readonly<Record<string, Json>>;
}

/** A hash together with short digests of what went in, by name: what `deploy why` compares. */
export interface Fingerprint {
  /** 64 hex digits. */
  readonly hash: string;
  /** Name of the input → 12 hex digits. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** Key under which the resolver adds the digests of files that a step reads (workspace §M4). */
export const filesKey = "$files";

/**
 * JSON with keys in order of their UTF-8 bytes and no whitespace: equal for equal values, whatever their spelling in YAML.
 * @throws InvalidRequestError `not_json` for what JSON cannot hold.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && isPlain(value)) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  throw new InvalidRequestError("a value that JSON cannot hold cannot be compared", { code: "not_json" });
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The fingerprint of a step's body; absent, null and empty `with` are the same. */
export function actionHash(body: StepBody): string {
  return sha256(actionText(body));
}

/** The action hash, extended by the files gate when the step has one. */
export function stepHash(body: StepBody, gate: GateInput | undefined): string {
  return sha256(gate === undefined ? actionText(body) : `${actionText(body)}\0${canonicalJson(gateValue(gate))}`);
}

function actionText(body: StepBody): string {
  return `${body.type}\0${body.cmd}\0${canonicalJson(body.with ?? {})}`;
}

function gateValue(gate: GateInput): Json {
  const require = typeof gate.require === "string" ? gate.require : [...gate.require].sort();
  return {
    state: gate.state,
    require,
    ...(gate.command === undefined ? {} : { command: gate.command }),
    ...(gate.with === undefined ? {} : { with: { ...gate.with } }),
  };
}

/** A step's fingerprint with the digest of each part. */
export function stepFingerprint(body: StepBody, gate: GateInput | undefined): Fingerprint {
  const inputs: Record<string, string> = { type: digest(body.type), cmd: digest(body.cmd) };
  for (const [key, value] of Object.entries(body.with ?? {})) {
    if (key === filesKey && typeof value === "object" && value !== null) {
      for (const [file, sum] of Object.entries(value)) inputs[`file ${file}`] = shortHash(String(sum));
    } else {
      inputs[`with.${key}`] = digest(value);
    }
  }
  if (gate !== undefined) inputs.files_gate = digest(gateValue(gate));
  return { hash: stepHash(body, gate), inputs };
}

/** What a scope's config hash covers, by name, in the order in which it is hashed. */
export type ScopeInputs = readonly (readonly [name: string, value: Json])[];

/** A scope's config hash: its inputs in order, separated by NUL. Parts that hold several named values are also told apart. */
export function scopeFingerprint(parts: ScopeInputs): Fingerprint {
  const inputs: Record<string, string> = {};
  for (const [name, value] of parts) {
    const nested = typeof value === "object" && value !== null && !Array.isArray(value) && name.endsWith("*");
    if (!nested) inputs[name] = digest(value);
    else for (const [key, item] of Object.entries(value)) inputs[`${name.slice(0, -1)}${key}`] = digest(item);
  }
  return { hash: sha256(parts.map(([, value]) => canonicalJson(value)).join("\0")), inputs };
}

function digest(value: Json): string {
  return shortHash(sha256(canonicalJson(value)));
}

/** First 12 hex digits, as people see a hash; a shorter text comes back as it is. */
export function shortHash(hash: string): string {
  return hash.length < 12 ? hash : hash.slice(0, 12);
}

/** Digest of a file with line ends normalised, so that a checkout on another system is no change. */
export function fileDigest(bytes: Uint8Array): string {
  return sha256(
    bytes.includes(13) ? Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll("\r\n", "\n"), "latin1") : bytes,
  );
}
