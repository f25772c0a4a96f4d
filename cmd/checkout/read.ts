/** A checkout as the operator would see it, before anything is committed. */
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { DesiredIndex } from "../../controllers/desired-index.ts";
import { FileParser, unusablePath } from "../../controllers/parse-files.ts";
import type { NomadPort } from "../../controllers/ports.ts";
import { folderContent } from "../../git/folder-objects.ts";
import { createJobFileReader, type JobFiles } from "../../git/job-files.ts";
import type { JobRules } from "../../git/job-rules.ts";
import { gitLimits } from "../../git/limits.ts";
import type { ObjectStore } from "../../git/objects.ts";
import { TreeReader } from "../../git/tree.ts";
import { loadHclParser } from "../../hcl/parser.ts";
import type { Commit } from "../../model/desired.ts";
import { createGlob } from "../../model/glob.ts";
import { type Policy, stricterPolicy } from "../../model/policy.ts";
import type { Config, RepositoryConfig } from "../config/schema.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";

/** Rules by which a checkout is read: those of a configured repository, or the defaults. */
export interface CheckoutRules {
  readonly repository: Pick<
    RepositoryConfig,
    "path" | "files" | "ignore" | "var_files" | "variables" | "environment_variables" | "managed" | "default_policy"
  >;
  /** Namespaces that jobs may be in; empty: any. */
  readonly namespaces: readonly string[];
  readonly timeZone: string;
  readonly hookTimeoutMs: number;
  readonly floor: (namespace: string) => Policy | undefined;
}

export const defaultRules: CheckoutRules = {
  repository: {
    path: "",
    files: [],
    ignore: [],
    var_files: [],
    variables: {},
    environment_variables: false,
    managed: "meta",
    default_policy: "none",
  },
  namespaces: [],
  timeZone: "UTC",
  hookTimeoutMs: 300_000,
  floor: () => undefined,
};

export function rulesOf(config: Config): CheckoutRules {
  const [repository] = config.repositories;
  if (repository === undefined) return defaultRules;
  return {
    repository,
    namespaces: repository.namespaces.length > 0 ? repository.namespaces : config.nomad.namespaces,
    timeZone: config.windows.time_zone,
    hookTimeoutMs: config.engine.hook_timeout,
    floor: policyFloor(config.approval.min_policy),
  };
}

/** The strictest of the floors whose pattern matches a namespace. */
export function policyFloor(minPolicy: Readonly<Record<string, Policy>>): (namespace: string) => Policy | undefined {
  const floors = Object.entries(minPolicy).map(([pattern, policy]) => ({ matches: createGlob(pattern), policy }));
  return (namespace) =>
    floors
      .filter(({ matches }) => matches(namespace))
      .reduce<Policy | undefined>(
        (strictest, { policy }) => (strictest === undefined ? policy : stricterPolicy(strictest, policy)),
        undefined,
      );
}

/** Job files of a folder on disk, or of one file of it; `folder` is the one that their paths are relative to. @throws CommandError `not found`. */
export async function readFolder(
  path: string,
  rules: CheckoutRules,
  io: CommandIo,
): Promise<JobFiles & { readonly folder: string }> {
  const absolute = resolve(io.workingDirectory, path);
  const stats = statSync(absolute, { throwIfNoEntry: false });
  if (stats === undefined) throw new CommandError(exitCodes.notFound, `there is no ${path}`);
  const folder = stats.isDirectory() ? absolute : dirname(absolute);
  const only = stats.isDirectory() ? [] : [basename(absolute)];
  const { store, root } = folderContent(folder);
  const own = only.length > 0 ? { ...rules, repository: { ...rules.repository, path: "", files: only } } : rules;
  return { ...(await readContent(store, root, own, io)), folder: stats.isDirectory() ? path : dirname(path) };
}

/** Job files below a tree, read by the rules. */
export async function readContent(store: ObjectStore, root: string, rules: CheckoutRules, io: CommandIo): Promise<JobFiles> {
  const { repository } = rules;
  const jobRules: JobRules = {
    path: repository.path,
    files: repository.files,
    ignore: repository.ignore,
    varFiles: repository.var_files,
    variables: repository.variables,
    environment: repository.environment_variables ? io.environment : {},
  };
  const reader = createJobFileReader(jobRules, await loadHclParser(), gitLimits);
  return reader.read(new TreeReader(store, root, gitLimits), store, io.interrupted);
}

export interface Understood {
  readonly index: DesiredIndex;
  readonly entries: Awaited<ReturnType<FileParser["parseAll"]>>["entries"];
}

/** Lets `nomad` parse every file and resolves hooks, duplicates and dependencies as the operator would. */
export async function understand(
  files: JobFiles,
  rules: CheckoutRules,
  nomad: Pick<NomadPort, "parse">,
  commit: Commit,
): Promise<Understood> {
  const parser = new FileParser(nomad, 8);
  const namespaces = rules.namespaces;
  const { repository } = rules;
  const outcome = await parser.parseAll(files.files, {
    defaults: {
      managed: repository.managed,
      policy: repository.default_policy,
      timeZone: rules.timeZone,
      hookTimeoutMs: rules.hookTimeoutMs,
    },
    namespaces: namespaces.length > 0 ? namespaces : "any",
    parseNamespace: namespaces[0] ?? "default",
    lastKeys: () => undefined,
  });
  if (outcome.firstError !== undefined) throw outcome.firstError;
  const broken = files.broken.map((issue) => unusablePath(issue.file, undefined, "file_broken", issue.message));
  const index = new DesiredIndex(["checkout"], rules.floor);
  index.replace({ name: "checkout", commit, entries: [...outcome.entries, ...broken], issues: [] });
  return { index, entries: outcome.entries };
}
