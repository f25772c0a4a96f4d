import type { FileIssue, FrozenJob, JobFile, JobSettings } from "../model/desired.ts";
import type { JobKey } from "../model/job-key.ts";
import type { JobSpec } from "../model/nomad.ts";

/** One file of a repository, as far as it could be understood. */
export type FileEntry = ParsedFile | UnusableFile;

export interface ParsedFile {
  readonly kind: "parsed";
  readonly file: JobFile;
  readonly key: JobKey;
  /** As Nomad parsed it, namespace filled in, server fields dropped. */
  readonly spec: JobSpec;
  readonly settings: JobSettings;
  readonly targetHash: string;
}

export interface UnusableFile {
  readonly kind: "unusable";
  readonly path: string;
  /** The keys that the file last declared, or those that it is known to mean now. */
  readonly keys: readonly JobKey[];
  /** Whether `keys` is the truth: a file that never could be read may mean any job. */
  readonly keysKnown: boolean;
  readonly reason: FrozenJob["reason"];
  readonly message: string;
}

/** A repository as the index holds it. */
export interface RepositoryContent {
  readonly name: string;
  readonly commit: {
    readonly sha: string;
    readonly subject: string;
    readonly author: string;
    readonly authorEmail: string;
    readonly committedAt: string;
  };
  readonly entries: readonly FileEntry[];
  readonly issues: readonly FileIssue[];
}

/** Every key that a file declares or last declared. */
export function keysOf(entry: FileEntry): readonly JobKey[] {
  return entry.kind === "parsed" ? [entry.key] : entry.keys;
}

export function pathOf(entry: FileEntry): string {
  return entry.kind === "parsed" ? entry.file.path : entry.path;
}
