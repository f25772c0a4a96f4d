import type { HclParser } from "../../hcl/parser.ts";
import type { Diagnostic, Expression, ObjectItem, Position, SourceRange } from "../../hcl/syntax.ts";
import { formatRange } from "../../hcl/syntax.ts";
import type { RawAttr } from "./body-view.ts";

/**
 * A value of a JSON file, read without a look into its strings, as an attribute's expression: strings are templates, or the names and
 * types of HCL where those are wanted. What is wrong in a template is told when the value is asked for, not before.
 */
export function jsonExpression(
  value: Expression,
  parser: HclParser,
): Pick<RawAttr, "expression" | "constant" | "keyword" | "problems"> {
  const problems: Diagnostic[] = [];
  const expression = templates(value, parser, problems);
  return { expression, constant: value, keyword: () => keyword(value, parser), problems };
}

function templates(value: Expression, parser: HclParser, problems: Diagnostic[]): Expression {
  if (value.kind === "tuple") return { ...value, items: value.items.map((item) => templates(item, parser, problems)) };
  if (value.kind === "object") return { ...value, items: objectItems(value.items, parser, problems) };
  if (value.kind !== "literal" || value.value.type !== "string") return value;
  return template(value.value.value, value.range, parser, problems);
}

const LONE_SURROGATE = /\p{Surrogate}/gu;

function template(raw: string, range: SourceRange, parser: HclParser, problems: Diagnostic[]): Expression {
  const text = raw.replace(LONE_SURROGATE, "\ufffd");
  if (!/[$%]\{/.test(text)) return { kind: "literal", value: { type: "string", value: text }, range };
  const { expression, diagnostics } = parser.parseTemplate(text, range.filename, insideQuotes(range.start));
  if (diagnostics.length > 0) {
    problems.push(...diagnostics);
    // Outside of a splat this stands for a value that is not known.
    return { kind: "splat_item", range };
  }
  // Wrapped: messages about the value point at the whole string, not at the part in it.
  return { kind: "template", form: "quoted", parts: [{ kind: "interpolation", expression, range }], wrapsOne: true, range };
}

function objectItems(items: readonly ObjectItem[], parser: HclParser, problems: Diagnostic[]): ObjectItem[] {
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
    const key = template(name, item.key.range, parser, problems);
    const value = templates(item.value, parser, problems);
    kept.push(key.kind === "literal" ? { keyName: name, key, value } : { key, value });
  }
  return kept;
}

/** A string as a piece of HCL where a name or a type is wanted; anything else as it stands. */
function keyword(value: Expression, parser: HclParser): Expression {
  if (value.kind !== "literal" || value.value.type !== "string") return value;
  const { filename, start } = value.range;
  const { expression, diagnostics } = parser.parseExpression(value.value.value, filename, start);
  return diagnostics.length > 0 ? value : expression;
}

function insideQuotes({ line, column, byte, offset }: Position): Position {
  return { line, column: column + 1, byte: byte + 1, offset: offset + 1 };
}
