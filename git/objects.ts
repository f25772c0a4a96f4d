import * as fs from "node:fs";
import git from "isomorphic-git";
import { toInstant } from "../model/clock.ts";
import type { Commit } from "../model/desired.ts";
import { GitError, quoteRemote } from "./git-error.ts";
import { promptFs } from "./prompt-fs.ts";

/** A commit with what only this folder needs of it. */
export interface CommitObject extends Commit {
  readonly tree: string;
  readonly parents: readonly string[];
}

/** Read access to the objects of one repository on disk, loose or packed. Never touches a work tree. */
export interface ObjectStore {
  /** @throws GitError `damaged` when it is missing or no commit. */
  commit(oid: string): Promise<CommitObject>;
  /** Raw content. @throws GitError `damaged` when it is missing or of another type. */
  read(oid: string, type: "tree" | "blob" | "commit"): Promise<Buffer>;
  /** Whether a commit is there; a broken one counts as missing. */
  hasCommit(oid: string): Promise<boolean>;
}

const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/**
 * Opens a git directory. `where` names the repository in messages. It sees what is there now; open it again for another read.
 * `few`: only a handful of objects will be read.
 */
export function openObjectStore(gitdir: string, where: string, few = false): ObjectStore {
  const cache = {};
  const files = few ? promptFs : fs;

  function damaged(oid: string, why: string): GitError {
    return new GitError("damaged", `object ${oid} of ${where} cannot be read: ${why}`);
  }

  async function raw(oid: string, type: string): Promise<Buffer> {
    // The library's shorthand for it has a form of its own.
    if (oid === emptyTree && type === "tree") return Buffer.alloc(0);
    const result = await git.readObject({ fs: files, gitdir, cache, oid, format: "content" }).catch((error: unknown) => {
      throw damaged(oid, reasonOf(error));
    });
    if (result.type !== type) throw damaged(oid, `it is a ${String(result.type)}, not a ${type}`);
    return Buffer.from(result.object as Uint8Array);
  }

  async function commit(oid: string): Promise<CommitObject> {
    return parseCommit(oid, await raw(oid, "commit"), damaged);
  }

  return {
    commit,
    read: raw,
    hasCommit: (oid) =>
      commit(oid).then(
        () => true,
        () => false,
      ),
  };
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "NotFoundError") return "it is missing";
  return quoteRemote(error instanceof Error ? error.message : String(error));
}

/** What a commit object says. Names and subject are made fit for one line. */
function parseCommit(oid: string, bytes: Buffer, damaged: (oid: string, why: string) => GitError): CommitObject {
  const text = bytes.toString("utf8");
  const end = text.indexOf("\n\n");
  const header = end < 0 ? text : text.slice(0, end);
  const tree = /^tree ([0-9a-f]{40})$/m.exec(header)?.[1];
  if (tree === undefined || !header.startsWith("tree ")) throw damaged(oid, "it names no tree");
  const author = /^author (.*?) ?<([^>\n]*)>/m.exec(header);
  const seconds = Number(/^committer [^\n]*> (\d{1,12}) [+-]\d{4}$/m.exec(header)?.[1] ?? 0);
  const message = end < 0 ? "" : text.slice(end + 2).trimStart();
  return {
    sha: oid,
    tree,
    parents: [...header.matchAll(/^parent ([0-9a-f]{40})$/gm)].map((match) => match[1] ?? ""),
    subject: quoteRemote(message.split("\n", 1)[0] ?? ""),
    author: quoteRemote(author?.[1] ?? ""),
    authorEmail: author?.[2]?.trim() ?? "",
    committedAt: toInstant(Math.min(seconds, 253_402_300_799) * 1000),
  };
}

/** Most commits read on each side of a comparison of histories. */
const historyLimit = 5_000;
/** Nearly always the old head is among the first. */
const nearLimit = 100;

/**
 * Whether `old` is provably no ancestor of `head`. The history may be cut short: what lies behind an ancestor of `old` cannot be `old`
 * itself, so only a cut elsewhere, or a history longer than 5,000 commits, leaves it open; then the answer is `false`.
 */
export async function isHistoryRewritten(store: ObjectStore, old: string, head: string): Promise<boolean> {
  if ((await walkHistory(store, head, nearLimit, () => false, old)).commits.has(old)) return false;
  const older = (await walkHistory(store, old, historyLimit, () => false)).commits;
  const { commits, isWhole } = await walkHistory(store, head, historyLimit, (oid) => oid !== old && older.has(oid));
  return isWhole && !commits.has(old);
}

/** Commits reachable from one, nearest first, without what lies behind those where it stops; ends where `sought` is met. */
async function walkHistory(
  store: ObjectStore,
  from: string,
  limit: number,
  stopsAt: (oid: string) => boolean,
  sought?: string,
): Promise<{ readonly commits: ReadonlySet<string>; readonly isWhole: boolean }> {
  const commits = new Set<string>([from]);
  let isWhole = true;
  // A set is walked in the order of adding, what is added meanwhile included.
  for (const oid of commits) {
    if (oid === sought) break;
    if (stopsAt(oid)) continue;
    const commit = commits.size > limit ? undefined : await store.commit(oid).catch(() => undefined);
    if (commit === undefined) isWhole = false;
    else for (const parent of commit.parents) commits.add(parent);
  }
  return { commits, isWhole };
}
