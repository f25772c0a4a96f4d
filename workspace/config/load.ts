import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../model/errors.ts";
import { type CommandYaml, commandFileSchema } from "./command-schema.ts";
import { readYaml, type YamlDocument } from "./document.ts";
import { ConfigError, type ConfigIssue } from "./issues.ts";
import { complainer, parseAt } from "./parse.ts";
import { paths } from "./paths.ts";
import { type PipelineFile, type PipelineRole, readPhases, readPipeline } from "./pipeline-file.ts";
import { type LocalYaml, lifecycleSchema, localSchema, snapshotSchema, workspaceSchema } from "./schema.ts";
import { loadServices } from "./services.ts";
import type { InertFile, LifecycleStage, Workspace } from "./workspace.ts";

/** Reads one file of the workspace; collects what is wrong with it. `undefined` when there is no such file. */
export type ReadDocument = (file: string) => YamlDocument | undefined;

/** What loading gathers on its way. */
export interface LoadContext {
  readonly root: string;
  readonly issues: ConfigIssue[];
  readonly inert: InertFile[];
  readonly read: ReadDocument;
  readonly pipeline: (file: string, role: PipelineRole) => PipelineFile | undefined;
}

/**
 * Loads every file of the workspace at `root`, including a check of all cross-references that need no rendering.
 * @throws ConfigError naming every problem of every file at once.
 */
export function loadWorkspace(root: string): Workspace {
  const context = loadContext(root);
  const { issues, read } = context;
  const main = read(paths.config);
  if (main === undefined) throw new ConfigError([{ file: paths.config, message: "cannot be read" }]);
  const config = parseAt(workspaceSchema, main.value ?? {}, [], complainer(main, issues));
  const local = loadLocal(context);
  const loaded: Omit<Workspace, "services"> = {
    root,
    project: config?.project ?? "",
    namespace: local.namespace ?? config?.namespace ?? "default",
    region: local.region ?? config?.region,
    cluster: local.cluster ?? config?.cluster,
    shell: config?.shell ?? "sh",
    vars: { ...config?.vars, ...local.vars },
    secrets: config?.secrets ?? {},
    commands: loadCommands(context),
    deploy: context.pipeline(paths.deploy, "project_deploy"),
    reset: context.pipeline(paths.reset, "other"),
    ...loadLifecycle(context),
    snapshot: loadSnapshot(context),
    inert: context.inert,
  };
  const services = loadServices(context, loaded.namespace, local);
  if (issues.length > 0) throw new ConfigError(issues);
  return { ...loaded, services };
}

function loadContext(root: string): LoadContext {
  const issues: ConfigIssue[] = [];
  const inert: InertFile[] = [];
  const read: ReadDocument = (file) => {
    let text: string;
    try {
      text = readFileSync(join(root, file), "utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      issues.push({ file, message: messageOf(error) });
      return undefined;
    }
    const result = readYaml(file, text);
    issues.push(...result.issues);
    return result.document;
  };
  const pipeline = (file: string, role: PipelineRole): PipelineFile | undefined => {
    const document = read(file);
    if (document === undefined) return undefined;
    const result = readPipeline(document, role);
    issues.push(...result.issues);
    if (result.inert) inert.push({ file });
    return result.pipeline;
  };
  return { root, issues, inert, read, pipeline };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

function loadLocal(context: LoadContext): LocalYaml {
  const document = context.read(paths.local);
  if (document === undefined || document.value === null) return {};
  return parseAt(localSchema, document.value, [], complainer(document, context.issues)) ?? {};
}

function loadLifecycle(context: LoadContext): Pick<Workspace, "run" | "stop"> {
  const document = context.read(paths.lifecycle);
  if (document === undefined) return { run: undefined, stop: undefined };
  const complain = complainer(document, context.issues);
  const parsed = document.value === null ? {} : parseAt(lifecycleSchema, document.value, [], complain);
  if (parsed === undefined) return { run: undefined, stop: undefined };
  const stage = (name: "run" | "stop"): LifecycleStage | undefined => {
    const given = parsed[name];
    if (given === undefined || given.phases.length === 0) return undefined;
    return {
      file: paths.lifecycle,
      log: given.log,
      phases: readPhases(given.phases, [name, "phases"], "other", complain),
    };
  };
  const stages = { run: stage("run"), stop: stage("stop") };
  if (stages.run === undefined && stages.stop === undefined) context.inert.push({ file: paths.lifecycle });
  return stages;
}

function loadSnapshot(context: LoadContext): Workspace["snapshot"] {
  const document = context.read(paths.snapshot);
  if (document === undefined || document.value === null) return { createPhases: [], restorePhases: [] };
  const complain = complainer(document, context.issues);
  const parsed = parseAt(snapshotSchema, document.value, [], complain);
  return {
    ...parsed,
    createPhases: readPhases(parsed?.create?.phases ?? [], ["create", "phases"], "other", complain),
    restorePhases: readPhases(parsed?.restore?.phases ?? [], ["restore", "phases"], "other", complain),
  };
}

function loadCommands(context: LoadContext): ReadonlyMap<string, CommandYaml> {
  const commands = new Map<string, CommandYaml>();
  for (const file of yamlFiles(context.root, paths.commands)) {
    const document = context.read(file);
    if (document === undefined || document.value === null) continue;
    const complain = complainer(document, context.issues);
    const parsed = parseAt(commandFileSchema, document.value, [], complain);
    for (const [id, command] of Object.entries(parsed?.commands ?? {})) {
      if (commands.has(id)) complain(["commands", id], `command "${id}" is declared twice`);
      if (command.type === "daemon" && (command.job === undefined) === (command.task === undefined)) {
        complain(["commands", id], "a daemon has either job (a job file) or task");
      }
      commands.set(id, command);
    }
  }
  return commands;
}

/** YAML files below a folder in order of path, from the root; none when the folder is missing. */
function yamlFiles(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.ya?ml$/.test(path) && statSync(join(root, folder, path)).isFile())
    .map((path) => `${folder}/${path.split("\\").join("/")}`)
    .sort();
}
