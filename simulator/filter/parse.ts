import { Peg } from "./peg.ts";

export type MatchOperator =
  | "=="
  | "!="
  | "in"
  | "not in"
  | "is empty"
  | "is not empty"
  | "is nil"
  | "is not nil"
  | "matches"
  | "not matches";

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

/** Reads a go-bexpr expression. Throws FilterError with the place and what was expected there. */
export function parseFilter(text: string): Expression {
  const peg = new Peg(text);
  const rules = new Rules(peg);
  peg.space();
  const expression = rules.or();
  if (expression !== undefined) {
    peg.attempt(() => peg.space() || undefined);
    if (peg.end()) return expression;
  }
  throw peg.noMatch();
}

class Rules {
  readonly #peg: Peg;

  constructor(peg: Peg) {
    this.#peg = peg;
  }

  or(): Expression | undefined {
    const left = this.#and();
    if (left === undefined) return undefined;
    const right = this.#peg.attempt(() => this.#joined("or", () => this.or()));
    return right === undefined ? left : { kind: "or", left, right };
  }

  #and(): Expression | undefined {
    const left = this.#not();
    if (left === undefined) return undefined;
    const right = this.#peg.attempt(() => this.#joined("and", () => this.#and()));
    return right === undefined ? left : { kind: "and", left, right };
  }

  #joined(word: string, next: () => Expression | undefined): Expression | undefined {
    const peg = this.#peg;
    return peg.space() && peg.literal(word) && peg.space() ? next() : undefined;
  }

  #not(): Expression | undefined {
    const peg = this.#peg;
    const body = peg.attempt(() => (peg.literal("not") && peg.space() ? this.#not() : undefined));
    return body === undefined ? this.#primary() : { kind: "not", body };
  }

  #primary(): Expression | undefined {
    const peg = this.#peg;
    if (peg.literal("(")) {
      peg.space();
      const inner = this.or();
      if (inner === undefined) return undefined;
      peg.space();
      if (!peg.literal(")")) throw peg.refuse("grouping", "Unmatched parentheses");
      return inner;
    }
    return peg.attempt(() => this.#collection()) ?? this.#match();
  }

  #collection(): Expression | undefined {
    const peg = this.#peg;
    const kind = peg.literal("all") ? "all" : peg.literal("any") ? "any" : undefined;
    if (kind === undefined || !peg.space()) return undefined;
    const selector = this.#selector();
    if (selector === undefined || !peg.space() || !peg.literal("as") || !peg.space()) return undefined;
    const first = this.#identifier();
    if (first === undefined) return undefined;
    const names = [first];
    peg.space();
    if (peg.literal(",")) {
      peg.space();
      const second = this.#identifier();
      if (second === undefined) return undefined;
      names.push(second);
      peg.space();
    }
    if (!peg.literal("{")) return undefined;
    peg.space();
    const body = this.or();
    if (body === undefined) return undefined;
    peg.space();
    return peg.literal("}") ? { kind, selector, names, body } : undefined;
  }

  #match(): Expression | undefined {
    const peg = this.#peg;
    return peg.attempt(() => this.#selectorFirst()) ?? peg.attempt(() => this.#valueFirst());
  }

  #selectorFirst(): Expression | undefined {
    const peg = this.#peg;
    const selector = this.#selector();
    if (selector === undefined) return undefined;
    const compare = peg.attempt(() => this.#comparison());
    const value = compare === undefined ? undefined : this.#value();
    if (compare !== undefined && value !== undefined) return { kind: "match", selector, operator: compare, value };
    if (compare !== undefined) return undefined;
    const state = peg.attempt(() => this.#state());
    return state === undefined ? undefined : { kind: "match", selector, operator: state, value: "" };
  }

  #comparison(): MatchOperator | undefined {
    const peg = this.#peg;
    peg.space();
    for (const operator of ["==", "!="] as const) {
      if (!peg.literal(operator)) continue;
      peg.space();
      return operator;
    }
    if (!/[ \t\r\n]/.test(peg.text[peg.at - 1] ?? "")) return undefined;
    if (peg.literal("contains")) return peg.space() ? "in" : undefined;
    if (peg.literal("matches")) return peg.space() ? "matches" : undefined;
    if (!peg.literal("not") || !peg.space()) return undefined;
    if (peg.literal("contains")) return peg.space() ? "not in" : undefined;
    return peg.literal("matches") && peg.space() ? "not matches" : undefined;
  }

  #state(): MatchOperator | undefined {
    const peg = this.#peg;
    if (!peg.space() || !peg.literal("is") || !peg.space()) return undefined;
    const negated = peg.attempt(() => (peg.literal("not") && peg.space()) || undefined) !== undefined;
    if (peg.literal("empty")) return negated ? "is not empty" : "is empty";
    if (peg.literal("nil")) return negated ? "is not nil" : "is nil";
    return undefined;
  }

  #valueFirst(): Expression | undefined {
    const peg = this.#peg;
    const value = this.#value();
    if (value === undefined || !peg.space()) return undefined;
    const negated = peg.attempt(() => (peg.literal("not") && peg.space()) || undefined) !== undefined;
    if (!peg.literal("in") || !peg.space()) return undefined;
    const selector = this.#selector();
    if (selector === undefined) throw peg.refuse("match", "Invalid selector");
    return { kind: "match", selector, operator: negated ? "not in" : "in", value };
  }

  #identifier(): string | undefined {
    const peg = this.#peg;
    const first = peg.pattern(/^[a-zA-Z]/, "[a-zA-Z]");
    if (first === undefined) return undefined;
    let rest = "";
    for (let more = peg.pattern(/^[a-zA-Z0-9_/]/, "[a-zA-Z0-9_/]"); more !== undefined; ) {
      rest += more;
      more = peg.pattern(/^[a-zA-Z0-9_/]/, "[a-zA-Z0-9_/]");
    }
    return first + rest;
  }

  #selector(): string[] | undefined {
    const peg = this.#peg;
    const pointer = peg.attempt(() => this.#pointer());
    if (pointer !== undefined) return pointer;
    const first = this.#identifier();
    if (first === undefined) return undefined;
    const path = [first];
    for (;;) {
      const next = peg.attempt(() =>
        peg.literal(".") ? (this.#identifier() ?? peg.pattern(/^[0-9]+/, "[0-9]")) : this.#index(),
      );
      if (next === undefined) return path;
      path.push(next);
    }
  }

  #index(): string | undefined {
    const peg = this.#peg;
    if (!peg.literal("[")) return undefined;
    peg.space();
    const key = this.#string();
    peg.space();
    return key !== undefined && peg.literal("]") ? key : undefined;
  }

  #pointer(): string[] | undefined {
    const found = /^"((?:\/[\p{L}\p{N}\-_.~:|/]*)+)"/u.exec(this.#peg.text.slice(this.#peg.at));
    if (found === null) return undefined;
    this.#peg.at += found[0].length;
    const parts = (found[1] ?? "").slice(1).split("/");
    return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  }

  #value(): string | undefined {
    const peg = this.#peg;
    const path = peg.attempt(() => this.#selector());
    if (path !== undefined) return path.join(".");
    return peg.attempt(() => this.#number()) ?? this.#string();
  }

  #number(): string | undefined {
    const peg = this.#peg;
    const start = peg.at;
    peg.literal("-");
    if (!peg.literal("0") && peg.pattern(/^[1-9][0-9]*/, "[1-9]") === undefined) return undefined;
    peg.pattern(/^\.[0-9]+/, '"."');
    const next = peg.text[peg.at];
    if (next !== undefined && !/[ \t\r\n)}]/.test(next)) throw peg.refuse("number", "Invalid number literal");
    return peg.text.slice(start, peg.at);
  }

  #string(): string | undefined {
    const peg = this.#peg;
    for (const quote of ["`", '"']) {
      const start = peg.at;
      if (!peg.literal(quote)) continue;
      const end = peg.text.indexOf(quote, peg.at);
      peg.at = end < 0 ? peg.text.length : end;
      if (end < 0) throw peg.refuse("string", "Unterminated string literal");
      peg.at++;
      const whole = peg.text.slice(start, peg.at);
      if (quote === "`") return whole.slice(1, -1);
      const value = unquote(whole);
      if (value !== undefined) return value;
      peg.at = start;
      throw peg.refuse("string", "invalid syntax");
    }
    return undefined;
  }
}

function unquote(text: string): string | undefined {
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}
