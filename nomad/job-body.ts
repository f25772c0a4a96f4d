import type { JobSpec } from "../model/nomad.ts";

// Nomad takes these from a payload as they are (a `Version` of 40 makes version 40), or they mean nothing in one (nomad-api §3.4).
const SERVER_FIELDS: ReadonlySet<string> = new Set([
  "Version",
  "Stable",
  "Status",
  "StatusDescription",
  "CreateIndex",
  "ModifyIndex",
  "JobModifyIndex",
  "SubmitTime",
  "VersionTag",
]);

/** The job without the fields that the server keeps; every other field, known or not, stays as it is. */
export function withoutServerFields(spec: JobSpec): JobSpec {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !SERVER_FIELDS.has(name))) as JobSpec;
}

/** The job of a JSON job file: wrapped in `Job` or `job`, or bare (design D27). `undefined` when it is no job. */
export function unwrapJob(value: unknown): JobSpec | undefined {
  if (!isObject(value)) return undefined;
  const inner = value["Job"] ?? value["job"] ?? value;
  return isObject(inner) && typeof inner["ID"] === "string" ? withoutServerFields(inner as JobSpec) : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
