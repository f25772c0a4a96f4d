import type { HclParser } from "../../hcl/parser.ts";
import type { Diagnostic, Expression, ObjectItem, Position, SourceRange } from "../../hcl/syntax.ts";
import { formatRange } from "../../hcl/syntax.ts";
import type { RawAttr } from "./body-view.ts";

/** What reading expressions out of JSON strings needs. */
export interface JsonDocument {
  readonly text: string;
  readonly parser: HclParser;
}

/**
 * A value of a JSON file, read without a look into its strings, as an attribute's expression: strings are templates, or the names and
 * types of HCL where those are wanted. What is wrong in a template is told when the value is asked for, not before.
 */
export function jsonExpression(
  value: Expression,
  document: JsonDocument,
): Pick<RawAttr, "expression" | "constant" | "keyword" | "problems"> {
  const problems: Diagnostic[] = [];
  const expression = templates(value, document, problems);
  return { expression, constant: value, keyword: () => keyword(value, document), problems };
}

function templates(value: Expression, document: JsonDocument, problems: Diagnostic[]): Expression {
  if (value.kind === "tuple") return { ...value, items: value.items.map((item) => templates(item, document, problems)) };
  if (value.kind === "object") return { ...value, items: objectItems(value.items, document, problems) };
  if (value.kind !== "literal" || value.value.type !== "string") return value;
  return template(value.value.value, value.range, document, problems);
}

const LONE_SURROGATE = /\p{Surrogate}/gu;

function template(raw: string, range: SourceRange, document: JsonDocument, problems: Diagnostic[]): Expression {
  const text = raw.replace(LONE_SURROGATE, "\ufffd");
  if (!/[$%]\{/.test(text)) return { kind: "literal", value: { type: "string", value: text }, range };
  const at = { document: document.text, start: range.start.offset + 1 };
  const { expression, diagnostics } = document.parser.parseTemplate(text, range.filename, at);
  if (diagnostics.length > 0) {
    problems.push(...diagnostics);
    // Outside of a splat this stands for a value that is not known.
    return { kind: "splat_item", range };
  }
  // Wrapped: messages about the value point at the whole string, not at the part in it.
  return { kind: "template", form: "quoted", parts: [{ kind: "interpolation", expression, range }], wrapsOne: true, range };
}

function objectItems(items: readonly ObjectItem[], document: JsonDocument, problems: Diagnostic[]): ObjectItem[] {
  const places = new Map<string, SourceRange>();
  const kept: ObjectItem[] = [];
  for (const item of items) {
    const name = item.keyName ?? "";
    const known = places.get(name);
    if (known !== undefined) {
      const detail = `An attribute named "${name}" was already defined at ${formatRange(known)}.`;
      problems.push({ severity: "error", summary: "Duplicate object attribute", detail, range: item.key.range });
      continue;
    }
    places.set(name, item.key.range);
    const key = template(name, item.key.range, document, problems);
    const value = templates(item.value, document, problems);
    kept.push(key.kind === "literal" ? { keyName: name, key, value } : { key, value });
  }
  return kept;
}

/** A string as a piece of HCL where a name or a type is wanted; anything else as it stands. */
function keyword(value: Expression, document: JsonDocument): Expression {
  if (value.kind !== "literal" || value.value.type !== "string") return value;
  const { expression, diagnostics } = document.parser.parseExpression(value.value.value, value.range.filename);
  return diagnostics.length > 0 ? value : moved(expression, value.range.start);
}

/** The same expression as if its text began at `start`. */
function moved<T>(tree: T, start: Position): T {
  if (Array.isArray(tree)) return tree.map((item) => moved(item, start)) as T;
  if (typeof tree !== "object" || tree === null) return tree;
  if (isPosition(tree)) return shifted(tree, start) as T;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, moved(value, start)])) as T;
}

function isPosition(value: object): value is Position {
  return "line" in value && "column" in value;
}

function shifted(place: Position, start: Position): Position {
  return {
    line: place.line + start.line - 1,
    column: place.line === 1 ? place.column + start.column - 1 : place.column,
    byte: place.byte + start.byte,
    offset: place.offset + start.offset,
  };
}
