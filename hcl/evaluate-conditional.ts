import { ConversionError, convert } from "./convert.ts";
import type { EvaluateContext } from "./evaluate-context.ts";
import { evaluateIn } from "./evaluate-in.ts";
import type { Evaluation } from "./scope.ts";
import type { ConditionalExpression, SourceRange, TemplateIf, TemplatePart } from "./syntax.ts";
import { rangeBetween } from "./syntax.ts";
import { friendlyType } from "./type-names.ts";
import { unify } from "./unify.ts";
import { ANY, BOOL, sameType, type Type, typeOf, unknownValue, type Value } from "./value.ts";

/** One side of a conditional: an expression, or the parts of a template between its directives. */
interface Branch extends Evaluation {
  readonly range: SourceRange;
}

/** `condition ? a : b` and `%{ if … }`: both sides must have a common type, only the chosen one's problems count. */
export function evaluateConditional(evaluator: EvaluateContext, node: ConditionalExpression | TemplateIf): Value {
  const whenTrue = branch(evaluator, node, true);
  const whenFalse = branch(evaluator, node, false);
  const type = commonType(whenTrue.value, whenFalse.value);
  if (type === undefined) {
    const detail = `The true and false result expressions must have consistent types. ${describe(typeOf(whenTrue.value), typeOf(whenFalse.value))}.`;
    evaluator.error("Inconsistent conditional result types", detail, rangeBetween(whenTrue.range, whenFalse.range));
    return unknownValue();
  }
  const given = evaluator.value(node.condition);
  if (given.kind === "null") {
    const detail = "The condition value is null. Conditions must either be true or false.";
    evaluator.error("Null condition", detail, node.condition.range);
    return unknownValue(type);
  }
  if (given.kind === "unknown") return unknownValue(type);
  const condition = evaluator.converted(given, BOOL, node.condition.range, "Incorrect condition type", () => {
    return "The condition expression must be of type bool.";
  });
  if (condition.kind !== "bool") return unknownValue(type);
  return choose(evaluator, condition.value ? whenTrue : whenFalse, type, condition.value);
}

function choose(evaluator: EvaluateContext, chosen: Branch, type: Type, which: boolean): Value {
  evaluator.diagnostics.push(...chosen.diagnostics);
  try {
    return convert(chosen.value, type);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    const detail = `The ${which} result value has the wrong type: ${error.message}.`;
    evaluator.error("Inconsistent conditional result types", detail, chosen.range);
    return unknownValue(type);
  }
}

function branch(evaluator: EvaluateContext, node: ConditionalExpression | TemplateIf, which: boolean): Branch {
  if (node.kind === "conditional") {
    const expression = which ? node.whenTrue : node.whenFalse;
    return { ...evaluateIn(evaluator, expression), range: expression.range };
  }
  const parts: readonly TemplatePart[] = which ? node.whenTrue : node.whenFalse;
  const already = evaluator.diagnostics.length;
  const value = evaluator.template(parts);
  return { value, diagnostics: evaluator.diagnostics.splice(already), range: node.range };
}

function commonType(a: Value, b: Value): Type | undefined {
  if (isBareNull(a)) return typeOf(b);
  if (isBareNull(b)) return typeOf(a);
  const types = [typeOf(a), typeOf(b)];
  return types.some(({ kind }) => kind === "any") ? ANY : unify(types);
}

function isBareNull(value: Value): boolean {
  return value.kind === "null" && value.type.kind === "any";
}

/** What differs between the types of the two sides, as the rest of a sentence. */
function describe(a: Type, b: Type): string {
  if (a.kind === "object" && b.kind === "object") {
    for (const [name, type] of a.attributes) {
      const other = b.attributes.get(name);
      if (other === undefined)
        return `The 'true' value includes object attribute ${JSON.stringify(name)}, which is absent in the 'false' value`;
      if (!sameType(type, other)) return `Type mismatch for object attribute ${JSON.stringify(name)}: ${describe(type, other)}`;
    }
    const extra = [...b.attributes.keys()].find((name) => !a.attributes.has(name));
    if (extra !== undefined)
      return `The 'false' value includes object attribute ${JSON.stringify(extra)}, which is absent in the 'true' value`;
  }
  if (a.kind === "tuple" && b.kind === "tuple") {
    if (a.items.length !== b.items.length) {
      return `The 'true' tuple has length ${a.items.length}, but the 'false' tuple has length ${b.items.length}`;
    }
    const at = a.items.findIndex((item, index) => !sameType(item, b.items[index] ?? ANY));
    if (at !== -1) return `Type mismatch for tuple element ${at}: ${describe(a.items[at] ?? ANY, b.items[at] ?? ANY)}`;
  }
  if ("element" in a && "element" in b && a.kind === b.kind) {
    const [left, right] = [a.element.kind, b.element.kind];
    if (left === right && (left === "object" || left === "tuple")) {
      return `Mismatched ${a.kind} element types: ${describe(a.element, b.element)}`;
    }
  }
  const [left, right] = [friendlyType(a), friendlyType(b)];
  if (left !== right) return `The 'true' value is ${left}, but the 'false' value is ${right}`;
  return "At least one deeply-nested attribute or element is not compatible across both the 'true' and the 'false' value";
}
