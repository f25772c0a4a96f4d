/**
 * Cuts HCL2 into tokens. The tree of the grammar is forgiving; Nomad is not: what it refuses, and in which words, is
 * decided on these tokens (see check-body.ts).
 */

export type TokenKind =
  | "identifier"
  | "number"
  | "newline"
  | "comment"
  | "quote_open"
  | "quote_close"
  | "heredoc_open"
  | "heredoc_close"
  | "text"
  /** A line break in a quoted string. */
  | "text_newline"
  | "interpolation_open"
  | "directive_open"
  | "sequence_close"
  | "{"
  | "}"
  | "("
  | ")"
  | "["
  | "]"
  | "symbol"
  | "invalid"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  /** As in the source. */
  readonly text: string;
  /** Offset of its first character, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** What the lexer is inside of. */
type Mode =
  | { readonly kind: "code" }
  | { readonly kind: "quoted" }
  | { readonly kind: "bare" }
  | { readonly kind: "heredoc"; readonly marker: string; lineStart: boolean };

const SPACES = /[ \t]+/y;
const COMMENT = /(?:#|\/\/)[^\n]*\n?|\/\*[\s\S]*?\*\//y;
const NUMBER = /[0-9](?:[0-9.]|[eE][-+]?[0-9])*/y;
const IDENTIFIER = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy;
const HEREDOC = /<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)\r?\n/uy;
const SYMBOL = /==|!=|>=|<=|&&|\|\||::|\.\.\.|=>|[.,*/%+\-=<>!?:&|~^;`']/y;
const NEWLINE = /\r?\n/y;
const QUOTED_TEXT = /(?:\\[^\r\n]|\$\$\{|%%\{|[$%](?=[^{])|[^\\"$%\r\n])+/uy;
const QUOTED_NEWLINES = /[\r\n]+/y;
const HEREDOC_TEXT = /(?:\$\$\{|%%\{|[$%](?=[^{])|[^$%\r\n])*/uy;
const BARE_TEXT = /(?:\$\$\{~?|%%\{~?)\r?\n?|\$\$(?=\r?\n)|%%(?=\r?\n)|[$%](?!\{)|[^$%\r\n]+(?:\r?\n)?|\r?\n/uy;
const OPENING = /[$%]\{~?/y;

/** Cuts a text into tokens; the last one is `end`. Never throws. */
export function tokenize(text: string): Token[] {
  return new Lexer(text, { kind: "code" }).run();
}

/** The same for a text that is a template without quotes around it. */
export function tokenizeTemplate(text: string): Token[] {
  return new Lexer(text, { kind: "bare" }).run();
}

class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  readonly #modes: Mode[];
  /** Open braces, and at which counts a `}` closes a template sequence. */
  #braces = 0;
  readonly #sequenceBraces: number[] = [];
  #at = 0;

  constructor(text: string, outermost: Mode) {
    this.#text = text;
    this.#modes = [outermost];
  }

  run(): Token[] {
    while (this.#at < this.#text.length) {
      const mode = this.#modes.at(-1);
      if (mode?.kind === "quoted") this.#quoted();
      else if (mode?.kind === "heredoc") this.#heredoc(mode);
      else if (mode?.kind === "bare") this.#bare();
      else this.#code();
    }
    this.#push("end", 0);
    return this.#tokens;
  }

  #push(kind: TokenKind, length: number): void {
    const start = this.#at;
    this.#at += length;
    this.#tokens.push({ kind, text: this.#text.slice(start, this.#at), start, end: this.#at });
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  #take(kind: TokenKind, pattern: RegExp): boolean {
    const found = this.#match(pattern);
    if (found === undefined || found === "") return false;
    this.#push(kind, found.length);
    return true;
  }

  #code(): void {
    const spaces = this.#match(SPACES);
    if (spaces !== undefined) {
      this.#at += spaces.length;
      return;
    }
    const character = this.#text[this.#at] ?? "";
    if (character === '"') {
      this.#push("quote_open", 1);
      this.#modes.push({ kind: "quoted" });
    } else if (this.#take("comment", COMMENT) || this.#take("newline", NEWLINE) || this.#take("identifier", IDENTIFIER)) return;
    else if (this.#number() || this.#openHeredoc() || this.#bracket(character)) return;
    else if (!this.#take("symbol", SYMBOL)) this.#push("invalid", (this.#text.codePointAt(this.#at) ?? 0) > 0xffff ? 2 : 1);
  }

  /** A point at the end belongs to what follows. */
  #number(): boolean {
    const found = this.#match(NUMBER)?.replace(/\.+$/, "");
    if (found === undefined) return false;
    this.#push("number", found.length);
    return true;
  }

  #openHeredoc(): boolean {
    HEREDOC.lastIndex = this.#at;
    const match = HEREDOC.exec(this.#text);
    const marker = match?.[1];
    if (match === null || marker === undefined) return false;
    this.#push("heredoc_open", match[0].length);
    this.#modes.push({ kind: "heredoc", marker, lineStart: true });
    return true;
  }

  #bracket(character: string): boolean {
    switch (character) {
      case "(":
      case ")":
      case "[":
      case "]":
        this.#push(character, 1);
        return true;
      case "{":
        this.#push("{", 1);
        this.#braces += 1;
        return true;
      case "}":
        this.#closeBrace("}", 1);
        return true;
      case "~":
        if (this.#text[this.#at + 1] !== "}") return false;
        this.#closeBrace("sequence_close", 2);
        return true;
      default:
        return false;
    }
  }

  #closeBrace(otherwise: TokenKind, length: number): void {
    if (this.#sequenceBraces.at(-1) === this.#braces && this.#modes.length > 1) {
      this.#sequenceBraces.pop();
      this.#modes.pop();
      this.#push("sequence_close", length);
    } else this.#push(otherwise, length);
    this.#braces -= 1;
  }

  /** `${` or `%{`: code until the brace that closes it. */
  #openSequence(): boolean {
    const found = this.#match(OPENING);
    if (found === undefined) return false;
    this.#push(found.startsWith("$") ? "interpolation_open" : "directive_open", found.length);
    this.#braces += 1;
    this.#sequenceBraces.push(this.#braces);
    this.#modes.push({ kind: "code" });
    return true;
  }

  #quoted(): void {
    if (this.#text[this.#at] === '"') {
      this.#push("quote_close", 1);
      this.#modes.pop();
      return;
    }
    if (this.#openSequence() || this.#take("text", QUOTED_TEXT) || this.#take("text_newline", QUOTED_NEWLINES)) return;
    this.#push("invalid", 1);
  }

  /** What it cannot cut is text to the end. */
  #bare(): void {
    if (!this.#openSequence() && !this.#take("text", BARE_TEXT)) this.#push("text", this.#text.length - this.#at);
  }

  #heredoc(mode: Extract<Mode, { kind: "heredoc" }>): void {
    if (this.#openSequence()) {
      mode.lineStart = false;
      return;
    }
    const line = this.#match(HEREDOC_TEXT) ?? "";
    this.#at += line.length;
    const newline = this.#match(NEWLINE);
    this.#at -= line.length;
    if (newline === undefined) {
      mode.lineStart = false;
      // A carriage return without a line feed ends all cutting.
      if (line === "") this.#push("invalid", this.#text[this.#at] === "\r" ? this.#text.length - this.#at : 1);
      else this.#push("text", line.length);
    } else if (mode.lineStart && line.trim() === mode.marker) {
      this.#modes.pop();
      this.#push("heredoc_close", line.length);
      this.#push("newline", newline.length);
    } else {
      mode.lineStart = true;
      this.#push("text", line.length + newline.length);
    }
  }
}
