import type { Body, Expression, TemplatePart } from "./syntax.ts";

/** Every expression of a body, nested ones and those of nested blocks included, in the order of the text within a block. */
export function* expressionsOfBody(body: Body): Generator<Expression> {
  for (const attribute of body.attributes) yield* expressionsOf(attribute.expression);
  for (const block of body.blocks) yield* expressionsOfBody(block.body);
}

/** An expression and everything inside it. */
export function* expressionsOf(expression: Expression): Generator<Expression> {
  yield expression;
  for (const child of childrenOf(expression)) yield* expressionsOf(child);
}

function childrenOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case "template":
      return expression.parts.flatMap(partExpressions);
    case "tuple":
      return [...expression.items];
    case "object":
      return expression.items.flatMap((item) => (item.keyName === undefined ? [item.key, item.value] : [item.value]));
    case "for":
      return [expression.collection, expression.key, expression.value, expression.condition].flatMap((child) => child ?? []);
    case "traversal":
      return [expression.source];
    case "index":
      return [expression.collection, expression.key];
    case "splat":
      return [expression.source, expression.each];
    case "conditional":
      return [expression.condition, expression.whenTrue, expression.whenFalse];
    case "unary":
      return [expression.operand];
    case "binary":
      return [expression.left, expression.right];
    case "call":
      return [...expression.args];
    case "parentheses":
      return [expression.expression];
    default:
      return [];
  }
}

function partExpressions(part: TemplatePart): Expression[] {
  switch (part.kind) {
    case "text":
      return [];
    case "interpolation":
      return [part.expression];
    case "if":
      return [part.condition, ...part.whenTrue.flatMap(partExpressions), ...part.whenFalse.flatMap(partExpressions)];
    case "for":
      return [part.collection, ...part.body.flatMap(partExpressions)];
  }
}

/** The text of a string without interpolation; `undefined` for anything else. */
export function literalString(expression: Expression): string | undefined {
  if (expression.kind === "literal") return expression.value.type === "string" ? expression.value.value : undefined;
  if (expression.kind !== "template" || expression.parts.length !== 1) return undefined;
  const [part] = expression.parts;
  return part?.kind === "text" ? part.text : undefined;
}
