import { ConversionError, convert } from "../../hcl/convert.ts";
import { safeInteger, toDouble } from "../../hcl/number.ts";
import type { Diagnostic, SourceRange } from "../../hcl/syntax.ts";
import { startRange } from "../../hcl/syntax.ts";
import { BOOL, NUMBER, STRING, type Type, typeOf, type Value } from "../../hcl/value.ts";
import { valueToJson } from "../../hcl/value-json.ts";
import { type Attr, evaluateAttribute, report } from "./body-view.ts";
import { durationOf } from "./go-duration.ts";
import type { Field } from "./schema.ts";
import type { Rec } from "./values.ts";

const TYPES: Readonly<Record<string, Type>> = {
  string: STRING,
  bool: BOOL,
  int: NUMBER,
  strings: { kind: "list", element: STRING },
  ints: { kind: "list", element: NUMBER },
  map: { kind: "map", element: STRING },
};

/** What an expression is worth. After errors, which are among the diagnostics, the value is unknown, and Nomad says that too. */
export function evaluated(attr: Attr, diagnostics: Diagnostic[]): Value {
  const { value, diagnostics: found } = evaluateAttribute(attr, attr.scope);
  diagnostics.push(...found);
  return value;
}

/**
 * The value of an attribute in the form of its field; undefined when it does not fit, which is then among the diagnostics.
 * A null leaves a field unset where it may be unset.
 */
export function decodeAttribute(attr: Attr, field: Field, diagnostics: Diagnostic[]): unknown {
  if (field.kind === "duration") return decodeDuration(attr, field, diagnostics);
  const type = TYPES[field.kind];
  if (type === undefined) throw new Error(`field ${field.name} cannot be an attribute`);
  const value = evaluated(attr, diagnostics);
  return attempt(attr, diagnostics, () => plain(convert(value, type), field));
}

/** The same for an attribute that holds one text of a map. */
export function decodeText(attr: Attr, diagnostics: Diagnostic[]): string | undefined {
  const value = evaluated(attr, diagnostics);
  return attempt(attr, diagnostics, () => {
    const text = convert(value, STRING);
    if (text.kind === "string") return text.value;
    throw new ConversionError(text.kind === "null" ? "null value is not allowed" : "value must be known");
  });
}

/** A map of texts that is written as an attribute: `env = { … }`. Null for none. */
export function decodeTextMap(attr: Attr, diagnostics: Diagnostic[]): Rec | null | undefined {
  const value = evaluated(attr, diagnostics);
  return attempt(attr, diagnostics, () => texts(convert(value, { kind: "map", element: STRING })));
}

/** A list of texts that is one entry of a map of lists. */
export function decodeTextList(attr: Attr, diagnostics: Diagnostic[]): unknown {
  const value = evaluated(attr, diagnostics);
  return attempt(attr, diagnostics, () => items(convert(value, { kind: "list", element: STRING }), textOf));
}

function attempt<T>(attr: Attr, diagnostics: Diagnostic[], action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    unsuitable(diagnostics, startRange(attr.expression), `Unsuitable value: ${error.message}`);
    return undefined;
  }
}

function unsuitable(diagnostics: Diagnostic[], range: SourceRange, detail: string, summary = "Unsuitable value type"): void {
  report(diagnostics, range, summary, detail);
}

function plain(value: Value, field: Field): unknown {
  if (value.kind === "unknown") throw new ConversionError("value must be known");
  switch (field.kind) {
    case "strings":
      return items(value, textOf);
    case "ints":
      return items(value, (item) => integerOf(item, { min: 0, max: 65_535, goType: "uint16" }));
    case "map":
      return texts(value);
    default:
      if (value.kind === "null") {
        if (field.pointer) return null;
        throw new ConversionError("null value is not allowed");
      }
      return field.kind === "int" ? integerOf(value, field) : scalarOf(value);
  }
}

function scalarOf(value: Value): string | boolean {
  if (value.kind === "string" || value.kind === "bool") return value.value;
  throw new ConversionError("value must be known");
}

function textOf(value: Value): string {
  if (value.kind === "string") return value.value;
  throw new ConversionError(value.kind === "null" ? "null value is not allowed" : "value must be known");
}

const LIMITS: Readonly<Record<string, string>> = {
  int: "between -9223372036854775808 and 9223372036854775807",
  int64: "between -9223372036854775808 and 9223372036854775807",
  int8: "between -128 and 127",
  uint64: "between 0 and 18446744073709551615 inclusive",
  uint32: "between 0 and 4294967295 inclusive",
  uint16: "between 0 and 65535 inclusive",
  uint8: "between 0 and 255 inclusive",
};

function integerOf(value: Value, field: Pick<Field, "min" | "max" | "goType">): number {
  if (value.kind === "null") throw new ConversionError("null value is not allowed");
  if (value.kind !== "number") throw new ConversionError("value must be known");
  const integer = safeInteger(value.value);
  // Beyond 2^53 digits are lost, which the tables' limits rule out for everything but durations.
  if (integer !== undefined && integer >= field.min && integer <= field.max) return integer;
  throw new ConversionError(`value must be a whole number, ${LIMITS[field.goType] ?? ""}`);
}

function items<T>(value: Value, read: (item: Value) => T): T[] | null {
  if (value.kind === "null") return null;
  if (!("items" in value)) throw new ConversionError("value must be known");
  return value.items.map(read);
}

function texts(value: Value): Rec | null {
  if (value.kind === "null") return null;
  if (!("entries" in value)) throw new ConversionError("value must be known");
  return Object.fromEntries([...value.entries].map(([name, item]) => [name, textOf(item)]));
}

/** A text such as "90s", or a number of nanoseconds. */
function decodeDuration(attr: Attr, field: Field, diagnostics: Diagnostic[]): number | undefined {
  const value = evaluated(attr, diagnostics);
  const range = startRange(attr.expression);
  if (value.kind === "null") {
    unsuitable(diagnostics, range, "Unsuitable duration value: nil", "Unsuitable value");
    return undefined;
  }
  if (value.kind === "string") {
    const duration = durationOf(value.value);
    if (typeof duration === "number") return duration;
    unsuitable(diagnostics, range, `Unsuitable duration value: ${duration.problem}`);
    return undefined;
  }
  if (value.kind !== "number") {
    const type = typeOf(value);
    unsuitable(diagnostics, range, `Unsuitable value: expected a string but found ${goTypeName(type)}`);
    return undefined;
  }
  return attempt(attr, diagnostics, () => integerOf(value, { ...field, goType: "int64" }));
}

/** A type as Go prints cty's inner structure of it: that is what Nomad's message shows here. */
function goTypeName(type: Type): string {
  switch (type.kind) {
    case "string":
    case "number":
    case "bool":
      return `{{{} %!s(cty.primitiveTypeKind=${type.kind.toUpperCase().charCodeAt(0)})}}`;
    case "any":
      return "{{{}}}";
    case "tuple":
      return `{{{} [${type.items.map(goTypeName).join(" ")}]}}`;
    case "object": {
      const attributes = [...type.attributes].map(([name, inner]) => `${name}:${goTypeName(inner)}`);
      return `{{{} map[${attributes.sort().join(" ")}] map[]}}`;
    }
    default:
      return `{{{} ${goTypeName(type.element)}}}`;
  }
}

/** A free-form value as JSON: whole numbers stay whole, all others become doubles. Throws ConversionError for unknown ones. */
export function freeFormJson(value: Value): unknown {
  if (value.kind === "unknown") throw new ConversionError("value is not known");
  if (value.kind === "number") return safeInteger(value.value) ?? toDouble(value.value);
  if ("items" in value) return value.items.map(freeFormJson);
  if ("entries" in value) return Object.fromEntries([...value.entries].map(([k, v]) => [k, freeFormJson(v)]));
  return valueToJson(value);
}
