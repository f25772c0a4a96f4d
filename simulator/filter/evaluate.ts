import { regexpProblem } from "../jobspec/go-regexp.ts";
import { goQuote } from "../jobspec/go-text.ts";
import { type Expression, parseFilter } from "./parse.ts";
import { FilterError } from "./peg.ts";
import { bareType, elementOf, kindOf, listOf, missing, resolve, type Scope, shownType, type Typed } from "./select.ts";

/**
 * Makes a filter that can be asked about rows of a Go type. Throws FilterError: at once for its text, later for a selector that a row
 * lacks.
 */
export function compileFilter(text: string, type: string): (row: unknown) => boolean {
  const expression = parseFilter(text);
  return (row) => holds(expression, { type, value: row }, []);
}

function holds(expression: Expression, row: Typed, scope: Scope): boolean {
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

function match(expression: Match, row: Typed, scope: Scope): boolean {
  const found = resolve(expression.selector, row, scope);
  const { operator, value } = expression;
  if (found === missing) return ["!=", "not in", "is empty", "is nil", "not matches"].includes(operator);
  switch (operator) {
    case "==":
      return equals(found, value);
    case "!=":
      return !equals(found, value);
    case "in":
      return contains(expression, found);
    case "not in":
      return !contains(expression, found);
    case "is empty":
      return isEmpty(expression, found);
    case "is not empty":
      return !isEmpty(expression, found);
    case "is nil":
      return isNil(expression, found);
    case "is not nil":
      return !isNil(expression, found);
    case "matches":
      return matches(found, value);
    default:
      return !matches(found, value);
  }
}

function badValue(what: string, wanted: string, why: string): FilterError {
  return new FilterError(`error getting match value in expression: strconv.${what}: parsing ${goQuote(wanted)}: ${why}`);
}

/** The text of an expression as a value of a kind. Throws FilterError where it is none. */
function coerced(kind: string, wanted: string): unknown {
  if (kind === "bool") {
    if (/^(1|t|true|T|TRUE|True)$/.test(wanted)) return true;
    if (/^(0|f|false|F|FALSE|False)$/.test(wanted)) return false;
    throw badValue("ParseBool", wanted, "invalid syntax");
  }
  if (/^u?int/.test(kind)) return wholeNumber(kind.startsWith("u"), wanted);
  if (kind.startsWith("float")) {
    if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(wanted)) throw badValue("ParseFloat", wanted, "invalid syntax");
    return Number(wanted);
  }
  return wanted;
}

const widest = { signed: 2n ** 63n, unsigned: 2n ** 64n };

/** In any base that Go writes: 0x1f, 0b1, 0o7, 017. */
function wholeNumber(unsigned: boolean, wanted: string): number {
  const what = unsigned ? "ParseUint" : "ParseInt";
  const found = /^([+-]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9]\d*)$/.exec(wanted);
  if (found === null || (unsigned && found[1] !== "")) throw badValue(what, wanted, "invalid syntax");
  const digits = found[2] ?? "0";
  const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const negative = found[1] === "-";
  const most = unsigned ? widest.unsigned - 1n : negative ? widest.signed : widest.signed - 1n;
  if (size > most) throw badValue(what, wanted, "value out of range");
  return Number(negative ? -size : size);
}

const primitive = /^(bool|u?int\d*|float\d*|string)$/;

function equals(found: Typed, wanted: string): boolean {
  const kind = kindOf(found);
  if (!primitive.test(kind)) throw new FilterError("unable to find suitable primitive comparison function for matching");
  return coerced(kind, wanted) === found.value;
}

function contains(expression: Match, found: Typed): boolean {
  const { value: wanted } = expression;
  const { value } = found;
  const kind = kindOf(found);
  coerced(kind, wanted);
  if (kind === "string") return String(value).includes(wanted);
  if (kind === "map") return value !== null && typeof value === "object" && Object.hasOwn(value, wanted);
  if (kind === "slice") return listContains(found, wanted);
  throw unfit("in/contains", kind, expression);
}

function listContains(found: Typed, wanted: string): boolean {
  const element = bareType(elementOf(found.type));
  const list = listOf(found);
  if (element === "any") return list.some((one) => String(one) === wanted);
  const kind = kindOf({ type: element, value: undefined });
  const sought = coerced(kind, wanted);
  if (!primitive.test(kind)) throw new FilterError('unable to find suitable primitive comparison function for "in" comparison');
  return list.some((one) => one === sought);
}

function unfit(what: string, kind: string, { selector }: Match): FilterError {
  return new FilterError(`cannot perform ${what} operations on type ${kind} for selector: ${goQuote(selector.text)}`);
}

function isEmpty(expression: Match, found: Typed): boolean {
  const kind = kindOf(found);
  const { value } = found;
  if (kind === "string") return value === "";
  if (kind === "slice") return listOf(found).length === 0;
  if (kind === "map") return value === null || value === undefined || Object.keys(value).length === 0;
  throw unfit("is-empty", kind, expression);
}

function isNil(expression: Match, found: Typed): boolean {
  const kind = kindOf(found);
  if (kind === "map" || kind === "slice") return found.value === null || found.value === undefined;
  if (kind === "struct") return false;
  if (kind === "invalid") return true;
  throw unfit("is-nil", kind, expression);
}

const patterns = new Map<string, RegExp>();

function matches(found: Typed, pattern: string): boolean {
  const bytes = bareType(found.type) === "[]uint8";
  if (kindOf(found) !== "string" && !bytes) {
    throw new FilterError(`value of type ${shownType(found.type)} is not convertible to []byte`);
  }
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    const problem = regexpProblem(pattern);
    if (problem !== undefined) throw new FilterError(`failed to compile regular expression ${goQuote(pattern)}: ${problem}`);
    const flags = /^\(\?([ims]+)\)/.exec(pattern);
    compiled = new RegExp(flags === null ? pattern : pattern.slice(flags[0].length), flags?.[1] ?? "");
    if (patterns.size > 100) patterns.clear();
    patterns.set(pattern, compiled);
  }
  return compiled.test(bytes ? Buffer.from(String(found.value ?? ""), "base64").toString("latin1") : String(found.value));
}

function quantified(expression: Expression & { readonly kind: "any" | "all" }, row: Typed, scope: Scope): boolean {
  const { selector, names, kind, body } = expression;
  const found = resolve(selector, row, scope);
  if (found === missing) return kind === "all";
  const entries = entriesOf(found);
  if (entries === undefined) throw new FilterError(`${selector.text} is not a list or a map`);
  const list = kindOf(found) === "slice";
  const test = (key: string): boolean => {
    if (names.index !== undefined && names.index === names.value) {
      throw new FilterError(`${goQuote(names.index)} cannot be used as a placeholder for both the index and the value`);
    }
    const place = { path: [...selector.path, key] };
    const own = { key: list ? { type: "int", value: Number(key) } : { type: "string", value: key } };
    const inner: Scope = [
      ...(names.index === undefined ? [] : [{ name: names.index, ...own }]),
      ...(names.only === undefined ? [] : [{ name: names.only, ...(list ? place : own) }]),
      ...(names.value === undefined ? [] : [{ name: names.value, ...place }]),
    ];
    return holds(body, row, [...scope, ...inner]);
  };
  return kind === "any" ? entries.some(test) : entries.every(test);
}

/** Keys of a map or places of a list; undefined for what is neither, as a pointer is. */
function entriesOf(found: Typed): string[] | undefined {
  const kind = found.type.startsWith("*") ? "ptr" : kindOf(found);
  if (kind === "slice") return listOf(found).map((_, i) => String(i));
  return kind === "map" ? Object.keys(found.value ?? {}) : undefined;
}
