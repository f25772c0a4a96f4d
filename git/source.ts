import { join } from "node:path";
import type { Clock } from "../model/clock.ts";
import type { RepositorySnapshot } from "../model/desired.ts";
import { InvalidRequestError, NotFoundError } from "../model/errors.ts";
import type { Log } from "../model/log.ts";
import { createFileFilter } from "./file-rules.ts";
import { fromWire, type GitError } from "./git-error.ts";
import { type GitLimits, gitLimits } from "./limits.ts";
import type { RepositorySpec } from "./repository-reader.ts";
import { resolveInRepository } from "./tree.ts";
import { type GitLocation, parseRepositoryUrl } from "./url.ts";
import { createWorkerClient, type WorkerMode } from "./worker-client.ts";

/** A repository as the configuration names it (contract §2). Absent and empty mean the same. */
export interface GitRepositoryConfig {
  readonly name: string;
  /** See `parseRepositoryUrl`. */
  readonly url: string;
  readonly branch: string;
  readonly path?: string | undefined;
  readonly username?: string | undefined;
  readonly tokenFile?: string | undefined;
  /** PEM; added to the system's authorities, for https. */
  readonly certificateAuthorityFile?: string | undefined;
  readonly sshKeyFile?: string | undefined;
  readonly knownHostsFile?: string | undefined;
  /** Commits have to be signed by an SSH key of this file (S46). */
  readonly allowedSignersFile?: string | undefined;
  readonly files?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly varFiles?: readonly string[] | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly environmentVariables?: boolean | undefined;
}

export interface GitSourceOptions {
  readonly repositories: readonly GitRepositoryConfig[];
  /** Caches go to `git/<repository>` below it. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Of the process; only `NOMAD_VAR_*` is taken from it, and only for repositories that allow it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly mode?: WorkerMode;
  readonly limits?: Partial<GitLimits>;
}

export type GitFetchOutcome =
  | { readonly changed: false; readonly sha: string }
  | {
      readonly changed: true;
      readonly snapshot: RepositorySnapshot;
      /** The old commit is provably no ancestor of the new one; a history that is cut short proves nothing. */
      readonly historyRewritten: boolean;
      /** Why the branch could not be looked at: the snapshot is then that of the commit fetched last before the restart. */
      readonly problem?: GitError;
    };

/** The repositories of the configuration; what the controllers know as their git port. */
export interface GitSource {
  /**
   * Looks at the branch head; reads the tree only when it differs from `knownSha`. Files that did not change are the same objects as in the
   * snapshot before.
   *
   * @throws GitError when the repository or the configured path cannot be read; the last good snapshot then stays.
   * @throws NotFoundError `unknown_repository`
   */
  fetch(repository: string, knownSha: string | undefined, abort: Pick<AbortController, "signal">): Promise<GitFetchOutcome>;
  /** Ends the git thread. Fetches under way fail. */
  close(): Promise<void>;
}

/**
 * Opens the repositories. Nothing is contacted, read or written before the first fetch.
 *
 * @throws InvalidRequestError for a URL, branch, path or pattern that cannot be used; the message names the repository.
 */
export function createGitSource(options: GitSourceOptions): GitSource {
  const specs = options.repositories.map((config) => named(config.name, () => readConfig(config, options)));
  for (const spec of specs) warnAboutCredentials(spec, options.log);
  const client = createWorkerClient(specs, {
    clock: options.clock,
    ...(options.mode === undefined ? {} : { mode: options.mode }),
  });

  return {
    async fetch(repository, knownSha, { signal }) {
      if (!specs.some(({ name }) => name === repository)) {
        throw new NotFoundError(`no repository is called "${repository}"`, { code: "unknown_repository" });
      }
      const read = await client.read(repository, knownSha, signal);
      if (!read.changed) return read;
      const { changed, historyRewritten, readCount, problem, ...content } = read;
      const { sha } = content.commit;
      const unusable = new Set(content.broken.filter(({ severity }) => severity === "error").map(({ file }) => file)).size;
      const counts = { files: content.files.length, unusable, parsed: readCount };
      const snapshot = { repository, ...content };
      if (problem === undefined) {
        options.log.info("a commit was read", { repository, commit: sha, ...counts });
        return { changed, historyRewritten, snapshot };
      }
      const text = "the repository cannot be read; the commit that was fetched last is used until it can";
      options.log.warn(text, { repository, commit: sha, error: problem.message, ...counts });
      return { changed, historyRewritten, snapshot, problem: fromWire(problem) };
    },
    close: () => client.close(),
  };
}

function named<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    throw new InvalidRequestError(`repository "${name}": ${error.message}`, { code: error.code, ...hint });
  }
}

function readConfig(config: GitRepositoryConfig, { dataDir, environment, limits }: GitSourceOptions): RepositorySpec {
  const location = parseRepositoryUrl(config.url);
  const path = resolveInRepository("", config.path ?? "");
  if (path === undefined) throw invalid("invalid_path", `the path ${JSON.stringify(config.path)} leads out of the repository`);
  checkBranch(config.branch);
  checkKeys(config, location);
  const rules = {
    path,
    files: config.files ?? [],
    ignore: config.ignore ?? [],
    varFiles: config.varFiles ?? [],
    variables: config.variables ?? {},
    environment: config.environmentVariables === true ? nomadVariables(environment) : {},
  };
  createFileFilter(rules);
  return {
    name: config.name,
    location,
    branch: config.branch,
    rules,
    username: config.username ?? "git",
    tokenFile: config.tokenFile,
    certificateAuthorityFile: config.certificateAuthorityFile,
    sshKeyFile: config.sshKeyFile,
    knownHostsFile: config.knownHostsFile,
    allowedSignersFile: config.allowedSignersFile,
    cacheDirectory: join(dataDir, "git", encodeURIComponent(config.name).replace(/^\./, "%2E")),
    limits: { ...gitLimits, ...limits },
  };
}

function invalid(code: string, message: string): InvalidRequestError {
  return new InvalidRequestError(message, { code });
}

/** The rules of git for names of branches, as far as they matter here. */
function checkBranch(branch: string): void {
  const bad =
    branch === "" ||
    branch.startsWith("-") ||
    branch.startsWith("/") ||
    /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|\.lock$|(?:^|\/)\./u.test(branch);
  if (bad) throw invalid("invalid_branch", `${JSON.stringify(branch)} cannot be the name of a branch`);
}

function checkKeys(config: GitRepositoryConfig, location: GitLocation): void {
  if (location.kind !== "ssh") return;
  if (config.sshKeyFile === undefined) throw invalid("missing_ssh_key", "ssh needs ssh_key_file");
  if (config.knownHostsFile === undefined) {
    const hint = `known_hosts_file holds the server's key: ssh-keyscan ${location.host}, compared with what the forge states`;
    throw new InvalidRequestError("ssh needs known_hosts_file", { code: "missing_known_hosts", hint });
  }
}

function nomadVariables(environment: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith("NOMAD_VAR_")));
}

function warnAboutCredentials({ name, location, tokenFile }: RepositorySpec, log: Log): void {
  if (location.kind !== "http") return;
  const fields = { repository: name, url: location.display };
  if (location.password !== undefined) log.warn("the repository's URL holds a password; put it into token_file", fields);
  const { hostname } = new URL(location.url);
  const isNear = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  if (!location.secure && !isNear && (tokenFile ?? location.password) !== undefined) {
    log.warn("the repository's token goes over the network unencrypted; use https", fields);
  }
}
