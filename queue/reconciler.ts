import type { Log } from "../model/log.ts";

/** One pass over one key. */
export interface Pass {
  /** Names the pass in the log. */
  readonly id: string;
  /** Aborts when the pass has taken too long or the process must end. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The only two ways to end well: nothing more to do until something changes, or look again after a stated time. */
export type Result = { readonly next: "settled" } | { readonly next: "recheck"; readonly afterMs: number; readonly why: string };

export const settled: Result = { next: "settled" };

/** Look again in `afterMs`; `why` is for the log. */
export function recheck(afterMs: number, why: string): Result {
  return { next: "recheck", afterMs, why };
}

/** Brings one key nearer to where it belongs: reads everything anew, does one bounded thing, never waits for the world. */
export interface Reconciler<K> {
  readonly name: string;
  reconcile(key: K, pass: Pass): Promise<Result>;
}
