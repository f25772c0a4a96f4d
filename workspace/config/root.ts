import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { InvalidRequestError } from "../../model/errors.ts";
import { paths } from "./paths.ts";

/**
 * The root of the workspace that holds `from`: the nearest folder upwards with `nops.workspace.yml`.
 * @throws InvalidRequestError `no_workspace` when there is none.
 */
export function findRoot(from: string): string {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, paths.config))) return folder;
    if (folder === dirname(folder)) break;
  }
  throw new InvalidRequestError(`no ${paths.config} in ${resolve(from)} or above it`, {
    code: "no_workspace",
    hint: "`nops workspace init` makes one",
  });
}
