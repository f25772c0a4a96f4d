import { NopsError } from "../../model/errors.ts";
import type { EventSink } from "../../workspace/run/events.ts";
import { formatEvent } from "../../workspace/run/format.ts";
import { CommandError, exitCodeOf } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { printable } from "../output.ts";

interface OutputFlags {
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/**
 * Shows what a run tells: lines on stderr and the closing one on stdout, or with `--json` one JSON object a line on stdout
 * and notices on stderr.
 */
export function eventSink(io: CommandIo, flags: OutputFlags): EventSink {
  if (flags.json === true) {
    return (event) => {
      if (event.event === "notice") io.err(`${printable(event.message)}\n`);
      else io.out(`${JSON.stringify(event)}\n`);
    };
  }
  return (event) => {
    const toOut = event.event === "run_finished";
    for (const line of formatEvent(event, { colour: toOut ? io.colour.out : io.colour.err })) {
      (toOut ? io.out : io.err)(`${line}\n`);
    }
  };
}

/** Prints data as one JSON document. */
export function printJson(io: CommandIo, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** With `--json` an error is an envelope on stderr; without, the program prints it as always. */
export async function withErrors(io: CommandIo, flags: OutputFlags, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (flags.json !== true || !(error instanceof NopsError) || error instanceof CommandError) throw error;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    io.err(`${JSON.stringify({ error: { code: error.code, message: error.message, ...hint } })}\n`);
    throw new CommandError(exitCodeOf(error), "");
  }
}
