import type { CallExpression, Diagnostic, Expression, ObjectItem, SourceRange } from "./syntax.ts";
import { rangeBetween } from "./syntax.ts";
import { ANY, BOOL, NUMBER, STRING, type Type } from "./value.ts";

const SUMMARY = "Invalid type specification";
const PRIMITIVES: Readonly<Record<string, Type>> = { string: STRING, number: NUMBER, bool: BOOL, any: ANY };

/**
 * How a type may be stated: a `variable` block of Nomad wants it exact, `convert()` takes `any` and `optional` too.
 * (`optional` is only a word there: Nomad wants the attribute all the same.)
 */
export type TypeForm = "exact" | "constraint";

/**
 * Reads a type: `string`, `list(number)`, `object({ a = string })`. Errors go to `diagnostics`; the type is then `any`
 * in that place. Nomad's `variable` blocks refuse `any` and `optional` (form `exact`).
 */
export function readType(expression: Expression, diagnostics: Diagnostic[], form: TypeForm): Type {
  const keyword = keywordOf(expression);
  if (keyword !== undefined) {
    const primitive = PRIMITIVES[keyword];
    if (primitive === undefined) return fail(diagnostics, expression.range, wrongKeyword(keyword));
    if (keyword !== "any" || form === "constraint") return primitive;
    const detail = 'The keyword "any" cannot be used in this type specification: an exact type is required.';
    return fail(diagnostics, expression.range, detail);
  }
  if (expression.kind !== "call") {
    const detail =
      "A type specification is either a primitive type keyword (bool, number, string) or a complex type constructor call, like list(string).";
    return fail(diagnostics, expression.range, detail);
  }
  return readConstructor(expression, diagnostics, form);
}

/** A bare name; `true`, `false` and `null` count as names too. */
export function keywordOf(expression: Expression): string | undefined {
  if (expression.kind === "variable") return expression.steps.length === 0 ? expression.root : undefined;
  if (expression.kind !== "literal") return undefined;
  if (expression.value.type === "bool") return String(expression.value.value);
  return expression.value.type === "null" ? "null" : undefined;
}

function fail(diagnostics: Diagnostic[], range: SourceRange, detail: string): Type {
  diagnostics.push({ severity: "error", summary: SUMMARY, detail, range });
  return ANY;
}

const NEEDS: Readonly<Record<string, string>> = {
  list: "The list type constructor requires one argument specifying the element type.",
  set: "The set type constructor requires one argument specifying the element type.",
  map: "The map type constructor requires one argument specifying the element type.",
  object: "The object type constructor requires one argument specifying the attribute types and values as a map.",
  tuple: "The tuple type constructor requires one argument specifying the element types as a list.",
};

function wrongKeyword(keyword: string): string {
  return NEEDS[keyword] ?? `The keyword "${keyword}" is not a valid type specification.`;
}

function readConstructor(call: CallExpression, diagnostics: Diagnostic[], form: TypeForm): Type {
  const { name, args } = call;
  const argsRange = rangeBetween(call.openRange, call.closeRange);
  if (PRIMITIVES[name] !== undefined) {
    const kind = name === "any" ? "Type constraint" : "Primitive type";
    return fail(diagnostics, argsRange, `${kind} keyword "${name}" does not expect arguments.`);
  }
  const [argument, second] = args;
  const needs = NEEDS[name];
  if (needs === undefined) {
    if (name === "optional") {
      return fail(diagnostics, call.nameRange, 'Keyword "optional" is valid only as a modifier for object type attributes.');
    }
    return fail(diagnostics, call.range, `Keyword "${name}" is not a valid type constructor.`);
  }
  if (argument === undefined) return fail(diagnostics, argsRange, needs);
  if (second !== undefined) return fail(diagnostics, rangeBetween(second.range, (args.at(-1) ?? second).range), needs);
  if (name === "list" || name === "set" || name === "map") return { kind: name, element: readType(argument, diagnostics, form) };
  if (name === "tuple") {
    if (argument.kind !== "tuple")
      return fail(diagnostics, argument.range, "Tuple type constructor requires a list of element types.");
    return { kind: "tuple", items: argument.items.map((item) => readType(item, diagnostics, form)) };
  }
  if (argument.kind !== "object") {
    const detail =
      "Object type constructor requires a map whose keys are attribute names and whose values are the corresponding attribute types.";
    return fail(diagnostics, argument.range, detail);
  }
  return readObjectType(argument.items, diagnostics, form);
}

function readObjectType(items: readonly ObjectItem[], diagnostics: Diagnostic[], form: TypeForm): Type {
  const attributes = new Map<string, Type>();
  for (const item of items) {
    const name = item.keyName;
    if (name === undefined) {
      fail(diagnostics, item.key.range, "Object constructor map keys must be attribute names.");
    } else if (attributes.has(name)) {
      fail(diagnostics, item.key.range, "Object constructor map keys must be unique.");
    } else {
      const type = readAttributeType(item.value, diagnostics, form);
      if (type !== undefined) attributes.set(name, type);
    }
  }
  return { kind: "object", attributes };
}

function readAttributeType(value: Expression, diagnostics: Diagnostic[], form: TypeForm): Type | undefined {
  if (value.kind !== "call" || value.name !== "optional") return readType(value, diagnostics, form);
  const argsRange = rangeBetween(value.openRange, value.closeRange);
  const [inner] = value.args;
  if (inner === undefined) {
    fail(diagnostics, argsRange, "Optional attribute modifier requires the attribute type as its argument.");
    return undefined;
  }
  if (form === "exact") {
    fail(diagnostics, value.nameRange, "Optional attribute modifier is only for type constraints, not for exact types.");
  } else if (value.args.length > 1)
    fail(diagnostics, argsRange, "Optional attribute modifier expects only one argument: the attribute type.");
  return readType(inner, diagnostics, form);
}
