import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { paths } from "../config/paths.ts";
import { writeAtomic } from "../journal/file.ts";

/**
 * Knows without loading a workspace that its deploy has nothing to do: after a deploy that left everything done, nops keeps
 * a digest of whatever its plan was made from. While that digest and the journal are the same, the plan is the same and so is
 * the answer. Anything else, a larger workspace included, takes the long way. This file loads no library: loading them is
 * most of the time of a short run.
 */

/** What a plan was made from, beside the files below `workspace/`. */
export interface PlanInputs {
  /** Paths from the root that were read or looked for outside `workspace/`. */
  readonly files: readonly string[];
  /** Environment variables that were looked at. */
  readonly env: readonly string[];
}

interface Memo extends PlanInputs {
  readonly version: string;
  readonly digest: string;
  readonly journal: string;
  readonly notices: readonly string[];
}

export interface Around {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `${host.…}` refers to. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Of nops: another one may plan otherwise. */
  readonly version: string;
}

const mostFiles = 5_000;
const mostBytes = 32 * 1024 * 1024;

/** File systems stamp changes with the time of the last tick. */
const tickMs = 20;

/**
 * Digest of what a plan was made from, to be taken right after planning. `undefined` when that cannot be told for sure: a file
 * changed since `readAt`, the time before the first of them was read, or there are too many.
 */
export function planDigest(around: Around, inputs: PlanInputs, readAt: number): string | undefined {
  try {
    return digestInputs(around, inputs, readAt - tickMs);
  } catch {
    return undefined;
  }
}

/** Remembers that a full deploy from these inputs, with the journal as it is now, has nothing to do. Failing costs time only. */
export function rememberUnchanged(around: Around, inputs: PlanInputs, digest: string, notices: readonly string[]): void {
  try {
    const journal = fileSum(join(around.root, paths.state));
    if (journal === undefined) return;
    const memo: Memo = { version: around.version, files: inputs.files, env: inputs.env, digest, journal, notices };
    writeAtomic(join(around.root, paths.unchanged), `${JSON.stringify(memo)}\n`);
  } catch {
    // The next run takes the long way.
  }
}

/** The lines that belong to "already up-to-date", or `undefined` when only the long way can tell. Never throws. */
export function recallUnchanged(around: Around): readonly string[] | undefined {
  try {
    const memo = JSON.parse(readFileSync(join(around.root, paths.unchanged), "utf8")) as Memo;
    if (memo.version !== around.version) return undefined;
    if (memo.journal !== fileSum(join(around.root, paths.state))) return undefined;
    return memo.digest === digestInputs(around, memo, Number.POSITIVE_INFINITY) ? memo.notices : undefined;
  } catch {
    return undefined;
  }
}

function digestInputs(around: Around, inputs: PlanInputs, newest: number): string | undefined {
  const hash = createHash("sha256");
  const put = (...parts: readonly string[]): void => {
    for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  };
  put(around.version, JSON.stringify(around.facts));
  for (const name of [...inputs.env].sort()) put(name, around.env[name] ?? "", around.env[name] === undefined ? "absent" : "set");
  const walked = walk(around.root, paths.folder);
  if (walked === undefined) return undefined;
  for (const file of [paths.config, ...[...inputs.files].sort(), ...walked]) {
    const path = join(around.root, file);
    if ((lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) > newest) return undefined;
    put(file, contentSum(path));
  }
  return hash.digest("hex");
}

/** Every entry below a folder in order; `undefined` when there are too many to be quick. */
function walk(root: string, folder: string): readonly string[] | undefined {
  const found: string[] = [];
  let bytes = 0;
  const visit = (path: string): boolean => {
    const names = readdirSync(join(root, path)).sort();
    for (const name of names) {
      const inner = `${path}/${name}`;
      found.push(inner);
      const stat = lstatSync(join(root, inner));
      bytes += stat.size;
      if (found.length > mostFiles || bytes > mostBytes) return false;
      if (stat.isDirectory() && !visit(inner)) return false;
    }
    return true;
  };
  if (lstatSync(join(root, folder), { throwIfNoEntry: false }) === undefined) return found;
  return visit(folder) ? found : undefined;
}

/** Digest of what stands at a path; a symbolic link also counts by where it leads. */
function contentSum(path: string): string {
  try {
    const stat = lstatSync(path);
    if (stat.isDirectory()) return "folder";
    const link = stat.isSymbolicLink() ? `${readlinkSync(path)}\0` : "";
    return link + createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return "absent";
  }
}

function fileSum(path: string): string | undefined {
  const sum = contentSum(path);
  return sum === "absent" || sum === "folder" ? undefined : sum;
}
