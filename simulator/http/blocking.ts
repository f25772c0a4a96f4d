import type { Clock, Random } from "../../model/clock.ts";
import { Refusal } from "../refusal.ts";
import type { State, TableName } from "../state/state.ts";
import { readOptions } from "./input.ts";
import type { ApiRequest } from "./message.ts";

/** Longest wait of a blocking query, also the default, in milliseconds. */
const longest = 300_000;

interface Waiter {
  readonly tables: ReadonlySet<string>;
  readonly wake: () => void;
}

export interface Found<T> {
  readonly index: number;
  readonly value: T;
}

/** Lets reads wait until something moved (nomad-api §7.1). */
export class BlockingQueries {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #region: string;
  readonly #waiters = new Set<Waiter>();
  #closed = false;

  constructor(state: State, clock: Clock, random: Random, region: string) {
    this.#region = region;
    this.#clock = clock;
    this.#random = random;
    state.listen((write) => {
      if (this.#waiters.size === 0) return;
      for (const waiter of [...this.#waiters]) if (write.changes.some((change) => waiter.tables.has(change.table))) waiter.wake();
    });
    state.onRestore(() => {
      for (const waiter of [...this.#waiters]) waiter.wake();
    });
  }

  /**
   * Runs a read, again and again until its index is beyond the one asked for, or the time is over: then the answer is the same
   * data with the same index. Throws Refusal: 400 for what no read takes, 500 for a region that is not this one.
   */
  async run<T>(request: ApiRequest, tables: readonly TableName[], read: () => Found<T>): Promise<Found<T>> {
    const { index, wait } = readOptions(request);
    if ((request.query.get("region") || this.#region) !== this.#region) throw new Refusal(500, "No path to region");
    let found = read();
    if (index === 0 || found.index > index) return found;
    const capped = wait === 0 ? longest : Math.min(wait, longest);
    const end = this.#clock.now() + capped + Math.floor((this.#random.next() * capped) / 16);
    while (found.index <= index && !request.signal.aborted && !this.#closed) {
      const left = end - this.#clock.now();
      if (left <= 0) break;
      await this.#change(tables, left, request.signal);
      found = read();
    }
    return found;
  }

  #change(tables: readonly TableName[], ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiter: Waiter = { tables: new Set(tables), wake: () => done() };
      const timer = this.#clock.setTimer(ms, () => done());
      const done = () => {
        this.#waiters.delete(waiter);
        timer.cancel();
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /** Ends all waits, so that their answers go out. */
  close(): void {
    this.#closed = true;
    for (const waiter of [...this.#waiters]) waiter.wake();
  }
}
