import { type Expression, FilterError, parseFilter } from "./parse.ts";

/** Fields that are maps: a key they lack is no error, the object is only left out (nomad-api §17). */
const maps = new Set([
  "Meta",
  "Env",
  "Config",
  "Attributes",
  "Drivers",
  "HostVolumes",
  "Links",
  "Items",
  "TaskStates",
  "TaskResources",
  "Tasks",
  "FailedTGAllocs",
  "QueuedAllocations",
  "ClassEligibility",
  "Summary",
  "Volumes",
  "Details",
  "Target",
  "CanaryMeta",
  "TaskLifecycles",
]);

type Scope = Readonly<Record<string, unknown>>;

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

type Missing = { readonly missing: true };
const missing: Missing = { missing: true };

/** The value of a selector, `missing` for a key that a map lacks. Throws FilterError for a field that a struct lacks. */
function resolve(selector: readonly string[], row: unknown, scope: Scope): unknown {
  const [first = "", ...rest] = selector;
  const scoped = first in scope;
  let value: unknown = scoped ? scope[first] : row;
  let inMap = false;
  const parts = scoped ? rest : selector;
  for (const [i, part] of parts.entries()) {
    if (value === null || value === undefined) return missing;
    if (Array.isArray(value)) {
      value = value[Number(part)];
      continue;
    }
    const object = value as Scope;
    if (typeof value !== "object" || !(part in object)) {
      if (inMap) return missing;
      const path = `/${parts.join("/")}`;
      throw new FilterError(
        `error finding value in datum: ${path} at part ${i}: couldn't find key: struct field with name "${part}"`,
      );
    }
    inMap = !inMap && maps.has(part) && !Array.isArray(object[part]);
    value = object[part];
  }
  return value;
}

function match(expression: Expression & { kind: "match" }, row: unknown, scope: Scope): boolean {
  const value = resolve(expression.selector, row, scope);
  const { operator } = expression;
  if (value === missing)
    return operator === "!=" || operator === "not in" || operator === "is empty" || operator === "not matches";
  switch (operator) {
    case "==":
      return equals(value, expression.value);
    case "!=":
      return !equals(value, expression.value);
    case "in":
      return contains(value, expression.value);
    case "not in":
      return !contains(value, expression.value);
    case "is empty":
      return isEmpty(value);
    case "is not empty":
      return !isEmpty(value);
    case "matches":
      return pattern(expression.value).test(String(value ?? ""));
    default:
      return !pattern(expression.value).test(String(value ?? ""));
  }
}

function equals(value: unknown, wanted: string): boolean {
  if (typeof value === "boolean") {
    if (/^(1|t|true|T|TRUE|True)$/.test(wanted)) return value;
    if (/^(0|f|false|F|FALSE|False)$/.test(wanted)) return !value;
    throw new FilterError(`error coercing value "${wanted}" to boolean: strconv.ParseBool: parsing "${wanted}": invalid syntax`);
  }
  if (typeof value === "number") {
    if (!/^-?\d+(\.\d+)?$/.test(wanted)) throw new FilterError(`strconv.ParseInt: parsing "${wanted}": invalid syntax`);
    return value === Number(wanted);
  }
  return (value ?? "") === wanted;
}

function contains(value: unknown, wanted: string): boolean {
  if (typeof value === "string") return value.includes(wanted);
  if (Array.isArray(value)) return value.some((one) => equals(one, wanted));
  return value !== null && typeof value === "object" && wanted in value;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

const patterns = new Map<string, RegExp>();

function pattern(text: string): RegExp {
  let found = patterns.get(text);
  if (found === undefined) {
    try {
      found = new RegExp(text.replace(/^\(\?i\)/, ""), text.startsWith("(?i)") ? "i" : "");
    } catch {
      throw new FilterError(`error parsing regexp: ${text}`);
    }
    if (patterns.size > 100) patterns.clear();
    patterns.set(text, found);
  }
  return found;
}

function quantified(expression: Expression & { kind: "any" | "all" }, row: unknown, scope: Scope): boolean {
  const value = resolve(expression.selector, row, scope);
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries((value === missing ? {} : (value ?? {})) as Scope);
  const test = ([key, item]: readonly [string | number, unknown]): boolean => {
    const [one = "", two] = expression.names;
    const single = Array.isArray(value) ? item : key;
    const inner = two === undefined ? { ...scope, [one]: single } : { ...scope, [one]: String(key), [two]: item };
    return holds(expression.body, row, inner);
  };
  return expression.kind === "any" ? entries.some(test) : entries.every(test);
}
