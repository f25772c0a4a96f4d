import { resolve } from "node:path";
import { createGitSource, type GitSource } from "../../git/source.ts";
import { type Log, silentLog } from "../../model/log.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";

/** The repositories of the configuration. @throws InvalidRequestError for a URL, branch, path or pattern that cannot be used. */
export function createGit(config: Config, io: CommandIo, log: Log = silentLog): GitSource {
  const file = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(io.workingDirectory, path);
  return createGitSource({
    repositories: config.repositories.map((repository) => ({
      name: repository.name,
      url: localPath(repository.url, io.workingDirectory),
      branch: repository.branch,
      path: repository.path,
      username: repository.username,
      tokenFile: file(repository.token_file),
      sshKeyFile: file(repository.ssh_key_file),
      knownHostsFile: file(repository.known_hosts_file),
      allowedSignersFile: file(repository.allowed_signers_file),
      files: repository.files,
      ignore: repository.ignore,
      varFiles: repository.var_files,
      variables: repository.variables,
      environmentVariables: repository.environment_variables,
    })),
    dataDir: resolve(io.workingDirectory, config.data_dir),
    clock: io.clock,
    log,
    environment: io.environment,
  });
}

/** A relative path means one below the working directory; URLs and scp-like addresses stay as they are. */
function localPath(url: string, workingDirectory: string): string {
  return /^\.{1,2}(\/|$)/.test(url) ? resolve(workingDirectory, url) : url;
}
