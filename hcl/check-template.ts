import type { Token, TokenKind } from "./lexer.ts";
import { suggestName } from "./suggest.ts";
import type { SourceRange } from "./syntax.ts";
import { formatRange } from "./syntax.ts";
import type { TokenCursor } from "./token-cursor.ts";

/** A `%{…}` on its own, to be matched with its partners once the template is read. */
interface Directive {
  readonly kind: "if" | "else" | "endif" | "for" | "endfor";
  readonly range: SourceRange;
}

/** A quoted string or heredoc: text, `${…}`, `%{…}`. */
export function checkTemplate(cursor: TokenCursor, depth: number): void {
  const open = cursor.read();
  checkParts(cursor, open.kind === "quote_open" ? "quote_close" : "heredoc_close", depth);
}

/** A text that is a template from its first character to its last. */
export function checkBareTemplate(cursor: TokenCursor): void {
  checkParts(cursor, "end", 0);
}

function checkParts(cursor: TokenCursor, end: TokenKind, depth: number): void {
  const first = cursor.peek();
  const directives: Directive[] = [];
  for (;;) {
    const token = cursor.read();
    if (token.kind === end) {
      checkDirectives(cursor, directives, cursor.range(token));
      return;
    }
    if (token.kind === "text") {
      if (end === "quote_close") checkEscapes(cursor, token);
    } else if (token.kind === "interpolation_open") {
      cursor.withNewlines(false, () => checkInterpolation(cursor, first, end, depth));
    } else if (token.kind === "directive_open") {
      cursor.withNewlines(false, () => checkDirective(cursor, token, directives, depth));
    } else {
      cursor.failFirst(cursor.range(token), "Unterminated template string", "No closing marker was found for the string.");
      checkDirectives(cursor, directives, cursor.range(cursor.recoverTo(end)));
      return;
    }
  }
}

/** A label: a quoted string that must hold no template. */
export function checkLabel(cursor: TokenCursor): void {
  cursor.read();
  for (;;) {
    const token = cursor.read();
    const summary = "Invalid string literal";
    if (token.kind === "quote_close") return;
    if (token.kind === "text") checkEscapes(cursor, token);
    else if (token.kind === "interpolation_open" || token.kind === "directive_open") {
      const sign = token.text.slice(0, 1);
      const detail = `Template sequences are not allowed in this string. To include a literal "${sign}", double it (as "${sign}${sign}") to escape it.`;
      cursor.fail(cursor.range(token), summary, detail);
      cursor.recoverTo("sequence_close");
    } else if (token.kind === "end") {
      const detail = "Unable to find the closing quote mark before the end of the file.";
      cursor.fail(cursor.range(token), "Unterminated string literal", detail);
      return;
    } else {
      cursor.fail(cursor.range(token), summary, "This item is not valid in a string literal.");
      cursor.recoverTo("quote_close");
      return;
    }
  }
}

const SEQUENCE = /\\(?:u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|[\s\S])/gu;

function checkEscapes(cursor: TokenCursor, token: Token): void {
  for (const match of token.text.matchAll(SEQUENCE)) {
    const [sequence] = match;
    const selector = sequence.slice(1, 2);
    const problem = escapeProblem(sequence, selector);
    if (problem === undefined) continue;
    const start = token.start + match.index;
    cursor.fail(cursor.range({ ...token, start, end: start + sequence.length }), "Invalid escape sequence", problem);
  }
}

function escapeProblem(sequence: string, selector: string): string | undefined {
  if (selector === "u" || selector === "U") {
    const [length, words] = selector === "u" ? [6, "four"] : [10, "eight"];
    if (sequence.length !== length) return `The \\${selector} escape sequence must be followed by ${words} hexadecimal digits.`;
    const point = Number.parseInt(sequence.slice(2), 16);
    const isCharacter = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return isCharacter ? undefined : `Cannot encode character U+${point.toString(16).padStart(4, "0")} in UTF-8.`;
  }
  if ('nrt"\\'.includes(selector)) return undefined;
  return `The symbol ${JSON.stringify(sequence.slice(1))} is not a valid escape sequence selector.`;
}

function checkInterpolation(cursor: TokenCursor, first: Token, end: TokenKind, depth: number): void {
  cursor.checkExpression(depth + 1);
  const close = cursor.peek();
  if (close.kind === "sequence_close") {
    cursor.read();
    return;
  }
  if (!cursor.recovery) failInterpolation(cursor, first, close, end);
  cursor.recoverTo("sequence_close");
}

function failInterpolation(cursor: TokenCursor, first: Token, close: Token, end: TokenKind): void {
  const unclosed = "Unclosed template interpolation sequence";
  const nesting = "This might be caused by incorrect nesting inside the given expression.";
  const extra = "Extra characters after interpolation expression";
  if (close.kind === "end") {
    cursor.fail(
      cursor.range(first),
      unclosed,
      `There is no closing brace for this interpolation sequence before the end of the file. ${nesting}`,
    );
  } else if (close.kind === "symbol" && close.text === ":") {
    const detail =
      'Template interpolation doesn\'t expect a colon at this location. Did you intend this to be a literal sequence to be processed as part of another language? If so, you can escape it by starting with "$${" instead of just "${".';
    cursor.fail(cursor.range(close), extra, detail);
  } else if ((close.kind === "quote_open" || close.kind === "quote_close") && end === "quote_close") {
    const detail = `There is no closing brace for this interpolation sequence before the end of the quoted template. ${nesting}`;
    cursor.fail(cursor.range(first), unclosed, detail);
  } else {
    const detail =
      'Expected a closing brace to end the interpolation expression, but found extra characters.\n\nThis can happen when you include interpolation syntax for another language, such as shell scripting, but forget to escape the interpolation start token. If this is an embedded sequence for another language, escape it by starting with "$${" instead of just "${".';
    cursor.fail(cursor.range(close), extra, detail);
  }
}

const KEYWORDS = ["if", "for", "else", "endif", "endfor"] as const;

function checkDirective(cursor: TokenCursor, open: Token, directives: Directive[], depth: number): void {
  const keyword = cursor.peek();
  if (keyword.kind !== "identifier") {
    const detail = 'A template directive keyword ("if", "for", etc) is expected at the beginning of a %{ sequence.';
    cursor.failFirst(cursor.range(keyword), "Invalid template directive", detail);
    cursor.recoverTo("sequence_close");
    return;
  }
  cursor.read();
  const kind = KEYWORDS.find((name) => name === keyword.text);
  if (kind === undefined) {
    const suggestion = suggestName(keyword.text, KEYWORDS);
    const hint = suggestion === undefined ? "" : ` Did you mean "${suggestion}"?`;
    const detail = `"${keyword.text}" is not a valid template control keyword.${hint}`;
    cursor.failFirst(cursor.range(keyword), "Invalid template control keyword", detail);
    cursor.recoverTo("sequence_close");
    return;
  }
  if (kind === "for" && !checkForNames(cursor)) {
    cursor.recoverTo("sequence_close");
    return;
  }
  if (kind === "for" || kind === "if") cursor.checkExpression(depth + 1);
  const close = cursor.peek();
  directives.push({ kind, range: cursor.range(open, close) });
  if (close.kind === "sequence_close") cursor.read();
  else {
    const detail = "Expected a closing brace to end the sequence, but found extra characters.";
    cursor.failFirst(cursor.range(close), `Extra characters in ${kind} marker`, detail);
    cursor.recoverTo("sequence_close");
  }
}

function checkForNames(cursor: TokenCursor): boolean {
  const fail = (detail: string) => cursor.failFirst(cursor.range(cursor.peek()), "Invalid 'for' directive", detail);
  if (cursor.peek().kind !== "identifier") return fail("For directive requires variable name after 'for'.");
  cursor.read();
  if (cursor.isSymbol(",")) {
    cursor.read();
    if (cursor.peek().kind !== "identifier") return fail("For directive requires value variable name after comma.");
    cursor.read();
  }
  if (!cursor.isKeyword("in")) return fail("For directive requires 'in' keyword after names.");
  cursor.read();
  return true;
}

/** Matches if, else, for with their ends. After a mismatch the rest of that construct is passed over. */
function checkDirectives(cursor: TokenCursor, directives: readonly Directive[], end: SourceRange): void {
  const open: { readonly directive: Directive; inElse: boolean }[] = [];
  for (const directive of directives) {
    const innermost = open.at(-1);
    if (directive.kind === "if" || directive.kind === "for") open.push({ directive, inElse: false });
    else if (innermost === undefined) {
      const detail = "The control directives within this template are unbalanced.";
      cursor.fail(directive.range, `Unexpected ${directive.kind} directive`, detail);
    } else if (directive.kind === `end${innermost.directive.kind}`) open.pop();
    else if (directive.kind === "else" && innermost.directive.kind === "if" && !innermost.inElse) innermost.inElse = true;
    else {
      cursor.fail(directive.range, `Unexpected ${directive.kind} directive`, mismatch(directive, innermost));
      open.pop();
    }
  }
  for (const { directive } of open.reverse()) {
    const detail = `The ${directive.kind} directive at ${formatRange(directive.range)} is missing its corresponding end${directive.kind} directive.`;
    cursor.fail(end, "Unexpected end of template", detail);
  }
}

function mismatch(directive: Directive, open: { readonly directive: Directive; readonly inElse: boolean }): string {
  const started = formatRange(open.directive.range);
  if (open.directive.kind === "if") {
    if (directive.kind === "else") return `Already in the else clause for the if started at ${started}.`;
    return `Expecting an endif directive for the if started at ${started}.`;
  }
  if (directive.kind === "else") return "An else clause is not expected for a for directive.";
  return `Expecting an endfor directive corresponding to the for directive at ${started}.`;
}
