#!/usr/bin/env node
/** Entry of the program: makes the real surroundings, runs one command, turns what it throws into message and exit code. The only place that exits. */
import { messageOf, NopsError } from "../model/errors.ts";
import { exitCodeOf, exitCodes } from "./exit-codes.ts";
import type { CommandIo } from "./io.ts";
import { runProgram } from "./program.ts";
import { interruption } from "./signals.ts";
import { systemClock, systemRandom } from "./system-clock.ts";

// `nops … | head` closes our stdout: that is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.done);
    throw error;
  });
}

const plain = (process.env["NO_COLOR"] ?? "") !== "";

const io: CommandIo = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  environment: process.env,
  workingDirectory: process.cwd(),
  interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  colour: { out: process.stdout.isTTY === true && !plain, err: process.stderr.isTTY === true && !plain },
  confirm: async (question) => {
    const { confirm, isCancel } = await import("@clack/prompts");
    const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
    return !isCancel(answer) && answer;
  },
  interrupted: interruption(),
  clock: systemClock,
  random: systemRandom,
};

/** What a person sees of an error: message, then hint. A bug shows its stack, since nothing else helps to find it. */
function explain(error: unknown): string {
  if (!(error instanceof NopsError))
    return `nops: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}\n`;
  if (error.message === "") return "";
  return `nops: ${error.message}\n${error.hint === undefined ? "" : `hint: ${error.hint}\n`}`;
}

try {
  await runProgram(process.argv.slice(2), io);
} catch (error) {
  process.stderr.write(explain(error));
  process.exitCode = io.interrupted.aborted ? exitCodes.interrupted : exitCodeOf(error);
}
