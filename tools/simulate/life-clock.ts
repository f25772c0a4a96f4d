import type { Clock, Timer } from "../../model/clock.ts";

/** The clock of one process over the world's clock. When the process dies its timers die with it. */
export class LifeClock implements Clock {
  private readonly base: Clock;
  private readonly timers = new Set<Timer>();
  private alive = true;
  private fired = false;

  constructor(base: Clock) {
    this.base = base;
  }

  now(): number {
    return this.base.now();
  }

  setTimer(ms: number, fn: () => void): Timer {
    const timer = this.base.setTimer(ms, () => {
      this.timers.delete(timer);
      if (!this.alive) return;
      this.fired = true;
      fn();
    });
    this.timers.add(timer);
    return {
      cancel: () => {
        this.timers.delete(timer);
        timer.cancel();
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(reasonOf(signal));
      const onAbort = (): void => {
        timer.cancel();
        reject(reasonOf(signal));
      };
      const timer = this.setTimer(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Whether a timer fired since the last time this was asked. */
  takeFired(): boolean {
    const { fired } = this;
    this.fired = false;
    return fired;
  }

  /** Timers that are set. */
  get pending(): number {
    return this.timers.size;
  }

  die(): void {
    this.alive = false;
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
  }
}

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error("aborted");
}
