import { ConflictError, NomadError, RetryAfterError, TerminalError } from "../model/errors.ts";
import type { Backoff } from "./backoff.ts";
import type { Result } from "./reconciler.ts";
import type { AddOptions } from "./work-queue.ts";

/** What settling needs of a queue. */
export interface Requeue<K> {
  add(key: K, options?: AddOptions): void;
}

/** How a pass ended, as counters and the log name it. */
export type Ending = "settled" | "recheck" | "conflict" | "later" | "terminal" | "error";

/**
 * Turns the end of a pass into at most one queue act.
 * Success and a lost race forget failures; the same inputs would fail again after a `TerminalError`, so only new inputs return
 * that key; what the far side asked to wait is waited; everything else backs off, key by key.
 */
export function settle<K>(
  queue: Requeue<K>,
  backoff: { readonly failures: Backoff<K>; readonly conflicts: Backoff<K> },
  key: K,
  outcome: Result | Error,
): Ending {
  if (outcome instanceof ConflictError) {
    // The first lost race returns at once; a series of them must not turn into a busy loop.
    const delay = backoff.conflicts.next(key);
    queue.add(key, backoff.conflicts.count(key) > 1 ? { afterMs: delay } : {});
    return "conflict";
  }
  backoff.conflicts.forget(key);
  if (outcome instanceof RetryAfterError) {
    queue.add(key, { afterMs: outcome.afterMs });
    return "later";
  }
  if (outcome instanceof NomadError && outcome.retryAfterMs !== undefined) {
    queue.add(key, { afterMs: Math.max(outcome.retryAfterMs, backoff.failures.next(key)) });
    return "later";
  }
  if (outcome instanceof TerminalError) {
    backoff.failures.forget(key);
    return "terminal";
  }
  if (outcome instanceof Error) {
    queue.add(key, { afterMs: backoff.failures.next(key) });
    return "error";
  }
  backoff.failures.forget(key);
  if (outcome.next === "recheck") queue.add(key, { afterMs: outcome.afterMs });
  return outcome.next;
}
