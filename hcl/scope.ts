import type { CallExpression, Diagnostic, Expression, VariableExpression } from "./syntax.ts";
import { ANY, stringValue, type Type, type Value } from "./value.ts";

/** A parameter of a function. */
export interface HclParameter {
  readonly name: string;
  readonly type: Type;
  readonly allowNull?: boolean;
  readonly allowUnknown?: boolean;
}

/** A function that expressions may call with values. */
export interface ValueFunction {
  readonly kind: "values";
  readonly parameters: readonly HclParameter[];
  /** Takes every further argument. */
  readonly rest?: HclParameter;
  /**
   * Arguments come converted to the parameter types, known and not null unless the parameter allows it.
   * @throws FunctionError
   */
  readonly call: (args: readonly Value[]) => Value;
}

/** A function that looks at its arguments before they are evaluated: `try`, `can`, `convert`. */
export interface ExpressionFunction {
  readonly kind: "expressions";
  readonly parameters: readonly HclParameter[];
  readonly rest?: HclParameter;
  /** @throws FunctionError */
  readonly call: (call: CallExpression, evaluate: (argument: Expression) => Evaluation) => Value;
}

export type HclFunction = ValueFunction | ExpressionFunction;

/** A value and what went wrong on the way; with errors the value is unknown, at least in part. */
export interface Evaluation {
  readonly value: Value;
  readonly diagnostics: readonly Diagnostic[];
}

/** A function refuses its arguments. The message is the rest of a sentence, without a full stop. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
  /** Position of the argument that is to blame, from 0. */
  readonly argument: number | undefined;

  constructor(message: string, argument?: number) {
    super(message);
    this.argument = argument;
  }
}

/** An argument is wrong in a way that has its own place in the file. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super("an argument of the function is wrong");
    this.diagnostics = diagnostics;
  }
}

/** What an expression may refer to. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Value>;
  /** Taken from the nearest scope that has some. */
  readonly functions?: ReadonlyMap<string, HclFunction>;
  readonly parent?: Scope;
  /** Answers for names that no scope knows; without it they are errors. */
  readonly unresolved?: (variable: VariableExpression) => Value;
  /** Neither names nor functions are allowed here: values of variables, defaults. */
  readonly constantsOnly?: boolean;
}

/** Where Nomad allows nothing but constants. */
export const CONSTANTS_ONLY: Scope = { variables: new Map(), constantsOnly: true };

/** A scope inside another, with further names. */
export function childScope(parent: Scope, variables: ReadonlyMap<string, Value>): Scope {
  return { variables, parent };
}

/** The value of a name, from the inside out. */
export function lookUp(scope: Scope, name: string): Value | undefined {
  for (let current: Scope | undefined = scope; current !== undefined; current = current.parent) {
    const value = current.variables.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The functions that may be called in a scope. */
export function functionsOf(scope: Scope): ReadonlyMap<string, HclFunction> {
  for (let current: Scope | undefined = scope; current !== undefined; current = current.parent) {
    if (current.functions !== undefined) return current.functions;
  }
  return new Map();
}

/** Whether only constants are allowed. */
export function isConstantsOnly(scope: Scope): boolean {
  let outermost = scope;
  while (outermost.parent !== undefined) outermost = outermost.parent;
  return outermost.constantsOnly === true;
}

/** What a scope does about names it does not know. */
export function unresolvedOf(scope: Scope): Scope["unresolved"] {
  for (let current: Scope | undefined = scope; current !== undefined; current = current.parent) {
    if (current.unresolved !== undefined) return current.unresolved;
  }
  return undefined;
}

/**
 * Leaves references that only the client can resolve (`${attr.kernel.name}`, `${NOMAD_PORT_http}`, misspelt names too)
 * as text, exactly as they stand in the file, and wraps bare ones in `${…}` (nomad-api §1).
 */
export function keepReferences(text: string): (variable: VariableExpression) => Value {
  return (variable) => {
    const start = variable.range.start.offset;
    const end = variable.range.end.offset;
    const name = text.slice(start, end);
    const before = /\$\{ *$/.exec(text.slice(Math.max(0, start - 256), start));
    if (before === null) return stringValue(`\${${name}}`);
    return stringValue(before[0] + name + closingBracket(text, end));
  };
}

/** Nomad looks for the closing bracket from the second character on; spaces before it are kept. */
function closingBracket(text: string, end: number): string {
  let closing = "";
  for (let at = end + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === "}") closing += text.slice(end, at);
    else if (character !== " ") return `${closing}}`;
  }
  return closing;
}

/** A parameter, briefly. */
export function parameter(
  name: string,
  type: Type = ANY,
  allow: { allowNull?: boolean; allowUnknown?: boolean } = {},
): HclParameter {
  return { name, type, ...allow };
}
