import {
  ahead,
  char,
  choice,
  literal,
  many,
  map,
  named,
  not,
  optional,
  Problem,
  type Rule,
  readAll,
  refusing,
  sequence,
} from "./peg.ts";

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

export interface Selector {
  readonly path: readonly string[];
  /** As errors show it. */
  readonly text: string;
}

export type Expression =
  | { readonly kind: "and" | "or"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "not"; readonly body: Expression }
  | { readonly kind: "match"; readonly selector: Selector; readonly operator: MatchOperator; readonly value: string }
  | {
      readonly kind: "any" | "all";
      readonly selector: Selector;
      readonly names: Names;
      readonly body: Expression;
    };

/** What the entries of a list or map are called: `x`, or the place and the value, of which one may be left out. */
export interface Names {
  readonly only?: string;
  readonly index?: string;
  readonly value?: string;
}

/** Reads a go-bexpr expression. Throws FilterError with the place and what was expected there. */
export function parseFilter(text: string): Expression {
  return readAll(input, text);
}

const _ = named('"whitespace"', () => many(char(/^[ \t\r\n]$/, "[ \\t\\r\\n]"), 1));
const blank = optional(_);
const any = char(/^[\s\S]$/u, ".");
const end = named("EOF", () => not(any));

const input: Rule<Expression> = named("Input", () =>
  choice(
    map(sequence(blank, literal("("), blank, or, blank, literal(")"), blank, end), (found) => found[3] as Expression),
    map(sequence(blank, or, blank, end), (found) => found[1] as Expression),
  ),
);

const or: Rule<Expression> = named("OrExpression", () =>
  choice(
    map(sequence(and, _, literal("or"), _, or), (found): Expression => {
      return { kind: "or", left: found[0] as Expression, right: found[4] as Expression };
    }),
    and,
    collection,
  ),
);

const and: Rule<Expression> = named("AndExpression", () =>
  choice(
    map(sequence(negation, _, literal("and"), _, and), (found): Expression => {
      return { kind: "and", left: found[0] as Expression, right: found[4] as Expression };
    }),
    negation,
  ),
);

const negation: Rule<Expression> = named("NotExpression", () =>
  choice(
    map(sequence(literal("not"), _, negation), (found): Expression => {
      const body = found[2] as Expression;
      return body.kind === "not" ? body.body : { kind: "not", body };
    }),
    grouping,
  ),
);

const collection: Rule<Expression> = named("CollectionExpression", () => {
  const word = (kind: "any" | "all") => named(`CollectionOp${kind === "any" ? "Any" : "All"}`, () => sequence(literal(kind), _));
  const parts = sequence(
    choice<unknown>(word("any"), word("all")),
    selector,
    _,
    literal("as"),
    _,
    names,
    blank,
    literal("{"),
    blank,
    or,
    blank,
    literal("}"),
  );
  return map(parts, (found): Expression => {
    const [kind] = found[0] as ["any" | "all"];
    return { kind, selector: found[1] as Selector, names: found[5] as Names, body: found[9] as Expression };
  });
});

const names: Rule<Names> = named('"collection-identifiers"', () =>
  choice<Names>(
    map(sequence(identifier, blank, literal(","), blank, identifier), (found): Names => {
      return { index: found[0] as string, value: found[4] as string };
    }),
    map(sequence(identifier, blank, literal(","), blank, literal("_")), (found): Names => ({ index: found[0] as string })),
    map(sequence(literal("_"), blank, literal(","), blank, identifier), (found): Names => ({ value: found[4] as string })),
    map(identifier, (only): Names => ({ only })),
  ),
);

const grouping: Rule<Expression> = named('"grouping"', () =>
  choice<Expression>(
    map(sequence(literal("("), blank, or, blank, literal(")")), (found) => found[2] as Expression),
    match,
    map(
      sequence(literal("("), blank, or, blank, not(literal(")")), refusing("Unmatched parentheses")),
      (found) => found[2] as Expression,
    ),
  ),
);

const match: Rule<Expression> = named('"match"', () => choice(selectorAndValue, selectorAlone, valueFirst));

function operator(name: string, ...parts: readonly Rule[]): Rule {
  return named(name, () => sequence(...parts));
}

const words = (...list: readonly string[]): Rule[] => list.flatMap((word) => [_, literal(word)]);

function operators(list: readonly (readonly [MatchOperator, Rule])[]): Rule<MatchOperator> {
  return choice(...list.map(([name, rule]) => map(rule, (): MatchOperator => name)));
}

const comparisons = operators([
  ["==", operator("MatchEqual", blank, literal("=="), blank)],
  ["!=", operator("MatchNotEqual", blank, literal("!="), blank)],
  ["in", operator("MatchContains", ...words("contains"), _)],
  ["not in", operator("MatchNotContains", ...words("not", "contains"), _)],
  ["matches", operator("MatchMatches", ...words("matches"), _)],
  ["not matches", operator("MatchNotMatches", ...words("not", "matches"), _)],
]);

const states = operators([
  ["is empty", operator("MatchIsEmpty", ...words("is", "empty"))],
  ["is not empty", operator("MatchIsNotEmpty", ...words("is", "not", "empty"))],
  ["is nil", operator("MatchIsNil", ...words("is", "nil"))],
  ["is not nil", operator("MatchIsNotNil", ...words("is", "not", "nil"))],
]);

const memberships = operators([
  ["in", operator("MatchIn", ...words("in"), _)],
  ["not in", operator("MatchNotIn", ...words("not", "in"), _)],
]);

const selectorAndValue: Rule<Expression> = named('"match"', () =>
  map(sequence(selector, comparisons, value), (found): Expression => {
    return { kind: "match", selector: found[0] as Selector, operator: found[1] as MatchOperator, value: found[2] as string };
  }),
);

const selectorAlone: Rule<Expression> = named('"match"', () =>
  map(sequence(selector, states), (found): Expression => {
    return { kind: "match", selector: found[0] as Selector, operator: found[1] as MatchOperator, value: "" };
  }),
);

const valueFirst: Rule<Expression> = named('"match"', () =>
  choice<Expression>(
    map(sequence(value, memberships, selector), (found): Expression => {
      return { kind: "match", selector: found[2] as Selector, operator: found[1] as MatchOperator, value: found[0] as string };
    }),
    map(sequence(value, memberships, not(selector), refusing<Expression>("Invalid selector")), (found) => found[3] as Expression),
  ),
);

const selector: Rule<Selector> = named('"selector"', () =>
  choice<Selector>(
    map(sequence(identifier, many(step)), (found) => {
      const path = [found[0] as string, ...(found[1] as string[])];
      return { path, text: path.join(".") };
    }),
    map(sequence(literal('"'), many(segment), literal('"')), (found) => {
      const segments = found[1] as string[];
      const path = (segments.length === 0 ? [""] : segments).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
      return { path, text: path.join("/") };
    }),
  ),
);

const segment: Rule<string> = named("JsonPointerSegment", () =>
  map(sequence(literal("/"), many(char(/^[\p{L}\p{N}\-_.~:|]$/u, "[\\pL\\pN-_.~:|]"), 1)), (_found, text) => text.slice(1)),
);

const identifier: Rule<string> = named("Identifier", () =>
  map(sequence(char(/^[a-zA-Z]$/, "[a-zA-Z]"), many(char(/^[a-zA-Z0-9_/]$/, "[a-zA-Z0-9_/]"))), (_found, text) => text),
);

const digits = (atLeast: number): Rule<string[]> => many(char(/^[0-9]$/, "[0-9]"), atLeast);

const step: Rule<string> = named("SelectorOrIndex", () =>
  choice<string>(
    map(sequence(literal("."), identifier), (found) => found[1] as string),
    index,
    map(sequence(literal("."), digits(1)), (_found, text) => text.slice(1)),
  ),
);

const index: Rule<string> = named('"index"', () =>
  choice<string>(
    map(sequence(literal("["), blank, string, blank, literal("]")), (found) => found[2] as string),
    map(sequence(literal("["), blank, not(string), refusing("Invalid index")), () => ""),
    map(sequence(literal("["), blank, string, blank, not(literal("]")), refusing("Unclosed index expression")), () => ""),
  ),
);

const value: Rule<string> = named('"value"', () =>
  choice(
    map(selector, ({ text }) => text),
    number,
    string,
  ),
);

const number: Rule<string> = named('"number"', () => {
  const after = named("AfterNumbers", () => ahead(choice<unknown>(_, end, literal(")"))));
  const whole = choice<unknown>(literal("0"), sequence(char(/^[1-9]$/, "[1-9]"), digits(0)));
  const figure = named("IntegerOrFloat", () => sequence(whole, optional(sequence(literal("."), digits(1)))));
  const signed = [optional(literal("-")), figure] as const;
  return choice<string>(
    map(sequence(...signed, after), (_found, text) => text),
    map(sequence(...signed, not(after), refusing("Invalid number literal")), () => ""),
  );
});

const string: Rule<string> = named('"string"', () => {
  const chars = (quote: string, name: string) => many(named(name, () => sequence(not(literal(quote)), any)));
  const open = (quote: string, name: string) => sequence(literal(quote), chars(quote, name));
  const [raw, double] = [open("`", "RawStringChar"), open('"', "DoubleStringChar")];
  return choice<string>(
    map(choice<unknown>(sequence(raw, literal("`")), sequence(double, literal('"'))), (_found, text) => unquoted(text)),
    map(sequence(choice<unknown>(raw, double), end, refusing("Unterminated string literal")), () => ""),
  );
});

function unquoted(text: string): string | Problem<string> {
  if (text.startsWith("`")) return text.slice(1, -1).replaceAll("\r", "");
  const simple = /^(?:[^\\\n]|\\(?:[abfnrtv\\"]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}))*$/.test(text.slice(1, -1));
  if (!simple) return new Problem("invalid syntax", "");
  return text.slice(1, -1).replace(/\\(x..|u....|[0-7]{3}|.)/g, (_found, code: string) => escaped(code));
}

function escaped(code: string): string {
  const plain: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
  if (/^[0-7]{3}$/.test(code)) return String.fromCodePoint(Number.parseInt(code, 8));
  return code.length > 1 ? String.fromCodePoint(Number.parseInt(code.slice(1), 16)) : (plain[code] ?? code);
}
