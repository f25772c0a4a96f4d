import type { Token, TokenKind } from "./lexer.ts";
import type { TokenCursor } from "./token-cursor.ts";

/** `name(argument, …)`, the name already read. */
export function checkCall(cursor: TokenCursor, name: Token, depth: number): void {
  let open = cursor.read();
  while (open.text === "::") {
    const next = cursor.read();
    if (next.kind !== "identifier") {
      const detail = "Function scope resolution symbol :: must be followed by a function name in this scope.";
      lostCall(cursor, next, "Missing function name", detail);
      return;
    }
    open = cursor.read();
  }
  if (open.kind !== "(") {
    const detail = "Function selector must be followed by an open parenthesis to begin the function call.";
    lostCall(cursor, open, "Missing open parenthesis", detail);
    return;
  }
  cursor.withNewlines(false, () => checkArguments(cursor, name, open, depth));
}

function lostCall(cursor: TokenCursor, at: Token, summary: string, detail: string): void {
  cursor.fail(cursor.range(at), summary, detail);
  for (let token = cursor.read(); token.kind !== "(" && token.kind !== "end"; token = cursor.read());
  cursor.recoverTo(")");
}

function checkArguments(cursor: TokenCursor, name: Token, open: Token, depth: number): void {
  while (cursor.peek().kind !== ")") {
    if (cursor.isLost(cursor.checkExpression(depth + 1))) {
      cursor.recoverTo(")");
      return;
    }
    const separator = cursor.read();
    if (separator.kind === ")") return;
    if (separator.text === "...") {
      if (cursor.peek().kind !== ")") {
        const detail = "An expanded function argument (with ...) must be immediately followed by closing parentheses.";
        cursor.failFirst(cursor.range(separator), "Missing closing parenthesis", detail);
        cursor.recoverTo(")");
      } else cursor.read();
      return;
    }
    if (separator.text !== "," || separator.kind !== "symbol") {
      failSeparator(cursor, name, open, separator);
      cursor.recoverTo(")");
      return;
    }
  }
  cursor.read();
}

function failSeparator(cursor: TokenCursor, name: Token, open: Token, separator: Token): void {
  if (separator.kind === "end") {
    const detail =
      "There is no closing parenthesis for this function call before the end of the file. This may be caused by incorrect parenthesis nesting elsewhere in this file.";
    cursor.fail(cursor.range(name, open), "Unterminated function call", detail);
  } else {
    const detail = "A comma is required to separate each function argument from the next.";
    cursor.fail(cursor.range(separator), "Missing argument separator", detail);
  }
}

/** `[item, …]` or `[for …]`. */
export function checkTuple(cursor: TokenCursor, depth: number): void {
  const open = cursor.read();
  cursor.withNewlines(false, () => {
    if (cursor.isKeyword("for")) checkFor(cursor, "]", depth);
    else checkItems(cursor, open, depth);
  });
}

function checkItems(cursor: TokenCursor, open: Token, depth: number): void {
  while (cursor.peek().kind !== "]") {
    if (cursor.isLost(cursor.checkExpression(depth + 1))) {
      cursor.recoverTo("]");
      return;
    }
    const next = cursor.peek();
    if (next.kind === "]") break;
    if (!cursor.isSymbol(",")) {
      if (next.kind === "end") {
        const detail =
          "There is no corresponding closing bracket before the end of the file. This may be caused by incorrect bracket nesting elsewhere in this file.";
        cursor.failFirst(cursor.range(open), "Unterminated tuple constructor expression", detail);
      } else {
        const detail = "Expected a comma to mark the beginning of the next item.";
        cursor.failFirst(cursor.range(next), "Missing item separator", detail);
      }
      cursor.recoverTo("]");
      return;
    }
    cursor.read();
  }
  cursor.read();
}

/** `{ key = value … }` or `{for …}`. */
export function checkObject(cursor: TokenCursor, depth: number): void {
  const open = cursor.read();
  if (cursor.withNewlines(false, () => cursor.isKeyword("for"))) checkFor(cursor, "}", depth);
  else cursor.withNewlines(true, () => checkEntries(cursor, open, depth));
}

function checkEntries(cursor: TokenCursor, open: Token, depth: number): void {
  for (;;) {
    const next = cursor.peek();
    if (next.kind === "newline") {
      cursor.read();
      continue;
    }
    if (next.kind === "}") {
      cursor.read();
      return;
    }
    if (!checkEntry(cursor, open, depth)) {
      cursor.recoverTo("}");
      return;
    }
    const after = cursor.peek();
    if (after.kind === "newline" || cursor.isSymbol(",")) cursor.read();
    else if (after.kind !== "}") {
      if (after.kind === "end") failUnterminated(cursor, open);
      else {
        const detail = "Expected a newline or comma to mark the beginning of the next attribute.";
        cursor.failFirst(cursor.range(after), "Missing attribute separator", detail);
      }
      cursor.recoverTo("}");
      return;
    }
  }
}

function failUnterminated(cursor: TokenCursor, open: Token): void {
  const detail =
    "There is no corresponding closing brace before the end of the file. This may be caused by incorrect brace nesting elsewhere in this file.";
  cursor.failFirst(cursor.range(open), "Unterminated object constructor expression", detail);
}

function checkEntry(cursor: TokenCursor, open: Token, depth: number): boolean {
  if (cursor.isLost(cursor.checkExpression(depth + 1))) return false;
  const next = cursor.peek();
  if (!cursor.isSymbol("=") && !cursor.isSymbol(":")) {
    failEquals(cursor, open, next);
    return false;
  }
  cursor.read();
  return !cursor.isLost(cursor.checkExpression(depth + 1));
}

function failEquals(cursor: TokenCursor, open: Token, next: Token): void {
  const range = cursor.range(next);
  const separator = "Missing key/value separator";
  const expected = 'Expected an equals sign ("=") to mark the beginning of the attribute value.';
  if (next.kind === "newline" || (next.kind === "symbol" && next.text === ",")) {
    cursor.failFirst(range, "Missing attribute value", 'Expected an attribute value, introduced by an equals sign ("=").');
  } else if (next.kind === "identifier") {
    const hint =
      "If you intended to given an attribute name containing periods or spaces, write the name in quotes to create a string literal.";
    cursor.failFirst(range, separator, `${expected} ${hint}`);
  } else if (next.kind === "end") failUnterminated(cursor, open);
  else cursor.failFirst(range, separator, expected);
}

const INVALID_FOR = "Invalid 'for' expression";

/** The inside of a for expression, from `for` to the closing bracket. */
function checkFor(cursor: TokenCursor, close: TokenKind, depth: number): void {
  cursor.withNewlines(false, () => {
    cursor.read();
    if (!checkForParts(cursor, close, depth)) cursor.recoverTo(close);
  });
}

function failFor(cursor: TokenCursor, detail: string): false {
  return cursor.failFirst(cursor.range(cursor.peek()), INVALID_FOR, detail);
}

/** Answers false when the end of the expression has yet to be found. */
function checkForParts(cursor: TokenCursor, close: TokenKind, depth: number): boolean {
  if (cursor.peek().kind !== "identifier") return failFor(cursor, "For expression requires variable name after 'for'.");
  cursor.read();
  if (cursor.isSymbol(",")) {
    cursor.read();
    if (cursor.peek().kind !== "identifier") return failFor(cursor, "For expression requires value variable name after comma.");
    cursor.read();
  }
  if (!cursor.isKeyword("in")) return failFor(cursor, "For expression requires the 'in' keyword after its name declarations.");
  cursor.read();
  if (cursor.isLost(cursor.checkExpression(depth + 1))) return false;
  if (!cursor.isSymbol(":")) return failFor(cursor, "For expression requires a colon after the collection expression.");
  cursor.read();
  return checkForResult(cursor, close, depth);
}

function checkForResult(cursor: TokenCursor, close: TokenKind, depth: number): boolean {
  const first = cursor.peek();
  const before = cursor.diagnostics.length;
  cursor.checkExpression(depth + 1);
  const last = cursor.previous();
  const hasKey = cursor.isSymbol("=>");
  if (hasKey) {
    cursor.read();
    cursor.checkExpression(depth + 1);
  }
  if (cursor.isLost(cursor.diagnostics.length === before)) return false;
  const ellipsis = cursor.isSymbol("...") ? cursor.read() : undefined;
  if (cursor.isKeyword("if")) {
    cursor.read();
    if (cursor.isLost(cursor.checkExpression(depth + 1))) return false;
  }
  const closed = cursor.peek().kind === close;
  if (closed) cursor.read();
  else {
    failFor(cursor, "Extra characters after the end of the 'for' expression.");
    cursor.recoverTo(close);
  }
  const result = cursor.range(first, last);
  if (close === "}" && !hasKey) cursor.fail(result, INVALID_FOR, "Key expression is required when building an object.");
  if (close === "]" && hasKey) cursor.fail(result, INVALID_FOR, "Key expression is not valid when building a tuple.");
  if (close === "]" && ellipsis !== undefined) {
    cursor.fail(cursor.range(ellipsis), INVALID_FOR, "Grouping ellipsis (...) cannot be used when building a tuple.");
  }
  return true;
}
