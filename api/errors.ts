/** One place that turns what was thrown into a status and a body (contract §4). */
import {
  ConflictError,
  InvalidRequestError,
  NomadError,
  NopsError,
  NotFoundError,
  RefusedError,
  TerminalError,
} from "../model/errors.ts";
import type { ErrorJson } from "./contract.ts";

export type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 421 | 429 | 500 | 503;

/** An answer that a route decides on by itself. */
export class ApiError extends NopsError {
  override readonly name = "ApiError";
  readonly status: ErrorStatus;
  /** Milliseconds after which asking again makes sense. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: ErrorStatus,
    code: string,
    message: string,
    details: { readonly hint?: string; readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { code, ...details });
    this.status = status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

export interface ErrorAnswer {
  readonly status: ErrorStatus;
  readonly body: ErrorJson;
  /** True when the cause belongs into the log, since the client is only told a general sentence. */
  readonly unexpected: boolean;
}

/** What a client is told about anything that was thrown. Texts pass the redactor. */
export function errorAnswer(error: unknown, redact: (text: string) => string): ErrorAnswer {
  const status = statusOf(error);
  if (status === undefined || !(error instanceof NopsError)) {
    const message = "something went wrong inside nops; its log says what";
    return { status: 500, body: { error: { code: "internal", message, hint: null } }, unexpected: true };
  }
  const hint = error.hint === undefined ? null : redact(error.hint);
  return { status, body: { error: { code: error.code, message: redact(error.message), hint } }, unexpected: false };
}

function statusOf(error: unknown): ErrorStatus | undefined {
  if (error instanceof ApiError) return error.status;
  if (error instanceof InvalidRequestError) return 400;
  if (error instanceof NotFoundError) return 404;
  if (error instanceof ConflictError || error instanceof RefusedError || error instanceof TerminalError) return 409;
  if (error instanceof NomadError) return 503;
  return undefined;
}
