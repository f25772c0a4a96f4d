/** A commit of a checkout, found by whatever name a person gives it. */
import * as fs from "node:fs";
import git from "isomorphic-git";
import { GitError } from "../../git/git-error.ts";
import { findGitDirectory } from "../../git/local-repository.ts";
import { type ObjectStore, openObjectStore } from "../../git/objects.ts";
import { toInstant } from "../../model/clock.ts";
import type { Commit } from "../../model/desired.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";

export interface CommitContent {
  readonly store: ObjectStore;
  /** Id of the commit's root folder. */
  readonly root: string;
  readonly commit: Commit;
}

/** @throws CommandError when there is no such commit or the folder is no repository; GitError for a kind that cannot be read. */
export async function openCommit(folder: string, ref: string): Promise<CommitContent> {
  const gitdir = await findGitDirectory(folder).catch((error: unknown) => {
    if (!(error instanceof GitError) || error.kind !== "not_found") throw error;
    throw new CommandError(exitCodes.notFound, error.message, "name a git checkout, or run the command inside one");
  });
  const oid = await resolveCommit(gitdir, ref);
  if (oid === undefined)
    throw new CommandError(exitCodes.notFound, `${folder} has no commit "${ref}"`, "--ref takes a branch, a tag or a commit id");
  const { commit } = await git.readCommit({ fs, gitdir, oid });
  const [subject = ""] = commit.message.split("\n");
  return {
    store: openObjectStore(gitdir, folder),
    root: commit.tree,
    commit: {
      sha: oid,
      subject,
      author: commit.author.name,
      authorEmail: commit.author.email,
      committedAt: toInstant(commit.committer.timestamp * 1000),
    },
  };
}

async function resolveCommit(gitdir: string, ref: string): Promise<string | undefined> {
  const attempts = [
    () => git.resolveRef({ fs, gitdir, ref }),
    () => git.resolveRef({ fs, gitdir, ref: `refs/remotes/origin/${ref}` }),
    () => git.expandOid({ fs, gitdir, oid: ref }),
  ];
  for (const attempt of attempts) {
    const oid = await attempt().catch(() => undefined);
    if (oid !== undefined) return git.resolveRef({ fs, gitdir, ref: oid }).catch(() => oid);
  }
  return undefined;
}
