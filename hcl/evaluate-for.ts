import type { EvaluateContext } from "./evaluate-context.ts";
import { childScope } from "./scope.ts";
import type { Expression, ForExpression, TemplateFor } from "./syntax.ts";
import { friendlyType } from "./type-names.ts";
import { BOOL, integerValue, objectValue, STRING, stringValue, tupleValue, typeOf, unknownValue, type Value } from "./value.ts";

/** The keys and values a loop walks: by position, by name in order, or each element as its own key. */
export function elementsOf(value: Value): readonly (readonly [Value, Value])[] | undefined {
  if (value.kind === "set") return value.items.map((item) => [item, item] as const);
  if ("items" in value) return value.items.map((item, index) => [integerValue(index), item] as const);
  if ("entries" in value) return [...value.entries].map(([name, item]) => [stringValue(name), item] as const);
  return undefined;
}

/** `undefined` when the collection cannot be walked now; why was reported. */
function walk(evaluator: EvaluateContext, expression: Expression): readonly (readonly [Value, Value])[] | undefined {
  const collection = evaluator.value(expression);
  if (collection.kind === "null") {
    const detail = "A null value cannot be used as the collection in a 'for' expression.";
    evaluator.error("Iteration over null value", detail, expression.range);
    return undefined;
  }
  const type = typeOf(collection);
  if (type.kind === "any") return undefined;
  if (type.kind === "string" || type.kind === "number" || type.kind === "bool") {
    const detail = `A value of type ${friendlyType(type)} cannot be used as the collection in a 'for' expression.`;
    evaluator.error("Iteration over non-iterable value", detail, expression.range);
    return undefined;
  }
  return elementsOf(collection);
}

function named(node: ForExpression | TemplateFor, key: Value, value: Value): Map<string, Value> {
  const names = new Map<string, Value>();
  if (node.keyName !== undefined) names.set(node.keyName, key);
  return names.set(node.valueName, value);
}

/** `[for …]` and `{for …}`. */
export function evaluateFor(evaluator: EvaluateContext, node: ForExpression): Value {
  const elements = walk(evaluator, node.collection);
  if (elements === undefined) return unknownValue();
  if (node.condition !== undefined && !probeCondition(evaluator, node, node.condition)) return unknownValue();
  const loop = new Loop(evaluator, node);
  for (const [key, value] of elements) loop.step(evaluator.within(childScope(evaluator.scope, named(node, key, value))));
  return loop.result();
}

/** A wrong condition is said once, before the elements are walked. */
function probeCondition(evaluator: EvaluateContext, node: ForExpression, condition: Expression): boolean {
  const before = evaluator.failures;
  const scope = childScope(evaluator.scope, named(node, unknownValue(), unknownValue()));
  const probe = evaluator.within(scope).value(condition);
  if (probe.kind === "null") {
    evaluator.error("Condition is null", "The value of the 'if' clause must not be null.", condition.range);
    return false;
  }
  const detail = (reason: string) => `The 'if' clause value is invalid: ${reason}.`;
  evaluator.converted(probe, BOOL, condition.range, "Invalid 'for' condition", detail);
  return evaluator.failures === before;
}

/** Gathers what a loop produces, and stops repeating a complaint once the result is lost anyway. */
class Loop {
  readonly #evaluator: EvaluateContext;
  readonly #node: ForExpression;
  readonly #items: Value[] = [];
  readonly #entries = new Map<string, Value[]>();
  #known = true;

  constructor(evaluator: EvaluateContext, node: ForExpression) {
    this.#evaluator = evaluator;
    this.#node = node;
  }

  step(inner: EvaluateContext): void {
    if (!this.#included(inner)) return;
    if (this.#node.key === undefined) {
      this.#items.push(inner.value(this.#node.value));
      return;
    }
    const key = this.#key(inner, this.#node.key);
    if (key === undefined) return;
    const value = inner.value(this.#node.value);
    const existing = this.#entries.get(key);
    if (existing === undefined) this.#entries.set(key, [value]);
    else if (this.#node.grouped) existing.push(value);
    else {
      const detail = `Two different items produced the key ${JSON.stringify(key)} in this 'for' expression. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key.`;
      this.#evaluator.error("Duplicate object key", detail, this.#node.key.range);
    }
  }

  result(): Value {
    if (!this.#known) return unknownValue();
    if (this.#node.key === undefined) return tupleValue(this.#items);
    const grouped = this.#node.grouped;
    return objectValue(
      [...this.#entries].map(([name, values]) => [name, grouped ? tupleValue(values) : (values[0] ?? unknownValue())]),
    );
  }

  #lost(summary: string, detail: string, expression: Expression): undefined {
    if (this.#known) this.#evaluator.error(summary, detail, expression.range);
    this.#known = false;
    return undefined;
  }

  #included(inner: EvaluateContext): boolean {
    const { condition } = this.#node;
    if (condition === undefined) return true;
    const value = inner.value(condition);
    if (value.kind === "null") {
      this.#lost("Invalid 'for' condition", "The value of the 'if' clause must not be null.", condition);
      return false;
    }
    const answer = this.#converted(inner, value, condition, "Invalid 'for' condition", "The 'if' clause value is invalid");
    return answer?.kind === "bool" && answer.value;
  }

  #key(inner: EvaluateContext, expression: Expression): string | undefined {
    const value = inner.value(expression);
    if (value.kind === "null") {
      const detail = "Key expression in 'for' expression must not produce a null value.";
      return this.#lost("Invalid object key", detail, expression);
    }
    const key = this.#converted(inner, value, expression, "Invalid object key", "The key expression produced an invalid result");
    return key?.kind === "string" ? key.value : undefined;
  }

  #converted(inner: EvaluateContext, value: Value, expression: Expression, summary: string, says: string): Value | undefined {
    if (value.kind === "unknown") {
      this.#known = false;
      return undefined;
    }
    const already = inner.diagnostics.length;
    const wanted = summary === "Invalid object key" ? STRING : BOOL;
    const result = inner.converted(value, wanted, expression.range, summary, (reason) => `${says}: ${reason}.`);
    if (result.kind !== "unknown") return result;
    if (!this.#known) inner.diagnostics.splice(already);
    this.#known = false;
    return undefined;
  }
}

/** `%{ for … }`: the texts of the rounds, joined. */
export function evaluateTemplateFor(evaluator: EvaluateContext, node: TemplateFor): Value {
  const elements = walk(evaluator, node.collection);
  if (elements === undefined) return unknownValue(STRING);
  let text = "";
  let known = true;
  for (const [key, value] of elements) {
    const round = evaluator.within(childScope(evaluator.scope, named(node, key, value))).template(node.body);
    if (round.kind === "string") text += round.value;
    else known = false;
  }
  return known ? stringValue(text) : unknownValue(STRING);
}
