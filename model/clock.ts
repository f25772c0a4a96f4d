/** A timer that has been set; cancelling one that fired or was cancelled does nothing. */
export interface Timer {
  cancel(): void;
}

/**
 * The only door to time (design D22). Everything that waits or reads the time takes one of these,
 * so that tests and the simulation decide how time passes.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds (at once when `ms` ≤ 0, but never before this call returned). */
  setTimer(ms: number, fn: () => void): Timer;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The only door to chance. `next()` is uniform in [0, 1). */
export interface Random {
  next(): number;
  /** `length` random bytes; a production source must be cryptographically strong. */
  bytes(length: number): Uint8Array;
}

/** An instant as the store, the API and the CLI show it: ISO 8601 in UTC with milliseconds. */
export type Instant = string;

let lastMs = Number.NaN;
let lastInstant: Instant = "";

/** Formats milliseconds since the epoch as an `Instant`. One millisecond is often asked for several times in a row. */
export function toInstant(ms: number): Instant {
  if (ms !== lastMs) {
    lastInstant = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastInstant;
}
