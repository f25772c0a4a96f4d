import { isDistinctive, isSecretFlag, isSecretName, urlCredentials } from "./redact-patterns.ts";

/** Where a value stands: in a place that is secret by name, in one that often is, or anywhere. */
export type SecretSource = "secret" | "env" | "plain";

const deepest = 200;
const secretMembers = new Set(["getterheaders", "header", "headers", "payload"]);

/** What was found in each spec, which never changes: it is learned anew with every commit. */
const foundIn = new WeakMap<object, ReadonlySet<string>>();

/**
 * The secret values of a job spec: below names that say so, distinctive environment values, credentials in URLs, values
 * inside embedded templates, and words after flags such as `--token`. Used to hide them by value (reliability S01, S06).
 */
export function secretsIn(spec: unknown): ReadonlySet<string> {
  const known = typeof spec === "object" && spec !== null ? foundIn.get(spec) : undefined;
  if (known !== undefined) return known;
  const found = new Set<string>();
  visit(spec, "plain", found, 0);
  if (typeof spec === "object" && spec !== null) foundIn.set(spec, found);
  return found;
}

function visit(value: unknown, source: SecretSource, found: Set<string>, depth: number): void {
  if (depth > deepest) return;
  if (typeof value === "string") takeText(value, source, found);
  if (Array.isArray(value)) visitList(value, source, found, depth);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === "EmbeddedTmpl" && typeof member === "string") takeTemplate(member, found);
    else visit(member, sourceBelow(name, source), found, depth + 1);
  }
}

function sourceBelow(name: string, source: SecretSource): SecretSource {
  if (source === "secret" || isSecretName(name) || secretMembers.has(name.toLowerCase())) return "secret";
  return name === "Env" || name === "env" ? "env" : source;
}

function visitList(list: readonly unknown[], source: SecretSource, found: Set<string>, depth: number): void {
  list.forEach((element, at) => {
    const before = list[at - 1];
    const afterFlag = typeof before === "string" && isSecretFlag(before);
    visit(element, afterFlag ? "secret" : source, found, depth + 1);
  });
}

function takeText(text: string, source: SecretSource, found: Set<string>): void {
  for (const credential of urlCredentials(text)) found.add(credential);
  if (source === "secret" && isWorthHiding(text)) found.add(text);
  if (source === "env" && isDistinctive(text)) found.add(text);
  const flag = text.startsWith("-") ? /^--?[\w.-]{1,80}=(.+)$/s.exec(text) : null;
  if (flag?.[1] !== undefined && isSecretFlag(text.slice(0, text.indexOf("=")))) found.add(flag[1]);
}

/** Values of `NAME=value`, `name: value` and `"name": "value"` lines whose name says secret; calls of the template language are none. */
function takeTemplate(body: string, found: Set<string>): void {
  for (const line of body.split("\n")) {
    for (const credential of urlCredentials(line)) found.add(credential);
    const parts = /^\s*(?:export\s+)?["']?([\w.-]{1,100})["']?\s*[:=]\s*(.+?)\s*,?\s*$/.exec(
      line.length > 8_192 ? line.slice(0, 8_192) : line,
    );
    const value = parts?.[2]?.replace(/^(["'])(.*)\1$/, "$2");
    if (parts?.[1] === undefined || value === undefined || value.includes("{{")) continue;
    if (isSecretName(parts[1]) ? isWorthHiding(value) : isDistinctive(value)) found.add(value);
  }
}

/** Flags and references under a secret name are no secrets, and hiding them everywhere would only blind the reader. */
function isWorthHiding(text: string): boolean {
  return text.length >= 4 && !/^(?:true|false|null|none|\d{1,5})$/i.test(text) && !/^\$\{[^}]*\}$/.test(text);
}
