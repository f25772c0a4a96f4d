import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { NopsError } from "../../model/errors.ts";
import type { ConditionYaml } from "../config/schema.ts";
import type { ProcessRunner } from "./process.ts";

const predicates: Readonly<Record<string, (path: string) => boolean>> = {
  "dir-exists": (path) => isFolder(path),
  "dir-missing": (path) => !isFolder(path),
  "dir-empty": (path) => !isFolder(path) || readdirSync(path).length === 0,
  "dir-not-empty": (path) => isFolder(path) && readdirSync(path).length > 0,
  "file-exists": (path) => isFile(path),
  "file-missing": (path) => !isFile(path),
};

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Names of the predicates that `when: {type: builtin}` takes (workspace §5). */
export const conditionNames: readonly string[] = Object.keys(predicates);

/**
 * Whether a condition holds now. `template` conditions were decided with the plan and count as true here.
 * @throws NopsError `condition_failed` when it cannot be evaluated at all, which ends the run.
 */
export async function conditionHolds(
  condition: ConditionYaml,
  context: {
    readonly root: string;
    readonly env: Readonly<Record<string, string>>;
    readonly processes: ProcessRunner;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  if (condition.type === "template") return true;
  if (condition.type === "builtin") {
    const [name = "", ...rest] = condition.cmd.trim().split(/\s+/);
    const predicate = Object.hasOwn(predicates, name) ? predicates[name] : undefined;
    if (predicate === undefined || rest.length === 0) {
      throw new NopsError(`the condition "${condition.cmd}" is none of ${conditionNames.join(", ")} with a path`, {
        code: "condition_failed",
      });
    }
    return predicate(join(context.root, rest.join(" ")));
  }
  const code = await context.processes.run({
    file: "sh",
    args: ["-c", condition.cmd],
    cwd: context.root,
    env: context.env,
    stdin: "ignore",
    signal: context.signal,
    onLine: () => {},
  });
  return code === 0;
}

/** The condition as the output names it. */
export function describeCondition(condition: ConditionYaml): string {
  return `when: ${condition.type === "template" ? condition.expr : condition.cmd}`;
}
