/** What may stand in a key of the configuration, in words made from its schema. */
import { durationPattern } from "./schema.ts";

/** The part of JSON Schema that the configuration uses. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** `one of auto, approval, none`, `whole number, 1 to 10`, `duration`, `list of text`. */
export function allowedValues(schema: JsonSchema): string {
  if (schema.const !== undefined) return String(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.anyOf !== undefined) return schema.anyOf.map(allowedValues).join(", or ");
  const types = (typeof schema.type === "string" ? [schema.type] : (schema.type ?? [])).filter((name) => name !== "null");
  const [type, ...others] = types;
  if (others.length > 0) return types.map((name) => allowedValues({ ...schema, type: name })).join(", or ");
  switch (type) {
    case "boolean":
      return "true or false";
    case "number":
      return "number";
    case "integer":
      return `whole number${rangeOf(schema)}`;
    case "array":
      return schema.items === undefined ? "list" : `list of ${allowedValues(schema.items)}`;
    case "object":
      return typeof schema.additionalProperties === "object"
        ? `names to ${allowedValues(schema.additionalProperties)}`
        : "keys and values";
    case "string":
      return schema.pattern === durationPattern ? "duration" : "text";
    default:
      return type ?? "anything";
  }
}

function rangeOf({ minimum, maximum }: JsonSchema): string {
  if (minimum === undefined) return "";
  return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? `, ${minimum} or more` : `, ${minimum} to ${maximum}`;
}

/** The default as it would be written; `undefined` for a key that is empty unless it is set. */
export function defaultOf({ default: value }: JsonSchema): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : `[${value.join(", ")}]`;
  if (typeof value === "object" && value !== null) return undefined;
  return String(value);
}
