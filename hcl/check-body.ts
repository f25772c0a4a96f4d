import { checkExpression } from "./check-expression.ts";
import { checkLabel } from "./check-template.ts";
import type { Token, TokenKind } from "./lexer.ts";
import type { SourceRange } from "./syntax.ts";
import { formatRange } from "./syntax.ts";
import type { TokenCursor } from "./token-cursor.ts";
import { MAX_DEPTH } from "./tree-context.ts";

const REQUIRED = "Argument or block definition required";
const REQUIRED_DETAIL = "An argument or block definition is required here.";
const UNCLOSED_DETAIL =
  "There is no closing brace for this block before the end of the file. This may be caused by incorrect brace nesting elsewhere in this file.";

/** Checks the items of a body up to its end, in HCL's words. */
export function checkBody(cursor: TokenCursor, end: TokenKind, depth: number): void {
  const opened = cursor.previous();
  const names = new Map<string, SourceRange>();
  for (;;) {
    const next = cursor.peek();
    if (next.kind === end) {
      cursor.read();
      return;
    }
    if (next.kind === "newline") cursor.read();
    else if (next.kind === "identifier") {
      const attribute = checkItem(cursor, depth);
      if (attribute !== undefined) checkTwice(cursor, names, attribute);
    } else {
      checkStranger(cursor, end, opened);
      cursor.recoverTo(end);
      return;
    }
  }
}

function checkTwice(cursor: TokenCursor, names: Map<string, SourceRange>, name: Token): void {
  const range = cursor.range(name);
  const existing = names.get(name.text);
  if (existing === undefined) {
    names.set(name.text, range);
    return;
  }
  const detail = `The argument "${name.text}" was already set at ${formatRange(existing)}. Each argument may be set only once.`;
  cursor.fail(range, "Attribute redefined", detail);
}

function checkStranger(cursor: TokenCursor, end: TokenKind, opened: Token): void {
  const bad = cursor.read();
  if (cursor.recovery) return;
  if (bad.kind === "quote_open") cursor.fail(cursor.range(bad), "Invalid argument name", "Argument names must not be quoted.");
  else if (bad.kind !== "end") cursor.fail(cursor.range(bad), REQUIRED, REQUIRED_DETAIL);
  else if (end === "}") cursor.fail(cursor.range(opened), "Unclosed configuration block", UNCLOSED_DETAIL);
}

/** Answers the name of an attribute, so that a second one is noticed. */
function checkItem(cursor: TokenCursor, depth: number): Token | undefined {
  const name = cursor.read();
  const next = cursor.peek();
  if (cursor.isSymbol("=")) {
    checkAttribute(cursor, depth, false);
    return name;
  }
  if (next.kind === "quote_open" || next.kind === "{" || next.kind === "identifier") checkBlock(cursor, name, depth);
  else {
    const detail = `${REQUIRED_DETAIL} To set an argument, use the equals sign "=" to introduce the argument value.`;
    cursor.fail(cursor.range(name), REQUIRED, detail);
    cursor.recoverAfterItem();
  }
  return undefined;
}

function checkAttribute(cursor: TokenCursor, depth: number, oneLine: boolean): void {
  cursor.read();
  const before = cursor.diagnostics.length;
  checkExpression(cursor, depth + 1);
  if (cursor.recovery && cursor.diagnostics.length > before) {
    cursor.recoverAfterItem();
    return;
  }
  if (oneLine) return;
  const end = cursor.peek();
  if (end.kind === "newline" || end.kind === "end") {
    cursor.read();
    return;
  }
  const detail = "An argument definition must end with a newline.";
  if (end.kind === "symbol" && end.text === ",") {
    const more = `Argument definitions must be separated by newlines, not commas. ${detail}`;
    cursor.failFirst(cursor.range(end), "Unexpected comma after argument", more);
  } else cursor.failFirst(cursor.range(end), "Missing newline after argument", detail);
  cursor.recoverAfterItem();
}

function checkBlock(cursor: TokenCursor, type: Token, depth: number): void {
  const open = checkHeader(cursor);
  if (open === undefined) return;
  if (depth > MAX_DEPTH) {
    cursor.fail(cursor.range(type), "Nesting too deep", `Blocks are nested more than ${MAX_DEPTH} deep.`);
    cursor.recoverTo("}");
    return;
  }
  const first = cursor.peek();
  if (first.kind === "newline" || first.kind === "end" || first.kind === "}") checkBody(cursor, "}", depth + 1);
  else checkOneLine(cursor, open, depth + 1);
  const after = cursor.peek();
  if (after.kind === "newline" || after.kind === "end") {
    cursor.read();
    return;
  }
  cursor.failFirst(cursor.range(after), "Missing newline after block definition", "A block definition must end with a newline.");
  cursor.recoverAfterItem();
}

/** Labels up to the opening brace, all on one line. */
function checkHeader(cursor: TokenCursor): Token | undefined {
  for (;;) {
    const token = cursor.peek();
    if (token.kind === "{") return cursor.read();
    if (token.kind === "quote_open") checkLabel(cursor);
    else if (token.kind === "identifier") cursor.read();
    else {
      checkHeaderEnd(cursor, token);
      cursor.recoverAfterItem();
      return undefined;
    }
  }
}

function checkHeaderEnd(cursor: TokenCursor, token: Token): void {
  const range = cursor.range(token);
  const summary = "Invalid block definition";
  if (token.kind === "symbol" && token.text === "=") {
    const detail = 'The equals sign "=" indicates an argument definition, and must not be used when defining a block.';
    cursor.fail(range, summary, detail);
  } else if (token.kind === "newline") {
    const detail =
      'A block definition must have block content delimited by "{" and "}", starting on the same line as the block header.';
    cursor.fail(range, summary, detail);
  } else cursor.failFirst(range, summary, 'Either a quoted string block label or an opening brace ("{") is expected here.');
}

/** `block { name = value }`: one argument at most, and the closing brace on the same line. */
function checkOneLine(cursor: TokenCursor, open: Token, depth: number): void {
  const outer = cursor.diagnostics.length;
  checkOnlyArgument(cursor, depth);
  // HCL tells first what is wrong with the brace, then what is wrong inside.
  const inside = cursor.diagnostics.splice(outer);
  checkOneLineEnd(cursor, open);
  cursor.diagnostics.push(...inside);
}

function checkOnlyArgument(cursor: TokenCursor, depth: number): void {
  const name = cursor.read();
  const next = cursor.peek();
  if (name.kind !== "identifier") {
    cursor.fail(cursor.range(name), REQUIRED, REQUIRED_DETAIL);
    cursor.recoverAfterItem();
  } else if (cursor.isSymbol("=")) checkAttribute(cursor, depth, true);
  else {
    if (next.kind === "quote_open" || next.kind === "{" || next.kind === "identifier") {
      const detail = `A single-line block definition can contain only a single argument. If you meant to define argument "${name.text}", use an equals sign to assign it a value. To define a nested block, place it on a line of its own within its parent block.`;
      cursor.fail(cursor.range(name, next), "Argument definition required", detail);
    } else {
      const detail = `${REQUIRED_DETAIL} To set an argument, use the equals sign "=" to introduce the argument value.`;
      cursor.fail(cursor.range(name), REQUIRED, detail);
    }
    cursor.recoverAfterItem();
  }
}

function checkOneLineEnd(cursor: TokenCursor, open: Token): void {
  const token = cursor.peek();
  if (token.kind === "}") {
    cursor.read();
    return;
  }
  const summary = "Invalid single-argument block definition";
  const range = cursor.range(token);
  if (token.kind === "symbol" && token.text === ",") {
    const detail =
      "Single-line block syntax can include only one argument definition. To define multiple arguments, use the multi-line block syntax with one argument definition per line.";
    cursor.fail(range, summary, detail);
  } else if (token.kind === "newline") {
    const detail =
      "An argument definition on the same line as its containing block creates a single-line block definition, which must also be closed on the same line. Place the block's closing brace immediately after the argument definition.";
    cursor.fail(range, summary, detail);
  } else if (token.kind === "end") cursor.failFirst(cursor.range(open), "Unclosed configuration block", UNCLOSED_DETAIL);
  else {
    const detail =
      "A single-line block definition must end with a closing brace immediately after its single argument definition.";
    cursor.failFirst(range, summary, detail);
  }
  cursor.recoverTo("}");
}
