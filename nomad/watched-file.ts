import { readFile, stat } from "node:fs/promises";
import { NomadError } from "../model/errors.ts";

/** What tells whether a file changed, and its text. Injected, so that tests need no disk. */
export interface FileReader {
  stat(path: string): Promise<{ readonly mtimeMs: number; readonly size: number; readonly ino: number }>;
  read(path: string): Promise<string>;
}

/** The file system. */
export const diskFiles: FileReader = {
  stat: (path) => stat(path),
  read: (path) => readFile(path, "utf8"),
};

/** A file that is read again when its modification time, size or inode changed. */
export interface WatchedFile {
  /**
   * The newest text that could be read. While a writer has the file away or empty, the last good text stands.
   * @throws the file system's error when nothing was ever read, Error when the file is empty from the start.
   */
  text(): Promise<string>;
}

/** Watches `path` by looking at it on each call (design D23); keeps one copy of its text in memory. */
export function watchFile(path: string, files: FileReader = diskFiles): WatchedFile {
  let seen = "";
  let last: string | undefined;

  async function refresh(): Promise<string> {
    const { mtimeMs, size, ino } = await files.stat(path);
    const stamp = `${mtimeMs}:${size}:${ino}`;
    if (last !== undefined && stamp === seen) return last;
    const text = await files.read(path);
    if (text.trim() === "") throw new Error(`${path} is empty`);
    seen = stamp;
    last = text;
    return text;
  }

  return {
    async text() {
      try {
        return await refresh();
      } catch (error) {
        if (last !== undefined) return last;
        throw error;
      }
    },
  };
}

/** A secret's file that could not be read. Names the path, which is configuration, and nothing of what is in it. */
export function unreadableFile(what: string, path: string, error: unknown): NomadError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "empty";
  return new NomadError(`cannot read the ${what} file ${path} (${code})`, {
    kind: "not_sent",
    hint: "the file must exist, hold the secret and be readable by nops",
  });
}
