import { NopsError } from "../model/errors.ts";

/**
 * Why a repository could not be read.
 * - `unreachable`: no connection, or it broke. - `timeout`: too slow. - `not_permitted`: token, key or right missing.
 * - `not_found`: no such repository. - `branch_missing`, `path_missing`: what the configuration names is not there.
 * - `host_key`: the ssh server is not the one that is known. - `redirected`: redirects are never followed (design D23).
 * - `bad_answer`: this is no git server. - `damaged`: objects missing or wrong. - `too_large`: beyond a bound of `limits.ts`.
 * - `untrusted`: the commit is not signed by anybody who may (S46).
 * - `unsupported`: a kind of repository nops cannot read. - `configuration`: a file that the configuration names. - `aborted`.
 */
export type GitErrorKind =
  | "unreachable"
  | "timeout"
  | "not_permitted"
  | "not_found"
  | "branch_missing"
  | "path_missing"
  | "host_key"
  | "redirected"
  | "bad_answer"
  | "damaged"
  | "too_large"
  | "untrusted"
  | "unsupported"
  | "configuration"
  | "aborted";

/** A repository that could not be read. `code` is `git_` and the kind. Never carries credentials or the user part of a URL. */
export class GitError extends NopsError {
  override readonly name: string = "GitError";
  readonly kind: GitErrorKind;

  constructor(kind: GitErrorKind, message: string, hint?: string) {
    super(message, { code: `git_${kind}`, ...(hint === undefined ? {} : { hint }) });
    this.kind = kind;
  }
}

/** The plain form in which an error crosses from the worker thread. */
export interface WireError {
  readonly kind: GitErrorKind;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Packs an error for `fromWire`. Anything unforeseen becomes `damaged` with its own text, so that it is seen. */
export function toWire(error: unknown): WireError {
  if (error instanceof GitError) return { kind: error.kind, message: error.message, hint: error.hint };
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: "damaged", message: `reading the repository failed unexpectedly: ${text}`, hint: undefined };
}

/** The error that `toWire` packed. */
export function fromWire(wire: WireError): GitError {
  return new GitError(wire.kind, wire.message, wire.hint);
}

/** What another side wrote, made fit for a message: one line, printable, at most 200 characters. */
export function quoteRemote(text: string): string {
  const line = text.replace(/[^\P{C}\t]|[\t\u2028\u2029]/gu, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
