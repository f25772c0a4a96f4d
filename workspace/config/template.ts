import { InvalidRequestError } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";

/** Where references get their values: one function for each known first segment (workspace §3.5). */
export interface TemplateScope {
  /** `undefined` for a namespace without a source here, for example `param` outside a command. */
  source(namespace: string): ((path: readonly string[]) => Json | undefined) | undefined;
}

/** First segments that nops resolves; anything else, such as `${HOME}`, stays as it is. */
export const namespaces: ReadonlySet<string> = new Set(["vars", "services", "project", "host", "secrets", "env", "param"]);

export interface Rendered<T> {
  readonly value: T;
  /** References that were left alone, as written. */
  readonly unresolved: readonly string[];
}

const reference = /\$(\$?)\{([^{}]*)\}/g;
const whole = /^\$\{([^{}]*)\}$/;

/**
 * Renders the references of one text. `$${x}` yields a literal `${x}`.
 * @param where names the step and field for the error.
 * @throws InvalidRequestError `unresolved_reference` when a known namespace has no such value.
 */
export function renderText(text: string, scope: TemplateScope, where: string): Rendered<string> {
  if (!text.includes("${")) return { value: text, unresolved: [] };
  const unresolved: string[] = [];
  const value = text.replace(reference, (literal, escaped: string, inner: string) => {
    if (escaped !== "") return literal.slice(1);
    const segments = inner.trim().split(".");
    if (!isKnown(segments)) {
      unresolved.push(literal);
      return literal;
    }
    const found = lookUp(segments, scope, where);
    return typeof found === "object" ? JSON.stringify(found) : String(found);
  });
  return { value, unresolved };
}

/** Renders every text inside a value. A text that is one reference and nothing else keeps the type of what it refers to. */
export function renderValue(value: Json, scope: TemplateScope, where: string): Rendered<Json> {
  if (typeof value === "string") {
    const segments = whole.exec(value)?.[1]?.trim().split(".");
    if (segments !== undefined && isKnown(segments)) return { value: lookUp(segments, scope, where), unresolved: [] };
    return renderText(value, scope, where);
  }
  if (typeof value !== "object" || value === null) return { value, unresolved: [] };
  const unresolved: string[] = [];
  const visit = (item: Json, key: string): Json => {
    const rendered = renderValue(item, scope, `${where}.${key}`);
    unresolved.push(...rendered.unresolved);
    return rendered.value;
  };
  if (Array.isArray(value)) return { value: value.map((item, index) => visit(item, String(index))), unresolved };
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(result, key, { value: visit(item, key), enumerable: true });
  }
  return { value: result, unresolved };
}

function isKnown(segments: readonly string[]): boolean {
  return segments.length > 1 && namespaces.has(segments[0] ?? "");
}

function lookUp(segments: readonly string[], scope: TemplateScope, where: string): Json {
  const [namespace = "", ...path] = segments;
  const source = scope.source(namespace);
  if (source === undefined) {
    throw new InvalidRequestError(`${where}: \${${segments.join(".")}}: there is no ${namespace} here`, {
      code: "unresolved_reference",
    });
  }
  const found = source(path);
  if (found === undefined) {
    throw new InvalidRequestError(`${where}: \${${segments.join(".")}} is not set`, { code: "unresolved_reference" });
  }
  return found;
}

/** Walks into a value by keys; `undefined` when the path leads nowhere. Only own keys count. */
export function dig(value: Json | undefined, path: readonly string[]): Json | undefined {
  let node: Json | undefined = value;
  for (const key of path) {
    if (Array.isArray(node)) node = node[Number(key)];
    else if (typeof node === "object" && node !== null && Object.hasOwn(node, key)) node = (node as Record<string, Json>)[key];
    else return undefined;
  }
  return node;
}
