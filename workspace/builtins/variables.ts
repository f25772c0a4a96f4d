import { z } from "zod";
import { NomadError } from "../../model/errors.ts";
import { stepFailed, textMap } from "./params.ts";
import { builtin, type StepContext } from "./types.ts";

/** Builtins around Nomad variables and namespaces (workspace §M3). */

const variablePath = z.string().regex(/^[a-zA-Z0-9_~/-]{1,128}$/, "a path of letters, digits, - _ ~ /, at most 128");
const environment = z.union(
  [z.array(z.string()).min(1), z.record(z.string(), z.string())],
  "a list of variables, or item: VARIABLE",
);

/** Environment names by item. */
function fromEnv(names: readonly string[] | Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Array.isArray(names)
    ? Object.fromEntries(names.map((name: string) => [name, name]))
    : (names as Readonly<Record<string, string>>);
}

const putParams = z
  .strictObject({
    path: variablePath,
    items: textMap.optional(),
    from_env: environment.optional(),
    namespace: z.string().min(1).optional(),
    mode: z.enum(["merge", "replace", "if_absent"]).default("merge"),
  })
  .refine((params) => params.items !== undefined || params.from_env !== undefined, "items or from_env say what to put");

/** Writes a variable when Nomad has not exactly that already, under check-and-set. */
export const nomadVarPut = builtin({
  kind: "action",
  params: putParams,
  needsNomad: true,
  inputs: (params) => (params.from_env === undefined ? {} : { env: Object.values(fromEnv(params.from_env)) }),
  shown: ({ items, ...rest }) => ({
    path: rest.path,
    ...(items === undefined ? {} : { items: Object.fromEntries(Object.keys(items).map((key) => [key, "***"])) }),
    ...(rest.from_env === undefined
      ? {}
      : { from_env: Array.isArray(rest.from_env) ? [...rest.from_env] : { ...rest.from_env } }),
    ...(rest.namespace === undefined ? {} : { namespace: rest.namespace }),
    mode: rest.mode,
  }),
  async run(params, context) {
    const nomad = await context.nomad();
    const namespace = params.namespace ?? context.workspace.namespace;
    const wanted = { ...params.items, ...fromEnvironment(params.from_env, context) };
    for (const value of Object.values(wanted)) context.values.redactor.add(value);
    const found = await nomad.readVariable(namespace, params.path);
    if (found !== undefined && params.mode === "if_absent") return context.print(`${params.path}: already there`);
    const items = params.mode === "merge" ? { ...found?.items, ...wanted } : wanted;
    if (found !== undefined && sameItems(found.items, items)) return context.print(`${params.path}: unchanged`);
    try {
      await nomad.putVariable(namespace, params.path, items, found?.modifyIndex ?? 0);
    } catch (error) {
      if (error instanceof NomadError && error.kind === "conflict") {
        throw stepFailed(`variable ${params.path} was changed by somebody else meanwhile`, "run the deploy again");
      }
      throw error;
    }
    context.print(`${params.path}: written`);
  },
});

function fromEnvironment(names: z.output<typeof putParams>["from_env"], context: StepContext): Record<string, string> {
  if (names === undefined) return {};
  return Object.fromEntries(
    Object.entries(fromEnv(names)).map(([item, name]) => {
      const value = context.env[name];
      if (value === undefined) throw stepFailed(`the environment variable ${name} is not set`);
      return [item, value];
    }),
  );
}

function sameItems(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

/** Whether a variable is there and has these items. */
export const nomadVarCheck = builtin({
  kind: "predicate",
  params: z.strictObject({ path: variablePath, keys: z.array(z.string()).default([]), namespace: z.string().optional() }),
  needsNomad: true,
  async run({ path, keys, namespace }, context) {
    const nomad = await context.nomad();
    const found = await nomad.readVariable(namespace ?? context.workspace.namespace, path);
    if (found === undefined) throw stepFailed(`there is no variable ${path}`);
    const missing = keys.filter((key) => !Object.hasOwn(found.items, key));
    if (missing.length > 0) throw stepFailed(`variable ${path} has no ${missing.join(", ")}`);
  },
});

/** Creates or changes a namespace when it is not exactly so already. */
export const nomadNamespaceApply = builtin({
  kind: "action",
  params: z.strictObject({
    name: z.string().regex(/^[a-zA-Z0-9-]{1,128}$/, "letters, digits and hyphens"),
    description: z.string().optional(),
    meta: textMap.optional(),
    quota: z.string().optional(),
  }),
  needsNomad: true,
  async run({ name, description, meta, quota }, context) {
    const nomad = await context.nomad();
    const found = await nomad.readNamespace(name);
    const same =
      found !== undefined &&
      (description === undefined || found.Description === description) &&
      (quota === undefined || found.Quota === quota) &&
      (meta === undefined || sameItems(found.Meta ?? {}, meta));
    if (same) return context.print(`namespace ${name}: unchanged`);
    await nomad.putNamespace({
      ...found,
      Name: name,
      ...(description === undefined ? {} : { Description: description }),
      ...(quota === undefined ? {} : { Quota: quota }),
      ...(meta === undefined ? {} : { Meta: meta }),
    });
    context.print(`namespace ${name}: ${found === undefined ? "created" : "changed"}`);
  },
});

/** Deletes the variables below a path; by default those below the project's name. For reset pipelines. */
export const nomadRemoveProjectVars = builtin({
  kind: "action",
  params: z.strictObject({ prefix: variablePath.optional(), namespace: z.string().optional() }),
  needsNomad: true,
  async run({ prefix, namespace }, context) {
    const nomad = await context.nomad();
    const where = namespace ?? context.workspace.namespace;
    const folder = (prefix ?? context.workspace.project).replace(/\/+$/, "");
    if (folder === "") throw stepFailed("the prefix is empty");
    // `shop` must not reach `shopping/…`: Nomad's prefix is one of text, not of folders.
    const found = (await nomad.listVariables(where, folder)).filter((path) => path === folder || path.startsWith(`${folder}/`));
    for (const path of found) {
      await nomad.deleteVariable(where, path);
      context.print(`${path}: deleted`);
    }
  },
});
