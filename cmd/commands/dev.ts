/** `nops dev`: only the Nomad simulator, on loopback. */
import { scaledClock } from "../../simulator/clock.ts";
import { createSimulator } from "../../simulator/server.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";

export interface DevFlags {
  readonly port: string;
  readonly acl?: boolean;
  readonly nodes: string;
  readonly speed: string;
  readonly control?: boolean;
}

/** Prints `NOMAD_ADDR=…` on a line of its own once it answers; runs until it is interrupted. */
export async function dev(flags: DevFlags, io: CommandIo): Promise<void> {
  const simulator = createSimulator({
    nodes: whole(flags.nodes, "--nodes", 1, 1_000),
    acl: flags.acl ?? false,
    control: flags.control ?? false,
    clock: scaledClock(io.clock, positive(flags.speed, "--speed")),
  });
  const listening = await simulator.listen(whole(flags.port, "--port", 0, 65_535)).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      exitCodes.usage,
      `cannot listen on port ${flags.port}: ${error.code ?? error.message}`,
      "choose another with --port; 0 takes a free one",
    );
  });
  io.out(`NOMAD_ADDR=${listening.address}\n`);
  io.err("a simulated Nomad: nothing it places ever runs; stop it with Ctrl-C\n");
  await new Promise<void>((resolve) => {
    if (io.interrupted.aborted) resolve();
    else io.interrupted.addEventListener("abort", () => resolve(), { once: true });
  });
  await simulator.close();
}

/** @throws CommandError when a flag is no whole number in its range. */
export function whole(text: string, flag: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new CommandError(exitCodes.usage, `${flag}: "${text}" is not a whole number from ${least} to ${most}`);
}

function positive(text: string, flag: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value <= 100_000) return value;
  throw new CommandError(exitCodes.usage, `${flag}: "${text}" is not a positive number`);
}
