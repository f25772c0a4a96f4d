import type { Clock, Timer } from "../model/clock.ts";

interface Pending {
  readonly at: number;
  readonly order: number;
  /** Gone when the timer was cancelled, with all that it held. */
  fn: (() => void) | undefined;
}

/** Fewer cancelled timers than this stay in the heap until their time has come. */
const fewCancelled = 64;

/**
 * A clock that stands still until it is told to go on (design D22). Timers that are due at the same millisecond fire in
 * the order in which they were set, so that a run with one seed is always the same run.
 */
export class VirtualClock implements Clock {
  #now: number;
  #order = 0;
  #heap: Pending[] = [];
  #cancelled = 0;

  /** `start` in milliseconds since the epoch. */
  constructor(start: number = Date.UTC(2030, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fn: () => void): Timer {
    const pending: Pending = { at: this.#now + Math.max(0, ms), order: this.#order++, fn };
    push(this.#heap, pending);
    return {
      cancel: () => {
        if (pending.fn === undefined) return;
        pending.fn = undefined;
        this.#cancelled += 1;
        if (this.#cancelled > fewCancelled && this.#cancelled > this.#heap.length / 2) this.#sweep();
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Milliseconds until the next timer, or undefined when none is set. */
  untilNext(): number | undefined {
    while (this.#heap[0] !== undefined && this.#heap[0].fn === undefined) this.#pop(this.#heap[0]);
    return this.#heap[0] === undefined ? undefined : Math.max(0, this.#heap[0].at - this.#now);
  }

  /** Lets `ms` milliseconds pass and fires every timer that becomes due, also those that timers set on the way. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > end) break;
      const fn = this.#pop(next);
      if (fn === undefined) continue;
      this.#now = Math.max(this.#now, next.at);
      fn();
    }
    this.#now = end;
  }

  /** Takes the first timer out. Gives what it does, unless it was cancelled. */
  #pop(first: Pending): (() => void) | undefined {
    pop(this.#heap);
    const { fn } = first;
    if (fn === undefined) this.#cancelled -= 1;
    first.fn = undefined;
    return fn;
  }

  /** Makes the heap anew without what was cancelled. A list in order is a heap. */
  #sweep(): void {
    this.#heap = this.#heap.filter((each) => each.fn !== undefined).sort((a, b) => (before(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }
}

/** A clock over another one that runs `speed` times as fast, from the same instant on (`nops dev --speed`). */
export function scaledClock(base: Clock, speed: number): Clock {
  const start = base.now();
  const clock: Clock = {
    now: () => Math.floor(start + (base.now() - start) * speed),
    setTimer: (ms, fn) => base.setTimer(ms / speed, fn),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
  };
  return clock;
}

/** Remembers the timers set through it, so that closing the simulator leaves none behind. */
export class TimerSet implements Clock {
  readonly #base: Clock;
  readonly #live = new Set<Timer>();
  #closed = false;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): number {
    return this.#base.now();
  }

  setTimer(ms: number, fn: () => void): Timer {
    if (this.#closed) return { cancel: () => {} };
    const timer = this.#base.setTimer(ms, () => {
      this.#live.delete(timer);
      fn();
    });
    this.#live.add(timer);
    return {
      cancel: () => {
        this.#live.delete(timer);
        timer.cancel();
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Cancels every timer; later ones are not set at all. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#live) timer.cancel();
    this.#live.clear();
  }
}

function sleepOn(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function before(a: Pending, b: Pending): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Pending[], item: Pending): void {
  let at = heap.push(item) - 1;
  while (at > 0) {
    const up = (at - 1) >> 1;
    const parent = heap[up];
    if (parent === undefined || !before(item, parent)) break;
    heap[at] = parent;
    at = up;
  }
  heap[at] = item;
}

function pop(heap: Pending[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const a = heap[left];
    if (a === undefined) break;
    const b = heap[left + 1];
    const [index, child] = b !== undefined && before(b, a) ? [left + 1, b] : [left, a];
    if (!before(child, last)) break;
    heap[at] = child;
    at = index;
  }
  heap[at] = last;
}
