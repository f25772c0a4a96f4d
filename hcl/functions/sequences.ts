import { ConversionError, convert } from "../convert.ts";
import { add, compareNumbers, type HclNumber, numberFromInteger, signOf, ZERO } from "../number.ts";
import { FunctionError, parameter } from "../scope.ts";
import { friendlyType } from "../type-names.ts";
import { unify } from "../unify.ts";
import {
  ANY,
  equalValues,
  listValue,
  NUMBER,
  numberValue,
  setValue,
  type Type,
  tupleValue,
  typeOf,
  type Value,
} from "../value.ts";
import { anything, collectionOf, define, type FunctionTable, itemsOf, num } from "./define.ts";

function concat(args: readonly Value[]): Value {
  if (args.length === 0) throw new FunctionError("at least one argument is required");
  const types = args.map(typeOf);
  const common = types.every(({ kind }) => kind === "list") ? unify(types) : undefined;
  if (common?.kind === "list") {
    const items = args.flatMap((list, position) => itemsOf(convertAt(list, common, position)));
    return listValue(items, common.element);
  }
  types.forEach((type, position) => {
    if (type.kind === "list" || type.kind === "tuple") return;
    throw new FunctionError(`all arguments must be lists or tuples; got ${friendlyType(type)}`, position);
  });
  return tupleValue(args.flatMap(itemsOf));
}

function convertAt(value: Value, type: Type, argument: number): Value {
  try {
    return convert(value, type);
  } catch (error) {
    if (error instanceof ConversionError) throw new FunctionError(error.message, argument);
    throw error;
  }
}

const MOST_VALUES = 1024;

function range(args: readonly Value[]): Value {
  const numbers = args.map((value) => (value.kind === "number" ? value.value : ZERO));
  const [first, second, third] = numbers;
  if (first === undefined || numbers.length > 3) throw new FunctionError("must have one, two, or three arguments");
  const [start, end] = second === undefined ? [ZERO, first] : [first, second];
  const step = third ?? numberFromInteger(compareNumbers(end, start) < 0 ? -1 : 1);
  // A step of zero never arrives: it ends at the limit.
  const direction = signOf(step) < 0 ? -1 : 1;
  const order = compareNumbers(end, start);
  if (direction < 0 && order > 0) throw new FunctionError("end must be less than start when step is negative", 1);
  if (direction > 0 && order < 0) throw new FunctionError("end must be greater than start when step is positive", 1);
  return listValue(count(start, end, step, direction), NUMBER);
}

function count(start: HclNumber, end: HclNumber, step: HclNumber, direction: 1 | -1): Value[] {
  const values: Value[] = [];
  for (let current = start; Math.sign(compareNumbers(end, current)) === direction; current = add(current, step) ?? end) {
    if (values.length >= MOST_VALUES) {
      throw new FunctionError(
        "more than 1024 values were generated; either decrease the difference between start and end or use a smaller step",
      );
    }
    values.push(numberValue(current));
  }
  return values;
}

/** Set operations work on sets of one type, which all arguments are converted to. */
function setOperation(combine: (a: readonly Value[], b: readonly Value[]) => readonly Value[]) {
  return (args: readonly Value[]): Value => {
    const types = args.flatMap((value) => {
      const type = typeOf(value);
      if (type.kind !== "set") return [];
      return type.element.kind === "any" && itemsOf(value).length === 0 ? [] : [type.element];
    });
    const element = types.length === 0 ? ANY : unify(types);
    if (element === undefined) throw new FunctionError("given sets must all have compatible element types");
    const sets = args.map((value, position) => itemsOf(convertAt(value, { kind: "set", element }, position)));
    const [first = [], ...others] = sets;
    return setValue(others.reduce<readonly Value[]>(combine, first), element);
  };
}

function has(items: readonly Value[], wanted: Value): boolean {
  return items.some((item) => equalValues(item, wanted));
}

const MOST_PRODUCTS = 100_000;

function product(args: readonly Value[]): Value {
  if (args.length < 2) throw new FunctionError("at least two arguments are required");
  const elements = args.map((value, position): Type => {
    const type = typeOf(value);
    if (type.kind === "set" || type.kind === "list") return type.element;
    if (type.kind !== "tuple") throw new FunctionError("a set or a list is required", position);
    const joined = unify(type.items);
    if (joined === undefined) throw new FunctionError("all elements must be of the same type", position);
    return joined;
  });
  const total = args.reduce((size, value) => size * itemsOf(value).length, 1);
  if (total > MOST_PRODUCTS) throw new FunctionError(`the product would have ${total} elements`);
  let rows: Value[][] = [[]];
  args.forEach((value, position) => {
    const items = itemsOf(value).map((item) => convert(item, elements[position] ?? ANY));
    rows = rows.flatMap((row) => items.map((item) => [...row, item]));
  });
  const element: Type = { kind: "tuple", items: elements };
  const tuples = rows.map(tupleValue);
  return args.some(({ kind }) => kind === "set") ? setValue(tuples, element) : listValue(tuples, element);
}

const firstSet = parameter("first_set", collectionOf("set"));
const otherSets = parameter("other_sets", collectionOf("set"));

export const sequenceFunctions: FunctionTable = {
  concat: define([], concat, anything("seqs")),
  range: define([], range, num("params")),
  setintersection: define(
    [firstSet],
    setOperation((a, b) => a.filter((item) => has(b, item))),
    otherSets,
  ),
  setproduct: define([], product, anything("sets")),
  setunion: define(
    [firstSet],
    setOperation((a, b) => [...a, ...b]),
    otherSets,
  ),
};
