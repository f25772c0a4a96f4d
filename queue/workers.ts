import type { Clock, Random } from "../model/clock.ts";
import { messageOf, NopsError } from "../model/errors.ts";
import type { Log } from "../model/log.ts";
import { Backoff, type BackoffOptions, defaultBackoff } from "./backoff.ts";
import type { Pass, Reconciler, Result } from "./reconciler.ts";
import { type Ending, settle } from "./settle.ts";
import type { StopBell } from "./stop-bell.ts";
import { type AddOptions, WorkQueue } from "./work-queue.ts";

/** One finished pass, for metrics. */
export interface PassReport {
  readonly loop: string;
  readonly ending: Ending;
  readonly durationMs: number;
}

export interface LoopOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Passes at the same time. */
  readonly concurrency: number;
  /** A pass's signal aborts after this, ms. */
  readonly deadlineMs?: number;
  readonly backoff?: BackoffOptions;
  readonly onPass?: (report: PassReport) => void;
}

/** A reconciler with its queue: the loop that takes a key, makes a pass, and settles it. */
export interface Loop<K> {
  readonly name: string;
  add(key: K, options?: AddOptions): void;
  has(key: K): boolean;
  /** Waiting and running keys. */
  readonly waiting: number;
  readonly running: number;
  /** Keys whose last pass failed. */
  readonly failing: number;
  /** End of the last pass, ms since the epoch. */
  readonly lastPassAt: number | undefined;
  drain(graceMs: number): Promise<void>;
}

/** Starts the loop of a reconciler. Whatever a pass throws becomes a log line, a count and a delay, never the end of the loop (S68). */
export function startLoop<K>(reconciler: Reconciler<K>, options: LoopOptions): Loop<K> {
  return new ReconcilerLoop(reconciler, options);
}

class ReconcilerLoop<K> implements Loop<K> {
  lastPassAt: number | undefined;
  private readonly reconciler: Reconciler<K>;
  private readonly options: LoopOptions;
  private readonly queue: WorkQueue<K>;
  private readonly failures: Backoff<K>;
  private readonly conflicts: Backoff<K>;
  private serial = 0;

  constructor(reconciler: Reconciler<K>, options: LoopOptions) {
    const { clock, concurrency, random } = options;
    this.reconciler = reconciler;
    this.options = options;
    this.failures = new Backoff<K>(options.backoff ?? defaultBackoff, random);
    this.conflicts = new Backoff<K>({ baseMs: 10, maxMs: 5_000, jitter: 0.5 }, random);
    this.queue = new WorkQueue<K>({ clock, concurrency, handle: (key, stop) => this.handle(key, stop) });
  }

  get name(): string {
    return this.reconciler.name;
  }

  get waiting(): number {
    return this.queue.waiting;
  }

  get running(): number {
    return this.queue.running;
  }

  get failing(): number {
    return this.failures.size;
  }

  add(key: K, add?: AddOptions): void {
    this.queue.add(key, add);
  }

  has(key: K): boolean {
    return this.queue.has(key);
  }

  drain(graceMs: number): Promise<void> {
    return this.queue.drain(graceMs);
  }

  private async handle(key: K, stop: StopBell): Promise<void> {
    const { reconciler, options, failures, conflicts } = this;
    this.serial += 1;
    const begun = options.clock.now();
    const id = `${reconciler.name}-${this.serial}`;
    const log = options.log.child({ loop: reconciler.name, pass: id, key: String(key) });
    const pass = new RunningPass(id, log);
    const release = stop.listen((reason) => pass.abort(reason));
    const outcome = await guardedPass(reconciler, key, pass, options);
    release();
    const ending = settle(this.queue, { failures, conflicts }, key, outcome);
    const ended = options.clock.now();
    this.lastPassAt = ended;
    logEnding(log, ending, outcome, failures.count(key));
    options.onPass?.({ loop: reconciler.name, ending, durationMs: ended - begun });
  }
}

async function guardedPass<K>(
  reconciler: Reconciler<K>,
  key: K,
  pass: RunningPass,
  options: LoopOptions,
): Promise<Result | Error> {
  const timer = options.clock.setTimer(options.deadlineMs ?? 120_000, () => pass.abort(new Error("the pass took too long")));
  try {
    return await reconciler.reconcile(key, pass);
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  } finally {
    timer.cancel();
  }
}

class RunningPass implements Pass {
  readonly id: string;
  readonly log: Log;
  private own: AbortController | undefined;

  constructor(id: string, log: Log) {
    this.id = id;
    this.log = log;
  }

  /** Not made before a pass asks for it, which few do: a signal costs more than the rest of a short pass. */
  get signal(): AbortSignal {
    this.own ??= new AbortController();
    return this.own.signal;
  }

  abort(reason: Error): void {
    this.own ??= new AbortController();
    this.own.abort(reason);
  }
}

function logEnding(log: Log, ending: Ending, outcome: Result | Error, failures: number): void {
  if (!(outcome instanceof Error)) return;
  const fields = {
    error: outcome.message,
    failures,
    ...(outcome instanceof NopsError
      ? { code: outcome.code, ...(outcome.hint === undefined ? {} : { hint: outcome.hint }) }
      : {}),
  };
  if (ending === "conflict") log.info("somebody else was faster, looking again", fields);
  else if (ending === "later") log.warn("asked to come back later", fields);
  else log.error("a pass failed", fields);
}
