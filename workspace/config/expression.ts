import { InvalidRequestError } from "../../model/errors.ts";
import { renderText, type TemplateScope } from "./template.ts";

/**
 * Truth of a `when: {type: template}` expression: operands are words, quoted texts or references, joined by
 * `==`, `!=`, `!`, `&&`, `||` and parentheses. An operand alone is true unless it is empty, `false`, `0`, `no` or `null`.
 * @throws InvalidRequestError `bad_expression` for anything else.
 */
export function evaluateExpression(text: string, scope: TemplateScope, where: string): boolean {
  const tokens = tokenize(text, where);
  let position = 0;
  const peek = (): Token | undefined => tokens[position];
  const accept = (symbol: string): boolean => {
    if (peek()?.kind !== "symbol" || peek()?.text !== symbol) return false;
    position++;
    return true;
  };
  const fail = (): never => {
    throw new InvalidRequestError(`${where}: "${text}" is not an expression`, { code: "bad_expression" });
  };
  const operand = (): string => {
    const token = tokens[position++];
    if (token === undefined || token.kind === "symbol") return fail();
    return renderText(token.text, scope, where).value;
  };
  const primary = (): boolean => {
    if (accept("!")) return !primary();
    if (accept("(")) {
      const inner = either();
      return accept(")") ? inner : fail();
    }
    const left = operand();
    if (accept("==")) return left === operand();
    if (accept("!=")) return left !== operand();
    return !["", "false", "0", "no", "null"].includes(left.toLowerCase());
  };
  // Both sides are always evaluated: a reference without a value is a mistake wherever it stands.
  const both = (): boolean => {
    let result = primary();
    while (accept("&&")) result = primary() && result;
    return result;
  };
  const either = (): boolean => {
    let result = both();
    while (accept("||")) result = both() || result;
    return result;
  };
  const result = either();
  return position === tokens.length ? result : fail();
}

interface Token {
  readonly kind: "symbol" | "word";
  readonly text: string;
}

const token = /\s*(?:(==|!=|&&|\|\||[!()])|"([^"]*)"|'([^']*)'|((?:\$\{[^{}]*\}|[^\s!()=&|"'])+))/y;

function tokenize(text: string, where: string): Token[] {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  const source = text.trimEnd();
  while (token.lastIndex < source.length) {
    const match = token.exec(source);
    if (match === null) throw new InvalidRequestError(`${where}: "${text}" is not an expression`, { code: "bad_expression" });
    if (match[1] !== undefined) tokens.push({ kind: "symbol", text: match[1] });
    else tokens.push({ kind: "word", text: match[2] ?? match[3] ?? match[4] ?? "" });
  }
  return tokens;
}
