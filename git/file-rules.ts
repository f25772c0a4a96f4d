import { posix } from "node:path";
import { createGlob } from "../model/glob.ts";

/** Patterns of files that may hold a job; the content decides (design D27). */
export const defaultFilePatterns = [
  "**/*.nomad",
  "**/*.nomad.hcl",
  "**/*.hcl",
  "**/*.job",
  "**/*.nomad.json",
  "**/*.json",
] as const;

/** Longest first, so that `web.nomad.hcl` is `web`. */
const endings = [".nomad.hcl", ".nomad.json", ".nomad", ".hcl", ".job", ".json"] as const;

export const valuesEnding = ".vars.hcl";

/** Which files of a repository are looked at. */
export interface FileRules {
  /** Sub-directory, normalised, `""` for the whole repository. All patterns are relative to it. */
  readonly path: string;
  /** Empty: `defaultFilePatterns`. */
  readonly files: readonly string[];
  /** A pattern that matches a folder excludes all below it. */
  readonly ignore: readonly string[];
}

/**
 * Tells whether a file, by its path in the repository, may hold a job.
 *
 * @throws InvalidRequestError `invalid_pattern`
 */
export function createFileFilter(rules: FileRules): (path: string) => boolean {
  const prefix = rules.path === "" ? "" : `${rules.path}/`;
  const wanted = (rules.files.length === 0 ? defaultFilePatterns : rules.files).map(createGlob);
  const ignored = rules.ignore.map((pattern) => createGlob(pattern.replace(/\/+$/, "")));
  return (path) => {
    if (!path.startsWith(prefix)) return false;
    const relative = path.slice(prefix.length);
    return wanted.some((matches) => matches(relative)) && !isIgnored(relative, ignored);
  };
}

function isIgnored(path: string, ignored: readonly ((text: string) => boolean)[]): boolean {
  if (ignored.length === 0) return false;
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    const part = path.slice(0, end);
    if (ignored.some((matches) => matches(part))) return true;
  }
  return false;
}

/** The file of variable values that stands beside a job file and belongs to it alone. */
export function valuesFileOf(path: string): string {
  const ending = endings.find((candidate) => path.endsWith(candidate)) ?? posix.extname(path);
  return path.slice(0, path.length - ending.length) + valuesEnding;
}

/** Whether the name alone says that a job is meant, so that a file that cannot be read is worth a word. */
export function isNamedAsJob(path: string): boolean {
  return /\.(?:nomad|nomad\.hcl|nomad\.json|job)$/.test(path);
}
