import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it that are missing, one level after the other: Node's own recursive form never returns below a folder
 * such as /proc that takes no children. `mode` counts for what was missing. Gives whether anything was.
 * @throws the system's error of the first folder that cannot be made.
 */
export function makeFolders(folder: string, mode: number): boolean {
  if (existsSync(folder)) return false;
  makeFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
