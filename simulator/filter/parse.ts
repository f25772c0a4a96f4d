/** A filter that cannot be read, or not be applied; the message is go-bexpr's. */
export class FilterError extends Error {}

export type Expression =
  | { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "not"; readonly body: Expression }
  | { readonly kind: "match"; readonly selector: readonly string[]; readonly operator: MatchOperator; readonly value: string }
  | {
      readonly kind: "any" | "all";
      readonly selector: readonly string[];
      readonly names: readonly string[];
      readonly body: Expression;
    };

export type MatchOperator = "==" | "!=" | "in" | "not in" | "is empty" | "is not empty" | "matches" | "not matches";

const startExpected = '"(", "-", "0", "\\"", "`", "all", "any", "not", [ \\t\\r\\n], [1-9] or [a-zA-Z]';
const valueExpected = '"-", "0", "\\"", "`", [ \\t\\r\\n], [1-9] or [a-zA-Z]';
const operatorExpected = '"!=", ".", "==", "[", "contains", "in", "is", "matches", "not", [ \\t\\r\\n] or [a-zA-Z0-9_/]';

/** Reads a go-bexpr expression. Throws FilterError with the place and what was expected there. */
export function parseFilter(text: string): Expression {
  return new Parser(text).whole();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Expression {
    const expression = this.#or();
    this.#space();
    if (this.#at < this.#text.length) this.#fail('"and", "or", [ \\t\\r\\n] or EOF');
    return expression;
  }

  #fail(expected: string): never {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = this.#at - (before.lastIndexOf("\n") + 1) + 1;
    throw new FilterError(`${line}:${column} (${this.#at}): no match found, expected: ${expected}`);
  }

  #space(): boolean {
    const start = this.#at;
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at++;
    return this.#at > start;
  }

  /** A word that ends where it stands. */
  #word(...words: readonly string[]): boolean {
    const start = this.#at;
    for (const [i, word] of words.entries()) {
      if (i > 0 && !this.#space()) break;
      if (!this.#text.startsWith(word, this.#at) || /[A-Za-z0-9_]/.test(this.#text[this.#at + word.length] ?? "")) break;
      this.#at += word.length;
      if (i === words.length - 1) return true;
    }
    this.#at = start;
    return false;
  }

  #binary(word: string): boolean {
    const start = this.#at;
    if (this.#space() && this.#word(word)) return true;
    this.#at = start;
    return false;
  }

  #or(): Expression {
    const left = this.#and();
    return this.#binary("or") ? { kind: "or", left, right: this.#or() } : left;
  }

  #and(): Expression {
    const left = this.#not();
    return this.#binary("and") ? { kind: "and", left, right: this.#and() } : left;
  }

  #not(): Expression {
    this.#space();
    const start = this.#at;
    if (this.#word("not") && this.#space() && !/^(in|contains|matches)\b/.test(this.#text.slice(this.#at))) {
      return { kind: "not", body: this.#not() };
    }
    this.#at = start;
    return this.#primary();
  }

  #primary(): Expression {
    if (this.#text[this.#at] === "(") {
      this.#at++;
      const inner = this.#or();
      this.#space();
      if (this.#text[this.#at] !== ")") this.#fail('")", "and", "or" or [ \\t\\r\\n]');
      this.#at++;
      return inner;
    }
    for (const kind of ["any", "all"] as const) {
      const start = this.#at;
      if (this.#word(kind) && this.#space()) {
        const found = this.#collection(kind);
        if (found !== undefined) return found;
      }
      this.#at = start;
    }
    return this.#match();
  }

  #collection(kind: "any" | "all"): Expression | undefined {
    const selector = this.#selector();
    if (selector === undefined || !this.#space() || !this.#word("as") || !this.#space()) return undefined;
    const names = [this.#identifier()];
    this.#space();
    if (this.#text[this.#at] === ",") {
      this.#at++;
      this.#space();
      names.push(this.#identifier());
      this.#space();
    }
    if (this.#text[this.#at] !== "{") this.#fail('",", "{" or [ \\t\\r\\n]');
    this.#at++;
    const body = this.#or();
    this.#space();
    if (this.#text[this.#at] !== "}") this.#fail('"}", "and", "or" or [ \\t\\r\\n]');
    this.#at++;
    return { kind, selector, names, body };
  }

  #identifier(): string {
    const found = /^[A-Za-z_][A-Za-z0-9_]*/.exec(this.#text.slice(this.#at));
    if (found === null) this.#fail('"_" or [a-zA-Z]');
    this.#at += found[0].length;
    return found[0];
  }

  #match(): Expression {
    const start = this.#at;
    const value = this.#value();
    if (value !== undefined) {
      const after = this.#at;
      this.#space();
      const operator: MatchOperator | undefined = this.#word("not", "in") ? "not in" : this.#word("in") ? "in" : undefined;
      if (operator !== undefined) {
        this.#space();
        const selector = this.#selector();
        if (selector === undefined) this.#fail('"\\"", [ \\t\\r\\n] or [a-zA-Z]');
        return { kind: "match", selector, operator, value };
      }
      this.#at = after;
    }
    const furthest = this.#at;
    this.#at = start;
    const selector = this.#selector();
    if (selector === undefined) {
      if (value === undefined) this.#fail(startExpected);
      this.#at = furthest;
      this.#fail('"in", "not" or [ \\t\\r\\n]');
    }
    return this.#operation(selector);
  }

  #operation(selector: readonly string[]): Expression {
    this.#space();
    const match = (operator: MatchOperator, value = ""): Expression => ({ kind: "match", selector, operator, value });
    if (this.#word("is", "not", "empty")) return match("is not empty");
    if (this.#word("is", "empty")) return match("is empty");
    const operators: readonly [readonly string[], MatchOperator][] = [
      [["not", "contains"], "not in"],
      [["contains"], "in"],
      [["not", "matches"], "not matches"],
      [["matches"], "matches"],
    ];
    for (const [words, operator] of operators) if (this.#word(...words)) return match(operator, this.#need());
    for (const operator of ["==", "!="] as const) {
      if (!this.#text.startsWith(operator, this.#at)) continue;
      this.#at += 2;
      return match(operator, this.#need());
    }
    return this.#fail(operatorExpected);
  }

  #need(): string {
    this.#space();
    return this.#value() ?? this.#fail(valueExpected);
  }

  #value(): string | undefined {
    const rest = this.#text.slice(this.#at);
    const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(rest) ?? /^`([^`]*)`/.exec(rest);
    if (quoted !== null) {
      this.#at += quoted[0].length;
      return rest.startsWith("`") ? (quoted[1] ?? "") : unquote(quoted[0]);
    }
    const bare =
      /^-?(0|[1-9]\d*)(\.\d+)?(?![A-Za-z0-9_])/.exec(rest) ??
      /^[A-Za-z][A-Za-z0-9_/]*((\.[A-Za-z0-9_/]+)|(\["[^"]*"\]))*/.exec(rest);
    if (bare === null) return undefined;
    this.#at += bare[0].length;
    return bare[0];
  }

  #selector(): string[] | undefined {
    const rest = this.#text.slice(this.#at);
    const pointer = /^"(\/[^"]*)"/.exec(rest);
    if (pointer !== null) {
      this.#at += pointer[0].length;
      return (pointer[1] ?? "")
        .slice(1)
        .split("/")
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    }
    const first = /^[A-Za-z][A-Za-z0-9_/]*/.exec(rest);
    if (first === null) return undefined;
    this.#at += first[0].length;
    const path = [first[0]];
    for (;;) {
      const more = /^(?:\.([A-Za-z0-9_/]+)|\["((?:[^"\\]|\\.)*)"\]|\[`([^`]*)`\])/.exec(this.#text.slice(this.#at));
      if (more === null) return path;
      this.#at += more[0].length;
      path.push(more[1] ?? more[2] ?? more[3] ?? "");
    }
  }
}

function unquote(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}
