import type { z } from "zod";
import type { Json } from "../../model/nomad.ts";
import type { ValuePath, YamlDocument } from "./document.ts";
import type { ConfigIssue } from "./issues.ts";

/** Collects what is wrong, with the line of the value it is about. */
export type Complain = (path: ValuePath, message: string) => void;

/** A `Complain` that turns value paths of a document into issues with file and line. */
export function complainer(document: YamlDocument, issues: ConfigIssue[]): Complain {
  return (path, message) => {
    const line = document.lineOf(path);
    const where = path.length === 0 ? "" : `${path.map(String).join(".")}: `;
    issues.push({ file: document.file, ...(line === undefined ? {} : { line }), message: `${where}${message}` });
  };
}

/**
 * Checks a value against a schema and reports every deviation at its place; unknown keys are named with the nearest
 * known one. Returns `undefined` when there was any.
 */
export function parseAt<T>(schema: z.ZodType<T>, value: Json | unknown, path: ValuePath, complain: Complain): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const at = [...path, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) complain([...at, key], `unknown key${suggestion(key, knownKeys(schema, issue.path))}`);
    } else {
      complain(at, issue.message);
    }
  }
  return undefined;
}

function knownKeys(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let node: unknown = schema;
  for (const part of path) node = step(unwrap(node), part);
  const shape = property(unwrap(node), "shape");
  return typeof shape === "object" && shape !== null ? Object.keys(shape) : [];
}

function step(node: unknown, part: PropertyKey): unknown {
  if (typeof part === "number") return property(node, "element");
  const shape = property(node, "shape");
  if (typeof shape === "object" && shape !== null && part in shape) return property(shape, String(part));
  return property(node, "valueType");
}

function unwrap(node: unknown): unknown {
  const inner = property(node, "unwrap");
  return typeof inner === "function" && property(node, "shape") === undefined && property(node, "element") === undefined
    ? unwrap(inner.call(node))
    : node;
}

function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** ` (did you mean "x"?)` for a near miss, else nothing. */
export function suggestion(wrong: string, known: Iterable<string>): string {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of known) {
    const distance = editDistance(wrong, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best === undefined ? "" : ` (did you mean "${best}"?)`;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? a.length;
}
