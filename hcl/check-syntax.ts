import { checkBody } from "./check-body.ts";
import { checkExpression } from "./check-expression.ts";
import { checkBareTemplate } from "./check-template.ts";
import { checkTokens } from "./check-tokens.ts";
import type { Token } from "./lexer.ts";
import type { LineMap } from "./line-map.ts";
import type { Diagnostic } from "./syntax.ts";
import { TokenCursor } from "./token-cursor.ts";

/** What HCL2 would refuse in a whole file, in its words and its order; empty when the file is well formed. */
export function checkFile(tokens: readonly Token[], lines: LineMap): Diagnostic[] {
  const cursor = new TokenCursor(tokens, lines, checkExpression);
  checkBody(cursor, "end", 0);
  return [...checkTokens(tokens, lines), ...cursor.diagnostics];
}

/** The same for a text that is one expression. */
export function checkLoneExpression(tokens: readonly Token[], lines: LineMap): Diagnostic[] {
  const cursor = new TokenCursor(tokens, lines, checkExpression);
  cursor.withNewlines(false, () => {
    checkExpression(cursor, 0);
    const next = cursor.peek();
    if (next.kind === "end") return;
    const detail = "An expression was successfully parsed, but extra characters were found after it.";
    cursor.failFirst(cursor.range(next), "Extra characters after expression", detail);
  });
  return [...checkTokens(tokens, lines), ...cursor.diagnostics];
}

/** The same for a text that is a template without quotes around it. */
export function checkLoneTemplate(tokens: readonly Token[], lines: LineMap): Diagnostic[] {
  const cursor = new TokenCursor(tokens, lines, checkExpression);
  cursor.withNewlines(false, () => checkBareTemplate(cursor));
  return [...checkTokens(tokens, lines), ...cursor.diagnostics];
}
