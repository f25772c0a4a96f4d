import { canConvert } from "./unify.ts";
import { type CollectionType, type ObjectType, sameType, type Type } from "./value.ts";

/** A type as messages name it: `list of string`, `object`. */
export function friendlyType(type: Type): string {
  if (type.kind === "any") return "dynamic";
  return "element" in type ? `${type.kind} of ${friendlyType(type.element)}` : type.kind;
}

/** The same for a type that is asked for: `list of any single type`. */
export function friendlyConstraint(type: Type): string {
  if (type.kind === "any") return "any type";
  if (!("element" in type)) return type.kind;
  return `${type.kind} of ${type.element.kind === "any" ? "any single type" : friendlyConstraint(type.element)}`;
}

/** Why a value of one type cannot become one of another, as the rest of a sentence. */
export function mismatch(got: Type, want: Type): string {
  if (got.kind === "object" && want.kind === "object") return mismatchOfObjects(got.attributes, want);
  if ("element" in want && want.element.kind === "any") {
    if (got.kind === "tuple" && want.kind !== "map") return `all ${want.kind} elements must have the same type`;
    if (got.kind === "object" && want.kind === "map") return "all map elements must have the same type";
  }
  if ("element" in want && (got.kind === "tuple" || got.kind === "object")) return mismatchOfElements(got, want);
  if ("element" in want && "element" in got) {
    if ((want.kind === "map") !== (got.kind === "map")) return `${friendlyConstraint(want)} required`;
    return `incorrect ${want.kind} element type: ${mismatch(got.element, want.element)}`;
  }
  if (isPlainMismatch(got, want)) return `${friendlyType(want)} required, but have ${friendlyType(got)}`;
  return `${friendlyConstraint(want)} required`;
}

function isPrimitive(type: Type): boolean {
  return type.kind === "string" || type.kind === "number" || type.kind === "bool";
}

/** Whether naming both types helps: never where the value could have been right and only its text is wrong. */
function isPlainMismatch(got: Type, want: Type): boolean {
  if (isPrimitive(got) !== isPrimitive(want)) return true;
  if (want.kind === "string") return true;
  if ((want.kind === "bool" && got.kind === "number") || (want.kind === "number" && got.kind === "bool")) return true;
  return got.kind === "tuple" && want.kind === "object";
}

function mismatchOfObjects(got: ReadonlyMap<string, Type>, want: ObjectType): string {
  const missing = [...want.attributes.keys()].filter((name) => !got.has(name)).sort();
  const quoted = missing.map((name) => JSON.stringify(name));
  if (quoted.length === 1) return `attribute ${quoted[0]} is required`;
  if (quoted.length === 2) return `attributes ${quoted[0]} and ${quoted[1]} are required`;
  if (quoted.length > 2) return `attributes ${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)} are required`;
  for (const [name, wanted] of want.attributes) {
    const given = got.get(name);
    if (given !== undefined && !canConvert(given, wanted)) return `attribute ${JSON.stringify(name)}: ${mismatch(given, wanted)}`;
  }
  return "incorrect object attributes";
}

function mismatchOfElements(got: Type, want: CollectionType): string {
  const elements: (readonly [string | number, Type])[] =
    got.kind === "tuple" && want.kind !== "map"
      ? got.items.map((item, index) => [index, item])
      : got.kind === "object" && want.kind === "map"
        ? [...got.attributes]
        : [];
  for (const [key, type] of elements) {
    if (sameType(type, want.element) || canConvert(type, want.element)) continue;
    return `element ${JSON.stringify(key)}: ${mismatch(type, want.element)}`;
  }
  return elements.length === 0
    ? `${friendlyConstraint(want)} required`
    : `all elements must be ${friendlyConstraint(want.element)}`;
}
