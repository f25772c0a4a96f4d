import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { NomadClient } from "../../nomad/client.ts";
import { flockFileLock } from "../../store/lock.ts";
import type { Host } from "../../workspace/app/host.ts";
import { openSession, type Session } from "../../workspace/app/session.ts";
import { findRoot } from "../../workspace/config/root.ts";
import type { HttpProbe, Prompt, WorkspaceNomad } from "../../workspace/ports.ts";
import { createProcessRunner } from "../../workspace/run/process.ts";
import type { CommandIo } from "../io.ts";
import { version } from "../version.ts";
import { hostFacts } from "./facts.ts";
import { eventSink } from "./output.ts";

/** Flags that every workspace command takes. */
export interface WorkspaceFlags {
  readonly workspace?: string;
  readonly yes?: boolean;
  readonly nonInteractive?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** Loads the workspace around the working directory and runs `work` in it; what it opened is closed again. */
export async function inWorkspace<T>(io: CommandIo, flags: WorkspaceFlags, work: (session: Session) => Promise<T>): Promise<T> {
  const root = findRoot(resolve(io.workingDirectory, flags.workspace ?? "."));
  const opened: NomadClient[] = [];
  const processes = createProcessRunner(io.clock);
  const killChildren = (): void => processes.killAll();
  // A second Ctrl-C ends this process at once; its children are in groups of their own and must end with it.
  process.once("exit", killChildren);
  try {
    const session = openSession(createHost(io, flags, root, processes, opened));
    return await work(session).catch((error: unknown) => {
      // What is thrown is printed by the program, which knows nothing of this project's secrets.
      if (error instanceof Error) error.message = session.values.redactor.redact(error.message);
      throw error;
    });
  } finally {
    process.removeListener("exit", killChildren);
    for (const client of opened) client.close();
  }
}

function createHost(
  io: CommandIo,
  flags: WorkspaceFlags,
  root: string,
  processes: Host["processes"],
  opened: NomadClient[],
): Host {
  const assumeYes = flags.yes === true || flags.nonInteractive === true || io.environment.NOPS_YES === "1";
  return {
    root,
    env: io.environment,
    version,
    facts: hostFacts(),
    parallelism: availableParallelism(),
    clock: io.clock,
    lock: flockFileLock(),
    nomad: connectOnce(io, opened),
    jobFiles: {
      prepare: async (request) => (await import("./job-files.ts")).hclJobFiles.prepare(request),
    },
    http: lazyProbe(io),
    processes,
    self: { file: process.execPath, args: [...process.execArgv, process.argv[1] ?? ""] },
    prompt: prompt(io, assumeYes),
    assumeYes,
    signal: io.interrupted,
    sink: eventSink(io, flags),
  };
}

/** Nomad's client is heavy to load and many runs never need it. */
function connectOnce(io: CommandIo, opened: NomadClient[]): Host["nomad"] {
  let connecting: Promise<WorkspaceNomad> | undefined;
  return (region) => {
    connecting ??= (async () => {
      const { adaptNomad, clientFromEnvironment } = await import("./nomad-adapter.ts");
      const client = clientFromEnvironment(io, region);
      opened.push(client);
      return adaptNomad(client);
    })();
    return connecting;
  };
}

function lazyProbe(io: CommandIo): HttpProbe {
  return {
    get: async (url, timeoutMs, signal) => (await import("./http-probe.ts")).httpProbe(io.clock).get(url, timeoutMs, signal),
  };
}

function prompt(io: CommandIo, assumeYes: boolean): Prompt {
  return {
    interactive: io.interactive && !assumeYes,
    async confirm(message) {
      if (assumeYes) return true;
      if (io.interactive) return io.confirm(message);
      return readAnswer(io, message);
    },
    async select(message, choices) {
      const { isCancel, select } = await import("@clack/prompts");
      const options = choices.map(({ value, label }) => ({ value: value as string, label }));
      const answer = await select({ message, options, output: process.stderr });
      return isCancel(answer) ? undefined : choices.find(({ value }) => value === answer)?.value;
    },
  };
}

/** Without a terminal a confirmation is a plain line on standard input; its end is a no (workspace §4.1). */
async function readAnswer(io: CommandIo, message: string): Promise<boolean> {
  io.err(`${message} [y/N] `);
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}
