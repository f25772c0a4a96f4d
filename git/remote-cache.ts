import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import git from "isomorphic-git";
import { makeFolders } from "../model/folders.ts";
import { GitError } from "./git-error.ts";
import type { GitLimits } from "./limits.ts";
import { branchMissing } from "./local-repository.ts";
import { type ObjectStore, openObjectStore } from "./objects.ts";
import { verifyPack } from "./pack.ts";
import type { Transport } from "./transport.ts";

export interface RemoteCacheOptions {
  readonly gitdir: string;
  /** Fit for messages. */
  readonly where: string;
  readonly branch: string;
  readonly limits: GitLimits;
}

/**
 * A clone of one branch below the data folder. It is a cache: whatever is wrong with it, it is deleted and cloned anew. Nothing is read
 * or written before the first call; one process at a time may use it.
 */
export class RemoteCache {
  readonly #options: RemoteCacheOptions;
  /** What the clone is of: another address or branch makes another clone. */
  readonly #marker: string;
  readonly #remoteRef: string;
  /** Trap 3: with any other local name isomorphic-git does not find what is already here. */
  readonly #localRef: string;
  #store: ObjectStore | undefined;

  constructor(options: RemoteCacheOptions) {
    const { where, branch } = options;
    this.#options = options;
    this.#marker = createHash("sha256").update(`${where}\n${branch}`).digest("hex");
    this.#remoteRef = `refs/heads/${branch}`;
    this.#localRef = `refs/remotes/origin/${branch}`;
  }

  /** The branch's commit on the server. @throws GitError `branch_missing` and those of the transport. */
  async remoteHead({ http, url, protocolVersion }: Transport): Promise<string> {
    const { where, branch } = this.#options;
    const list = (prefix: string) => translate(where, git.listServerRefs({ http, url, prefix, protocolVersion }));
    const found = (await list(this.#remoteRef)).find(({ ref }) => ref === this.#remoteRef);
    if (found !== undefined) return found.oid;
    const branches = (await list("refs/heads/")).map(({ ref }) => ref.slice("refs/heads/".length));
    throw branchMissing(branch, where, branches);
  }

  /** Brings the branch's head here, unless it is; answers with the commit. @throws GitError */
  async update(transport: Transport, head: string): Promise<string> {
    const { where } = this.#options;
    const local = await this.#localHead();
    if (local === head) return local;
    if (local !== undefined) {
      try {
        return await translate(where, this.#fetchLater(transport));
      } catch (error) {
        if (!(error instanceof GitError) || !["damaged", "too_large"].includes(error.kind)) {
          await this.stayAt(local);
          throw error;
        }
        await this.discard();
      }
    }
    return translate(where, this.#clone(transport));
  }

  /** The commit that was fetched last, also in an earlier life of the process; `undefined` when there is none that can be read. */
  held(): Promise<string | undefined> {
    return this.#localHead();
  }

  store(): ObjectStore {
    this.#store ??= openObjectStore(this.#options.gitdir, this.#options.where);
    return this.#store;
  }

  /** Goes back to a commit that was here before: what came since is incomplete, or must not be used. Its objects are untouched. */
  async stayAt(oid: string): Promise<void> {
    const { gitdir } = this.#options;
    this.#store = undefined;
    await git.writeRef({ fs, gitdir, ref: this.#localRef, value: oid, force: true }).catch(() => this.discard());
  }

  /** Deletes it. */
  async discard(): Promise<void> {
    this.#store = undefined;
    await rm(this.#options.gitdir, { recursive: true, force: true });
  }

  /** Clones anew once fetches have left too many packs behind (trap 6). */
  async tidy(transport: Transport): Promise<void> {
    const { count } = await packFiles(this.#options.gitdir);
    if (count > this.#options.limits.packs) await translate(this.#options.where, this.#clone(transport));
  }

  async #localHead(): Promise<string | undefined> {
    const { gitdir } = this.#options;
    const owner = await readFile(join(gitdir, "nops-source"), "utf8").catch(() => "");
    if (owner !== this.#marker) return undefined;
    const oid = await git.resolveRef({ fs, gitdir, ref: this.#localRef }).catch(() => undefined);
    // A ref is written before its pack: a killed fetch leaves one that leads nowhere.
    return oid !== undefined && (await this.store().hasCommit(oid)) ? oid : undefined;
  }

  /** Trap 2: only the first fetch is shallow; a later one with a depth would send the whole tree again. */
  async #fetchInto(folder: string, { http, url }: Transport, depth: number | undefined): Promise<string> {
    const { branch, limits, where } = this.#options;
    const result = await git.fetch({
      fs: guardedFs(limits),
      http,
      gitdir: folder,
      url,
      remote: "origin",
      ref: this.#localRef,
      remoteRef: this.#remoteRef,
      singleBranch: true,
      tags: false,
      ...(depth === undefined ? {} : { depth }),
    });
    if (result.fetchHead === null) throw branchMissing(branch, where, []);
    const fetched = await openObjectStore(folder, where).hasCommit(result.fetchHead);
    if (!fetched) throw new GitError("damaged", `${where} sent no pack with its head`);
    return result.fetchHead;
  }

  /** Into a new folder, then renamed: a crash never leaves half a clone under the cache's name. */
  async #clone(transport: Transport): Promise<string> {
    const { gitdir, limits } = this.#options;
    makeFolders(fs, dirname(gitdir), 0o700);
    const fresh = join(dirname(gitdir), `.new-${basename(gitdir)}`);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { mode: 0o700 });
    await git.init({ fs, gitdir: fresh, bare: true });
    // A refspec is compulsory, the address is not: none is stored.
    await git.addRemote({ fs, gitdir: fresh, remote: "origin", url: "https://repository.invalid/" });
    transport.limitPack(limits.packBytes);
    const head = await this.#fetchInto(fresh, transport, 1);
    await writeFile(join(fresh, "nops-source"), this.#marker);
    await this.discard();
    await rename(fresh, gitdir);
    return head;
  }

  async #fetchLater(transport: Transport): Promise<string> {
    const { gitdir, limits } = this.#options;
    transport.limitPack(Math.max(limits.laterPackBytes, 2 * (await packFiles(gitdir)).bytes));
    this.#store = undefined;
    return this.#fetchInto(gitdir, transport, undefined);
  }
}

async function packFiles(gitdir: string): Promise<{ readonly count: number; readonly bytes: number }> {
  const folder = join(gitdir, "objects", "pack");
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".pack"));
  const sizes = await Promise.all(names.map((name) => stat(join(folder, name)).then(({ size }) => size)));
  return { count: names.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** The file system as isomorphic-git sees it: no pack reaches the disk, or the indexer, before it has been checked. */
function guardedFs(limits: GitLimits) {
  const writeFileChecked = async (path: string, data: string | Buffer, ...rest: readonly unknown[]) => {
    if (path.endsWith(".pack") && typeof data !== "string") verifyPack(data, limits);
    return fs.promises.writeFile(path, data, ...(rest as [fs.WriteFileOptions?]));
  };
  return { promises: { ...fs.promises, writeFile: writeFileChecked } };
}

/** Turns the library's own errors into ours. */
async function translate<T>(where: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof GitError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const message = error instanceof Error ? error.message : String(error);
    if (["ENOSPC", "EACCES", "EROFS", "EPERM", "EDQUOT"].includes(code)) {
      throw new GitError(
        "configuration",
        `the git cache of ${where} cannot be written (${code})`,
        "check space and rights of data_dir",
      );
    }
    if (["ParseError", "SmartHttpError", "EmptyServerResponseError", "RemoteCapabilityError"].includes(code)) {
      throw new GitError("bad_answer", `${where} does not answer as a git server does (${code})`, "check the URL");
    }
    throw new GitError("damaged", `reading ${where} failed: ${message}`);
  }
}
