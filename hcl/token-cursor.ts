import type { Token, TokenKind } from "./lexer.ts";
import type { LineMap } from "./line-map.ts";
import type { Diagnostic, SourceRange } from "./syntax.ts";

const OPPOSITE: Partial<Record<TokenKind, TokenKind>> = {
  "}": "{",
  "]": "[",
  ")": "(",
  quote_close: "quote_open",
  heredoc_close: "heredoc_open",
  sequence_close: "interpolation_open",
};
const OPENERS: ReadonlySet<TokenKind> = new Set([
  "{",
  "[",
  "(",
  "quote_open",
  "heredoc_open",
  "interpolation_open",
  "directive_open",
]);

/**
 * Checks the expression a cursor is at, at a depth of nesting; answers false when it reported something. A cursor is
 * given it, because the checks of what expressions are made of need it and are themselves needed by it.
 */
export type ExpressionCheck = (cursor: TokenCursor, depth: number) => boolean;

/**
 * Walks tokens. Where line breaks mean nothing they are passed over, comments always. After the first mistake the walk
 * is in recovery: what follows from it is not reported again.
 */
export class TokenCursor {
  readonly diagnostics: Diagnostic[] = [];
  recovery = false;
  readonly #tokens: readonly Token[];
  readonly #lines: LineMap;
  readonly #check: ExpressionCheck;
  readonly #newlines: boolean[] = [true];
  #next = 0;

  constructor(tokens: readonly Token[], lines: LineMap, check: ExpressionCheck) {
    this.#tokens = tokens;
    this.#lines = lines;
    this.#check = check;
  }

  /** Checks the expression that comes next. Answers false when that reported something. */
  checkExpression(depth: number): boolean {
    return this.#check(this, depth);
  }

  /** Whether an expression, given if it was fine, broke so badly that those around it must look for their end. */
  isLost(fine: boolean): boolean {
    return this.recovery && !fine;
  }

  /** Does something where line breaks count, or do not. */
  withNewlines<T>(count: boolean, action: () => T): T {
    this.#newlines.push(count);
    try {
      return action();
    } finally {
      this.#newlines.pop();
    }
  }

  peek(): Token {
    return this.#find()[0];
  }

  read(): Token {
    const [token, next] = this.#find();
    this.#next = next;
    return token;
  }

  /** The token before the next one, comments and line breaks included. */
  previous(): Token {
    return this.#tokens[this.#next - 1] ?? this.peek();
  }

  isSymbol(text: string): boolean {
    const token = this.peek();
    return token.kind === "symbol" && token.text === text;
  }

  isKeyword(text: string): boolean {
    const token = this.peek();
    return token.kind === "identifier" && token.text === text;
  }

  #find(): readonly [Token, number] {
    const counting = this.#newlines.at(-1) === true;
    for (let at = this.#next; at < this.#tokens.length; at += 1) {
      const token = this.#tokens[at];
      if (token === undefined) break;
      if (token.kind === "comment") {
        if (counting && token.text.endsWith("\n")) return [{ ...token, kind: "newline" }, at + 1];
      } else if (token.kind !== "newline" || counting) return [token, at + 1];
    }
    const last = this.#tokens.at(-1) ?? { kind: "end", text: "", start: 0, end: 0 };
    return [last, this.#tokens.length];
  }

  range(from: Token, to: Token = from): SourceRange {
    return this.#lines.range(from.start, to.end);
  }

  /** Reports; answers false, for those who pass the failure on. */
  fail(range: SourceRange, summary: string, detail: string): false {
    this.diagnostics.push({ severity: "error", summary, detail, range });
    return false;
  }

  /** Reports only the first mistake of a stretch. */
  failFirst(range: SourceRange, summary: string, detail: string): false {
    return this.recovery ? false : this.fail(range, summary, detail);
  }

  /** Goes on behind the bracket that closes what is open here. */
  recoverTo(end: TokenKind): Token {
    const start = OPPOSITE[end];
    this.recovery = true;
    let nested = 0;
    for (;;) {
      const token = this.read();
      const kind = end === "sequence_close" && token.kind === "directive_open" ? "interpolation_open" : token.kind;
      if (kind === "end") return token;
      if (kind === start) nested += 1;
      else if (kind === end) {
        if (nested === 0) return token;
        nested -= 1;
      }
    }
  }

  /** Goes on behind the line that ends the current attribute or block. */
  recoverAfterItem(): void {
    this.recovery = true;
    const open: TokenKind[] = [];
    for (;;) {
      const { kind } = this.read();
      if (kind === "end" || (kind === "newline" && open.length === 0)) return;
      if (OPENERS.has(kind)) open.push(kind);
      const opener = OPPOSITE[kind];
      if (opener === undefined) continue;
      const fits = (candidate: TokenKind | undefined) =>
        candidate === opener || (kind === "sequence_close" && candidate === "directive_open");
      while (open.length > 0 && !fits(open.at(-1))) open.pop();
      open.pop();
    }
  }
}
