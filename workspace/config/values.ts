import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { InvalidRequestError } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";
import { createRedactor, type Redactor } from "./redactor.ts";
import { dig, renderValue, type TemplateScope } from "./template.ts";
import type { Workspace } from "./workspace.ts";

/** What the values of a workspace depend on beside its files. Handed in by `cmd/`. */
export interface Surroundings {
  /** Environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly host: Readonly<Record<string, Json>>;
  /** Told of each file that a secret is read from, as the workspace names it. */
  readonly onRead?: (file: string) => void;
}

/** The values that templates refer to. Secrets are read when first needed and registered with the redactor. */
export interface Values {
  readonly redactor: Redactor;
  /** The project's `vars`, rendered. @throws InvalidRequestError for a reference without a value. */
  vars(): Readonly<Record<string, Json>>;
  /** Variables of a service's job file, rendered. */
  serviceVars(name: string): Readonly<Record<string, Json>>;
  /** @throws InvalidRequestError `secret_missing` naming the secret and its source, never a value. */
  secret(name: string): string;
  /** Scope for step fields; `param` is there only inside a command. */
  scope(param?: Readonly<Record<string, Json>>): TemplateScope;
}

/** Values of a workspace. Nothing is read before it is asked for, except secrets that are there, so that output can hide them. */
export function createValues(workspace: Workspace, around: Surroundings): Values {
  const redactor = createRedactor();
  const secrets = new Map<string, string>();
  const secret = (name: string): string => {
    const known = secrets.get(name);
    if (known !== undefined) return known;
    const value = readSecret(workspace, around, name);
    secrets.set(name, value);
    redactor.add(value);
    return value;
  };
  for (const name of Object.keys(workspace.secrets)) {
    try {
      secret(name);
    } catch {
      // Said when something refers to it.
    }
  }
  const basic: TemplateScope = { source: (namespace) => basicSource(namespace, workspace, around, secret) };
  let vars: Readonly<Record<string, Json>> | undefined;
  const values: Values = {
    redactor,
    secret,
    vars() {
      vars ??= renderValue({ ...workspace.vars }, basic, "vars").value as Readonly<Record<string, Json>>;
      return vars;
    },
    serviceVars(name) {
      const service = workspace.services.get(name);
      const scope: TemplateScope = {
        source: (namespace) =>
          namespace === "vars" ? (path) => dig(values.vars() as Json, path) : basicSource(namespace, workspace, around, secret),
      };
      return renderValue({ ...service?.vars }, scope, `services.${name}.vars`).value as Readonly<Record<string, Json>>;
    },
    scope(param) {
      return {
        source(namespace) {
          if (namespace === "vars") return (path) => dig(values.vars() as Json, path);
          if (namespace === "services") return (path) => dig(serviceView(workspace, values, path[0] ?? ""), path.slice(1));
          if (namespace === "param") return param === undefined ? undefined : (path) => dig(param as Json, path);
          return basicSource(namespace, workspace, around, secret);
        },
      };
    },
  };
  return values;
}

function basicSource(
  namespace: string,
  workspace: Workspace,
  around: Surroundings,
  secret: (name: string) => string,
): ((path: readonly string[]) => Json | undefined) | undefined {
  switch (namespace) {
    case "project":
      return (path) =>
        dig(
          { name: workspace.project, namespace: workspace.namespace, region: workspace.region ?? "", root: workspace.root },
          path,
        );
    case "host":
      return (path) => dig(around.host as Json, path);
    case "env":
      return (path) => (path.length === 1 ? around.env[path[0] ?? ""] : undefined);
    case "secrets":
      return (path) => (path.length === 1 ? secret(path[0] ?? "") : undefined);
    default:
      return undefined;
  }
}

function serviceView(workspace: Workspace, values: Values, name: string): Json | undefined {
  const service = workspace.services.get(name);
  if (service === undefined) return undefined;
  return {
    name,
    type: service.type,
    namespace: service.namespace,
    enabled: service.enabled,
    required: service.required,
    dir: service.definition.dir ?? `workspace/services/${name}`,
    job: service.jobFile ?? "",
    vars: { ...values.serviceVars(name) },
  };
}

function readSecret(workspace: Workspace, around: Surroundings, name: string): string {
  const source = Object.hasOwn(workspace.secrets, name) ? workspace.secrets[name] : undefined;
  if (source === undefined) {
    throw new InvalidRequestError(`secret ${name} is not declared in nops.workspace.yml`, { code: "secret_missing" });
  }
  if ("env" in source) {
    const value = around.env[source.env];
    if (value !== undefined && value !== "") return value;
    throw new InvalidRequestError(`secret ${name}: the environment variable ${source.env} is not set`, {
      code: "secret_missing",
    });
  }
  around.onRead?.(source.file);
  try {
    return readFileSync(resolve(workspace.root, source.file), "utf8").replace(/\r?\n$/, "");
  } catch {
    throw new InvalidRequestError(`secret ${name}: the file ${source.file} cannot be read`, { code: "secret_missing" });
  }
}
