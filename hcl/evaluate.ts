import { type Access, attributeOf, elementOf } from "./access.ts";
import { ConversionError, convert } from "./convert.ts";
import { callFunction } from "./evaluate-call.ts";
import { evaluateConditional } from "./evaluate-conditional.ts";
import type { EvaluateContext } from "./evaluate-context.ts";
import { evaluateFor, evaluateTemplateFor } from "./evaluate-for.ts";
import { evaluateSplat } from "./evaluate-splat.ts";
import { parseNumber } from "./number.ts";
import { applyBinary, applyUnary, operandType, resultType } from "./operators.ts";
import { type Evaluation, FunctionError, isConstantsOnly, lookUp, type Scope, unresolvedOf } from "./scope.ts";
import { didYouMean } from "./suggest.ts";
import type { Diagnostic, Expression, SourceRange, TemplatePart, TraversalStep, VariableExpression } from "./syntax.ts";
import {
  ANY,
  BOOL,
  boolValue,
  NUMBER,
  nullValue,
  numberValue,
  objectValue,
  STRING,
  stringValue,
  type Type,
  tupleValue,
  unknownValue,
  type Value,
} from "./value.ts";

/** Evaluates an expression. Never throws for what the text says: problems are among the diagnostics. */
export function evaluate(expression: Expression, scope: Scope): Evaluation {
  const evaluator = new Evaluator(scope);
  return { value: evaluator.value(expression), diagnostics: evaluator.diagnostics };
}

/** Evaluates in one scope and gathers what is wrong; hands itself to the kinds of expressions that have their own file. */
class Evaluator implements EvaluateContext {
  readonly scope: Scope;
  readonly diagnostics: Diagnostic[];
  /** The element that a splat is at. */
  readonly splatItem: Value | undefined;

  constructor(scope: Scope, diagnostics: Diagnostic[] = [], splatItem?: Value) {
    this.scope = scope;
    this.diagnostics = diagnostics;
    this.splatItem = splatItem;
  }

  /** The same in another scope, reporting to the same place. */
  within(scope: Scope): Evaluator {
    return new Evaluator(scope, this.diagnostics, this.splatItem);
  }

  /** The same at an element of a splat. */
  at(item: Value): Evaluator {
    return new Evaluator(this.scope, this.diagnostics, item);
  }

  error(summary: string, detail: string, range: SourceRange): void {
    this.diagnostics.push({ severity: "error", summary, detail, range });
  }

  /** How many problems there are so far; a greater number later means that something failed in between. */
  get failures(): number {
    return this.diagnostics.length;
  }

  value(expression: Expression): Value {
    switch (expression.kind) {
      case "literal":
        return literal(expression.value);
      case "template":
        if (expression.wrapsOne && expression.parts[0]?.kind === "interpolation")
          return this.value(expression.parts[0].expression);
        return this.template(expression.parts);
      case "tuple":
        return tupleValue(expression.items.map((item) => this.value(item)));
      case "object":
        return this.#object(expression);
      case "for":
        return evaluateFor(this, expression);
      case "variable":
        return this.#variable(expression);
      case "traversal":
        return this.#traverse(this.value(expression.source), expression.steps);
      case "index": {
        const collection = this.value(expression.collection);
        return this.#take(elementOf(collection, this.value(expression.key), expression.bracketRange));
      }
      case "splat":
        return evaluateSplat(this, expression);
      case "splat_item":
        return this.splatItem ?? unknownValue();
      case "conditional":
        return evaluateConditional(this, expression);
      case "unary":
        return this.#unary(expression);
      case "binary":
        return this.#binary(expression);
      case "call":
        return callFunction(this, expression);
      case "parentheses":
        return this.value(expression.expression);
      case "invalid":
        this.error(
          "Invalid expression",
          "Expected the start of an expression, but found an invalid expression token.",
          expression.range,
        );
        return unknownValue();
    }
  }

  /** The text of template parts joined. */
  template(parts: readonly TemplatePart[]): Value {
    let text = "";
    let known = true;
    for (const part of parts) {
      const value = this.#part(part);
      const range = part.kind === "interpolation" ? part.expression.range : part.range;
      if (value.kind === "null") {
        const detail = "The expression result is null. Cannot include a null value in a string template.";
        this.error("Invalid template interpolation value", detail, range);
      } else if (value.kind === "unknown") known = false;
      else {
        const converted = this.converted(value, STRING, range, "Invalid template interpolation value", (reason) => {
          return `Cannot include the given value in a string template: ${reason}.`;
        });
        if (converted.kind === "string") text += converted.value;
      }
    }
    return known ? stringValue(text) : unknownValue(STRING);
  }

  #part(part: TemplatePart): Value {
    switch (part.kind) {
      case "text":
        return { kind: "string", value: part.text };
      case "interpolation":
        return this.value(part.expression);
      case "if":
        return evaluateConditional(this, part);
      case "for":
        return evaluateTemplateFor(this, part);
    }
  }

  /** Converts, or reports why not and answers unknown. */
  converted(value: Value, type: Type, range: SourceRange, summary: string, detail: (reason: string) => string): Value {
    try {
      return convert(value, type);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      this.error(summary, detail(error.message), range);
      return unknownValue(type);
    }
  }

  #take(access: Access): Value {
    if ("value" in access) return access.value;
    this.diagnostics.push(access.problem);
    return unknownValue();
  }

  #variable(expression: VariableExpression): Value {
    const root = lookUp(this.scope, expression.root);
    if (root !== undefined) return this.#traverse(root, expression.steps);
    const unresolved = unresolvedOf(this.scope);
    if (unresolved !== undefined) return unresolved(expression);
    if (isConstantsOnly(this.scope)) {
      this.error("Variables not allowed", "Variables may not be used here.", expression.rootRange);
      return unknownValue();
    }
    const known: string[] = [];
    for (let scope: Scope | undefined = this.scope; scope !== undefined; scope = scope.parent)
      known.push(...scope.variables.keys());
    const name = expression.root;
    const detail = `There is no variable named ${JSON.stringify(name)}.${didYouMean(name, known)}`;
    this.error("Unknown variable", detail, expression.rootRange);
    return unknownValue();
  }

  #traverse(start: Value, steps: readonly TraversalStep[]): Value {
    let value = start;
    for (const step of steps) {
      const before = this.failures;
      if (step.kind === "attribute") value = this.#take(attributeOf(value, step.name, step.range));
      else value = this.#take(elementOf(value, stepKey(step.key), step.range));
      if (this.failures > before) return unknownValue();
    }
    return value;
  }

  #object(expression: Extract<Expression, { kind: "object" }>): Value {
    const entries: [string, Value][] = [];
    let known = true;
    for (const item of expression.items) {
      const before = this.failures;
      const key = item.keyName === undefined ? this.#key(item.key) : stringValue(item.keyName);
      const keyFailed = this.failures > before;
      const value = this.value(item.value);
      if (keyFailed) known = false;
      else if (key.kind === "null") {
        this.error("Null value as key", "Can't use a null value as a key.", item.value.range);
        known = false;
      } else {
        const name = this.converted(
          key,
          STRING,
          item.key.range,
          "Incorrect key type",
          (reason) => `Can't use this value as a key: ${reason}.`,
        );
        if (name.kind === "string") entries.push([name.value, value]);
        else known = false;
      }
    }
    return known ? objectValue(entries) : unknownValue();
  }

  #key(key: Expression): Value {
    if (key.kind !== "variable") return this.value(key);
    const detail =
      "If this expression is intended to be a reference, wrap it in parentheses. If it's instead intended as a literal name containing periods, wrap it in quotes to create a string literal.";
    this.error("Ambiguous attribute key", detail, key.range);
    return unknownValue();
  }

  #unary(expression: Extract<Expression, { kind: "unary" }>): Value {
    const type = expression.operator === "-" ? NUMBER : BOOL;
    const before = this.failures;
    const given = this.value(expression.operand);
    const operand = this.converted(given, type, expression.operand.range, "Invalid operand", (reason) => {
      return `Unsuitable value for unary operand: ${reason}.`;
    });
    if (this.failures > before) return unknownValue(type);
    return this.#operate(() => applyUnary(expression.operator, operand), expression.range, type);
  }

  #binary(expression: Extract<Expression, { kind: "binary" }>): Value {
    const before = this.failures;
    const type = operandType(expression.operator);
    const sides = [expression.left, expression.right].map((side) => this.value(side));
    const [left = unknownValue(), right = unknownValue()] = sides.map((side, index) => {
      const range = index === 0 ? expression.left.range : expression.right.range;
      const name = index === 0 ? "left" : "right";
      return this.converted(side, type, range, "Invalid operand", (reason) => `Unsuitable value for ${name} operand: ${reason}.`);
    });
    const result = resultType(expression.operator);
    if (this.failures > before) return unknownValue(result);
    return this.#operate(() => applyBinary(expression.operator, left, right), expression.range, result);
  }

  #operate(operation: () => Value, range: SourceRange, type: Type): Value {
    try {
      return operation();
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      this.error("Operation failed", `Error during operation: ${error.message}.`, range);
      return unknownValue(type);
    }
  }
}

function literal(value: Extract<Expression, { kind: "literal" }>["value"]): Value {
  switch (value.type) {
    case "bool":
      return boolValue(value.value);
    case "string":
      return stringValue(value.value);
    case "null":
      return nullValue(ANY);
    case "number": {
      const number = parseNumber(value.text);
      return number === undefined ? unknownValue(NUMBER) : numberValue(number);
    }
  }
}

function stepKey(key: string | { readonly number: string }): Value {
  if (typeof key === "string") return stringValue(key);
  return literal({ type: "number", text: key.number });
}
