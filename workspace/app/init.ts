import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { RefusedError } from "../../model/errors.ts";
import { paths } from "../config/paths.ts";
import { readIfThere, writeAtomic } from "../journal/file.ts";

/** `nops workspace init`: the smallest workspace that deploys something. Nothing that is there is overwritten. */

/**
 * Writes a project file and an example service, and keeps `.nops/` and local.yml out of git.
 * @returns the files written, from the root. @throws RefusedError `workspace_exists`.
 */
export function initWorkspace(root: string, project: string | undefined): readonly string[] {
  if (existsSync(join(root, paths.config))) {
    throw new RefusedError(`there is already a ${paths.config} here`, { code: "workspace_exists" });
  }
  const name = project ?? projectName(basename(root));
  const written: string[] = [];
  const put = (file: string, text: string): void => {
    if (existsSync(join(root, file))) return;
    writeAtomic(join(root, file), text);
    written.push(file);
  };
  put(paths.config, `project: ${name}\nnamespace: default\nvars: {}\n`);
  put(`${paths.services}/web/service.yml`, "type: app\n");
  put(`${paths.services}/web/job.nomad.hcl`, exampleJob);
  const ignore = readIfThere(join(root, ".gitignore")) ?? "";
  const missing = [".nops/", paths.local].filter((line) => !ignore.split(/\r?\n/).includes(line));
  if (missing.length > 0) {
    const lead = ignore === "" || ignore.endsWith("\n") ? ignore : `${ignore}\n`;
    writeAtomic(join(root, ".gitignore"), `${lead}${missing.join("\n")}\n`);
    written.push(".gitignore");
  }
  return written;
}

function projectName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 63);
  return name === "" ? "project" : name;
}

const exampleJob = `job "web" {
  type = "service"

  group "web" {
    task "web" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "while true; do date; sleep 5; done"]
      }
    }
  }
}
`;
