/** Exit codes of every command (contract §1). */
import { ConflictError, InvalidRequestError, NomadError, NopsError, NotFoundError, RefusedError } from "../model/errors.ts";

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  unreachable: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with an exit code of its own choosing; the message is all that is printed. */
export class CommandError extends NopsError {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;

  /** `code` is what programs read; without one it says the same as the exit code. */
  constructor(exitCode: ExitCode, message: string, hint?: string, code: string = codeNames[exitCode]) {
    super(message, { code, ...(hint === undefined ? {} : { hint }) });
    this.exitCode = exitCode;
  }
}

const codeNames: Readonly<Record<ExitCode, string>> = {
  0: "done",
  1: "failed",
  2: "usage",
  3: "refused",
  4: "not_found",
  5: "unreachable",
  130: "interrupted",
};

// Codes that mean "wrong configuration or a held lock", whoever raises them.
const usageCodes = new Set([
  "invalid_configuration",
  "lock_held",
  "lock_unavailable",
  "data_dir_unwritable",
  "data_dir_exposed",
  "not_a_nops_database",
  "schema_outdated",
  "file_exists",
  "schema_too_new",
  "listen_failed",
  "bad_users_file",
  "users_unreadable",
]);

/** The exit code that an error means. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof NopsError && usageCodes.has(error.code)) return exitCodes.usage;
  if (error instanceof InvalidRequestError) return exitCodes.usage;
  if (error instanceof RefusedError || error instanceof ConflictError) return exitCodes.refused;
  if (error instanceof NotFoundError) return exitCodes.notFound;
  if (error instanceof NomadError) return nomadExitCode(error);
  return exitCodes.failed;
}

function nomadExitCode(error: NomadError): ExitCode {
  switch (error.kind) {
    case "not_found":
      return exitCodes.notFound;
    case "conflict":
      return exitCodes.refused;
    case "not_sent":
    case "overloaded":
    case "unknown_outcome":
      return exitCodes.unreachable;
    case "refused":
    case "not_permitted":
      return exitCodes.failed;
  }
}
