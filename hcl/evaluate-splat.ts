import type { EvaluateContext } from "./evaluate-context.ts";
import { evaluateIn } from "./evaluate-in.ts";
import type { SplatExpression } from "./syntax.ts";
import { listValue, type Type, tupleValue, typeOf, unknownValue, type Value } from "./value.ts";

/** `list[*].name`: anything that is no list counts as a list of itself, null as an empty one. */
export function evaluateSplat(evaluator: EvaluateContext, node: SplatExpression): Value {
  const start = evaluator.failures;
  const source = evaluator.value(node.source);
  if (evaluator.failures > start) return unknownValue();
  const type = typeOf(source);
  const isSequence = type.kind === "list" || type.kind === "set" || type.kind === "tuple";
  if (source.kind === "null") {
    if (!isSequence) return tupleValue([]);
    const detail = "Splat expressions (with the * symbol) cannot be applied to null sequences.";
    evaluator.error("Splat of null value", detail, node.source.range);
    return unknownValue();
  }
  if (source.kind === "unknown") return isSequence ? unknownValue(resultType(evaluator, node, type)) : unknownValue();
  const items = "items" in source ? source.items : [source];
  const before = evaluator.failures;
  const results = items.map((item) => evaluator.at(item).value(node.each));
  if (evaluator.failures > before) {
    return unknownValue(resultType(evaluator, node, isSequence ? type : { kind: "tuple", items: [type] }));
  }
  if (source.kind !== "list" && source.kind !== "set") return tupleValue(results);
  const [first] = results;
  return listValue(results, first === undefined ? elementType(evaluator, node, source.element) : typeOf(first));
}

/** The type a splat over values of a type has, told from elements that are not known. */
function resultType(evaluator: EvaluateContext, node: SplatExpression, type: Type): Type {
  if (type.kind === "tuple") return { kind: "tuple", items: type.items.map((item) => elementType(evaluator, node, item)) };
  return { kind: "list", element: "element" in type ? elementType(evaluator, node, type.element) : type };
}

/** What is wrong with `each` was said for the elements that there are. */
function elementType(evaluator: EvaluateContext, node: SplatExpression, element: Type): Type {
  return typeOf(evaluateIn(evaluator.at(unknownValue(element)), node.each).value);
}
