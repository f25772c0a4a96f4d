/** Command lines in this process, as the program runs them: for tests of what commands print and how they end. */
import type { CommandIo } from "../cmd/io.ts";
import { runToExitCode } from "../cmd/main.ts";
import { systemClock, systemRandom } from "../cmd/system-clock.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Without a terminal, with no Nomad and no nops to be reached unless `env` names one. */
export async function commandLine(
  args: readonly string[],
  options: { readonly folder?: string; readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
): Promise<Ran> {
  const text = { out: "", err: "" };
  const adder = (stream: "out" | "err") => (more: string) => {
    text[stream] += more;
  };
  const io: CommandIo = {
    out: adder("out"),
    err: adder("err"),
    environment: { PATH: process.env.PATH, NOMAD_ADDR: "http://127.0.0.1:1", NOPS_ADDR: "http://127.0.0.1:1", ...options.env },
    workingDirectory: options.folder ?? "/",
    interactive: false,
    colour: { out: false, err: false },
    confirm: async () => false,
    readSecret: async () => options.stdin ?? "",
    interrupted: new AbortController().signal,
    clock: systemClock,
    random: systemRandom,
  };
  return { code: await runToExitCode(args, io), ...text };
}
