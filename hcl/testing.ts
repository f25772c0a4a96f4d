import { evaluate } from "./evaluate.ts";
import { nomadFunctions } from "./functions/table.ts";
import type { HclParser } from "./parser.ts";
import type { Scope } from "./scope.ts";
import { formatDiagnostic } from "./syntax.ts";
import { friendlyType } from "./type-names.ts";
import { isWhollyKnown, typeOf } from "./value.ts";
import { jsonText } from "./value-text.ts";

/** For tests: where expressions are evaluated without names. */
export const FUNCTIONS_ONLY: Scope = {
  variables: new Map(),
  functions: nomadFunctions((count) => Uint8Array.from({ length: count }, (_, index) => index)),
};

/** For tests: the value of an expression as JSON and its type, or everything that is wrong with it. */
export function evaluateText(parser: HclParser, text: string, scope: Scope = FUNCTIONS_ONLY): string {
  const parsed = parser.parseExpression(text, "input.hcl");
  if (parsed.diagnostics.length > 0) return parsed.diagnostics.map(formatDiagnostic).join("\n");
  const { value, diagnostics } = evaluate(parsed.expression, scope);
  if (diagnostics.length > 0) return diagnostics.map(formatDiagnostic).join("\n");
  return isWhollyKnown(value) ? `${jsonText(value)} ${friendlyType(typeOf(value))}` : "unknown";
}
