import type { Node } from "web-tree-sitter";
import type { Expression, ObjectItem } from "./syntax.ts";
import { childOf, childrenOf, rangeOf, type TreeContext } from "./tree-context.ts";

/** Reads `[a, b]`. */
export function readTuple(context: TreeContext, node: Node, depth: number): Expression {
  const open = childOf(node, "tuple_start") ?? node;
  return {
    kind: "tuple",
    items: childrenOf(node)
      .filter((child) => child.type === "expression")
      .map((child) => context.readExpression(child, depth + 1)),
    openRange: rangeOf(context, open),
    range: rangeOf(context, node),
  };
}

/** Reads `{ a = b, c : d }`. */
export function readObject(context: TreeContext, node: Node, depth: number): Expression {
  const open = childOf(node, "object_start") ?? node;
  const items = childrenOf(node).filter((child) => child.type === "object_elem");
  return {
    kind: "object",
    items: items.flatMap((item) => readItem(context, item, depth) ?? []),
    openRange: rangeOf(context, open),
    range: rangeOf(context, node),
  };
}

function readItem(context: TreeContext, node: Node, depth: number): ObjectItem | undefined {
  const [keyNode, valueNode] = node.children.filter((child) => child.type === "expression");
  if (keyNode === undefined || valueNode === undefined) return undefined;
  const key = context.readExpression(keyNode, depth + 1);
  const value = context.readExpression(valueNode, depth + 1);
  const keyName = bareName(key, keyNode);
  return { ...(keyName === undefined ? {} : { keyName }), key, value };
}

/** A name without steps, `true`, `false` and `null` included, is a key as it stands. */
function bareName(key: Expression, node: Node): string | undefined {
  if (key.kind === "variable") return key.steps.length === 0 ? key.root : undefined;
  if (key.kind === "literal" && (key.value.type === "bool" || key.value.type === "null")) return node.text;
  return undefined;
}

/** Reads `[for …]` and `{for …}`. */
export function readFor(context: TreeContext, node: Node, depth: number): Expression {
  const range = rangeOf(context, node);
  const intro = childOf(node, "for_intro");
  const collection = intro === undefined ? undefined : childOf(intro, "expression");
  const names = intro === undefined ? [] : intro.children.filter((child) => child.type === "identifier");
  const results = node.children.filter((child) => child.type === "expression");
  const condition = childOf(node, "for_cond");
  const conditionNode = condition === undefined ? undefined : childOf(condition, "expression");
  const isObject = node.type === "for_object_expr";
  const value = isObject ? results[1] : results[0];
  const valueName = names.at(-1)?.text;
  if (collection === undefined || value === undefined || valueName === undefined) return { kind: "invalid", range };
  const [firstName] = names;
  const key = isObject ? results[0] : undefined;
  const open = childOf(node, "tuple_start") ?? childOf(node, "object_start") ?? node;
  return {
    kind: "for",
    ...(names.length > 1 && firstName !== undefined ? { keyName: firstName.text } : {}),
    valueName,
    collection: context.readExpression(collection, depth + 1),
    ...(key === undefined ? {} : { key: context.readExpression(key, depth + 1) }),
    value: context.readExpression(value, depth + 1),
    ...(conditionNode === undefined ? {} : { condition: context.readExpression(conditionNode, depth + 1) }),
    grouped: childOf(node, "ellipsis") !== undefined,
    openRange: rangeOf(context, open),
    range,
  };
}
