import * as fs from "node:fs";
import { existsSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { z } from "zod";
import { makeFolders } from "../../model/folders.ts";
import { paths } from "../config/paths.ts";
import { writeAtomic } from "../journal/file.ts";
import { formatEnv, projectEnv } from "../pipeline/environment.ts";
import { insidePath, stepFailed, text } from "./params.ts";
import { builtin } from "./types.ts";

/** Builtins that touch nothing but this machine. */

const glyphs = { info: "i", success: "✓", warning: "!", error: "✗" } as const;

/** Prints a line. */
export const message = builtin({
  kind: "action",
  params: z.strictObject({ level: z.enum(["info", "success", "warning", "error"]), text }),
  async run({ level, text }, { print }) {
    print(`${glyphs[level]} ${text}`);
  },
});

/** Asks a person; a no fails the step. Taken as a yes under `-y` and `skip_confirm`. */
export const confirm = builtin({
  kind: "action",
  params: z.strictObject({ message: text.default("Are you sure?"), ok_msg: text.optional(), stop_msg: text.optional() }),
  prompts: true,
  async run({ message: question, ok_msg, stop_msg }, { prompt, skipConfirm, print }) {
    if (!skipConfirm && !(await prompt.confirm(question))) throw stepFailed(stop_msg ?? "not confirmed");
    if (ok_msg !== undefined) print(ok_msg);
  },
});

/** Creates folders. `recreate` empties one that is there, `error` refuses it. */
export const dirsEnsure = builtin({
  kind: "action",
  params: z.strictObject({ paths: z.array(insidePath).min(1), mode: z.enum(["skip", "error", "recreate"]).default("skip") }),
  async run({ paths: folders, mode }, { workspace }) {
    for (const folder of folders) {
      const path = inside(workspace.root, folder);
      const found = statSync(path, { throwIfNoEntry: false });
      if (found !== undefined && !found.isDirectory()) throw stepFailed(`${folder} is there and is no folder`);
      if (found !== undefined && mode === "error") throw stepFailed(`${folder} is already there`);
      if (found !== undefined && mode === "recreate") rmSync(path, { recursive: true });
      makeFolders(fs, path, 0o777);
    }
  },
});

/** Deletes files and folders of the project; what is not there is no error. */
export const removePaths = builtin({
  kind: "action",
  params: z.strictObject({ paths: z.array(insidePath).min(1) }),
  async run({ paths: targets }, { workspace }) {
    for (const target of targets) {
      const path = inside(workspace.root, target);
      if (path === resolve(workspace.root)) throw stepFailed("the project itself cannot be removed");
      rmSync(path, { recursive: true, force: true });
    }
  },
});

/** Writes `.nops/env`: what the project puts into the environment of its steps (workspace §3.7). */
export const renderEnvFile = builtin({
  kind: "action",
  params: z.strictObject({}),
  engineOnly: true,
  async run(_params, { workspace, values }) {
    writeAtomic(join(workspace.root, paths.env), formatEnv(projectEnv(workspace, values)));
  },
});

/** An absolute path whose folder symbolic links do not lead out of the project. */
function inside(root: string, path: string): string {
  const target = resolve(root, path);
  let folder = target === resolve(root) ? target : dirname(target);
  while (!existsSync(folder)) folder = dirname(folder);
  const [real, base] = [realpathSync(folder), realpathSync(root)];
  if (real !== base && !real.startsWith(base + sep)) throw stepFailed(`${path} leads out of the project`);
  return target;
}
