import type { Node } from "web-tree-sitter";
import type { Expression, InvalidExpression, SourceRange, TraversalStep } from "./syntax.ts";
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
  // Constant steps are gathered and put behind their source at once: chains may be long.
  let constant: TraversalStep[] = [];
  const settle = (): Expression => {
    result = traverse(result, constant);
    constant = [];
    return result;
  };
  for (let at = 0; at < steps.length; at += 1) {
    const step = steps[at];
    if (step === undefined) break;
    if (step.kind === "attribute_splat" || step.kind === "full_splat") {
      const rest = steps.slice(at + 1);
      const taken = rest.slice(0, stepsTakenBySplat(step.kind, rest));
      const source = settle();
      const markerRange = rangeOf(context, step.node);
      const each = applySteps(context, { kind: "splat_item", range: markerRange }, taken, depth + 1);
      result = { kind: "splat", source, each, markerRange, range: span(source, each.range) };
      at += taken.length;
      continue;
    }
    const read = readStep(context, step, depth);
    if (read.kind === "invalid") return read;
    if (read.kind === "step") constant.push(read.step);
    else
      result = { kind: "index", collection: settle(), key: read.key, bracketRange: read.range, range: span(result, read.range) };
  }
  return settle();
}

/** A full splat takes everything behind it into each element, an attribute splat only the names. */
function stepsTakenBySplat(kind: "attribute_splat" | "full_splat", rest: readonly PostfixStep[]): number {
  const stop = rest.findIndex((next) => next.kind !== "attribute" && next.kind !== "legacy_index");
  return kind === "full_splat" || stop === -1 ? rest.length : stop;
}

type ReadStep =
  | { readonly kind: "step"; readonly step: TraversalStep }
  | { readonly kind: "key"; readonly key: Expression; readonly range: SourceRange }
  | InvalidExpression;

function readStep(context: TreeContext, step: PostfixStep, depth: number): ReadStep {
  const range = rangeOf(context, step.node);
  if (step.kind === "attribute") {
    return { kind: "step", step: { kind: "attribute", name: childOf(step.node, "identifier")?.text ?? "", range } };
  }
  if (step.kind === "legacy_index") {
    return { kind: "step", step: { kind: "index", key: { number: step.node.text.replace(/^\.\s*/, "") }, range } };
  }
  const inner = childOf(step.node, "expression");
  if (step.kind === "broken" || inner === undefined) return { kind: "invalid", range };
  const key = context.readExpression(inner, depth + 1);
  const constant = constantKey(key);
  return constant === undefined ? { kind: "key", key, range } : { kind: "step", step: { kind: "index", key: constant, range } };
}

function constantKey(key: Expression): string | { readonly number: string } | undefined {
  if (key.kind === "literal" && key.value.type === "number") return { number: key.value.text };
  const only = key.kind === "template" && key.parts.length === 1 ? key.parts[0] : undefined;
  return only?.kind === "text" ? only.text : undefined;
}

function traverse(source: Expression, steps: readonly TraversalStep[]): Expression {
  const last = steps.at(-1);
  if (last === undefined) return source;
  const range = span(source, last.range);
  if (source.kind === "variable" || source.kind === "traversal") return { ...source, steps: [...source.steps, ...steps], range };
  return { kind: "traversal", source, steps, range };
}

function span(from: Expression, to: SourceRange): SourceRange {
  return { filename: to.filename, start: from.range.start, end: to.end };
}
