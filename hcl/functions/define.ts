import { exactInteger, toDouble } from "../number.ts";
import { FunctionError, type HclParameter, parameter, type ValueFunction } from "../scope.ts";
import { ANY, type CollectionType, NUMBER, STRING, type Type, type Value } from "../value.ts";

export type FunctionTable = Readonly<Record<string, ValueFunction>>;

/** A parameter of a type. */
export const str = (name: string): HclParameter => parameter(name, STRING);
export const num = (name: string): HclParameter => parameter(name, NUMBER);
export const anything = (name: string): HclParameter => parameter(name, ANY);

export function collectionOf(kind: CollectionType["kind"], element: Type = ANY): Type {
  return { kind, element };
}

/** A function of fixed arguments, and of any number more when `rest` is given. */
export function define(
  parameters: readonly HclParameter[],
  call: (args: readonly Value[]) => Value,
  rest?: HclParameter,
): ValueFunction {
  return { kind: "values", parameters, call, ...(rest === undefined ? {} : { rest }) };
}

/** The argument at a position; arguments were counted before the call. */
export function at(args: readonly Value[], index: number): Value {
  const value = args[index];
  if (value === undefined) throw new FunctionError(`argument ${index + 1} is missing`);
  return value;
}

/** The text of a string argument. */
export function textAt(args: readonly Value[], index: number): string {
  const value = at(args, index);
  return value.kind === "string" ? value.value : "";
}

const INT64 = 1n << 63n;
const NO_INTEGER = "value must be a whole number, between -9223372036854775808 and 9223372036854775807";

/** The whole number of a number argument; `wrap` words the complaint. */
export function integerAt(
  args: readonly Value[],
  index: number,
  wrap: (reason: string) => FunctionError = (reason) => new FunctionError(reason),
): number {
  const value = at(args, index);
  const exact = value.kind === "number" ? exactInteger(value.value) : undefined;
  if (exact === undefined || exact < -INT64 || exact >= INT64) throw wrap(NO_INTEGER);
  return Number(exact);
}

/** The double nearest to a number argument. */
export function doubleAt(args: readonly Value[], index: number): number {
  const value = at(args, index);
  return value.kind === "number" ? toDouble(value.value) : Number.NaN;
}

/** The elements of a list, set or tuple. */
export function itemsOf(value: Value): readonly Value[] {
  return "items" in value ? value.items : [];
}

/** The entries of a map or object. */
export function entriesOf(value: Value): ReadonlyMap<string, Value> {
  return "entries" in value ? value.entries : new Map();
}
