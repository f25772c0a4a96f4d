/** What of a work tree a commit does not show: whoever plans a commit has to know that their last edits are not in it. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createFileFilter, isNamedAsJob, valuesEnding } from "../../git/file-rules.ts";
import { folderContent } from "../../git/folder-objects.ts";
import { gitLimits } from "../../git/limits.ts";
import { TreeReader } from "../../git/tree.ts";
import type { CommitContent } from "./commit.ts";
import type { CheckoutRules } from "./read.ts";

/**
 * Paths of files that the commit has otherwise or not at all, in order: changed and removed ones below the repository's path, and new
 * ones that are named as jobs or values. None for a bare repository.
 */
export async function uncommittedFiles(folder: string, content: CommitContent, rules: CheckoutRules): Promise<readonly string[]> {
  if (!existsSync(join(folder, ".git"))) return [];
  const { path } = rules.repository;
  const isWanted = createFileFilter(rules.repository);
  const isNew = (file: string): boolean => isWanted(file) && (isNamedAsJob(file) || file.endsWith(valuesEnding));
  const committed = await filesOf(new TreeReader(content.store, content.root, gitLimits), path);
  const { store, root } = folderContent(folder);
  const present = await filesOf(new TreeReader(store, root, gitLimits), path);
  const changed: string[] = [...committed.keys()].filter((file) => !present.has(file) && isWanted(file));
  for (const [file, oid] of present) {
    const before = committed.get(file);
    if (before === undefined ? isNew(file) : before !== blobId(await store.read(oid, "blob"))) changed.push(file);
  }
  return changed.sort();
}

async function filesOf(tree: TreeReader, path: string): Promise<ReadonlyMap<string, string>> {
  if ((await tree.find(path)) === undefined) return new Map();
  const { files } = await tree.walk(path);
  return new Map(files.map(({ path: file, oid }) => [file, oid]));
}

/** The name that git gives to a file's content. */
function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
