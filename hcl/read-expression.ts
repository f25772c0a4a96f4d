import type { Node } from "web-tree-sitter";
import { readFor, readObject, readTuple } from "./read-collection.ts";
import { readTemplate } from "./read-template.ts";
import { readPostfix } from "./read-traversal.ts";
import type { BinaryOperator, CallExpression, Expression } from "./syntax.ts";
import { childOf, childrenOf, MAX_TREE_DEPTH, rangeOf, report, type TreeContext } from "./tree-context.ts";

const OPERATORS = new Set(["*", "/", "%", "+", "-", ">", ">=", "<", "<=", "==", "!=", "&&", "||"]);
const NUMBER = /^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

/** Reads an `expression` node of the concrete tree. Broken parts become `invalid` expressions. */
export function readExpression(context: TreeContext, node: Node, depth: number): Expression {
  if (depth > MAX_TREE_DEPTH) {
    report(context, rangeOf(context, node), "Nesting too deep", `Expressions are nested more than ${MAX_TREE_DEPTH} deep.`);
    return { kind: "invalid", range: rangeOf(context, node) };
  }
  return readSequence(context, childrenOf(node), node, depth);
}

/** Reads a term and what stands behind it: `term`, `( expression )`, then index, attribute and splat steps. */
function readSequence(context: TreeContext, nodes: readonly Node[], whole: Node, depth: number): Expression {
  const [first] = nodes;
  if (first === undefined) return { kind: "invalid", range: rangeOf(context, whole) };
  if (first.type === "(") {
    const inner = nodes[1];
    const close = nodes[2];
    if (inner?.type !== "expression" || close?.type !== ")") return { kind: "invalid", range: rangeOf(context, whole) };
    const expression: Expression = {
      kind: "parentheses",
      expression: readExpression(context, inner, depth + 1),
      range: context.lines.range(first.startIndex, close.endIndex),
    };
    return readPostfix(context, expression, nodes.slice(3), depth);
  }
  return readPostfix(context, readTerm(context, first, depth), nodes.slice(1), depth);
}

function readTerm(context: TreeContext, node: Node, depth: number): Expression {
  const [only] = childrenOf(node);
  switch (node.type) {
    case "literal_value":
      return only === undefined ? invalid(context, node) : readLiteral(context, only);
    case "template_expr":
      return only === undefined ? invalid(context, node) : readTemplate(context, only, depth);
    case "collection_value":
      if (only?.type === "tuple") return readTuple(context, only, depth);
      return only?.type === "object" ? readObject(context, only, depth) : invalid(context, node);
    case "for_expr":
      return only === undefined ? invalid(context, node) : readFor(context, only, depth);
    case "variable_expr":
      return { kind: "variable", root: node.text, rootRange: rangeOf(context, node), steps: [], range: rangeOf(context, node) };
    case "function_call":
      return readCall(context, node, depth);
    case "operation":
      return only === undefined ? invalid(context, node) : readOperation(context, only, depth + 1);
    case "conditional":
      return readConditional(context, node, depth);
    case "expression":
      return readExpression(context, node, depth + 1);
    default:
      return invalid(context, node);
  }
}

function invalid(context: TreeContext, node: Node): Expression {
  return { kind: "invalid", range: rangeOf(context, node) };
}

function readLiteral(context: TreeContext, node: Node): Expression {
  const range = rangeOf(context, node);
  switch (node.type) {
    case "numeric_lit": {
      const text = context.text.slice(node.startIndex, node.endIndex);
      return NUMBER.test(text) ? { kind: "literal", value: { type: "number", text }, range } : { kind: "invalid", range };
    }
    case "bool_lit":
      return { kind: "literal", value: { type: "bool", value: node.text === "true" }, range };
    case "null_lit":
      return { kind: "literal", value: { type: "null" }, range };
    case "string_lit":
      return readTemplate(context, node, 0);
    default:
      return { kind: "invalid", range };
  }
}

function readCall(context: TreeContext, node: Node, depth: number): Expression {
  const name = childOf(node, "identifier");
  const open = childOf(node, "(");
  const close = childOf(node, ")");
  if (name === undefined || open === undefined || close === undefined) return invalid(context, node);
  const list = childOf(node, "function_arguments");
  const args = list === undefined ? [] : childrenOf(list);
  const call: CallExpression = {
    kind: "call",
    name: name.text,
    nameRange: rangeOf(context, name),
    openRange: rangeOf(context, open),
    closeRange: rangeOf(context, close),
    args: args.filter((arg) => arg.type === "expression").map((arg) => readExpression(context, arg, depth + 1)),
    expandLast: args.at(-1)?.type === "ellipsis",
    range: rangeOf(context, node),
  };
  return call;
}

function readOperation(context: TreeContext, node: Node, depth: number): Expression {
  if (depth > MAX_TREE_DEPTH) {
    report(context, rangeOf(context, node), "Nesting too deep", `Expressions are nested more than ${MAX_TREE_DEPTH} deep.`);
    return invalid(context, node);
  }
  const children = childrenOf(node);
  const [first] = children;
  if (node.type === "unary_operation" && first !== undefined) {
    const operand = readSequence(context, children.slice(1), node, depth + 1);
    const operator = first.type === "!" ? "!" : "-";
    return { kind: "unary", operator, operand, operatorRange: rangeOf(context, first), range: rangeOf(context, node) };
  }
  const at = children.findIndex((child) => OPERATORS.has(child.type));
  const operator = children[at]?.type;
  if (operator === undefined || !isOperator(operator)) return invalid(context, node);
  return {
    kind: "binary",
    operator,
    left: readSequence(context, children.slice(0, at), node, depth + 1),
    right: readSequence(context, children.slice(at + 1), node, depth + 1),
    range: rangeOf(context, node),
  };
}

function isOperator(text: string): text is BinaryOperator {
  return OPERATORS.has(text);
}

function readConditional(context: TreeContext, node: Node, depth: number): Expression {
  const [condition, whenTrue, whenFalse] = node.children.filter((child) => child.type === "expression");
  if (condition === undefined || whenTrue === undefined || whenFalse === undefined) return invalid(context, node);
  return attachConditional(
    readExpression(context, condition, depth + 1),
    readExpression(context, whenTrue, depth + 1),
    readExpression(context, whenFalse, depth + 1),
  );
}

/** `a ? b : c ? d : e` asks `c` only when `a` is false; the grammar reads it the other way round. */
function attachConditional(condition: Expression, whenTrue: Expression, whenFalse: Expression): Expression {
  const range = { ...condition.range, end: whenFalse.range.end };
  if (condition.kind !== "conditional") return { kind: "conditional", condition, whenTrue, whenFalse, range };
  return { ...condition, whenFalse: attachConditional(condition.whenFalse, whenTrue, whenFalse), range };
}
