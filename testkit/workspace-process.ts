/** A workspace folder for tests that run the built program. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Finished, type NopsProcess, runNops, startNopsProcess } from "./nops-process.ts";

export interface WorkspaceFolder {
  readonly root: string;
  write(files: Readonly<Record<string, string>>): void;
  read(file: string): string;
  has(file: string): boolean;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished>;
  start(args: readonly string[], env?: Readonly<Record<string, string>>): NopsProcess;
  remove(): void;
}

/** Makes a folder from files, or as a copy of another one. Call `remove` at the end. */
export function workspaceFolder(
  from: Readonly<Record<string, string>> | string,
  env: Readonly<Record<string, string>> = {},
): WorkspaceFolder {
  const root = mkdtempSync(join(tmpdir(), "nops-workspace-"));
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
  };
  if (typeof from === "string") cpSync(from, root, { recursive: true });
  else write(from);
  return {
    root,
    write,
    read: (file) => readFileSync(join(root, file), "utf8"),
    has: (file) => existsSync(join(root, file)),
    run: (args, more = {}) => runNops(args, { cwd: root, env: { ...env, ...more } }),
    start: (args, more = {}) => startNopsProcess(args, { cwd: root, env: { ...env, ...more } }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
