/**
 * Keys to be looked at, on top of p-queue (design D20).
 *
 * I1. A key has at most one entry and one holder; an add while it is held makes it run once more afterwards.
 * I2. Merging keeps the earlier time and the higher priority.
 * I3. A ready key runs as soon as a place is free: higher priority first, then in order of becoming ready, so a key that
 *     returns at once stands behind all that waited.
 * I4. After `drain` began nothing starts any more, and `drain` resolves when the last holder is through.
 */
import PQueue from "p-queue";
import type { Clock, Timer } from "../model/clock.ts";
import { StopBell } from "./stop-bell.ts";

export interface AddOptions {
  /** Milliseconds to wait; absent or ≤ 0: at once. */
  readonly afterMs?: number;
  /** Higher runs first. */
  readonly priority?: number;
}

interface Entry {
  readonly at: number;
  readonly priority: number;
  /** Set while the time has not come. */
  timer: Timer | undefined;
  /** Identity inside p-queue while the entry stands there. */
  id: string | undefined;
}

/** setTimeout's limit; a longer wait is renewed. */
const longestTimer = 2 ** 31 - 1;

export class WorkQueue<K> {
  /** Not made before the first key is ready: some loops hardly ever have one. */
  private places: PQueue | undefined;
  private readonly concurrency: number;
  private readonly entries = new Map<K, Entry>();
  private readonly held = new Set<K>();
  private readonly clock: Clock;
  private readonly handle: (key: K, stop: StopBell) => Promise<void>;
  private readonly stop = new StopBell();
  private serial = 0;
  private draining = false;

  /**
   * `handle` is called with each ready key, at most `concurrency` at a time and never twice at once for one key. It must not throw.
   * `stop` rings when draining takes too long.
   */
  constructor(options: {
    readonly clock: Clock;
    readonly concurrency: number;
    readonly handle: (key: K, stop: StopBell) => Promise<void>;
  }) {
    this.clock = options.clock;
    this.handle = options.handle;
    this.concurrency = options.concurrency;
  }

  /** Asks for a pass over the key. Ignored once draining. */
  add(key: K, options: AddOptions = {}): void {
    if (this.draining) return;
    const at = this.clock.now() + Math.max(0, options.afterMs ?? 0);
    const priority = options.priority ?? 0;
    const before = this.entries.get(key);
    if (before === undefined) {
      this.place(key, { at, priority, timer: undefined, id: undefined });
      return;
    }
    const merged = { at: Math.min(before.at, at), priority: Math.max(before.priority, priority) };
    if (merged.at === before.at && merged.priority === before.priority) return;
    if (before.id !== undefined) {
      this.places?.setPriority(before.id, merged.priority);
      this.entries.set(key, { ...before, ...merged });
      return;
    }
    before.timer?.cancel();
    this.place(key, { ...merged, timer: undefined, id: undefined });
  }

  /** Keys that wait for their time or for a place. */
  get waiting(): number {
    return this.entries.size;
  }

  /** Keys in hand. */
  get running(): number {
    return this.held.size;
  }

  /** Whether a pass over the key is under way or asked for. */
  has(key: K): boolean {
    return this.held.has(key) || this.entries.has(key);
  }

  /** Refuses new keys, drops waiting ones, and resolves when the running passes have ended; after `graceMs` the bell rings. */
  async drain(graceMs: number): Promise<void> {
    this.draining = true;
    for (const entry of this.entries.values()) entry.timer?.cancel();
    this.entries.clear();
    if (this.places === undefined) return;
    this.places.clear();
    const cut = this.clock.setTimer(graceMs, () => this.stop.ring(new Error("nops is stopping")));
    await this.places.onIdle();
    cut.cancel();
  }

  private place(key: K, entry: Entry): void {
    this.entries.set(key, entry);
    if (this.held.has(key)) return;
    const wait = entry.at - this.clock.now();
    if (wait <= 0) {
      this.enqueue(key, entry);
      return;
    }
    entry.timer = this.clock.setTimer(Math.min(wait, longestTimer), () => this.place(key, entry));
  }

  private enqueue(key: K, entry: Entry): void {
    entry.timer = undefined;
    entry.id = String(this.serial++);
    const run = (): Promise<void> => this.run(key);
    // The task never rejects, but p-queue's promise is no reason to let one go unhandled.
    this.places ??= new PQueue({ concurrency: this.concurrency });
    this.places.add(run, { priority: entry.priority, id: entry.id }).catch(() => undefined);
  }

  private async run(key: K): Promise<void> {
    if (this.draining) return;
    this.entries.delete(key);
    this.held.add(key);
    try {
      await this.handle(key, this.stop);
    } finally {
      this.held.delete(key);
      const again = this.entries.get(key);
      if (again !== undefined && !this.draining) this.place(key, again);
    }
  }
}
