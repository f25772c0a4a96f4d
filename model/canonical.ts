import { TerminalError } from "./errors.ts";

/** How `canonicalText` treats what JSON has no word for. */
export interface CanonicalRules {
  /** Members of objects that are left out. Elements of lists are never left out, since their place counts. */
  readonly omits: (member: unknown) => boolean;
  /** JSON text of an integer that may lie beyond 2^53. */
  readonly bigint: (value: bigint) => string;
  /** Deepest nesting that is written. */
  readonly deepest: number;
}

/**
 * RFC 8785 text of a JSON-like value: no white space, members in the order of their UTF-16 names, numbers and texts as ECMAScript
 * writes them. One walk, since every pass over a job hashes its spec.
 * @throws TerminalError `too_deep`, `not_finite`.
 */
export function canonicalText(value: unknown, rules: CanonicalRules, depth = 0): string {
  if (depth > rules.deepest) throw new TerminalError("the job is nested too deeply to be compared", { code: "too_deep" });
  if (typeof value === "bigint") return rules.bigint(value);
  if (typeof value !== "object" || value === null) return plainText(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const element of value) text += `${text === "" ? "" : ","}${canonicalText(element, rules, depth + 1)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member === undefined || rules.omits(member)) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonicalText(member, rules, depth + 1)}`;
  }
  return `{${text}}`;
}

function plainText(value: unknown): string {
  if (typeof value !== "number" || Number.isFinite(value)) return JSON.stringify(value) ?? "null";
  throw new TerminalError(`JSON has no word for ${value}`, { code: "not_finite" });
}
