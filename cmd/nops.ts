#!/usr/bin/env node
/** Entry of the program: makes the real surroundings and runs one command. The only place that exits. */
import { exitCodes } from "./exit-codes.ts";
import type { CommandIo } from "./io.ts";
import { runToExitCode } from "./main.ts";
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
  readSecret: async (question) => {
    if (!io.interactive) return (await import("node:stream/consumers")).text(process.stdin);
    const { password, isCancel } = await import("@clack/prompts");
    const answer = await password({ message: question, output: process.stderr });
    if (isCancel(answer)) process.exit(exitCodes.interrupted);
    return answer;
  },
  interrupted: interruption(),
  clock: systemClock,
  random: systemRandom,
};

process.exitCode = await runToExitCode(process.argv.slice(2), io);
