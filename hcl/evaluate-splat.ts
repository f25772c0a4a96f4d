import type { Evaluator } from "./evaluate.ts";
import type { SplatExpression } from "./syntax.ts";
import { listValue, type Type, tupleValue, typeOf, unknownValue, type Value } from "./value.ts";

/** `list[*].name`: anything that is no list counts as a list of itself, null as an empty one. */
export function evaluateSplat(evaluator: Evaluator, node: SplatExpression): Value {
  const source = evaluator.value(node.source);
  const type = typeOf(source);
  const isSequence = type.kind === "list" || type.kind === "set" || type.kind === "tuple";
  if (source.kind === "null") {
    if (!isSequence) return tupleValue([]);
    const detail = "Splat expressions (with the * symbol) cannot be applied to null sequences.";
    evaluator.error("Splat of null value", detail, node.source.range);
    return unknownValue();
  }
  if (source.kind === "unknown") return unknownValue();
  const items = "items" in source ? source.items : [source];
  const before = evaluator.failures;
  const results = items.map((item) => evaluator.at(item).value(node.each));
  if (evaluator.failures > before) return unknownValue();
  if (source.kind !== "list" && source.kind !== "set") return tupleValue(results);
  const [first] = results;
  return listValue(results, first === undefined ? emptyElement(evaluator, node, source.element) : typeOf(first));
}

/** The type that `each` would have had, told from an element that is not known. */
function emptyElement(evaluator: Evaluator, node: SplatExpression, element: Type): Type {
  return typeOf(evaluator.at(unknownValue(element)).value(node.each));
}
