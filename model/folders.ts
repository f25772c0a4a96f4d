import { dirname } from "node:path";

/** The two calls that making a folder needs; `node:fs` has them. */
export interface FolderCalls {
  existsSync(path: string): boolean;
  mkdirSync(path: string, options: { readonly mode: number }): unknown;
}

/**
 * Makes a folder and those above it that are missing, one level after the other: Node's own recursive form never returns below a folder
 * such as /proc that takes no children. `mode` counts for what was missing. Gives whether anything was.
 * @throws the system's error of the first folder that cannot be made.
 */
export function makeFolders(calls: FolderCalls, folder: string, mode: number): boolean {
  if (calls.existsSync(folder)) return false;
  makeFolders(calls, dirname(folder), mode);
  try {
    calls.mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
