import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolders } from "../../model/folders.ts";

/** Names of the temporary files of `writeAtomic`. */
export const temporaryName = /^\.state-\d+-[0-9a-f-]+\.yml$/;

/**
 * Replaces a file in one step: a reader sees the old content or the new one, also after a power cut (workspace §9.3).
 * Folder 0755, file 0644. On an error the old file stays and no temporary file is left.
 */
export function writeAtomic(path: string, text: string): void {
  const folder = dirname(path);
  makeFolders(fs, folder, 0o755);
  const temporary = join(folder, `.state-${process.pid}-${randomUUID()}.yml`);
  try {
    const file = openSync(temporary, "wx", 0o644);
    try {
      // The umask may have taken bits that other readers of the checkout need.
      chmodSync(temporary, 0o644);
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(folder);
}

/** Makes a rename or a removal in a folder last over a power cut. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Text of a file, or `undefined` when there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    // The system names the file only when it cannot be opened.
    throw Object.assign(error as NodeJS.ErrnoException, { path });
  }
}
