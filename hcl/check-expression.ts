import { checkCall, checkObject, checkTuple } from "./check-collection.ts";
import { checkTemplate } from "./check-template.ts";
import type { TokenCursor } from "./token-cursor.ts";
import { MAX_DEPTH } from "./tree-context.ts";

/** Operators from the weakest to the strongest. */
const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!="],
  [">", ">=", "<", "<="],
  ["+", "-"],
  ["*", "/", "%"],
];

/**
 * Checks an expression. Answers false when it reported something: those around it then look for the end of their own
 * construct, if the walk is in recovery.
 */
export function checkExpression(cursor: TokenCursor, depth: number): boolean {
  const before = cursor.diagnostics.length;
  checkConditional(cursor, depth);
  return cursor.diagnostics.length === before;
}

function checkConditional(cursor: TokenCursor, depth: number): void {
  if (depth > MAX_DEPTH) {
    cursor.failFirst(cursor.range(cursor.peek()), "Nesting too deep", `Expressions are nested more than ${MAX_DEPTH} deep.`);
    cursor.recovery = true;
    return;
  }
  const before = cursor.diagnostics.length;
  checkBinary(cursor, 0, depth);
  if (cursor.isLost(cursor.diagnostics.length === before) || !cursor.isSymbol("?")) return;
  cursor.read();
  if (cursor.isLost(checkExpression(cursor, depth + 1))) return;
  const colon = cursor.peek();
  if (!cursor.isSymbol(":")) {
    const detail = "The conditional operator (...?...:...) requires a false expression, delimited by a colon.";
    cursor.fail(cursor.range(colon), "Missing false expression in conditional", detail);
    return;
  }
  cursor.read();
  checkExpression(cursor, depth + 1);
}

function checkBinary(cursor: TokenCursor, level: number, depth: number): void {
  const operators = LEVELS[level];
  if (operators === undefined) {
    checkTermWithSteps(cursor, depth);
    return;
  }
  for (;;) {
    const before = cursor.diagnostics.length;
    checkBinary(cursor, level + 1, depth);
    if (cursor.isLost(cursor.diagnostics.length === before)) return;
    const { kind, text } = cursor.peek();
    if (kind !== "symbol" || !operators.includes(text)) return;
    cursor.read();
  }
}

function checkTermWithSteps(cursor: TokenCursor, depth: number): void {
  checkTerm(cursor, depth);
  checkSteps(cursor, depth);
}

function checkTerm(cursor: TokenCursor, depth: number): void {
  const start = cursor.peek();
  if (start.kind === "(") checkParentheses(cursor, depth);
  else if (start.kind === "number") checkNumber(cursor);
  else if (start.kind === "identifier") {
    const name = cursor.read();
    if (cursor.peek().kind === "(" || cursor.isSymbol("::")) checkCall(cursor, name, depth);
  } else if (start.kind === "quote_open" || start.kind === "heredoc_open") checkTemplate(cursor, depth);
  else if (start.kind === "[") checkTuple(cursor, depth);
  else if (start.kind === "{") checkObject(cursor, depth);
  else if (start.kind === "symbol" && (start.text === "-" || start.text === "!")) checkUnary(cursor, depth);
  else {
    const range = cursor.range(start);
    if (start.kind === "end") {
      cursor.failFirst(range, "Missing expression", "Expected the start of an expression, but found the end of the file.");
    } else {
      const detail = "Expected the start of an expression, but found an invalid expression token.";
      cursor.failFirst(range, "Invalid expression", detail);
    }
    cursor.recovery = true;
  }
}

function checkUnary(cursor: TokenCursor, depth: number): void {
  const sign = cursor.read();
  if (depth <= MAX_DEPTH) checkTermWithSteps(cursor, depth + 1);
  else {
    cursor.failFirst(cursor.range(sign), "Nesting too deep", `Expressions are nested more than ${MAX_DEPTH} deep.`);
    cursor.recovery = true;
  }
}

function checkNumber(cursor: TokenCursor): void {
  const token = cursor.read();
  if (/^[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/.test(token.text)) return;
  cursor.fail(cursor.range(token), "Invalid number literal", "Failed to recognize the value of this number literal.");
}

function checkParentheses(cursor: TokenCursor, depth: number): void {
  cursor.read();
  cursor.withNewlines(false, () => {
    if (!checkExpression(cursor, depth + 1)) {
      cursor.recoverTo(")");
      return;
    }
    const close = cursor.peek();
    if (close.kind !== ")") {
      cursor.fail(cursor.range(close), "Unbalanced parentheses", "Expected a closing parenthesis to terminate the expression.");
      cursor.recovery = true;
    }
    cursor.read();
  });
}

/** `.name`, `.0`, `.*`, `[key]`, `[*]`. */
function checkSteps(cursor: TokenCursor, depth: number): void {
  for (;;) {
    if (cursor.isSymbol(".")) {
      if (!checkDot(cursor)) return;
    } else if (cursor.peek().kind === "[") checkIndex(cursor, depth);
    else return;
  }
}

const NO_NAME = "An attribute name is required after a dot.";

function checkDot(cursor: TokenCursor): boolean {
  cursor.read();
  const after = cursor.peek();
  if (after.kind === "identifier") cursor.read();
  else if (after.kind === "number") {
    cursor.read();
    checkLegacyIndex(cursor, after.text, "");
  } else if (cursor.isSymbol("*")) checkAttributeSplat(cursor);
  else {
    cursor.fail(cursor.range(after), "Invalid attribute name", NO_NAME);
    cursor.recovery = true;
    // A further point or bracket would only be the next victim.
    return cursor.isSymbol(".") || cursor.peek().kind === "[";
  }
  return true;
}

function checkLegacyIndex(cursor: TokenCursor, text: string, splat: string): void {
  const [first, second] = text.split(".");
  if (second === undefined) return;
  const detail = `When using the legacy index syntax, chaining two indexes together is not permitted. Use the proper index syntax${splat} instead, like [${first}][${second}].`;
  cursor.fail(cursor.range(cursor.previous()), "Invalid legacy index syntax", detail);
}

function checkAttributeSplat(cursor: TokenCursor): void {
  const star = cursor.read();
  while (cursor.isSymbol(".")) {
    cursor.read();
    const after = cursor.peek();
    if (after.kind === "identifier") cursor.read();
    else if (after.kind === "number") {
      cursor.read();
      checkLegacyIndex(cursor, after.text, " with a full splat expression [*]");
    } else {
      if (cursor.isSymbol("*")) {
        const detail = "A splat expression (*) cannot be used inside another attribute-only splat expression.";
        cursor.failFirst(cursor.range(after), "Nested splat expression not allowed", detail);
      } else cursor.failFirst(cursor.range(star), "Invalid attribute name", NO_NAME);
      cursor.recovery = true;
      return;
    }
  }
}

function checkIndex(cursor: TokenCursor, depth: number): void {
  cursor.read();
  if (cursor.isSymbol("*")) {
    cursor.read();
    const close = cursor.read();
    if (close.kind === "]" || cursor.recovery) return;
    const detail = 'The star for a full splat operator must be immediately followed by a closing bracket ("]").';
    // HCL points at the place where it finds its way again.
    cursor.fail(cursor.range(cursor.recoverTo("]")), "Missing close bracket on splat index", detail);
    return;
  }
  cursor.withNewlines(false, () => {
    if (cursor.isLost(checkExpression(cursor, depth + 1))) {
      cursor.recoverTo("]");
      return;
    }
    const close = cursor.read();
    if (close.kind === "]" || cursor.recovery) return;
    const detail = 'The index operator must end with a closing bracket ("]").';
    cursor.fail(cursor.range(cursor.recoverTo("]")), "Missing close bracket on index", detail);
  });
}
