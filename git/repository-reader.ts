import { readFile } from "node:fs/promises";
import { loadHclParser } from "../hcl/parser.ts";
import type { Commit, FileIssue, JobFile } from "../model/desired.ts";
import { messageOf } from "../model/errors.ts";
import { parseAllowedSigners } from "./allowed-signers.ts";
import { verifyCommitSignature } from "./commit-signature.ts";
import { GitError, toWire, type WireError } from "./git-error.ts";
import { createHttpTransport } from "./http-transport.ts";
import { createJobFileReader, type JobFileReader } from "./job-files.ts";
import type { JobRules } from "./job-rules.ts";
import type { GitLimits } from "./limits.ts";
import { findGitDirectory, readBranch } from "./local-repository.ts";
import { isHistoryRewritten, type ObjectStore, openObjectStore } from "./objects.ts";
import { RemoteCache } from "./remote-cache.ts";
import { createSshTransport } from "./ssh-transport.ts";
import type { Transport } from "./transport.ts";
import { TreeReader } from "./tree.ts";
import type { GitLocation } from "./url.ts";

/** Everything needed to read a repository, as plain data: it crosses to the worker thread. Secrets only as paths of files. */
export interface RepositorySpec {
  readonly name: string;
  readonly location: GitLocation;
  readonly branch: string;
  readonly rules: JobRules;
  readonly username: string;
  readonly tokenFile: string | undefined;
  readonly certificateAuthorityFile: string | undefined;
  readonly sshKeyFile: string | undefined;
  readonly knownHostsFile: string | undefined;
  /** Whose signature a commit needs; `undefined`: none is asked for. */
  readonly allowedSignersFile: string | undefined;
  /** Where the clone of a remote repository is kept. */
  readonly cacheDirectory: string;
  readonly limits: GitLimits;
}

export type RepositoryRead =
  | { readonly changed: false; readonly sha: string }
  | {
      readonly changed: true;
      readonly commit: Commit;
      readonly historyRewritten: boolean;
      /** An unchanged file is the same object as in the read before. */
      readonly files: readonly JobFile[];
      readonly broken: readonly FileIssue[];
      readonly warnings: readonly FileIssue[];
      /** How many files were parsed for it. */
      readonly readCount: number;
      /** Why the branch could not be looked at: then this is the commit that was fetched last, in an earlier life of the process. */
      readonly problem?: WireError;
    };

/** Reads one repository, commit by commit. One read at a time. */
export interface RepositoryReader {
  /** @throws GitError */
  read(known: string | undefined, signal: AbortSignal): Promise<RepositoryRead>;
}

/** @throws InvalidRequestError at the first read, for a pattern that cannot be used. */
export function createRepositoryReader(spec: RepositorySpec): RepositoryReader {
  return new Reader(spec);
}

class Reader implements RepositoryReader {
  readonly #spec: RepositorySpec;
  #jobFiles: JobFileReader | undefined;
  #lastTree: TreeReader | undefined;

  constructor(spec: RepositorySpec) {
    this.#spec = spec;
  }

  async read(known: string | undefined, signal: AbortSignal): Promise<RepositoryRead> {
    const { location } = this.#spec;
    try {
      return await (location.kind === "local" ? this.#readLocal(location.path, known, signal) : this.#readRemote(known, signal));
    } catch (error) {
      if (signal.aborted) throw new GitError("aborted", `reading ${location.display} was given up`);
      throw error;
    }
  }

  async #readLocal(path: string, known: string | undefined, signal: AbortSignal): Promise<RepositoryRead> {
    const gitdir = await findGitDirectory(path);
    const sha = await readBranch(gitdir, this.#spec.branch, path);
    if (sha === known) return { changed: false, sha };
    const attempt = () => this.#readCommit(openObjectStore(gitdir, path, known !== undefined), sha, known, signal);
    // Somebody may be repacking it: what was loose is then in a pack that this store has not seen.
    return attempt().catch((error: unknown) => (isDamage(error) ? attempt() : Promise.reject(error)));
  }

  async #readRemote(known: string | undefined, signal: AbortSignal): Promise<RepositoryRead> {
    const { location, branch, limits, cacheDirectory } = this.#spec;
    const cache = new RemoteCache({ gitdir: cacheDirectory, where: location.display, branch, limits });
    const attempt = () =>
      withTransport(this.#spec, signal, async (transport): Promise<RepositoryRead> => {
        const head = await cache.remoteHead(transport);
        if (head === known) return { changed: false, sha: head };
        const before = await cache.held();
        const sha = await cache.update(transport, head);
        const read = await this.#readCommit(cache.store(), sha, known, signal).catch(async (error: unknown) => {
          // The next process shall begin with the last commit that could be used, too.
          if (before !== undefined && before !== sha && isRefusal(error)) await cache.stayAt(before);
          throw error;
        });
        // A cache that cannot be tidied now is tidied another time; what was read stands.
        await cache.tidy(transport).catch(() => undefined);
        return read;
      });
    try {
      return await attempt();
    } catch (error) {
      if (!isDamage(error)) return this.#readHeld(cache, known, error, signal);
      await cache.discard();
      return attempt();
    }
  }

  /** After a restart, what was fetched last is better than nothing (design D36). A process that knows a commit stays at it by itself. */
  async #readHeld(cache: RemoteCache, known: string | undefined, why: unknown, signal: AbortSignal): Promise<RepositoryRead> {
    const held = known === undefined && !signal.aborted ? await cache.held() : undefined;
    if (held === undefined) throw why;
    const read = await this.#readCommit(cache.store(), held, undefined, signal).catch(() => undefined);
    if (!read?.changed) throw why;
    return { ...read, problem: toWire(why) };
  }

  async #readCommit(store: ObjectStore, sha: string, known: string | undefined, signal: AbortSignal): Promise<RepositoryRead> {
    const { rules, limits } = this.#spec;
    this.#jobFiles ??= createJobFileReader(rules, await loadHclParser(), limits);
    const { tree: root, parents: _, ...commit } = await store.commit(sha);
    await this.#demandSignature(store, sha, commit);
    const tree = new TreeReader(store, root, limits, this.#lastTree);
    const history = known === undefined ? false : isHistoryRewritten(store, known, sha);
    const [found, historyRewritten] = await Promise.all([this.#jobFiles.read(tree, store, signal), history]);
    tree.release();
    this.#lastTree = tree;
    return { changed: true, commit, historyRewritten, ...found };
  }

  async #demandSignature(store: ObjectStore, sha: string, { committedAt }: Commit): Promise<void> {
    const file = this.#spec.allowedSignersFile;
    if (file === undefined) return;
    const signers = parseAllowedSigners(await readSecret("allowed_signers_file", file), file);
    verifyCommitSignature(sha, await store.read(sha, "commit"), Date.parse(committedAt), signers);
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof GitError && error.kind === "damaged";
}

/** The commit is whole, and not to be used. */
function isRefusal(error: unknown): boolean {
  return error instanceof GitError && ["untrusted", "path_missing", "too_large"].includes(error.kind);
}

async function withTransport<T>(
  spec: RepositorySpec,
  signal: AbortSignal,
  use: (transport: Transport) => Promise<T>,
): Promise<T> {
  const transport = await openTransport(spec, signal);
  try {
    return await use(transport);
  } finally {
    transport.close();
  }
}

/** Secrets are read for each fetch, so that a changed file counts at once (design D23). */
async function openTransport(spec: RepositorySpec, signal: AbortSignal): Promise<Transport> {
  const { location, limits } = spec;
  if (location.kind === "http") {
    const fromFile = spec.tokenFile === undefined ? undefined : await readSecret("token_file", spec.tokenFile);
    const authority = spec.certificateAuthorityFile;
    return createHttpTransport({
      url: location.url,
      username: location.username ?? spec.username,
      token: fromFile ?? location.password,
      certificateAuthority: authority === undefined ? undefined : await readSecret("the certificate authority's file", authority),
      limits,
      signal,
    });
  }
  if (location.kind !== "ssh") throw new GitError("unsupported", `${location.display} needs no connection`);
  const { sshKeyFile = "", knownHostsFile = "" } = spec;
  return createSshTransport({
    user: location.user,
    host: location.host,
    port: location.port,
    path: location.path,
    display: location.display,
    privateKey: await readSecret("ssh_key_file", sshKeyFile),
    keyFile: sshKeyFile,
    knownHosts: await readSecret("known_hosts_file", knownHostsFile),
    knownHostsFile,
    limits,
    signal,
  });
}

async function readSecret(key: string, path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
    throw new GitError("configuration", `${key} ${path} cannot be read (${code})`, "check the path and its rights");
  });
  if (text.trim() === "") throw new GitError("configuration", `${key} ${path} is empty`);
  return key === "token_file" ? text.trim() : text;
}
