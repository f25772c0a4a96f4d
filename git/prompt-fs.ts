import * as fs from "node:fs";

/**
 * The file system for a few small reads, each done at once. A trip to the thread pool and back costs several times what reading an
 * object of a few hundred bytes does, most of all on a busy machine, and in the git thread nobody else waits meanwhile. Not for the
 * first read of a repository, which gains from many reads at a time.
 */
export const promptFs = {
  promises: {
    ...fs.promises,
    readFile: async (path: string, options?: BufferEncoding | { encoding?: BufferEncoding }) => fs.readFileSync(path, options),
    readdir: async (path: string) => fs.readdirSync(path),
    stat: async (path: string) => fs.statSync(path),
    lstat: async (path: string) => fs.lstatSync(path),
  },
};
