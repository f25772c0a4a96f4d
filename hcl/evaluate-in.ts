import type { EvaluateContext } from "./evaluate-context.ts";
import type { Evaluation } from "./scope.ts";
import type { Diagnostic, Expression } from "./syntax.ts";

/** Evaluates apart: what goes wrong is handed back instead of being reported. */
export function evaluateIn(evaluator: EvaluateContext, expression: Expression): Evaluation {
  const diagnostics: Diagnostic[] = [];
  const already = evaluator.diagnostics.length;
  const value = evaluator.value(expression);
  diagnostics.push(...evaluator.diagnostics.splice(already));
  return { value, diagnostics };
}
