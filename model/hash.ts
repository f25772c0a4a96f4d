import { hash } from "node:crypto";
import { type CanonicalRules, canonicalText } from "./canonical.ts";
import type { JobSpec } from "./nomad.ts";

/** Deepest nesting that is hashed. Job files stay below 30; what goes deeper is an attack on recursive walkers (reliability finding 9). */
const deepest = 200;

/** Fields of a job that belong to the server and never to what somebody asked for (nomad-api §3.4). */
export const serverFields: ReadonlySet<string> = new Set([
  "CreateIndex",
  "ModifyIndex",
  "JobModifyIndex",
  "SubmitTime",
  "Status",
  "StatusDescription",
  "Version",
  "VersionTag",
  "Stable",
  "NomadTokenID",
  "ParentID",
  "Dispatched",
  "DispatchIdempotencyToken",
]);

const rules: CanonicalRules = {
  omits: isUnset,
  bigint: (value) => `"${value}n"`,
  deepest,
};

function isUnset(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== "object") return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/**
 * A value's text as it enters a hash: RFC 8785, without the members that are null, undefined, `[]` or `{}`, so that a Nomad which
 * begins to answer a new unset field changes nothing (design D4). An object that only *became* empty stays:
 * `connect { sidecar_service {} }` is not the same job as one without `connect`.
 * @throws TerminalError `too_deep` beyond 200 levels.
 */
export function canonicalJson(value: unknown): string {
  return canonicalText(value, rules);
}

/** Hex SHA-256 of a text in UTF-8 or of bytes. */
export function sha256(data: string | Uint8Array): string {
  return hash("sha256", data);
}

/** A copy of a job without the fields that the server keeps beside it. */
export function withoutServerFields(spec: JobSpec): JobSpec {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !serverFields.has(name))) as JobSpec;
}

/** Hashes of specs by the object, since a spec never changes and is asked for again with each commit. */
const targetHashes = new WeakMap<JobSpec, string>();

/** Identity of a job's spec alone, before any count of a scaled group is put in (operator §9). */
export function targetHash(spec: JobSpec): string {
  const known = targetHashes.get(spec);
  if (known !== undefined) return known;
  const hash = sha256(canonicalJson(withoutServerFields(spec)));
  targetHashes.set(spec, hash);
  return hash;
}

/** What a declared hook adds to the identity of a deployment: its own hash, or the word that says why it has none. */
export interface HashedHook {
  readonly phase: "pre" | "post";
  readonly hookId: string;
  /** Hex hash of the hook's spec, `missing` or `invalid`. */
  readonly hash: string;
}

/** Identity of what a deployment will do: target spec and declared hooks in order (design D4). Frozen by test vectors. */
export function specHash(input: {
  readonly version: 1;
  readonly target: JobSpec;
  readonly hooks: readonly HashedHook[];
}): string {
  const hooks = input.hooks.map(({ phase, hookId, hash }) => ({ phase, hookId, hash }));
  return sha256(canonicalJson({ version: input.version, target: withoutServerFields(input.target), hooks }));
}

/** ID under which exactly this hook spec is registered (operator §9). */
export function revisionId(hookId: string, hash: string): string {
  return `${hookId}-${hash.slice(0, 8)}`;
}
