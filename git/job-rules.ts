import type { DeclaredVariable } from "../hcl/declarations.ts";
import type { HclParser } from "../hcl/parser.ts";
import {
  configuredVariables,
  environmentVariables,
  parseVariableFile,
  type VariableFile,
  type VariableSource,
} from "../hcl/variables.ts";
import type { FileIssue } from "../model/desired.ts";
import { createGlob } from "../model/glob.ts";
import type { FileRules } from "./file-rules.ts";
import { resolveInRepository, type TreeFile, type TreeReader } from "./tree.ts";

/** How the job files of a repository are read (design D26–D28). */
export interface JobRules extends FileRules {
  /** Paths or patterns, later ones win. Relative to `path`; a plain path that is not there is looked for from the root. */
  readonly varFiles: readonly string[];
  readonly variables: Readonly<Record<string, unknown>>;
  /** Variables `NOMAD_VAR_*` of the process; empty unless the configuration allows them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The repository's own files of variable values at one commit, read. */
export interface SharedValues {
  /** What the values depend on; equal for equal content. */
  readonly fingerprint: string;
  readonly paths: ReadonlySet<string>;
  readonly sources: readonly VariableSource[];
  readonly issues: readonly FileIssue[];
}

const isPattern = /[*?{]/;

/** Finds and reads `var_files`. A file that is not there or cannot be read is an error of the repository, not of each job. */
export async function readSharedValues(
  rules: JobRules,
  tree: TreeReader,
  walked: readonly TreeFile[],
  parser: HclParser,
  readText: (file: TreeFile) => Promise<string | undefined>,
): Promise<SharedValues> {
  const found: TreeFile[] = [];
  const issues: FileIssue[] = [];
  for (const entry of rules.varFiles) {
    const matching = isPattern.test(entry) ? matchPattern(entry, rules.path, walked) : await findPath(entry, rules.path, tree);
    if (matching.length === 0)
      issues.push({ severity: "error", file: entry, message: "var_files names it, but the commit has no such file" });
    found.push(...matching);
  }
  const sources: VariableSource[] = [];
  for (const file of found) {
    const values = await readValues(file, parser, readText);
    issues.push(...values.problems);
    sources.push({ assignments: values.assignments, shared: true });
  }
  return {
    fingerprint: JSON.stringify(found.map(({ path, oid }) => [path, oid])),
    paths: new Set(found.map(({ path }) => path)),
    sources,
    issues,
  };
}

/** Reads one file of variable values. */
export async function readValues(
  file: TreeFile,
  parser: HclParser,
  readText: (file: TreeFile) => Promise<string | undefined>,
): Promise<VariableFile> {
  const text = await readText(file);
  if (text !== undefined) return parseVariableFile(text, file.path, parser);
  return {
    assignments: [],
    problems: [{ severity: "error", file: file.path, message: "cannot be used: it is larger than 1 MiB or no UTF-8 text" }],
  };
}

function matchPattern(pattern: string, path: string, walked: readonly TreeFile[]): readonly TreeFile[] {
  const matches = createGlob(pattern);
  const prefix = path === "" ? "" : `${path}/`;
  return walked.filter((file) => matches(file.path.slice(prefix.length)));
}

async function findPath(entry: string, path: string, tree: TreeReader): Promise<readonly TreeFile[]> {
  for (const folder of new Set([path, ""])) {
    const resolved = resolveInRepository(folder, entry);
    const found = resolved === undefined ? undefined : await tree.find(resolved);
    if (resolved !== undefined && found?.kind === "file") return [{ path: resolved, oid: found.oid }];
  }
  return [];
}

/** Values of the process and of the configuration, in the order of design D28, with what is wrong with them for this job. */
export function outerValues(
  rules: JobRules,
  declared: readonly DeclaredVariable[],
  parser: HclParser,
): { readonly sources: readonly VariableSource[]; readonly problems: readonly FileIssue[] } {
  const environment = environmentVariables(rules.environment, declared, parser);
  return {
    sources: [{ assignments: environment.assignments, shared: true }, configuredVariables(rules.variables, "the configuration")],
    problems: environment.problems,
  };
}
