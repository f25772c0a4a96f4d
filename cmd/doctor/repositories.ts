/** Every repository: reachable, branch there, what its job files say. */
import { messageOf, NopsError } from "../../model/errors.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";
import { createGit } from "../operator/git.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

export async function checkRepositories(config: Config, io: CommandIo): Promise<readonly Finding[]> {
  const git = createGit(config, io);
  try {
    return (await Promise.all(config.repositories.map((repository) => checkRepository(repository.name, git, io)))).flat();
  } finally {
    await git.close();
  }
}

async function checkRepository(name: string, git: ReturnType<typeof createGit>, io: CommandIo): Promise<Finding[]> {
  const check = `repository ${name}`;
  try {
    const outcome = await git.fetch(name, undefined, { signal: io.interrupted });
    if (!outcome.changed) return [ok(check, outcome.sha)];
    const { snapshot } = outcome;
    const issues = [...snapshot.broken, ...snapshot.files.flatMap((file) => file.issues)];
    const findings = issues.map((issue) => {
      const message = `${issue.file}${issue.line === undefined ? "" : `:${issue.line}`}: ${issue.message}`;
      return issue.severity === "error"
        ? fail(check, message, "correct the file; other jobs are not affected")
        : warn(check, message, "look at the file");
    });
    return [
      ok(check, `${snapshot.commit.sha.slice(0, 12)} ${snapshot.commit.subject}: ${snapshot.files.length} job files`),
      ...findings,
    ];
  } catch (error) {
    const hint = error instanceof NopsError ? error.hint : undefined;
    return [fail(check, messageOf(error), hint ?? "check url, branch, path and credentials")];
  }
}
