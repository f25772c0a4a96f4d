import type { FetchOutcome, GitPort } from "../../controllers/ports.ts";
import { toInstant } from "../../model/clock.ts";
import type { RepositorySnapshot } from "../../model/desired.ts";
import { sha256 } from "../../model/hash.ts";
import { jobFile } from "./job-pool.ts";

/** The one repository of a history, in memory. */
export const repositoryName = "main";

/** A repository as a map from path to text. */
export class MemoryGit implements GitPort {
  private files: Readonly<Record<string, string>> = {};
  private snapshot: RepositorySnapshot | undefined;
  private serial = 0;

  /** Text of the head's file. */
  text(path: string): string | undefined {
    return this.files[path];
  }

  get paths(): readonly string[] {
    return Object.keys(this.files);
  }

  /** Makes a commit; `undefined` removes a file. */
  commit(changes: Readonly<Record<string, string | undefined>>): void {
    this.serial += 1;
    const next = Object.entries({ ...this.files, ...changes }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    this.files = Object.fromEntries(next.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const sha = sha256(`commit ${this.serial}`).slice(0, 40);
    this.snapshot = {
      repository: repositoryName,
      commit: {
        sha,
        subject: `change ${this.serial}`,
        author: "Ann",
        authorEmail: "ann@example.com",
        committedAt: toInstant(this.serial),
      },
      files: Object.entries(this.files).map(([path, text]) => jobFile(path, text)),
      broken: [],
      warnings: [],
    };
  }

  async fetch(_repository: string, knownSha: string | undefined): Promise<FetchOutcome> {
    const { snapshot } = this;
    if (snapshot === undefined) throw new Error("nothing was committed");
    if (snapshot.commit.sha === knownSha) return { changed: false, sha: knownSha };
    return { changed: true, snapshot, historyRewritten: false };
  }
}
