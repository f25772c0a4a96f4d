import { type CanonicalRules, canonicalText } from "../model/canonical.ts";
import { TerminalError } from "../model/errors.ts";
import { sha256 } from "../model/hash.ts";

const wholeNumber = "$integer";

const rules: CanonicalRules = {
  omits: () => false,
  bigint: (value) => `{"${wholeNumber}":"${value}"}`,
  deepest: Number.POSITIVE_INFINITY,
};

/**
 * Text of a value as it is stored: RFC 8785, nothing left out. Integers beyond 2^53 (bigint) are kept exactly, as
 * `{"$integer": "DIGITS"}`.
 */
export function storedJson(value: unknown): string {
  return canonicalText(value, rules);
}

/** The value of a stored text. */
export function parseStored<T>(text: string): T {
  const value: T = text.includes(wholeNumber) ? JSON.parse(text, revive) : JSON.parse(text);
  return value;
}

/** Hash over texts that belong together; order counts, and no text can pass for the end of another. */
export function sealOf(...texts: readonly string[]): string {
  return sha256(JSON.stringify(texts));
}

/**
 * Refuses texts that are not those that were stored (S54).
 * @throws TerminalError `integrity`.
 */
export function checkSeal(seal: string, what: string, ...texts: readonly string[]): void {
  if (sealOf(...texts) === seal) return;
  throw new TerminalError(`${what} does not match its hash: the database was changed from outside`, {
    code: "integrity",
    hint: "look into the audit log, restore a backup, or retry the deployment",
  });
}

function revive(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !(wholeNumber in value)) return value;
  const digits = value[wholeNumber];
  return typeof digits === "string" && Object.keys(value).length === 1 && /^-?\d+$/.test(digits) ? BigInt(digits) : value;
}
