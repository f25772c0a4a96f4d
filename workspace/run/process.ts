import { spawn } from "node:child_process";
import type { Clock, Timer } from "../../model/clock.ts";
import { NopsError } from "../../model/errors.ts";

export interface ProcessRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The child may read the terminal. */
  readonly stdin: "inherit" | "ignore";
  readonly signal: AbortSignal;
  /** A whole line of output, without its end. */
  readonly onLine: (line: string, stream: "stdout" | "stderr") => void;
}

/** Runs child processes in groups of their own, so that grandchildren end with them. */
export interface ProcessRunner {
  /** Exit code; a death by signal is 128 + its number. @throws NopsError `spawn_failed`, or the signal's reason after an abort. */
  run(request: ProcessRequest): Promise<number>;
  /** Ends all children at once, without grace: the second Ctrl-C. */
  killAll(): void;
}

/** Time between TERM and KILL, ms (workspace §3.3). */
export const graceMs = 5_000;

/** How long output may trail behind the end of a process whose background children keep its pipe open, ms. */
const drainMs = 500;

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

/** A process runner that ends aborted children by TERM and, after a grace of 5 s, by KILL. */
export function createProcessRunner(clock: Clock): ProcessRunner {
  const groups = new Set<number>();
  return {
    async run(request) {
      request.signal.throwIfAborted();
      const child = spawn(request.file, [...request.args], {
        cwd: request.cwd,
        env: { ...request.env },
        stdio: [request.stdin, "pipe", "pipe"],
        detached: true,
      });
      const pid = child.pid;
      if (pid !== undefined) groups.add(pid);
      const stdout = lineSplitter((line) => request.onLine(line, "stdout"));
      const stderr = lineSplitter((line) => request.onLine(line, "stderr"));
      child.stdout?.setEncoding("utf8").on("data", stdout.push);
      child.stderr?.setEncoding("utf8").on("data", stderr.push);
      let drain: Timer | undefined;
      let kill: Timer | undefined;
      const onAbort = (): void => {
        signalGroup(pid, "SIGTERM");
        kill = clock.setTimer(graceMs, () => signalGroup(pid, "SIGKILL"));
      };
      request.signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await new Promise<number>((resolve, reject) => {
          child.once("error", (error) => {
            const detail = "code" in error && error.code === "ENOENT" ? "there is no such program" : error.message;
            reject(new NopsError(`${request.file} cannot be started: ${detail}`, { code: "spawn_failed" }));
          });
          const end = (code: number | null, signal: NodeJS.Signals | null): void => {
            if (request.signal.aborted) reject(request.signal.reason as Error);
            else resolve(code ?? 128 + (signalNumbers[signal ?? ""] ?? 0));
          };
          // `close`: all output has arrived. A background process that keeps the pipe open must not hold up the pipeline.
          child.once("close", end);
          child.once("exit", (code, signal) => {
            if (!request.signal.aborted) drain = clock.setTimer(drainMs, () => end(code, signal));
          });
        });
      } finally {
        request.signal.removeEventListener("abort", onAbort);
        kill?.cancel();
        drain?.cancel();
        // What a step leaves behind in its group after an abort must not outlive it.
        if (request.signal.aborted) signalGroup(pid, "SIGKILL");
        if (pid !== undefined) groups.delete(pid);
        stdout.end();
        stderr.end();
      }
    },
    killAll() {
      for (const pid of groups) signalGroup(pid, "SIGKILL");
    },
  };
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Already gone.
  }
}

/** Cuts a stream of text into lines; a carriage return without line feed starts the line over, as a terminal would show it. */
export function lineSplitter(emit: (line: string) => void): { push(chunk: string): void; end(): void } {
  let rest = "";
  const flush = (line: string): void => {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    emit(text.slice(text.lastIndexOf("\r") + 1));
  };
  return {
    push(chunk) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) flush(part);
    },
    end() {
      if (rest !== "") flush(rest);
      rest = "";
    },
  };
}
