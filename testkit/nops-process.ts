/** The built program as a process of its own, for tests that need the real thing. Ends by its id, never by name. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

// Seen from the sources, or from their compiled form in dist/.
const beside = join(import.meta.dirname, "../cmd/nops.js");
const program = existsSync(beside) ? beside : join(import.meta.dirname, "../dist/cmd/nops.js");

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs as this user, for tests that may run as root. */
  readonly uid?: number;
}

export interface NopsProcess {
  readonly pid: number;
  readonly finished: Promise<Finished>;
  /** Everything written so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the match as soon as either stream holds the pattern. @throws when the process ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
}

/** A clean environment: nothing of the developer's machine steers the program. */
function environment(extra: Readonly<Record<string, string>>): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), NO_COLOR: "1", ...extra };
}

/** Starts `nops …`. @throws when the program was not built. */
export function startNopsProcess(args: readonly string[], options: StartOptions = {}): NopsProcess {
  if (!existsSync(program)) throw new Error("dist/cmd/nops.js is missing: npm run build");
  const child = spawn(process.execPath, [program, ...args], {
    cwd: options.cwd,
    env: environment(options.env ?? {}),
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  return track(child);
}

/** Runs `nops …` to its end. */
export function runNops(args: readonly string[], options: StartOptions = {}): Promise<Finished> {
  return startNopsProcess(args, options).finished;
}

function track(child: ChildProcess): NopsProcess {
  const text = { out: "", err: "" };
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout?.on("data", (chunk: Buffer) => {
    text.out += chunk.toString();
    changed();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    text.err += chunk.toString();
    changed();
  });
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout: text.out, stderr: text.err }));
  });
  void finished.then(changed, changed);
  return {
    pid: child.pid ?? -1,
    finished,
    stdout: () => text.out,
    stderr: () => text.err,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text.out) ?? pattern.exec(text.err);
          if (match !== null) {
            listeners.delete(look);
            resolve(match);
          } else if (child.exitCode !== null || child.signalCode !== null) {
            listeners.delete(look);
            reject(
              new Error(
                `nops ended with ${child.exitCode ?? child.signalCode} before it printed ${pattern}\n${text.out}${text.err}`,
              ),
            );
          }
        };
        listeners.add(look);
        look();
      }),
    kill: (signal) => void child.kill(signal),
  };
}
