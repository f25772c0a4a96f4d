/** One command line to its exit code: runs it and prints what it throws, as text or, with `--json`, as the envelope of the HTTP API. */
import { messageOf, NopsError } from "../model/errors.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "./exit-codes.ts";
import type { CommandIo } from "./io.ts";
import { runProgram } from "./program.ts";

/** Never throws. The last thing on stderr is why the command did not end with 0. */
export async function runToExitCode(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  try {
    await runProgram(argv, io);
    return exitCodes.done;
  } catch (error) {
    io.err(wantsJson(argv) ? envelope(error) : explain(error));
    return io.interrupted.aborted ? exitCodes.interrupted : exitCodeOf(error);
  }
}

/** Asked of the words themselves, because an error may come before they are understood. */
function wantsJson(argv: readonly string[]): boolean {
  const words = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : argv.length);
  return words.some(
    (word, index) => word === "--json" || word === "--format=json" || (word === "--format" && words[index + 1] === "json"),
  );
}

/** Message, then hint. A bug shows its stack, since nothing else helps to find it. */
function explain(error: unknown): string {
  if (isOfSystem(error)) return `nops: ${systemWords(error)}\nhint: ${systemHint}\n`;
  if (!(error instanceof NopsError)) return `nops: ${stackOf(error)}\n`;
  if (error.message === "") return "";
  return `nops: ${error.message}\n${error.hint === undefined ? "" : `hint: ${error.hint}\n`}`;
}

/** One line of the shape that the HTTP API answers with. An error whose command has told everything on stdout adds nothing. */
function envelope(error: unknown): string {
  if (error instanceof NopsError && error.message === "") return "";
  const told =
    error instanceof NopsError
      ? { code: error.code, message: error.message, hint: error.hint ?? null }
      : isOfSystem(error)
        ? { code: "system_error", message: systemWords(error), hint: systemHint }
        : { code: "internal", message: stackOf(error), hint: null };
  return `${JSON.stringify({ error: told })}\n`;
}

interface SystemError {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
}

/** What the system refuses is no bug: a file that is not there, a folder that may not be written, a full disk. */
function isOfSystem(error: unknown): error is SystemError {
  return error instanceof Error && "code" in error && "syscall" in error && typeof error.code === "string";
}

const systemHint = "look whether it is there, whether this user may use it, and whether there is room";

function systemWords({ code, syscall, path }: SystemError): string {
  return `the system refuses to ${syscall}${path === undefined ? "" : ` ${path}`}: ${code}`;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
}
