import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import git from "isomorphic-git";
import { GitError } from "./git-error.ts";
import type { GitLimits } from "./limits.ts";
import { branchMissing } from "./local-repository.ts";
import { type ObjectStore, openObjectStore } from "./objects.ts";
import { verifyPack } from "./pack.ts";
import type { Transport } from "./transport.ts";

/** A clone of one branch below the data folder. It is a cache: whatever is wrong with it, it is deleted and cloned anew. */
export interface RemoteCache {
  /** The branch's commit on the server. @throws GitError `branch_missing` and those of the transport. */
  remoteHead(transport: Transport): Promise<string>;
  /** Brings the branch's head here, unless it is; answers with the commit. @throws GitError */
  update(transport: Transport, head: string): Promise<string>;
  store(): ObjectStore;
  /** Deletes it. */
  discard(): Promise<void>;
  /** Clones anew once fetches have left too many packs behind. */
  tidy(transport: Transport): Promise<void>;
}

export interface RemoteCacheOptions {
  readonly gitdir: string;
  /** Fit for messages. */
  readonly where: string;
  readonly branch: string;
  readonly limits: GitLimits;
}

/** Opens the cache; nothing is read or written yet. One process at a time may use it. */
export function openRemoteCache({ gitdir, where, branch, limits }: RemoteCacheOptions): RemoteCache {
  const marker = createHash("sha256").update(`${where}\n${branch}`).digest("hex");
  const remoteRef = `refs/heads/${branch}`;
  // Trap 3: with any other local name isomorphic-git does not find what is already here.
  const localRef = `refs/remotes/origin/${branch}`;
  let store: ObjectStore | undefined;

  async function localHead(): Promise<string | undefined> {
    const owner = await readFile(join(gitdir, "nops-source"), "utf8").catch(() => "");
    if (owner !== marker) return undefined;
    const oid = await git.resolveRef({ fs, gitdir, ref: localRef }).catch(() => undefined);
    // A ref is written before its pack: a killed fetch leaves one that leads nowhere.
    return oid !== undefined && (await currentStore().hasCommit(oid)) ? oid : undefined;
  }

  function currentStore(): ObjectStore {
    store ??= openObjectStore(gitdir, where);
    return store;
  }

  async function discard(): Promise<void> {
    store = undefined;
    await rm(gitdir, { recursive: true, force: true });
  }

  /** Trap 2: only the first fetch is shallow; a later one with a depth would send the whole tree again. */
  async function fetchInto(folder: string, transport: Transport, depth: number | undefined): Promise<string> {
    const result = await git.fetch({
      fs: guardedFs(limits),
      http: transport.http,
      gitdir: folder,
      url: transport.url,
      remote: "origin",
      ref: localRef,
      remoteRef,
      singleBranch: true,
      tags: false,
      ...(depth === undefined ? {} : { depth }),
    });
    if (result.fetchHead === null) throw branchMissing(branch, where, []);
    return result.fetchHead;
  }

  /** Into a new folder, then renamed: a crash never leaves half a clone under the cache's name. */
  async function clone(transport: Transport): Promise<string> {
    await mkdir(dirname(gitdir), { recursive: true, mode: 0o700 });
    const fresh = join(dirname(gitdir), `.new-${basename(gitdir)}`);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { mode: 0o700 });
    await git.init({ fs, gitdir: fresh, bare: true });
    // A refspec is compulsory, the address is not: none is stored.
    await git.addRemote({ fs, gitdir: fresh, remote: "origin", url: "https://repository.invalid/" });
    transport.limitPack(limits.packBytes);
    const head = await fetchInto(fresh, transport, 1);
    if (!(await openObjectStore(fresh, where).hasCommit(head)))
      throw new GitError("damaged", `${where} sent no pack with its head`);
    await writeFile(join(fresh, "nops-source"), marker);
    await discard();
    await rename(fresh, gitdir);
    return head;
  }

  async function fetchLater(transport: Transport): Promise<string> {
    transport.limitPack(Math.max(limits.laterPackBytes, 2 * (await packFiles(gitdir)).bytes));
    const head = await fetchInto(gitdir, transport, undefined);
    store = undefined;
    if (!(await currentStore().hasCommit(head))) throw new GitError("damaged", `${where} sent no pack with its head`);
    return head;
  }

  return {
    async remoteHead(transport) {
      const list = (prefix: string) =>
        translate(
          where,
          git.listServerRefs({ http: transport.http, url: transport.url, prefix, protocolVersion: transport.protocolVersion }),
        );
      const found = (await list(remoteRef)).find(({ ref }) => ref === remoteRef);
      if (found !== undefined) return found.oid;
      throw branchMissing(
        branch,
        where,
        (await list("refs/heads/")).map(({ ref }) => ref.slice("refs/heads/".length)),
      );
    },
    async update(transport, head) {
      const local = await localHead();
      if (local === head) return local;
      if (local !== undefined) {
        try {
          return await translate(where, fetchLater(transport));
        } catch (error) {
          // The ref may have moved already; what is left cannot be trusted.
          await discard();
          if (!(error instanceof GitError) || !["damaged", "too_large"].includes(error.kind)) throw error;
        }
      }
      return translate(where, clone(transport));
    },
    store: currentStore,
    discard,
    async tidy(transport) {
      if ((await packFiles(gitdir)).count > limits.packs) await translate(where, clone(transport));
    },
  };
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
