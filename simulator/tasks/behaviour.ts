import type { Job, Task, TaskGroup } from "../state/types.ts";
import { runScript } from "./shell-run.ts";

/** How a simulated task behaves each time it is started. */
export interface Behaviour {
  /** Milliseconds after the start at which it ends; undefined: it runs until it is killed. */
  readonly endsAfterMs: number | undefined;
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** It could not be started at all, and this is what its driver says. */
  readonly startError?: string | undefined;
  /** Milliseconds from a kill to its end; default at once. */
  readonly stopsAfterMs?: number | undefined;
}

export interface TaskContext {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly task: Task;
  /** How often it was started before. */
  readonly restarts: number;
  readonly env: Readonly<Record<string, string>>;
}

/** A test's own idea of a task's behaviour; undefined leaves it to the task's configuration. */
export type BehaviourHook = (context: TaskContext) => Partial<Behaviour> | undefined;

/** An unknown program of a batch job is over after this many milliseconds. */
const batchWork = 200;

/**
 * Reads a task's behaviour off its configuration: shells are acted out, well-known programs too, anything else runs for ever in
 * a service and succeeds after a moment in a batch job. No process, file or network is touched.
 */
export function behaviourOf(context: TaskContext, hook: BehaviourHook | undefined): Behaviour {
  const natural = context.task.Driver === "mock_driver" ? mock(context.task) : fromCommand(context);
  return { ...natural, ...hook?.(context) };
}

function fromCommand(context: TaskContext): Behaviour {
  const { task, job } = context;
  const config = task.Config ?? {};
  const runs = (job.Type === "service" || job.Type === "system") && !(task.Lifecycle && !task.Lifecycle.Sidecar);
  const command = typeof config["command"] === "string" ? config["command"] : undefined;
  const entry = strings(config["entrypoint"]);
  const args = strings(config["args"]);
  const words = command === undefined ? entry : [...entry, command];
  if (words.length === 0) return unknown(runs);
  const script = asScript([...words, ...args]);
  const result = runScript(script, context.env, runs);
  return { endsAfterMs: result.tookMs, exitCode: result.code, stdout: result.stdout, stderr: result.stderr };
}

function asScript(words: readonly string[]): string {
  return `exec ${words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")}`;
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.map(String) : [];
}

function unknown(runs: boolean): Behaviour {
  return { endsAfterMs: runs ? undefined : batchWork, exitCode: 0, stdout: "", stderr: "" };
}

function mock(task: Task): Behaviour {
  const config = task.Config ?? {};
  const text = (name: string) => (typeof config[name] === "string" ? String(config[name]) : "");
  const runFor = text("run_for");
  return {
    endsAfterMs: runFor === "" ? 0 : goDuration(runFor),
    exitCode: Number(config["exit_code"] ?? 0),
    stdout: text("stdout_string"),
    stderr: "",
    startError: text("start_error") === "" ? undefined : text("start_error"),
    stopsAfterMs: text("kill_after") === "" ? undefined : goDuration(text("kill_after")),
  };
}

const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a Go duration such as `1m30s`; undefined when it is none. */
export function goDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  const found = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/.exec(text);
  if (found === null) return undefined;
  let total = 0;
  for (const part of (found[2] ?? "").matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(part[1]) * (unitMs[part[2] ?? ""] ?? 0);
  }
  return found[1] === "-" ? -total : total;
}

/** A duration as Go prints it: `1m30s`, `15s`, `250ms`. */
export function goDurationText(ms: number): string {
  if (ms === 0) return "0s";
  if (ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${Number(seconds.toFixed(9))}s`;
}
