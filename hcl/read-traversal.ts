import type { Node } from "web-tree-sitter";
import { readExpression } from "./read-expression.ts";
import type { Expression, SourceRange, TraversalStep } from "./syntax.ts";
import { childOf, childrenOf, rangeOf, type TreeContext } from "./tree-context.ts";

/** One step behind a term, in the order of the text, splats dissolved into their marker and the steps behind it. */
interface PostfixStep {
  readonly kind: "attribute" | "legacy_index" | "index" | "attribute_splat" | "full_splat" | "broken";
  readonly node: Node;
}

/** Applies the steps that stand behind a term. */
export function readPostfix(context: TreeContext, term: Expression, nodes: readonly Node[], depth: number): Expression {
  return applySteps(context, term, nodes.flatMap(dissolve), depth);
}

function dissolve(node: Node): PostfixStep[] {
  const [only, ...rest] = childrenOf(node);
  switch (node.type) {
    case "get_attr":
      return [{ kind: "attribute", node }];
    case "index":
      return only === undefined ? [{ kind: "broken", node }] : dissolve(only);
    case "legacy_index":
      return [{ kind: "legacy_index", node }];
    case "new_index":
      return [{ kind: "index", node }];
    case "splat":
      return only === undefined ? [{ kind: "broken", node }] : dissolve(only);
    case "attr_splat":
      return only === undefined ? [] : [{ kind: "attribute_splat", node: only }, ...rest.flatMap(dissolve)];
    case "full_splat":
      return only === undefined ? [] : [{ kind: "full_splat", node: only }, ...rest.flatMap(dissolve)];
    default:
      return [{ kind: "broken", node }];
  }
}

function applySteps(context: TreeContext, start: Expression, steps: readonly PostfixStep[], depth: number): Expression {
  let result = start;
  for (let at = 0; at < steps.length; at += 1) {
    const step = steps[at];
    if (step === undefined) break;
    if (step.kind === "broken") return { kind: "invalid", range: rangeOf(context, step.node) };
    if (step.kind === "attribute_splat" || step.kind === "full_splat") {
      // A full splat takes everything behind it into each element, an attribute splat only the names.
      const rest = steps.slice(at + 1);
      const stop =
        step.kind === "full_splat" ? -1 : rest.findIndex((next) => next.kind !== "attribute" && next.kind !== "legacy_index");
      const taken = stop === -1 ? rest : rest.slice(0, stop);
      const markerRange = rangeOf(context, step.node);
      const each = applySteps(context, { kind: "splat_item", range: markerRange }, taken, depth + 1);
      result = { kind: "splat", source: result, each, markerRange, range: span(result, each.range) };
      at += taken.length;
    } else {
      result = applyStep(context, result, step, depth);
    }
  }
  return result;
}

function applyStep(context: TreeContext, source: Expression, step: PostfixStep, depth: number): Expression {
  const range = rangeOf(context, step.node);
  if (step.kind === "attribute") {
    return traverse(source, { kind: "attribute", name: childOf(step.node, "identifier")?.text ?? "", range });
  }
  if (step.kind === "legacy_index") {
    return traverse(source, { kind: "index", key: { number: step.node.text.replace(/^\.\s*/, "") }, range });
  }
  const inner = childOf(step.node, "expression");
  if (inner === undefined) return { kind: "invalid", range };
  const key = readExpression(context, inner, depth + 1);
  const constant = constantKey(key);
  if (constant !== undefined) return traverse(source, { kind: "index", key: constant, range });
  return { kind: "index", collection: source, key, bracketRange: range, range: span(source, range) };
}

function constantKey(key: Expression): string | { readonly number: string } | undefined {
  if (key.kind === "literal" && key.value.type === "number") return { number: key.value.text };
  const only = key.kind === "template" && key.parts.length === 1 ? key.parts[0] : undefined;
  return only?.kind === "text" ? only.text : undefined;
}

function traverse(source: Expression, step: TraversalStep): Expression {
  const range = span(source, step.range);
  if (source.kind === "variable" || source.kind === "traversal") return { ...source, steps: [...source.steps, step], range };
  return { kind: "traversal", source, steps: [step], range };
}

function span(from: Expression, to: SourceRange): SourceRange {
  return { filename: to.filename, start: from.range.start, end: to.end };
}
