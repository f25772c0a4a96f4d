import type { Commit, FileIssue, JobFile } from "../model/desired.ts";
import type { WireError } from "./git-error.ts";

/** What the engine asks the git thread. Every `read` is answered by `done` or `failed`. */
export type ToWorker =
  | {
      readonly type: "read";
      readonly id: number;
      readonly repository: string;
      readonly known: string | undefined;
      /** Number of the answer whose files the asker still has; only what differs is sent. */
      readonly base: number | undefined;
    }
  | { readonly type: "abort"; readonly id: number };

/** A job file on its way; most sources equal their original, and are sent once. */
export type WireFile = Omit<JobFile, "source"> & { readonly source: string | undefined };

export type WireOutcome =
  | { readonly changed: false; readonly sha: string }
  | {
      readonly changed: true;
      readonly commit: Commit;
      readonly historyRewritten: boolean;
      readonly broken: readonly FileIssue[];
      readonly warnings: readonly FileIssue[];
      /** Number of this answer. */
      readonly generation: number;
      /** The sent files are all files; else they change those of `base`. */
      readonly complete: boolean;
      readonly removed: readonly string[];
      readonly readCount: number;
      readonly problem?: WireError;
    };

export type FromWorker =
  /** Comes before `done`, in parts small enough not to hold the engine up. */
  | { readonly type: "files"; readonly id: number; readonly files: readonly WireFile[] }
  | { readonly type: "done"; readonly id: number; readonly outcome: WireOutcome }
  | { readonly type: "failed"; readonly id: number; readonly error: WireError };

export function packFile({ source, ...file }: JobFile): WireFile {
  return { ...file, source: source === file.original ? undefined : source };
}

export function unpackFile({ source, ...file }: WireFile): JobFile {
  return { ...file, source: source ?? file.original };
}
