import { formatNumber, numberFromDouble, numberFromInteger, parseNumber, safeInteger, toDouble } from "./number.ts";
import { boolValue, nullValue, numberValue, objectValue, stringValue, tupleValue, type Value } from "./value.ts";

/** Plain data (JSON, YAML) as a value: arrays become tuples, objects objects; what is neither becomes a string. */
export function jsonToValue(data: unknown): Value {
  if (data === null || data === undefined) return nullValue();
  switch (typeof data) {
    case "boolean":
      return boolValue(data);
    case "number":
      return doubleValue(data);
    case "bigint":
      return numberValue(numberFromInteger(data));
    case "object":
      if (Array.isArray(data)) return tupleValue(data.map(jsonToValue));
      if (data instanceof Date) return stringValue(data.toISOString());
      return objectValue(Object.entries(data).map(([name, item]) => [name, jsonToValue(item)]));
    default:
      return stringValue(String(data));
  }
}

/** A double as the decimal people write for it: 0.1 stays 0.1, instead of the binary fraction next to it. */
export function doubleValue(value: number): Value {
  if (Number.isNaN(value)) return stringValue("NaN");
  return numberValue(parseNumber(String(value)) ?? numberFromDouble(value));
}

/**
 * A value as plain data. Integers beyond 2^53 become bigint, other numbers the nearest double.
 * Unknown values become `undefined`.
 */
export function valueToJson(value: Value): unknown {
  switch (value.kind) {
    case "string":
    case "bool":
      return value.value;
    case "number": {
      const text = formatNumber(value.value);
      return safeInteger(value.value) ?? (/^-?[0-9]+$/.test(text) ? BigInt(text) : toDouble(value.value));
    }
    case "null":
      return null;
    case "unknown":
      return undefined;
    case "list":
    case "set":
    case "tuple":
      return value.items.map(valueToJson);
    case "map":
    case "object":
      return Object.fromEntries([...value.entries].map(([name, item]) => [name, valueToJson(item)]));
  }
}
