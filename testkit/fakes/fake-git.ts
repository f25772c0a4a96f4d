import type { FetchOutcome, GitPort } from "../../controllers/ports.ts";
import { toInstant } from "../../model/clock.ts";
import type { FileIssue, JobFile, RepositorySnapshot } from "../../model/desired.ts";
import { NopsError } from "../../model/errors.ts";
import { sha256 } from "../../model/hash.ts";
import type { JobSpec } from "../../model/nomad.ts";

/** Repositories whose files are job specs as JSON. A commit is whatever `commit` was given last. */
export class FakeGit implements GitPort {
  private readonly heads = new Map<string, RepositorySnapshot>();
  private serial = 0;
  /** Makes every fetch fail with this text. */
  down: string | undefined;
  /** Whether a process that just began gets the last commit from a cache while `down`. */
  cached = false;

  /** Puts a whole new tree in place. A string is a file that Nomad will refuse; an issue is one that git already knows to be broken. */
  commit(repository: string, files: Readonly<Record<string, JobSpec | string>>, broken: readonly FileIssue[] = []): string {
    this.serial += 1;
    const sha = sha256(`${repository} ${this.serial}`).slice(0, 40);
    this.heads.set(repository, {
      repository,
      commit: { sha, subject: `change ${this.serial}`, author: "Ann", authorEmail: "ann@example.com", committedAt: toInstant(0) },
      files: Object.entries(files).map(([path, content]) => toFile(path, content)),
      broken,
      warnings: [],
    });
    return sha;
  }

  async fetch(repository: string, knownSha: string | undefined): Promise<FetchOutcome> {
    await Promise.resolve();
    const snapshot = this.heads.get(repository);
    if (this.down !== undefined) {
      const problem = new NopsError(this.down, { code: "git_unreachable", hint: "ask the network" });
      if (!this.cached || knownSha !== undefined || snapshot === undefined) throw problem;
      return { changed: true, snapshot, historyRewritten: false, problem };
    }
    if (snapshot === undefined) throw new NopsError("no such repository", { code: "git_unreachable" });
    if (snapshot.commit.sha === knownSha) return { changed: false, sha: knownSha };
    return { changed: true, snapshot, historyRewritten: false };
  }
}

function toFile(path: string, content: JobSpec | string): JobFile {
  const source = typeof content === "string" ? content : JSON.stringify(content);
  return {
    path,
    format: path.endsWith(".json") ? "json" : "hcl2",
    source,
    original: source,
    variables: "",
    publicVariables: "",
    contentHash: sha256(source),
    jobName: undefined,
    issues: [],
  };
}
