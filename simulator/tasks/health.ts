import type { Clock, Timer } from "../../model/clock.ts";
import { goDurationText } from "./behaviour.ts";

export interface HealthParameters {
  /** Milliseconds for which all tasks must run without a restart. */
  readonly minHealthyMs: number;
  /** Milliseconds within which that must have happened. */
  readonly deadlineMs: number;
}

/** What the tracker looks at: the start of the youngest running task, or why there is none. */
export type Liveness =
  | { readonly kind: "running"; readonly since: number }
  | { readonly kind: "waiting" }
  | { readonly kind: "failed" };

/** Watches a new allocation until it counts as healthy or unhealthy; the first verdict stands. */
export class HealthTracker {
  readonly #clock: Clock;
  readonly #parameters: HealthParameters;
  readonly #verdict: (healthy: boolean, message: string) => void;
  readonly #deadline: Timer;
  #waiting: Timer | undefined;
  #since = 0;
  #done = false;

  constructor(clock: Clock, parameters: HealthParameters, verdict: (healthy: boolean, message: string) => void) {
    this.#clock = clock;
    this.#parameters = parameters;
    this.#verdict = verdict;
    this.#deadline = clock.setTimer(parameters.deadlineMs, () => {
      const min = goDurationText(parameters.minHealthyMs);
      this.#decide(
        false,
        `Task not running for min_healthy_time of ${min} by healthy_deadline of ${goDurationText(parameters.deadlineMs)}`,
      );
    });
  }

  look(liveness: Liveness): void {
    if (this.#done) return;
    if (liveness.kind === "failed") {
      this.#decide(false, "Unhealthy because of failed task");
      return;
    }
    const since = liveness.kind === "running" ? liveness.since : 0;
    if (since === this.#since) return;
    this.#since = since;
    this.#waiting?.cancel();
    this.#waiting = since === 0 ? undefined : this.#clock.setTimer(this.#parameters.minHealthyMs, () => this.#decide(true, ""));
  }

  #decide(healthy: boolean, message: string): void {
    if (this.#done) return;
    this.stop();
    this.#verdict(healthy, message);
  }

  stop(): void {
    this.#done = true;
    this.#deadline.cancel();
    this.#waiting?.cancel();
  }
}
