import { ConversionError, convert } from "../convert.ts";
import { safeInteger } from "../number.ts";
import { FunctionError, parameter } from "../scope.ts";
import { friendlyType } from "../type-names.ts";
import { unify } from "../unify.ts";
import {
  boolValue,
  equalValues,
  integerValue,
  listValue,
  mapValue,
  NUMBER,
  nullValue,
  objectValue,
  STRING,
  sameType,
  stringValue,
  type Type,
  tupleValue,
  typeOf,
  unknownValue,
  type Value,
} from "../value.ts";
import {
  anything,
  at,
  collectionOf,
  define,
  entriesOf,
  type FunctionTable,
  integerAt,
  itemsOf,
  num,
  str,
  textAt,
} from "./define.ts";

const NO_COLLECTION = "collection must be a list, a map or a tuple";

function index(args: readonly Value[]): Value {
  const collection = at(args, 0);
  const key = at(args, 1);
  if (collection.kind === "tuple" || collection.kind === "list") {
    if (key.kind !== "number") throw new FunctionError(`key for ${collection.kind} must be number`);
    const item = collection.items[safeInteger(key.value) ?? -1];
    if (item !== undefined) return item;
    if (collection.kind === "list") throw new FunctionError("invalid index");
    integerAt(args, 1, (reason) => new FunctionError(`invalid key for tuple: ${reason}`));
    throw new FunctionError(`key must be between 0 and ${collection.items.length} inclusive`);
  }
  if (collection.kind !== "map") throw new FunctionError(NO_COLLECTION);
  if (key.kind !== "string") throw new FunctionError("key for map must be string");
  const item = collection.entries.get(key.value);
  if (item === undefined) throw new FunctionError("invalid index");
  return item;
}

function length(args: readonly Value[]): Value {
  const collection = at(args, 0);
  if ("items" in collection) return integerValue(collection.items.length);
  if (collection.kind === "map") return integerValue(collection.entries.size);
  if (collection.kind === "unknown" && ["any", "list", "set", "map", "tuple"].includes(collection.type.kind))
    return unknownValue(NUMBER);
  throw new FunctionError(NO_COLLECTION);
}

function element(args: readonly Value[]): Value {
  const list = at(args, 0);
  if (list.kind !== "list" && list.kind !== "tuple") {
    throw new FunctionError(`cannot read elements from ${friendlyType(typeOf(list))}`);
  }
  const wanted = integerAt(args, 1, (reason) => new FunctionError(`invalid index: ${reason}`));
  const count = list.items.length;
  if (count === 0) throw new FunctionError("cannot use element function with an empty list");
  return at(list.items, ((wanted % count) + count) % count);
}

function coalesceList(args: readonly Value[]): Value {
  if (args.length === 0) throw new FunctionError("at least one argument is required");
  for (const value of args) {
    const { kind } = typeOf(value);
    if (kind !== "list" && kind !== "tuple") throw new FunctionError("coalescelist arguments must be lists or tuples");
  }
  const found = args.find((value) => itemsOf(value).length > 0);
  if (found === undefined) throw new FunctionError("no non-null arguments");
  return found;
}

function coalesce(args: readonly Value[]): Value {
  const type = args.length === 0 ? undefined : unify(args.map(typeOf));
  if (type === undefined) throw new FunctionError("all arguments must have the same type");
  const found = args.find((value) => value.kind !== "null");
  if (found === undefined) throw new FunctionError("no non-null arguments");
  return convertAt(found, type, args.indexOf(found));
}

function convertAt(value: Value, type: Type, argument: number): Value {
  try {
    return convert(value, type);
  } catch (error) {
    if (error instanceof ConversionError) throw new FunctionError(error.message, argument);
    throw error;
  }
}

function compact(args: readonly Value[]): Value {
  return listValue(
    itemsOf(at(args, 0)).filter((item) => item.kind === "string" && item.value !== ""),
    STRING,
  );
}

function contains(args: readonly Value[]): Value {
  const list = at(args, 0);
  if (!("items" in list)) throw new FunctionError("argument must be list, tuple, or set");
  return boolValue(list.items.some((item) => equalValues(item, at(args, 1))));
}

function distinct(args: readonly Value[]): Value {
  const list = at(args, 0);
  const kept: Value[] = [];
  for (const item of itemsOf(list)) if (!kept.some((other) => equalValues(other, item))) kept.push(item);
  return list.kind === "list" ? listValue(kept, list.element) : tupleValue(kept);
}

function chunk(args: readonly Value[]): Value {
  const list = at(args, 0);
  const size = integerAt(args, 1, (reason) => new FunctionError(`invalid size: ${reason}`));
  if (size < 0) throw new FunctionError("the size argument must be positive");
  const items = itemsOf(list);
  const inner = list.kind === "list" ? list.element : NUMBER;
  const chunks: Value[] = [];
  for (let start = 0; start < items.length; start += size === 0 ? items.length : size) {
    chunks.push(listValue(items.slice(start, size === 0 ? undefined : start + size), inner));
  }
  return listValue(chunks, { kind: "list", element: inner });
}

function flattenItems(value: Value): Value[] {
  return itemsOf(value).flatMap((item) => ("items" in item ? flattenItems(item) : [item]));
}

function flatten(args: readonly Value[]): Value {
  if (!("items" in at(args, 0))) throw new FunctionError("can only flatten lists, sets and tuples");
  return tupleValue(flattenItems(at(args, 0)));
}

function keys(args: readonly Value[]): Value {
  const map = at(args, 0);
  if (!("entries" in map)) throw new FunctionError("must have map or object type", 0);
  const names = [...map.entries.keys()].map(stringValue);
  return map.kind === "map" ? listValue(names, STRING) : tupleValue(names);
}

function values(args: readonly Value[]): Value {
  const map = at(args, 0);
  if (!("entries" in map)) throw new FunctionError("values() requires a map as the first argument");
  const items = [...map.entries.values()];
  return map.kind === "map" ? listValue(items, map.element) : tupleValue(items);
}

function lookup(args: readonly Value[]): Value {
  const map = at(args, 0);
  if (!("entries" in map)) throw new FunctionError("lookup() requires a map as the first argument", 0);
  const found = map.entries.get(textAt(args, 1));
  if (map.kind === "object") return found ?? at(args, 2);
  let fallback: Value;
  try {
    fallback = convert(at(args, 2), map.element);
  } catch {
    throw new FunctionError("the default value must have the same type as the map elements", 2);
  }
  return found ?? fallback;
}

function merge(args: readonly Value[]): Value {
  const merged = new Map<string, Value>();
  for (const value of args) {
    const { kind } = typeOf(value);
    if (value.kind === "null" && kind === "any") continue;
    if (kind !== "map" && kind !== "object") {
      throw new FunctionError(`arguments must be maps or objects, got ${JSON.stringify(friendlyType(typeOf(value)))}`);
    }
    for (const [name, item] of entriesOf(value)) merged.set(name, item);
  }
  const [first] = args;
  if (first?.kind === "map" && args.every((value) => sameType(typeOf(value), typeOf(first))))
    return mapValue(merged, first.element);
  return objectValue(merged);
}

function slice(args: readonly Value[]): Value {
  const list = at(args, 0);
  if (list.kind === "set") {
    const why =
      "because its elements do not have indices; explicitly convert to a list if the ordering of the result is not important";
    throw new FunctionError(`cannot slice a set, ${why}`, 0);
  }
  if (list.kind !== "list" && list.kind !== "tuple") throw new FunctionError("must be a list or tuple value", 0);
  const start = boundary(args, 1, "start", list.items.length);
  const end = boundary(args, 2, "end", list.items.length);
  if (start > end) throw new FunctionError("start index must not be greater than end index", 1);
  const items = list.items.slice(start, end);
  return list.kind === "list" ? listValue(items, list.element) : tupleValue(items);
}

function boundary(args: readonly Value[], position: number, name: string, count: number): number {
  const wanted = integerAt(args, position, (reason) => new FunctionError(`invalid ${name} index: ${reason}`, position));
  if (wanted < 0) throw new FunctionError(`${name} index must not be less than zero`, position);
  if (wanted > count) throw new FunctionError(`${name} index must not be greater than the length of the list`, position);
  return wanted;
}

function zipmap(args: readonly Value[]): Value {
  const names = itemsOf(at(args, 0));
  const list = at(args, 1);
  if (list.kind !== "list" && list.kind !== "tuple") throw new FunctionError("values argument must be a list or tuple value");
  if (names.length !== list.items.length) {
    throw new FunctionError(`number of keys (${names.length}) does not match number of values (${list.items.length})`);
  }
  const entries = names.map((name, position) => {
    if (name.kind !== "string") throw new FunctionError(`keys list has null value at index ${position}`);
    return [name.value, list.items[position] ?? nullValue()] as const;
  });
  return list.kind === "list" ? mapValue(entries, list.element) : objectValue(entries);
}

const anyList = parameter("list", collectionOf("list"));

export const collectionFunctions: FunctionTable = {
  chunklist: define([anyList, num("size")], chunk),
  coalesce: define([], coalesce, parameter("vals", undefined, { allowNull: true })),
  coalescelist: define([], coalesceList, parameter("vals", undefined, { allowNull: true })),
  compact: define([parameter("list", collectionOf("list", STRING))], compact),
  contains: define([anything("list"), parameter("value", undefined, { allowNull: true })], contains),
  distinct: define([anyList], distinct),
  element: define([anything("list"), num("index")], element),
  flatten: define([anything("list")], flatten),
  index: define([anything("collection"), anything("key")], index),
  keys: define([anything("inputMap")], keys),
  length: define([parameter("collection", undefined, { allowUnknown: true })], length),
  lookup: define([anything("inputMap"), str("key"), anything("default")], lookup),
  merge: define([], merge, parameter("maps", undefined, { allowNull: true })),
  slice: define([anything("list"), num("start_index"), num("end_index")], slice),
  values: define([anything("mapping")], values),
  zipmap: define([parameter("keys", collectionOf("list", STRING)), anything("values")], zipmap),
};
