import { formatNumber, parseNumber } from "./number.ts";
import { mismatch } from "./type-names.ts";
import { canConvert, unify } from "./unify.ts";
import {
  ANY,
  boolValue,
  type CollectionType,
  listValue,
  mapValue,
  nullValue,
  numberValue,
  type ObjectType,
  objectValue,
  sameType,
  setValue,
  stringValue,
  type Type,
  tupleValue,
  typeOf,
  unknownValue,
  type Value,
} from "./value.ts";

/** A value does not fit a type; the message is the rest of a sentence, as cty words it: `a number is required`. */
export class ConversionError extends Error {
  override readonly name = "ConversionError";
}

/**
 * Converts a value to a type by cty's rules: numbers and bools to strings, strings that look like them back, tuples to
 * lists and sets, objects to maps, elements likewise.
 * @throws ConversionError when it does not fit.
 */
export function convert(value: Value, type: Type): Value {
  if (type.kind === "any") return value;
  const from = typeOf(value);
  if (!canConvert(from, type)) throw new ConversionError(mismatch(from, type));
  if (value.kind === "unknown") return unknownValue(type);
  if (value.kind === "null") return nullValue(type);
  if (sameType(from, type)) return value;
  switch (type.kind) {
    case "string":
      return stringValue(primitiveText(value));
    case "number":
      return toNumber(value);
    case "bool":
      return toBool(value);
    case "list":
    case "set":
      return toSequence(value, type);
    case "map":
      return toMap(value, type);
    case "tuple":
      return tupleValue(itemsOf(value).map((item, index) => convert(item, type.items[index] ?? ANY)));
    case "object":
      return toObject(value, type);
  }
}

function primitiveText(value: Value): string {
  if (value.kind === "string") return value.value;
  if (value.kind === "number") return formatNumber(value.value);
  if (value.kind === "bool") return value.value ? "true" : "false";
  throw new ConversionError("string required");
}

function toNumber(value: Value): Value {
  const parsed = value.kind === "string" ? parseNumber(value.value) : undefined;
  if (parsed === undefined) throw new ConversionError("a number is required");
  return numberValue(parsed);
}

function toBool(value: Value): Value {
  const text = value.kind === "string" ? value.value : "";
  if (text === "true" || text === "1") return boolValue(true);
  if (text === "false" || text === "0") return boolValue(false);
  const lower = text.toLowerCase();
  if (lower !== "true" && lower !== "false") throw new ConversionError("a bool is required");
  throw new ConversionError(`a bool is required; to convert from string, use lowercase "${lower}"`);
}

function itemsOf(value: Value): readonly Value[] {
  return "items" in value ? value.items : [];
}

function entriesOf(value: Value): ReadonlyMap<string, Value> {
  return "entries" in value ? value.entries : new Map();
}

/** The element type to convert to; `any` stands for the type the elements have in common. */
function elementType(wanted: Type, items: readonly Value[], declared: Type | undefined): Type {
  if (wanted.kind !== "any") return wanted;
  if (declared !== undefined) return declared;
  return unify(items.map(typeOf)) ?? ANY;
}

function toSequence(value: Value, type: CollectionType): Value {
  const items = itemsOf(value);
  const element = elementType(type.element, items, value.kind === "list" || value.kind === "set" ? value.element : undefined);
  const converted = items.map((item) => convert(item, element));
  const actual = settledElement(element, converted, type.kind);
  return type.kind !== "set" ? listValue(converted, actual) : setValue(converted, actual);
}

function toMap(value: Value, type: CollectionType): Value {
  const entries = [...entriesOf(value)];
  const items = entries.map(([, item]) => item);
  const element = elementType(type.element, items, value.kind === "map" ? value.element : undefined);
  const converted = entries.map(([name, item]) => [name, convert(item, element)] as const);
  const settled = settledElement(
    element,
    converted.map(([, item]) => item),
    "map",
  );
  return mapValue(converted, settled);
}

/** With `any` inside the wanted type the elements may turn out different after all. */
function settledElement(element: Type, converted: readonly Value[], kind: "list" | "set" | "map"): Type {
  const [first] = converted;
  if (first === undefined || !containsAny(element)) return element;
  const type = typeOf(first);
  if (converted.some((item) => !sameType(typeOf(item), type))) {
    const noun = kind === "map" ? "attribute" : "element";
    throw new ConversionError(`${noun} types must all match for conversion to ${kind}`);
  }
  return type;
}

function containsAny(type: Type): boolean {
  if (type.kind === "any") return true;
  if ("element" in type) return containsAny(type.element);
  if (type.kind === "tuple") return type.items.some(containsAny);
  return type.kind === "object" && [...type.attributes.values()].some(containsAny);
}

/** Attributes nobody asked for are dropped. */
function toObject(value: Value, type: ObjectType): Value {
  const given = entriesOf(value);
  const entries: [string, Value][] = [];
  for (const [name, wanted] of type.attributes) {
    const item = given.get(name);
    if (item !== undefined) entries.push([name, convert(item, wanted)]);
    else throw new ConversionError(`map has no element for required attribute ${JSON.stringify(name)}`);
  }
  return objectValue(entries);
}
