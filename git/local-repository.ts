import * as fs from "node:fs";
import { join, resolve } from "node:path";
import git from "isomorphic-git";
import { GitError } from "./git-error.ts";
import { promptFs } from "./prompt-fs.ts";

const { readFile, stat } = promptFs.promises;

/**
 * Finds the git directory of a repository on this machine: bare, normal, or a linked work tree. Nothing is written to it, no
 * hook runs, and of its configuration only the storage format is read.
 *
 * @throws GitError `not_found` when there is none, `unsupported` for forms that isomorphic-git cannot read.
 */
export async function findGitDirectory(path: string): Promise<string> {
  const gitdir = (await follow(join(path, ".git"))) ?? path;
  const common = await readText(join(gitdir, "commondir"));
  const root = common === undefined ? gitdir : resolve(gitdir, common.trim());
  if (!(await isFolder(join(root, "objects"))) || !(await exists(join(root, "HEAD")))) {
    const why = (await exists(path)) ? "is not a git repository" : "does not exist or cannot be read";
    throw new GitError("not_found", `${path} ${why}`, "set url to a repository's folder, and let the user of nops read it");
  }
  if (await exists(join(root, "objects", "info", "alternates"))) {
    const hint = "make it whole with: git repack -a -d && rm objects/info/alternates";
    throw new GitError("unsupported", `${path} borrows objects of another repository (alternates), which nops cannot read`, hint);
  }
  const config = (await readText(join(root, "config"))) ?? "";
  const format = /^\s*(objectformat|refstorage)\s*=\s*(sha256|reftable)\s*$/im.exec(config)?.[2];
  if (format !== undefined)
    throw new GitError("unsupported", `${path} uses ${format}, which nops cannot read`, "use SHA-1 objects and ref files");
  return root;
}

/** The commit at the head of a branch. @throws GitError `branch_missing`. */
export async function readBranch(gitdir: string, branch: string, where: string): Promise<string> {
  const oid = await git.resolveRef({ fs: promptFs, gitdir, ref: `refs/heads/${branch}` }).catch(() => undefined);
  if (oid !== undefined) return oid;
  const branches = await git.listBranches({ fs, gitdir }).catch(() => []);
  throw branchMissing(branch, where, branches);
}

/** Says which branches there are instead. */
export function branchMissing(branch: string, where: string, branches: readonly string[]): GitError {
  const shown = branches.slice(0, 5).join(", ") + (branches.length > 5 ? `, and ${branches.length - 5} more` : "");
  const hint = branches.length === 0 ? "the repository has no branch yet: push a commit" : `its branches are: ${shown}`;
  return new GitError("branch_missing", `${where} has no branch "${branch}"`, hint);
}

/** The folder that `.git` is, or names. */
async function follow(path: string): Promise<string | undefined> {
  if (await isFolder(path)) return path;
  const target = /^gitdir: (.+)$/m.exec((await readText(path)) ?? "")?.[1];
  return target === undefined ? undefined : resolve(path, "..", target.trim());
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").then(String, () => undefined);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
