import { ANY, type CollectionType, type ObjectType, STRING, sameType, type Type } from "./value.ts";

/**
 * Whether values of one type can become values of another. With `unsafe` (the rule nearly everywhere) also where it
 * depends on the value: `"5"` to a number.
 */
export function canConvert(from: Type, to: Type, unsafe = true): boolean {
  if (to.kind === "any" || sameType(from, to)) return true;
  if (from.kind === "any") return unsafe;
  if (to.kind === "string") return from.kind === "number" || from.kind === "bool";
  if (to.kind === "number" || to.kind === "bool") return unsafe && from.kind === "string";
  if (to.kind === "object") return canConvertToObject(from, to, unsafe);
  if (to.kind === "tuple") {
    if (from.kind !== "tuple" || from.items.length !== to.items.length) return false;
    return from.items.every((item, index) => canConvert(item, to.items[index] ?? ANY, unsafe));
  }
  return "element" in to && canConvertToCollection(from, to, unsafe);
}

function canConvertToObject(from: Type, to: ObjectType, unsafe: boolean): boolean {
  if (from.kind === "map") {
    return [...to.attributes.values()].every((type) => canConvert(from.element, type, unsafe));
  }
  if (from.kind !== "object") return false;
  return [...to.attributes].every(([name, type]) => {
    const given = from.attributes.get(name);
    return given !== undefined && canConvert(given, type, unsafe);
  });
}

function canConvertToCollection(from: Type, to: CollectionType, unsafe: boolean): boolean {
  if (to.kind === "map") {
    if (from.kind === "map") return canConvert(from.element, to.element, unsafe);
    if (from.kind !== "object") return false;
    return canBecomeElements([...from.attributes.values()], to.element, unsafe);
  }
  if (from.kind === "list" || from.kind === "set") return canConvert(from.element, to.element, unsafe);
  return from.kind === "tuple" && canBecomeElements(from.items, to.element, unsafe);
}

function canBecomeElements(types: readonly Type[], element: Type, unsafe: boolean): boolean {
  if (element.kind === "any") return types.length === 0 || unify(types, unsafe) !== undefined;
  return types.every((type) => canConvert(type, element, unsafe));
}

/** The type that values of all these types can become, if there is one. */
export function unify(types: readonly Type[], unsafe = true): Type | undefined {
  const [first] = types;
  if (first === undefined) return ANY;
  if (types.every((type) => sameType(type, first))) return first;
  const has = (kind: Type["kind"]) => types.some((type) => type.kind === kind);
  const only = (...kinds: Type["kind"][]) => types.every((type) => kinds.includes(type.kind));
  if (has("map") && only("map", "object", "any")) {
    const joined = unifyMaps(types, unsafe);
    if (joined !== undefined || only("map", "any")) return joined;
  } else if (has("list") && only("list", "tuple", "any")) {
    const joined = unifyLists(types, unsafe);
    if (joined !== undefined || only("list", "any")) return joined;
  } else if (has("set") && only("set", "any")) {
    return has("any") ? ANY : unifyElements("set", types, unsafe);
  } else if (has("object") && only("object", "any")) {
    return has("any") ? ANY : unifyObjects(types, unsafe);
  } else if (has("tuple") && only("tuple", "any")) {
    return has("any") ? ANY : unifyTuples(types, unsafe);
  } else if (has("object") && has("tuple")) return undefined;
  return mostGeneral(types, unsafe);
}

function mostGeneral(types: readonly Type[], unsafe: boolean): Type | undefined {
  const candidates = [...types].sort((a, b) => rank(a) - rank(b));
  return candidates.find((candidate) => types.every((type) => canConvert(type, candidate, unsafe)));
}

/** Strings take nearly everything in; a type that is not known yet is the last resort. */
function rank(type: Type): number {
  return type.kind === "any" ? 2 : type.kind === STRING.kind ? 0 : 1;
}

function unifyElements(kind: "list" | "set" | "map", types: readonly Type[], unsafe: boolean): Type | undefined {
  const element = unify(
    types.flatMap((type) => ("element" in type ? [type.element] : [])),
    unsafe,
  );
  return element === undefined ? undefined : { kind, element };
}

function unifyMaps(types: readonly Type[], unsafe: boolean): Type | undefined {
  if (types.some((type) => type.kind === "any")) return ANY;
  const element = unify(types.flatMap(elementTypes), unsafe);
  return element === undefined ? undefined : { kind: "map", element };
}

function unifyLists(types: readonly Type[], unsafe: boolean): Type | undefined {
  if (types.some((type) => type.kind === "any")) return ANY;
  const element = unify(types.flatMap(elementTypes), unsafe);
  return element === undefined ? undefined : { kind: "list", element };
}

function elementTypes(type: Type): readonly Type[] {
  if (type.kind === "object") return [...type.attributes.values()];
  if (type.kind === "tuple") return type.items;
  return "element" in type ? [type.element] : [];
}

function unifyObjects(types: readonly Type[], unsafe: boolean): Type | undefined {
  const objects = types.flatMap((type) => (type.kind === "object" ? [type] : []));
  const names = [...(objects[0]?.attributes.keys() ?? [])];
  const alike = objects.every(
    ({ attributes }) => attributes.size === names.length && names.every((name) => attributes.has(name)),
  );
  if (!alike) return unifyMaps(types, unsafe);
  const attributes = new Map<string, Type>();
  for (const name of names) {
    const joined = unify(
      objects.map((object) => object.attributes.get(name) ?? ANY),
      unsafe,
    );
    if (joined === undefined) return undefined;
    attributes.set(name, joined);
  }
  return { kind: "object", attributes };
}

function unifyTuples(types: readonly Type[], unsafe: boolean): Type | undefined {
  const tuples = types.flatMap((type) => (type.kind === "tuple" ? [type] : []));
  const length = tuples[0]?.items.length ?? 0;
  if (tuples.some((tuple) => tuple.items.length !== length)) return unifyLists(types, unsafe);
  const items: Type[] = [];
  for (let index = 0; index < length; index += 1) {
    const joined = unify(
      tuples.map((tuple) => tuple.items[index] ?? ANY),
      unsafe,
    );
    if (joined === undefined) return undefined;
    items.push(joined);
  }
  return { kind: "tuple", items };
}
