import type { JobDiff } from "./nomad.ts";
import { secretsIn } from "./redact-collect.ts";
import { redactDiffWith } from "./redact-diff.ts";
import { maskPatterns, redactedMarker } from "./redact-patterns.ts";

const keyLength = 4;

/**
 * The one function that everything leaving the process passes (design D25): pages, API, log, notifications, metrics, error
 * texts, stored diffs. It hides what is known to be secret by its *value*, wherever it turns up (reliability S06), and what
 * looks like a secret by its form or name. Never the other way round: it is a net under care, not a licence to be careless.
 *
 * I1. A learned value never appears in the result of `text` or `value`. I2. Applying it twice changes nothing more.
 * I3. Time is linear in the text, whatever the number of learned values.
 */
export class Redactor {
  private readonly owners = new Map<string, ReadonlySet<string>>();
  private readonly uses = new Map<string, number>();
  /** First characters of a secret to the secrets that begin so, longest first. */
  private readonly byStart = new Map<string, string[]>();

  /** Learns the secret values of a job spec, replacing what was learned for this owner before. */
  learn(owner: string, spec: unknown): void {
    this.replace(owner, secretsIn(spec));
  }

  /** Learns single values, such as a token read from a file. Values under four characters are not hidden by value. */
  learnValues(owner: string, values: Iterable<string>): void {
    this.replace(owner, values);
  }

  forget(owner: string): void {
    this.replace(owner, []);
    this.owners.delete(owner);
  }

  /** The text with every known or apparent secret replaced by the marker. */
  text(text: string): string {
    return maskPatterns(this.maskKnown(text));
  }

  /** A copy of any JSON-like value with every text in it masked. Member names decide nothing here: `commit_author` is no secret. */
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((element) => this.value(element));
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Error) return { name: value.name, message: this.text(value.message) };
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.value(member)]));
  }

  /** A redacted copy of a plan's diff (operator §17): by names, by form, and by every value that was masked or learned. */
  diff(diff: JobDiff): JobDiff {
    return redactDiffWith(diff, (text) => this.text(text));
  }

  private replace(owner: string, values: Iterable<string>): void {
    const next = new Set([...values].filter((value) => value.length >= keyLength && !redactedMarker.includes(value)));
    const before = this.owners.get(owner) ?? new Set<string>();
    for (const value of next) if (!before.has(value)) this.addUse(value);
    for (const value of before) if (!next.has(value)) this.dropUse(value);
    this.owners.set(owner, next);
  }

  private addUse(value: string): void {
    const uses = this.uses.get(value) ?? 0;
    this.uses.set(value, uses + 1);
    if (uses > 0) return;
    const start = value.slice(0, keyLength);
    const list = [...(this.byStart.get(start) ?? []), value].sort((a, b) => b.length - a.length);
    this.byStart.set(start, list);
  }

  private dropUse(value: string): void {
    const uses = this.uses.get(value) ?? 0;
    if (uses > 1) {
      this.uses.set(value, uses - 1);
      return;
    }
    this.uses.delete(value);
    const start = value.slice(0, keyLength);
    const rest = (this.byStart.get(start) ?? []).filter((other) => other !== value);
    if (rest.length === 0) this.byStart.delete(start);
    else this.byStart.set(start, rest);
  }

  private maskKnown(text: string): string {
    if (this.byStart.size === 0) return text;
    let result = "";
    let copied = 0;
    for (let at = 0; at <= text.length - keyLength; at++) {
      const found = this.byStart.get(text.slice(at, at + keyLength))?.find((secret) => text.startsWith(secret, at));
      if (found === undefined) continue;
      result += text.slice(copied, at) + redactedMarker;
      at += found.length - 1;
      copied = at + 1;
    }
    return copied === 0 ? text : result + text.slice(copied);
  }
}

/** Redacts a diff without any learned values. */
export function redactDiff(diff: JobDiff): JobDiff {
  return new Redactor().diff(diff);
}

export { isSecretName, redactedMarker } from "./redact-patterns.ts";
