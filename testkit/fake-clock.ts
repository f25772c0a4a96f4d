import type { Clock, Random, Timer } from "../model/clock.ts";

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

/** A clock that stands still until it is told to move. Timers fire in order of time, then of setting. */
export class FakeClock implements Clock {
  private time: number;
  private order = 0;
  private alarms: Alarm[] = [];

  /** Begins at a fixed instant, so that tests read the same everywhere. */
  constructor(start = Date.UTC(2027, 0, 4, 12, 0, 0)) {
    this.time = start;
  }

  now(): number {
    return this.time;
  }

  setTimer(ms: number, fn: () => void): Timer {
    const alarm: Alarm = { at: this.time + Math.max(0, ms), order: this.order++, fn };
    this.alarms.push(alarm);
    return {
      cancel: () => {
        this.alarms = this.alarms.filter((other) => other !== alarm);
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(asError(signal.reason));
        return;
      }
      const onAbort = (): void => {
        timer.cancel();
        reject(asError(signal?.reason));
      };
      const timer = this.setTimer(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** How many timers are set. A test that ends with some has left something running. */
  get pending(): number {
    return this.alarms.length;
  }

  /** When the next timer fires, ms since the epoch. */
  get nextAt(): number | undefined {
    return this.first()?.at;
  }

  /** Moves on by `ms`, firing what falls due, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const until = this.time + ms;
    await settled();
    for (let next = this.first(); next !== undefined && next.at <= until; next = this.first()) {
      this.fire(next);
      await settled();
    }
    this.time = until;
  }

  /** Fires the next timer, however far away. `false` when there is none. */
  async step(): Promise<boolean> {
    await settled();
    const next = this.first();
    if (next === undefined) return false;
    this.fire(next);
    await settled();
    return true;
  }

  private first(): Alarm | undefined {
    let best: Alarm | undefined;
    for (const alarm of this.alarms) {
      if (best === undefined || alarm.at < best.at || (alarm.at === best.at && alarm.order < best.order)) best = alarm;
    }
    return best;
  }

  private fire(alarm: Alarm): void {
    this.alarms = this.alarms.filter((other) => other !== alarm);
    this.time = Math.max(this.time, alarm.at);
    alarm.fn();
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted");
}

/** Lets everything that is ready to run, run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A repeatable source of chance (mulberry32). */
export class SeededRandom implements Random {
  private state: number;

  constructor(seed = 1) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.next() * 256));
  }
}
