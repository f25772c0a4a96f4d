import type { RestartPolicy } from "../state/types.ts";
import { goDurationText } from "./behaviour.ts";

export interface RestartDecision {
  readonly restart: boolean;
  /** Milliseconds to wait before the restart. */
  readonly delay: number;
  readonly reason: string;
  /** It ended well and need not run again. */
  readonly done: boolean;
}

/** Counts a task's restarts by its policy: `attempts` within `interval`, then fail or a longer delay. */
export class RestartTracker {
  readonly #policy: RestartPolicy;
  readonly #onSuccess: boolean;
  readonly #jitter: () => number;
  #count = 0;
  #start: number;

  /** `onSuccess`: services start again even after exit code 0. `jitter` gives 0…1. */
  constructor(policy: RestartPolicy, onSuccess: boolean, now: number, jitter: () => number) {
    this.#policy = policy;
    this.#onSuccess = onSuccess;
    this.#start = now;
    this.#jitter = jitter;
  }

  exited(success: boolean, now: number): RestartDecision {
    const { Attempts, Interval, Delay, Mode } = this.#policy;
    const none = { restart: false, delay: 0 };
    const unneeded = success && !this.#onSuccess;
    if (Attempts === 0) return { ...none, reason: "Policy allows no restarts", done: unneeded };
    const end = this.#start + Interval / 1e6;
    if (now > end) {
      this.#count = 0;
      this.#start = now;
    }
    this.#count++;
    if (unneeded) return { ...none, reason: "Restart unnecessary as task terminated successfully", done: true };
    if (this.#count > Attempts) {
      if (Mode === "fail") {
        const reason = `Exceeded allowed attempts ${Attempts} in interval ${goDurationText(Interval / 1e6)} and mode is "fail"`;
        return { ...none, reason, done: false };
      }
      const left = Math.max(0, this.#start + Interval / 1e6 - now);
      return { restart: true, delay: left, reason: "Exceeded allowed attempts, applying a delay", done: false };
    }
    const delay = Delay / 1e6;
    return {
      restart: true,
      delay: Math.round(delay * (1 + 0.25 * this.#jitter())),
      reason: "Restart within policy",
      done: false,
    };
  }
}
