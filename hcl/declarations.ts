import { evaluate } from "./evaluate.ts";
import { CONSTANTS_ONLY } from "./scope.ts";
import type { Body, Diagnostic, Expression, SourceRange } from "./syntax.ts";
import { readType } from "./type-constraint.ts";
import { type Type, typeOf, type Value } from "./value.ts";
import { expressionsOfBody, literalString } from "./walk.ts";

/** A variable that a job file declares. */
export interface DeclaredVariable {
  readonly name: string;
  /** `undefined` when neither a type nor a default says it. */
  readonly type: Type | undefined;
  readonly hasDefault: boolean;
  readonly defaultExpression: Expression | undefined;
  readonly defaultValue: Value | undefined;
  readonly description: string | undefined;
  /** Where its name stands. */
  readonly range: SourceRange;
}

/** A `var.name` in a job file. */
export interface UsedVariable {
  readonly name: string;
  readonly range: SourceRange;
}

/** The variables of `variable "x" { … }` and `variables { x = … }`, in the order of the file. */
export function declaredVariables(body: Body): DeclaredVariable[] {
  const declared: DeclaredVariable[] = [];
  for (const block of body.blocks) {
    const [name] = block.labels;
    const range = block.labelRanges[0];
    if (block.type === "variable" && name !== undefined && range !== undefined) {
      const find = (wanted: string) => block.body.attributes.find((attribute) => attribute.name === wanted)?.expression;
      declared.push(describe(name, range, find("type"), find("default"), find("description")));
    } else if (block.type === "variables") {
      for (const attribute of block.body.attributes) {
        declared.push(describe(attribute.name, attribute.nameRange, undefined, attribute.expression, undefined));
      }
    }
  }
  return declared;
}

function describe(
  name: string,
  range: SourceRange,
  type: Expression | undefined,
  defaultExpression: Expression | undefined,
  description: Expression | undefined,
): DeclaredVariable {
  const ignored: Diagnostic[] = [];
  const evaluated = defaultExpression === undefined ? undefined : evaluate(defaultExpression, CONSTANTS_ONLY);
  const defaultValue = evaluated?.diagnostics.length === 0 ? evaluated.value : undefined;
  const stated = type === undefined ? undefined : readType(type, ignored, "exact");
  return {
    name,
    type: stated ?? (defaultValue === undefined ? undefined : typeOf(defaultValue)),
    hasDefault: defaultExpression !== undefined,
    defaultExpression,
    defaultValue,
    description: description === undefined ? undefined : literalString(description),
    range,
  };
}

/** Every `var.name` of the file, in no particular order. */
export function usedVariables(body: Body): UsedVariable[] {
  const used: UsedVariable[] = [];
  for (const expression of expressionsOfBody(body)) {
    if (expression.kind !== "variable" || expression.root !== "var") continue;
    const [step] = expression.steps;
    if (step?.kind === "attribute") used.push({ name: step.name, range: expression.range });
    else if (step?.kind === "index" && typeof step.key === "string") used.push({ name: step.key, range: expression.range });
  }
  return used;
}
