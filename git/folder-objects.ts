/** A plain folder read as if it were a commit, so that a checkout is judged by the same rules before anything is committed. */
import { createHash } from "node:crypto";
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { GitError } from "./git-error.ts";
import type { ObjectStore } from "./objects.ts";

// Git's own folder is never content, and installed packages are never job files.
const passedOver = new Set([".git", "node_modules"]);

export interface FolderContent {
  readonly store: ObjectStore;
  /** Id of the root folder, for a `TreeReader`. */
  readonly root: string;
}

/**
 * Ids are made from paths, not from content: one reading sees one state, and nothing outlives it.
 * Symbolic links are handed on as such and never followed (S41).
 */
export function folderContent(folder: string): FolderContent {
  const paths = new Map<string, string>();
  const idOf = (path: string): string => {
    const id = createHash("sha1").update(path).digest("hex");
    paths.set(id, path);
    return id;
  };
  const root = idOf("");
  const store: ObjectStore = {
    commit: (oid) => Promise.reject(new GitError("damaged", `${folder} is read without commits; there is no ${oid}`)),
    hasCommit: () => Promise.resolve(false),
    read: async (oid, type) => {
      const path = paths.get(oid);
      if (path === undefined) throw new GitError("damaged", `${folder} has no object ${oid}`);
      return type === "tree" ? treeBytes(join(folder, path), path, idOf) : readContent(join(folder, path));
    },
  };
  return { store, root };
}

async function treeBytes(absolute: string, path: string, idOf: (path: string) => string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const entry of await readdir(absolute, { withFileTypes: true })) {
    if (passedOver.has(entry.name)) continue;
    const mode = entry.isSymbolicLink() ? "120000" : entry.isDirectory() ? "40000" : entry.isFile() ? "100644" : undefined;
    if (mode === undefined) continue;
    const id = idOf(path === "" ? entry.name : `${path}/${entry.name}`);
    parts.push(Buffer.from(`${mode} ${entry.name}\0`), Buffer.from(id, "hex"));
  }
  return Buffer.concat(parts);
}

async function readContent(absolute: string): Promise<Buffer> {
  try {
    return await readFile(absolute);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link that was a file a moment ago: its target is not ours to read.
    if (code === "ELOOP") return Buffer.from(await readlink(absolute));
    throw new GitError("damaged", `${absolute} cannot be read: ${code ?? "unknown error"}`);
  }
}
