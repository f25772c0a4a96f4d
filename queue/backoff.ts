import type { Random } from "../model/clock.ts";

export interface BackoffOptions {
  /** Delay after the first failure, ms. */
  readonly baseMs: number;
  /** Longest delay before jitter, ms. */
  readonly maxMs: number;
  /** Up to this share of the delay is added at random, so that keys that failed together do not return together. */
  readonly jitter: number;
}

export const defaultBackoff: BackoffOptions = { baseMs: 1_000, maxMs: 60_000, jitter: 0.2 };

/** Delay after the `failures`-th failure in a row (from 1): doubles from `baseMs` up to `maxMs`, plus jitter. */
export function backoffDelay(failures: number, options: BackoffOptions, random: Random): number {
  const plain = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(Math.max(failures, 1) - 1, 40));
  return Math.round(plain * (1 + options.jitter * random.next()));
}

/** Failures in a row, key by key. Only keys that fail take memory. */
export class Backoff<K> {
  private readonly failures = new Map<K, number>();
  private readonly options: BackoffOptions;
  private readonly random: Random;

  constructor(options: BackoffOptions, random: Random) {
    this.options = options;
    this.random = random;
  }

  /** Counts a failure and says how long to wait, ms. */
  next(key: K): number {
    const failures = this.count(key) + 1;
    this.failures.set(key, failures);
    return backoffDelay(failures, this.options, this.random);
  }

  count(key: K): number {
    return this.failures.get(key) ?? 0;
  }

  forget(key: K): void {
    this.failures.delete(key);
  }

  /** Keys whose last pass failed. */
  get size(): number {
    return this.failures.size;
  }
}
