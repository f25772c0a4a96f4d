import type { FileIssue } from "../model/desired.ts";

/** A job in the JSON form of Nomad's API. */
export type ApiJson =
  /** `source`: the bare job with its numbers as they were written. */
  | { readonly kind: "job"; readonly source: string; readonly id: string | undefined }
  | { readonly kind: "other" }
  | { readonly kind: "broken"; readonly issue: FileIssue };

/** What a server adds to a job: it says nothing about what is wanted, and would differ at each read. */
const serverFields = new Set([
  "CreateIndex",
  "DispatchIdempotencyToken",
  "Dispatched",
  "JobModifyIndex",
  "ModifyIndex",
  "NomadTokenID",
  "ParentID",
  "Payload",
  "Stable",
  "Status",
  "StatusDescription",
  "SubmitTime",
  "Version",
  "VersionTag",
]);

/** Tokens of the person who once registered the job. */
const tokenFields = new Set(["ConsulToken", "VaultToken"]);

/**
 * Reads a job in API form (design D27): bare, or below `Job` or `job` as `nomad job inspect` and the register request have it. Fields of the
 * server are dropped at job level. Numbers keep their digits: they may be larger than JavaScript's are exact.
 */
export function readApiJson(text: string, path: string, namedAsJob: boolean): ApiJson {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    const looksMeant = namedAsJob || /"TaskGroups"\s*:/.test(text);
    if (!looksMeant) return { kind: "other" };
    // The parser's own text quotes the file, and with it what may be a secret.
    const line = lineOfError(text, error);
    return {
      kind: "broken",
      issue: { severity: "error", file: path, line, message: "is meant as a job in JSON, but is no valid JSON" },
    };
  }
  if (!isObject(parsed)) return { kind: "other" };
  if (looksLikeJob(parsed)) return job(text, parsed);
  const wrapper = ["Job", "job"].find((name) => isObject(parsed[name]) && looksLikeJob(parsed[name]));
  if (wrapper === undefined) return { kind: "other" };
  const inner = members(text).find(([name]) => name === wrapper)?.[1] ?? "{}";
  return job(inner, parsed[wrapper] as Record<string, unknown>);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A job has groups, and a name by one of two fields. Nothing else that teams keep in JSON has both. */
function looksLikeJob(value: Record<string, unknown>): boolean {
  return Array.isArray(value["TaskGroups"]) && (typeof value["ID"] === "string" || typeof value["Name"] === "string");
}

function job(text: string, value: Record<string, unknown>): ApiJson {
  const kept = members(text).filter(([name]) => !serverFields.has(name) && !tokenFields.has(name));
  const id = value["ID"] ?? value["Name"];
  return {
    kind: "job",
    source: `{${kept.map(([name, raw]) => `${JSON.stringify(name)}:${raw}`).join(",")}}`,
    id: typeof id === "string" && id !== "" ? id : undefined,
  };
}

/** Name and raw text of each member of an object whose text is valid JSON; of members of one name the last, as JSON.parse has it. */
function members(text: string): readonly (readonly [name: string, raw: string])[] {
  const found = new Map<string, string>();
  let at = text.indexOf("{") + 1;
  for (;;) {
    const nameStart = text.indexOf('"', at);
    const closing = text.indexOf("}", at);
    if (nameStart < 0 || (closing >= 0 && closing < nameStart)) return [...found];
    const nameEnd = stringEnd(text, nameStart);
    const name: unknown = JSON.parse(text.slice(nameStart, nameEnd));
    const start = text.indexOf(":", nameEnd) + 1;
    at = valueEnd(text, start);
    found.set(String(name), text.slice(start, at).trim());
  }
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
}

/** Where the comma or bracket behind a value stands. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = stringEnd(text, at) - 1;
    else if (char === "{" || char === "[") depth++;
    else if (depth === 0 && (char === "," || char === "}")) return at;
    else if (char === "}" || char === "]") depth--;
  }
  return text.length;
}

function lineOfError(text: string, error: unknown): number {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
  const end = position === undefined ? text.length : Number(position);
  return text.slice(0, end).split("\n").length;
}
