import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const call = /\b(?:file|filebase64)\(\s*"([^"$\\]+)"\s*\)/g;

/**
 * Files whose text a job file takes in by `file("…")` with a literal path, from the root; they count for hashes as the job
 * file itself does. A comment that looks like a call only adds a file that changes nothing else.
 */
export function referencedFiles(root: string, jobFile: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(join(root, jobFile), "utf8");
  } catch {
    return [];
  }
  const found = new Set<string>();
  for (const [, path = ""] of text.matchAll(call)) {
    const inside = posix.join(dirname(jobFile), path);
    if (!inside.startsWith("../") && !posix.isAbsolute(path)) found.add(inside);
  }
  return [...found].sort();
}
