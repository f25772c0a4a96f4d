import { regexpProblem } from "../jobspec/go-regexp.ts";
import { type Expression, parseFilter } from "./parse.ts";
import { FilterError } from "./peg.ts";
import { type Found, isMissing, kindOf, resolve, type Scope } from "./select.ts";

/** Makes a filter that can be asked about rows. Throws FilterError: at once for its text, later for a selector that a row lacks. */
export function compileFilter(text: string): (row: unknown) => boolean {
  const expression = parseFilter(text);
  return (row) => holds(expression, row, {});
}

function holds(expression: Expression, row: unknown, scope: Scope): boolean {
  switch (expression.kind) {
    case "and":
      return holds(expression.left, row, scope) && holds(expression.right, row, scope);
    case "or":
      return holds(expression.left, row, scope) || holds(expression.right, row, scope);
    case "not":
      return !holds(expression.body, row, scope);
    case "match":
      return match(expression, row, scope);
    default:
      return quantified(expression, row, scope);
  }
}

type Match = Expression & { readonly kind: "match" };

function match(expression: Match, row: unknown, scope: Scope): boolean {
  const found = resolve(expression.selector, row, scope);
  const { operator, value } = expression;
  if (isMissing(found)) return ["!=", "not in", "is empty", "is nil", "not matches"].includes(operator);
  switch (operator) {
    case "==":
      return equals(found, value);
    case "!=":
      return !equals(found, value);
    case "in":
      return contains(expression, found, value);
    case "not in":
      return !contains(expression, found, value);
    case "is empty":
      return isEmpty(expression, found);
    case "is not empty":
      return !isEmpty(expression, found);
    case "is nil":
      return found.value === null || found.value === undefined;
    case "is not nil":
      return found.value !== null && found.value !== undefined;
    case "matches":
      return matches(found, value);
    default:
      return !matches(found, value);
  }
}

function wrong(what: string): FilterError {
  return new FilterError(`error getting match value in expression: ${what}`);
}

function equals(found: Found, wanted: string): boolean {
  const { value } = found;
  if (typeof value === "boolean") {
    if (/^(1|t|true|T|TRUE|True)$/.test(wanted)) return value;
    if (/^(0|f|false|F|FALSE|False)$/.test(wanted)) return !value;
    throw wrong(`strconv.ParseBool: parsing ${JSON.stringify(wanted)}: invalid syntax`);
  }
  if (typeof value === "number") {
    const unsigned = kindOf(found).startsWith("uint");
    if (!(unsigned ? /^\d+$/ : /^[-+]?\d+$/).test(wanted)) {
      throw wrong(`strconv.${unsigned ? "ParseUint" : "ParseInt"}: parsing ${JSON.stringify(wanted)}: invalid syntax`);
    }
    return value === Number(wanted);
  }
  if (typeof value === "string") return value === wanted;
  throw new FilterError("unable to find suitable primitive comparison function for matching");
}

function contains(expression: Match, found: Found, wanted: string): boolean {
  const { value } = found;
  const kind = kindOf(found);
  if (typeof value === "string") return value.includes(wanted);
  if (Array.isArray(value)) {
    if (value.some((one) => one !== null && typeof one === "object")) {
      throw new FilterError('unable to find suitable primitive comparison function for "in" comparison');
    }
    return value.some((one: unknown) => equals({ name: found.name, value: one }, wanted));
  }
  if (kind === "map") return value !== null && typeof value === "object" && wanted in value;
  if (kind === "slice") return false;
  throw new FilterError(
    `cannot perform in/contains operations on type ${kind} for selector: ${JSON.stringify(expression.selector.join("."))}`,
  );
}

function isEmpty(expression: Match, found: Found): boolean {
  const kind = kindOf(found);
  if (kind === "string" || kind === "map" || kind === "slice") {
    const { value } = found;
    return (
      value === null || value === undefined || value === "" || (typeof value === "object" && Object.keys(value).length === 0)
    );
  }
  throw new FilterError(
    `cannot perform is-empty operations on type ${kind} for selector: ${JSON.stringify(expression.selector.join("."))}`,
  );
}

const patterns = new Map<string, RegExp>();

function matches(found: Found, pattern: string): boolean {
  if (typeof found.value !== "string") {
    const kind = kindOf(found);
    throw new FilterError(`value of type ${kind === "map" ? "map[string]string" : kind} is not convertible to []byte`);
  }
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    const problem = regexpProblem(pattern);
    if (problem !== undefined)
      throw new FilterError(`failed to compile regular expression ${JSON.stringify(pattern)}: ${problem}`);
    const flags = /^\(\?([ims]+)\)/.exec(pattern);
    compiled = new RegExp(flags === null ? pattern : pattern.slice(flags[0].length), flags?.[1] ?? "");
    if (patterns.size > 100) patterns.clear();
    patterns.set(pattern, compiled);
  }
  return compiled.test(found.value);
}

function quantified(expression: Expression & { readonly kind: "any" | "all" }, row: unknown, scope: Scope): boolean {
  const found = resolve(expression.selector, row, scope);
  if (isMissing(found)) return expression.kind === "all";
  const kind = kindOf(found);
  if (kind !== "map" && kind !== "slice") throw new FilterError(`${expression.selector.join(".")} is not a list or a map`);
  const { value } = found;
  const list = Array.isArray(value);
  const entries: (readonly [string | number, unknown])[] = list ? [...value.entries()] : Object.entries((value ?? {}) as Scope);
  const test = ([key, item]: readonly [string | number, unknown]): boolean => {
    const [one = "", two] = expression.names;
    const inner = two === undefined ? { ...scope, [one]: list ? item : key } : { ...scope, [one]: key, [two]: item };
    return holds(expression.body, row, inner);
  };
  return expression.kind === "any" ? entries.some(test) : entries.every(test);
}
