/** The scalar keys of the configuration as flags and environment variables: `http.listen` is `--http-listen` and `NOPS_HTTP_LISTEN`. */
import { z } from "zod";
import { allowedValues, defaultOf, type JsonSchema } from "./describe.ts";
import { configSchema } from "./schema.ts";

export type ScalarKind = "text" | "number" | "boolean" | "list";

/** One key that can be set from the command line and the environment. */
export interface ScalarOption {
  /** Path in the file, such as `["http", "listen"]`; `["repositories", 0, "url"]` for the one-repository short form. */
  readonly path: readonly (string | number)[];
  /** All flags that set it, the main one first. */
  readonly flags: readonly string[];
  readonly variables: readonly string[];
  readonly kind: ScalarKind;
  readonly description: string;
  /** What may stand there, in words. */
  readonly allowed: string;
  /** Absent: empty unless it is set. */
  readonly default: string | undefined;
}

const shortFlags: Readonly<Record<string, string>> = {
  "http.listen": "--listen",
  "nomad.address": "--nomad-addr",
};

// Nomad's own variables are honoured where they mean the same; NOMAD_NAMESPACE and NOMAD_REGION are not, since
// Nomad sets them inside every task and they would silently redirect the operator.
const nomadVariables: Readonly<Record<string, string>> = {
  "nomad.address": "NOMAD_ADDR",
  "nomad.ca_cert": "NOMAD_CACERT",
  "nomad.client_cert": "NOMAD_CLIENT_CERT",
  "nomad.client_key": "NOMAD_CLIENT_KEY",
  "nomad.tls_server_name": "NOMAD_TLS_SERVER_NAME",
  "nomad.tls_skip_verify": "NOMAD_SKIP_VERIFY",
};

/** The JSON Schema of the configuration file, for editors (draft 2020-12). */
export function configJsonSchema(): object {
  return z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" });
}

/** A key that only the file can set. */
export interface FileOnlyKey {
  /** As it is written in messages: `notifications[].type`. */
  readonly name: string;
  readonly description: string;
  readonly allowed: string;
  readonly default: string | undefined;
  readonly required: boolean;
}

/** Every key that neither a flag nor a variable can set. */
export function fileOnlyKeys(): readonly FileOnlyKey[] {
  return fileOnly(configJsonSchema() as JsonSchema, "");
}

function fileOnly(schema: JsonSchema, prefix: string): FileOnlyKey[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    if (value.properties !== undefined) return fileOnly(value, `${name}.`);
    if (value.items?.properties !== undefined) return fileOnly(value.items, `${name}[].`);
    const listed = prefix.includes("[]") && !prefix.startsWith("repositories[]");
    const settable = kindOf(value) !== undefined && name !== "repositories[].name" && !listed;
    if (settable) return [];
    const required = schema.required?.includes(key) ?? false;
    return [{ name, description: value.description ?? "", allowed: allowedValues(value), default: defaultOf(value), required }];
  });
}

/** Every scalar or list-of-text key of the configuration, plus the short form that describes one repository. */
export function scalarOptions(): readonly ScalarOption[] {
  const schema = configJsonSchema() as JsonSchema;
  const general = walk(schema, []);
  const repository = schema.properties?.["repositories"]?.items;
  const short = Object.entries(repository?.properties ?? {}).flatMap(([key, value]) => {
    const kind = kindOf(value);
    if (kind === undefined || key === "name") return [];
    const flag = `--git-${dashed(key)}`;
    return [option(["repositories", 0, key], [flag], [variableOf(["git", key])], kind, value)];
  });
  return [...general, ...short];
}

function walk(schema: JsonSchema, path: readonly string[]): ScalarOption[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const at = [...path, key];
    const kind = kindOf(value);
    if (kind === undefined) return walk(value, at);
    const dotted = at.join(".");
    const extraFlag = shortFlags[dotted];
    const extraVariable = nomadVariables[dotted];
    return [
      option(
        at,
        [`--${at.map(dashed).join("-")}`, ...(extraFlag === undefined ? [] : [extraFlag])],
        [variableOf(at), ...(extraVariable === undefined ? [] : [extraVariable])],
        kind,
        value,
      ),
    ];
  });
}

function option(
  path: readonly (string | number)[],
  flags: readonly string[],
  variables: readonly string[],
  kind: ScalarKind,
  schema: JsonSchema,
): ScalarOption {
  const description = schema.description ?? "";
  return { path, flags, variables, kind, description, allowed: allowedValues(schema), default: defaultOf(schema) };
}

function kindOf(schema: JsonSchema): ScalarKind | undefined {
  const kinds = (schema.anyOf ?? []).map(kindOf).filter((kind) => kind !== undefined);
  // One word or a list of them is written as a list of one.
  if (kinds.length > 0) return kinds.includes("list") ? "list" : kinds[0];
  const type = typeof schema.type === "string" ? schema.type : schema.type?.find((name) => name !== "null");
  switch (type) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return schema.items?.type === "string" ? "list" : undefined;
    default:
      return undefined;
  }
}

function dashed(key: string): string {
  return key.replaceAll("_", "-");
}

function variableOf(path: readonly string[]): string {
  return `NOPS_${path.join("_").toUpperCase()}`;
}
