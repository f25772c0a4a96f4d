import type { EventSink } from "../../workspace/run/events.ts";
import { formatEvent } from "../../workspace/run/format.ts";
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
