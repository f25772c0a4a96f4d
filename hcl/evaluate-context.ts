import type { Scope } from "./scope.ts";
import type { Diagnostic, Expression, SourceRange, TemplatePart } from "./syntax.ts";
import type { Type, Value } from "./value.ts";

/**
 * What the kinds of expressions that have a file of their own see of the evaluation they are part of. It carries the
 * recursion into the parts of an expression, so that those files need not import the one that imports them.
 */
export interface EvaluateContext {
  readonly scope: Scope;
  /** What is wrong so far; problems may be added, or taken off the end. */
  readonly diagnostics: Diagnostic[];
  /** How many problems there are so far; a greater number later means that something failed in between. */
  readonly failures: number;
  /** Evaluates a part. Never throws for what the text says: problems are among the diagnostics. */
  value(expression: Expression): Value;
  /** The text of template parts joined; unknown when one of them is. */
  template(parts: readonly TemplatePart[]): Value;
  /** The same in another scope, reporting to the same place. */
  within(scope: Scope): EvaluateContext;
  /** The same at an element of a splat. */
  at(item: Value): EvaluateContext;
  /** Reports a problem. */
  error(summary: string, detail: string, range: SourceRange): void;
  /** Converts, or reports why not and answers unknown. */
  converted(value: Value, type: Type, range: SourceRange, summary: string, detail: (reason: string) => string): Value;
}
