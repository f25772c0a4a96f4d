import type { Clock, Timer } from "../model/clock.ts";

const longestTimer = 2 ** 31 - 1;

/**
 * One timer a key at an absolute time, for what happens at an edge (design D10). Setting replaces; a time that is past fires
 * as soon as possible, never inside the call.
 */
export class Schedule<K> {
  private readonly timers = new Map<K, { readonly at: number; readonly timer: Timer }>();
  private readonly clock: Clock;
  private readonly fire: (key: K) => void;

  constructor(clock: Clock, fire: (key: K) => void) {
    this.clock = clock;
    this.fire = fire;
  }

  /** `at` in ms since the epoch. */
  set(key: K, at: number): void {
    const before = this.timers.get(key);
    if (before?.at === at) return;
    before?.timer.cancel();
    const wait = Math.max(0, at - this.clock.now());
    const timer = this.clock.setTimer(Math.min(wait, longestTimer), () => {
      this.timers.delete(key);
      if (this.clock.now() >= at) this.fire(key);
      else this.set(key, at);
    });
    this.timers.set(key, { at, timer });
  }

  /** When the key's timer fires, ms since the epoch. */
  at(key: K): number | undefined {
    return this.timers.get(key)?.at;
  }

  clear(key: K): void {
    this.timers.get(key)?.timer.cancel();
    this.timers.delete(key);
  }

  clearAll(): void {
    for (const { timer } of this.timers.values()) timer.cancel();
    this.timers.clear();
  }

  get size(): number {
    return this.timers.size;
  }
}
