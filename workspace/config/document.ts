import { isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { Json } from "../../model/nomad.ts";
import type { ConfigIssue } from "./issues.ts";

/** Path of a value inside a document: keys and list positions from the root. */
export type ValuePath = readonly (string | number)[];

/** A YAML file as values, with the line of each of them. */
export interface YamlDocument {
  /** Path from the workspace root. */
  readonly file: string;
  /** `null` for an empty file or one that holds only comments. */
  readonly value: Json;
  /** Line of the value at `path`, or of the nearest enclosing one; of the key itself where the last part is a key. */
  lineOf(path: ValuePath): number | undefined;
}

/** What came of reading a YAML text: the document and what is wrong with its syntax. */
export interface ReadResult {
  readonly document: YamlDocument;
  readonly issues: readonly ConfigIssue[];
}

/**
 * Parses YAML 1.2 (core schema: no dates, `no` is a string). Numbers that JSON cannot hold exactly, duplicate keys and
 * non-string keys are issues, because a hash over them would lie (workspace §7.2).
 */
export function readYaml(file: string, text: string): ReadResult {
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false, intAsBigInt: true });
  const issues: ConfigIssue[] = parsed.errors.map((error) => ({
    file,
    line: lines.linePos(error.pos[0]).line,
    message: firstLine(error.message),
  }));
  const root = parsed.contents;
  let value: Json = null;
  if (issues.length === 0) {
    try {
      value = toJson(parsed.toJS({ maxAliasCount: 100 }), [], (path, message) => {
        const line = lineAt(root, path, lines);
        issues.push({ file, ...(line === undefined ? {} : { line }), message: `${path.join(".")}: ${message}` });
      });
    } catch (error) {
      issues.push({ file, message: firstLine(error instanceof Error ? error.message : String(error)) });
    }
  }
  return { document: { file, value, lineOf: (path) => lineAt(root, path, lines) }, issues };
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? text;
}

function toJson(value: unknown, path: (string | number)[], complain: (path: ValuePath, message: string) => void): Json {
  if (typeof value === "bigint") {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) complain(path, "the number is too large to be exact; write it in quotes");
    return number;
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    complain(path, "not a finite number; write it in quotes");
    return null;
  }
  if (Array.isArray(value)) return value.map((item, index) => toJson(item, [...path, index], complain));
  if (typeof value === "object" && value !== null) {
    const copy: Record<string, Json> = {};
    for (const [key, item] of Object.entries(value)) {
      // Defined, not assigned: a key called __proto__ must stay a plain key.
      Object.defineProperty(copy, key, { value: toJson(item, [...path, key], complain), enumerable: true });
    }
    return copy;
  }
  if (value === null || typeof value === "string" || typeof value === "boolean" || typeof value === "number") return value;
  if (value === undefined) return null;
  complain(path, "a value that JSON cannot hold");
  return null;
}

function lineAt(root: unknown, path: ValuePath, lines: LineCounter): number | undefined {
  let node: unknown = root;
  let best: Node | undefined = isCollection(root) || isScalar(root) ? root : undefined;
  for (const part of path) {
    const next = child(node, part);
    if (next === undefined) break;
    best = next.mark;
    node = next.value;
  }
  const offset = best?.range?.[0];
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

function child(node: unknown, part: string | number): { readonly mark: Node; readonly value: unknown } | undefined {
  if (isMap(node)) {
    for (const pair of node.items) {
      if (isScalar(pair.key) && String(pair.key.value) === String(part)) return { mark: pair.key, value: pair.value };
    }
    return undefined;
  }
  if (isSeq(node) && typeof part === "number") {
    const item = node.items[part];
    return isCollection(item) || isScalar(item) || isAlias(item) ? { mark: item, value: item } : undefined;
  }
  return undefined;
}
