import { ConversionError, convert } from "./convert.ts";
import { exactInteger, safeInteger, signOf } from "./number.ts";
import type { Diagnostic, SourceRange } from "./syntax.ts";
import { friendlyType } from "./type-names.ts";
import { type CollectionType, NUMBER, STRING, typeOf, unknownValue, type Value } from "./value.ts";

/** The result of taking something out of a value. */
export type Access = { readonly value: Value } | { readonly problem: Diagnostic };

function problem(summary: string, detail: string, range: SourceRange): Access {
  return { problem: { severity: "error", summary, detail, range } };
}

/** `object.name`. */
export function attributeOf(value: Value, name: string, range: SourceRange): Access {
  if (value.kind === "null") {
    return problem("Attempt to get attribute from null value", "This value is null, so it does not have any attributes.", range);
  }
  const type = typeOf(value);
  const unsupported = (detail: string) => problem("Unsupported attribute", detail, range);
  switch (type.kind) {
    case "any":
      return { value: unknownValue() };
    case "object": {
      const attribute = type.attributes.get(name);
      if (attribute === undefined) return unsupported(`This object does not have an attribute named ${JSON.stringify(name)}.`);
      return { value: value.kind === "object" ? (value.entries.get(name) ?? unknownValue(attribute)) : unknownValue(attribute) };
    }
    case "map": {
      if (value.kind !== "map") return { value: unknownValue(type.element) };
      const entry = value.entries.get(name);
      if (entry !== undefined) return { value: entry };
      return problem("Missing map element", `This map does not have an element with the key ${JSON.stringify(name)}.`, range);
    }
    case "list":
    case "set":
      return unsupported(collectionHint(type, name));
    case "tuple":
      return unsupported("This value does not have any attributes.");
    default:
      return unsupported(`Can't access attributes on a primitive-typed value (${friendlyType(type)}).`);
  }
}

function collectionHint(type: CollectionType, name: string): string {
  if (type.element.kind !== "object") return "This value does not have any attributes.";
  if (type.kind === "set") {
    return "Can't access attributes on a set of objects. Did you mean to access an attribute across all elements of the set?";
  }
  const which = type.element.attributes.has(name) ? `attribute ${JSON.stringify(name)}` : "an attribute";
  return `Can't access attributes on a list of objects. Did you mean to access ${which} for a specific element of the list, or across all elements of the list?`;
}

const NO_ELEMENT = "The given key does not identify an element in this collection value";

/** `collection[key]`. */
export function elementOf(collection: Value, key: Value, range: SourceRange): Access {
  if (collection.kind === "null") {
    return problem("Attempt to index null value", "This value is null, so it does not have any indices.", range);
  }
  const invalid = (detail: string) => problem("Invalid index", detail, range);
  if (key.kind === "null") return invalid("Can't use a null value as an indexing key.");
  const type = typeOf(collection);
  if (type.kind === "any" || typeOf(key).kind === "any") return { value: unknownValue() };
  if (type.kind === "set") {
    return invalid(
      "Elements of a set are identified only by their value and don't have any separate index or key to select with, so it's only possible to perform operations across all elements of the set.",
    );
  }
  if (type.kind === "string" || type.kind === "number" || type.kind === "bool")
    return invalid("This value does not have any indices.");
  const wanted = type.kind === "map" || type.kind === "object" ? STRING : NUMBER;
  let converted: Value;
  try {
    converted = convert(key, wanted);
  } catch (error) {
    if (error instanceof ConversionError) return invalid(`${NO_ELEMENT}: ${error.message}.`);
    throw error;
  }
  if (collection.kind === "unknown" && type.kind === "tuple" && converted.kind === "number") {
    return sequenceElement({ kind: "tuple", items: type.items.map(unknownValue) }, converted, invalid);
  }
  if (collection.kind === "unknown" || converted.kind === "unknown") {
    return { value: unknownValue("element" in type ? type.element : undefined) };
  }
  if (converted.kind === "number") return sequenceElement(collection, converted, invalid);
  const name = converted.kind === "string" ? converted.value : "";
  const entry = "entries" in collection ? collection.entries.get(name) : undefined;
  if (entry !== undefined) return { value: entry };
  const hint = type.kind === "object" && key.kind === "number";
  return invalid(`${NO_ELEMENT}.${hint ? " An object only supports looking up attributes by name, not by numeric index." : ""}`);
}

function sequenceElement(
  collection: Value,
  key: Extract<Value, { kind: "number" }>,
  invalid: (detail: string) => Access,
): Access {
  const items = "items" in collection ? collection.items : [];
  if (exactInteger(key.value) === undefined) {
    return invalid(`${NO_ELEMENT}: indexing a sequence requires a whole number, but the given index has a fractional part.`);
  }
  if (signOf(key.value) < 0) return invalid(`${NO_ELEMENT}: a negative number is not a valid index for a sequence.`);
  const index = safeInteger(key.value);
  const item = index === undefined ? undefined : items[index];
  if (item !== undefined) return { value: item };
  if (index !== items.length) return invalid(`${NO_ELEMENT}.`);
  const reason =
    items.length === 0
      ? "the collection has no elements"
      : "the given index is greater than or equal to the length of the collection";
  return invalid(`${NO_ELEMENT}: ${reason}.`);
}
