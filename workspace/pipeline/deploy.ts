import { InvalidRequestError } from "../../model/errors.ts";
import type { Json } from "../../model/nomad.ts";
import { ConfigError } from "../config/issues.ts";
import { referencedFiles } from "../config/job-inputs.ts";
import { suggestion } from "../config/parse.ts";
import type { PipelineFile } from "../config/pipeline-file.ts";
import type { PhaseYaml } from "../config/schema.ts";
import type { Service, Workspace } from "../config/workspace.ts";
import type { ResolveContext } from "./body.ts";
import { defaultDeploy, defaultRelease, renderEnv } from "./defaults.ts";
import { type Fingerprint, fileDigest, scopeFingerprint } from "./hashes.ts";
import { checkOrder, deployOrder } from "./order.ts";
import { resolvePipeline, type SourcePhase } from "./resolve.ts";
import type { ResolvedPlan } from "./types.ts";

/** A deploy as it would run now. */
export interface DeployPlan {
  readonly plan: ResolvedPlan;
  /** `undefined` for the whole project. */
  readonly service: string | undefined;
  /** Services of the full deploy, in order: enabled and with a pipeline. */
  readonly tracked: readonly string[];
  /** Config hash of the project. */
  readonly project: Fingerprint;
  /** Config hashes of the tracked services. */
  readonly services: ReadonlyMap<string, Fingerprint>;
}

type Context = ResolveContext & { readonly parallelism: number };

/**
 * Resolves the deploy of the whole project, or of one service.
 * @throws ConfigError for a bad `after` graph or a step that cannot be resolved; InvalidRequestError `unknown_service`.
 */
export function planDeploy(context: Context, service?: string): DeployPlan {
  const { workspace } = context;
  if (service !== undefined) requireService(workspace, service);
  const issues = checkOrder(workspace.services);
  if (issues.length > 0) throw new ConfigError(issues);
  const order = deployOrder(workspace.services);
  const wanted = service === undefined ? order : order.filter((candidate) => candidate.name === service);
  const phases = service === undefined ? projectPhases(workspace, order) : wanted.flatMap(servicePhases);
  const plan = resolvePipeline(context, {
    name: "deploy",
    log: workspace.deploy?.log ?? true,
    phases: [engine(renderEnv), ...phases],
  });
  return {
    plan,
    service,
    tracked: order.map((candidate) => candidate.name),
    project: projectFingerprint(context, order),
    services: new Map(order.map((candidate) => [candidate.name, serviceFingerprint(context, candidate)])),
  };
}

function requireService(workspace: Workspace, name: string): void {
  const service = workspace.services.get(name);
  if (service === undefined) {
    throw new InvalidRequestError(`there is no service "${name}"${suggestion(name, workspace.services.keys())}`, {
      code: "unknown_service",
    });
  }
  if (!service.enabled) {
    throw new InvalidRequestError(`service "${name}" is disabled`, {
      code: "service_disabled",
      hint: `\`nops services enable ${name}\``,
    });
  }
}

function projectPhases(workspace: Workspace, order: readonly Service[]): SourcePhase[] {
  const file = workspace.deploy;
  const phases = file?.phases ?? defaultDeploy(order.some((service) => service.jobFile !== undefined));
  return phases.flatMap((phase) =>
    phase.deploy_services === true ? order.flatMap(servicePhases) : [sourcePhase(undefined, phase, file)],
  );
}

/** The phases of one service: its own file's, or the one that every job file implies. */
export function servicePhases(service: Service): SourcePhase[] {
  const phases = service.deploy?.phases ?? defaultRelease(service.name);
  return phases.map((phase) => sourcePhase(service.name, phase, service.deploy));
}

/** A phase with the place it comes from. */
export function sourcePhase(scope: string | undefined, phase: PhaseYaml, file: PipelineFile | undefined): SourcePhase {
  return { scope, phase, file: file?.file ?? "built-in pipeline", lineOf: file?.lineOf ?? (() => undefined) };
}

/** A phase that nops places itself. */
export function engine(phase: PhaseYaml): SourcePhase {
  return { scope: undefined, phase, file: "built-in pipeline", lineOf: () => undefined, engine: true };
}

/** What of a service's definition counts: not whether it is enabled, nor notes and switches (workspace §7.3). */
function definitionOf(service: Service): Json {
  const { type, job, var_files, required, depends_on, dir } = service.definition;
  return compact({ type, job, var_files, vars: { ...service.vars }, namespace: service.namespace, required, depends_on, dir });
}

function serviceFingerprint(context: Context, service: Service): Fingerprint {
  const { jobFile } = service;
  const own = jobFile === undefined ? [] : [jobFile, ...referencedFiles(context.workspace.root, jobFile)];
  const files = [...own, ...service.varFiles];
  return scopeFingerprint([
    ["service.yml", definitionOf(service)],
    ["deploy.yml", service.deploy?.raw ?? {}],
    ["vars.*", { ...context.values.vars() }],
    ["file *", Object.fromEntries(files.map((file) => [file, digestOf(context, file)]))],
    ["target", target(context.workspace)],
  ]);
}

function projectFingerprint(context: Context, order: readonly Service[]): Fingerprint {
  return scopeFingerprint([
    ["service.yml of *", Object.fromEntries(order.map((service) => [service.name, definitionOf(service)]))],
    ["deploy.yml", context.workspace.deploy?.raw ?? {}],
    ["deploy.yml of *", Object.fromEntries(order.map((service) => [service.name, service.deploy?.raw ?? {}]))],
    ["vars.*", { ...context.values.vars() }],
    ["target", target(context.workspace)],
  ]);
}

/** Where the project goes: another cluster or namespace is another deployment (workspace §M4). */
function target(workspace: Workspace): Json {
  return compact({ namespace: workspace.namespace, region: workspace.region, cluster: workspace.cluster });
}

function digestOf(context: Context, file: string): string {
  const bytes = context.readFile(file);
  return bytes === undefined ? "missing" : fileDigest(bytes);
}

function compact(fields: Readonly<Record<string, Json | undefined>>): Json {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
