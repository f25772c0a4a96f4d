import type { Body, Expression, ForExpression, TemplateFor, TemplatePart, VariableExpression } from "./syntax.ts";

/** Every expression of a body, nested ones and those of nested blocks included, in the order of the text within a block. */
export function* expressionsOfBody(body: Body): Generator<Expression> {
  for (const attribute of body.attributes) yield* expressionsOf(attribute.expression);
  for (const block of body.blocks) yield* expressionsOfBody(block.body);
}

/** An expression and everything inside it. */
function* expressionsOf(expression: Expression): Generator<Expression> {
  yield expression;
  for (const child of childrenOf(expression)) yield* expressionsOf(child);
}

/** The names an expression takes from outside of it, in the order of the text: those of its own loops are not among them. */
export function* freeVariables(expression: Expression, own: ReadonlySet<string> = new Set()): Generator<VariableExpression> {
  if (expression.kind === "variable") {
    if (!own.has(expression.root)) yield expression;
  } else if (expression.kind === "for") {
    yield* freeVariables(expression.collection, own);
    for (const inner of [expression.key, expression.value, expression.condition]) {
      if (inner !== undefined) yield* freeVariables(inner, namesOf(expression, own));
    }
  } else if (expression.kind === "template") {
    for (const part of expression.parts) yield* freeVariablesOfPart(part, own);
  } else for (const child of childrenOf(expression)) yield* freeVariables(child, own);
}

function* freeVariablesOfPart(part: TemplatePart, own: ReadonlySet<string>): Generator<VariableExpression> {
  switch (part.kind) {
    case "text":
      return;
    case "interpolation":
      yield* freeVariables(part.expression, own);
      return;
    case "if":
      yield* freeVariables(part.condition, own);
      for (const inner of [...part.whenTrue, ...part.whenFalse]) yield* freeVariablesOfPart(inner, own);
      return;
    case "for":
      yield* freeVariables(part.collection, own);
      for (const inner of part.body) yield* freeVariablesOfPart(inner, namesOf(part, own));
  }
}

function namesOf({ keyName, valueName }: ForExpression | TemplateFor, outer: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...outer, ...(keyName === undefined ? [] : [keyName]), valueName]);
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
