import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { YamlDocument } from "./document.ts";
import type { ConfigIssue } from "./issues.ts";
import { complainer, parseAt, suggestion } from "./parse.ts";
import { paths } from "./paths.ts";
import type { PipelineFile, PipelineRole } from "./pipeline-file.ts";
import { type LocalYaml, serviceSchema } from "./schema.ts";
import type { Service } from "./workspace.ts";

/** What the loader of services needs of the loader of files. */
interface Context {
  readonly root: string;
  readonly issues: ConfigIssue[];
  readonly read: (file: string) => YamlDocument | undefined;
  readonly pipeline: (file: string, role: PipelineRole) => PipelineFile | undefined;
}

const serviceName = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** Loads the folders below `workspace/services/`: one service each, in order of name (workspace §M1). */
export function loadServices(context: Context, namespace: string, local: LocalYaml): ReadonlyMap<string, Service> {
  const folder = join(context.root, paths.services);
  const names = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
        .map((entry) => entry.name)
        .sort()
    : [];
  const services = new Map<string, Service>();
  for (const name of names) {
    if (!serviceName.test(name)) {
      const message = "a service's folder is named in lower-case letters, digits, hyphen and underscore";
      context.issues.push({ file: `${paths.services}/${name}`, message });
      continue;
    }
    services.set(name, loadService(context, name, namespace, local));
  }
  for (const name of Object.keys(local.services ?? {})) {
    // A leftover switch of a removed service harms nobody; a typing error would silently do nothing.
    if (!services.has(name) && suggestion(name, services.keys()) !== "") {
      context.issues.push({
        file: paths.local,
        message: `services.${name}: unknown service${suggestion(name, services.keys())}`,
      });
    }
  }
  return services;
}

function loadService(context: Context, name: string, namespace: string, local: LocalYaml): Service {
  const folder = `${paths.services}/${name}`;
  const document = context.read(`${folder}/service.yml`);
  const complain = document === undefined ? undefined : complainer(document, context.issues);
  const definition =
    document === undefined || complain === undefined || document.value === null
      ? {}
      : (parseAt(serviceSchema, document.value, [], complain) ?? {});
  const job = definition.job ?? "job.nomad.hcl";
  const jobExists = existsSync(join(context.root, folder, job));
  if (definition.job !== undefined && !jobExists) complain?.(["job"], `there is no file ${folder}/${job}`);
  for (const [index, file] of (definition.var_files ?? []).entries()) {
    if (!existsSync(join(context.root, folder, file))) complain?.(["var_files", index], `there is no file ${folder}/${file}`);
  }
  const required = definition.required ?? false;
  const overlay = local.services?.[name];
  if (required && overlay?.enabled === false) {
    context.issues.push({ file: paths.local, message: `services.${name}.enabled: the service is required` });
  }
  return {
    name,
    definition,
    type: definition.type ?? "app",
    enabled: required || (overlay?.enabled ?? definition.enabled ?? true),
    required,
    namespace: definition.namespace ?? namespace,
    jobFile: jobExists ? `${folder}/${job}` : undefined,
    varFiles: (definition.var_files ?? []).map((file) => `${folder}/${file}`),
    vars: { ...definition.vars, ...overlay?.vars },
    deploy: context.pipeline(`${folder}/deploy.yml`, "service_deploy"),
    reset: context.pipeline(`${folder}/reset.yml`, "other"),
  };
}
