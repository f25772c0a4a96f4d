import type { Clock, Random } from "../model/clock.ts";
import { messageOf, NopsError } from "../model/errors.ts";
import type { Log } from "../model/log.ts";
import { Backoff, type BackoffOptions, defaultBackoff } from "./backoff.ts";
import type { Pass, Reconciler, Result } from "./reconciler.ts";
import { type Ending, settle } from "./settle.ts";
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
  const failures = new Backoff<K>(options.backoff ?? defaultBackoff, options.random);
  const conflicts = new Backoff<K>({ baseMs: 10, maxMs: 5_000, jitter: 0.5 }, options.random);
  let serial = 0;
  let lastPassAt: number | undefined;
  const queue = new WorkQueue<K>({ clock: options.clock, concurrency: options.concurrency, handle: handleKey });

  async function handleKey(key: K, stopping: AbortSignal): Promise<void> {
    serial += 1;
    const begun = options.clock.now();
    const id = `${reconciler.name}-${serial}`;
    const log = options.log.child({ loop: reconciler.name, pass: id, key: String(key) });
    const outcome = await guardedPass(reconciler, key, { id, log }, stopping, options);
    const ending = settle(queue, { failures, conflicts }, key, outcome);
    lastPassAt = options.clock.now();
    logEnding(log, ending, outcome, failures.count(key));
    options.onPass?.({ loop: reconciler.name, ending, durationMs: lastPassAt - begun });
  }

  return {
    name: reconciler.name,
    add: (key, add) => queue.add(key, add),
    has: (key) => queue.has(key),
    get waiting() {
      return queue.waiting;
    },
    get running() {
      return queue.running;
    },
    get failing() {
      return failures.size;
    },
    get lastPassAt() {
      return lastPassAt;
    },
    drain: (graceMs) => queue.drain(graceMs),
  };
}

async function guardedPass<K>(
  reconciler: Reconciler<K>,
  key: K,
  pass: Omit<Pass, "signal">,
  stopping: AbortSignal,
  options: LoopOptions,
): Promise<Result | Error> {
  const deadline = new AbortController();
  const onStop = (): void => deadline.abort(stopping.reason);
  stopping.addEventListener("abort", onStop, { once: true });
  const timer = options.clock.setTimer(options.deadlineMs ?? 120_000, () => deadline.abort(new Error("the pass took too long")));
  try {
    return await reconciler.reconcile(key, { ...pass, signal: deadline.signal });
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  } finally {
    timer.cancel();
    stopping.removeEventListener("abort", onStop);
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
