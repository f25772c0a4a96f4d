/** What a person is told beside the message: what to do about it. */
export interface ErrorDetails {
  /** Stable, machine-readable code in snake_case; part of the API contract. */
  readonly code: string;
  /** What the reader can do. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** Base of every error that nops raises on purpose: message for people, code for programs, hint for the cure. */
export class NopsError extends Error {
  override readonly name: string = "NopsError";
  readonly code: string;
  readonly hint: string | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.hint = details.hint;
  }
}

/** The same inputs fail the same way: wait for new inputs instead of trying again. */
export class TerminalError extends NopsError {
  override readonly name: string = "TerminalError";
}

/** Somebody else moved first: look again at once; never counted as a failure. */
export class ConflictError extends NopsError {
  override readonly name: string = "ConflictError";
}

/** The far side said when to come back. */
export class RetryAfterError extends NopsError {
  override readonly name: string = "RetryAfterError";
  /** Milliseconds to wait. */
  readonly afterMs: number;

  constructor(message: string, afterMs: number, details: ErrorDetails) {
    super(message, details);
    this.afterMs = afterMs;
  }
}

/** A person's request that a rule refuses (stale, blocked, held, wrong state): HTTP 409, exit code 3. */
export class RefusedError extends NopsError {
  override readonly name: string = "RefusedError";
}

/** The thing asked for does not exist: HTTP 404, exit code 4. */
export class NotFoundError extends NopsError {
  override readonly name: string = "NotFoundError";
}

/** The request itself is wrong: HTTP 400, exit code 2. */
export class InvalidRequestError extends NopsError {
  override readonly name: string = "InvalidRequestError";
}

/**
 * What a failed call to Nomad means to the caller (nomad-api §11, design D9).
 * - `not_sent`: the request provably never left this process (refused or unresolvable address). Repeating is safe.
 * - `refused`: Nomad understood and said no; the same request fails again until spec or cluster change.
 * - `conflict`: the enforced job modify index did not match.
 * - `not_found`: no such object.
 * - `not_permitted`: token missing, unknown, expired, or without the right.
 * - `overloaded`: 429, no leader, not ready: nothing happened, come back later.
 * - `unknown_outcome`: the request may have taken effect (lost answer, leadership lost, time-out).
 */
export type NomadErrorKind =
  | "not_sent"
  | "refused"
  | "conflict"
  | "not_found"
  | "not_permitted"
  | "overloaded"
  | "unknown_outcome";

/** A failed call to Nomad. Never carries a token, a header or a request body. */
export class NomadError extends NopsError {
  override readonly name: string = "NomadError";
  readonly kind: NomadErrorKind;
  /** HTTP status, when an answer came. */
  readonly status: number | undefined;
  /** Milliseconds after which Nomad asked to be called again. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: {
      readonly kind: NomadErrorKind;
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly hint?: string;
      readonly cause?: unknown;
    },
  ) {
    super(message, {
      code: `nomad_${details.kind}`,
      ...(details.hint === undefined ? {} : { hint: details.hint }),
      ...(details.cause === undefined ? {} : { cause: details.cause }),
    });
    this.kind = details.kind;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message with what to do about it, where somebody knew. */
export function messageWithHint(error: unknown): string {
  const hint = error instanceof NopsError ? error.hint : undefined;
  return hint === undefined ? messageOf(error) : `${messageOf(error)}; ${hint}`;
}
