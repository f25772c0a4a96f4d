import type { Clock, Random } from "../model/clock.ts";

/** What goes wrong with a request (reliability §1.2). */
export type FaultKind =
  /** The connection ends; nothing was done. */
  | "drop_before"
  /** The request takes effect; the answer is lost. */
  | "drop_after"
  /** The request takes effect; half of the answer arrives. */
  | "truncate"
  /** Another status and text; nothing was done. */
  | "status"
  /** The request takes effect; a proxy says something else. */
  | "status_after"
  /** The answer comes late. */
  | "delay";

export interface Fault {
  readonly kind: FaultKind;
  /** Only this method. */
  readonly method?: string | undefined;
  /** Only paths that match; a `*` stands for any text. */
  readonly path?: string | undefined;
  /** 0…1; default: always. */
  readonly probability?: number | undefined;
  /** So many matching requests pass first. */
  readonly skip?: number | undefined;
  /** After so many strikes the fault is over; default: it stays. */
  readonly times?: number | undefined;
  readonly status?: number | undefined;
  readonly text?: string | undefined;
  /** Milliseconds. */
  readonly delayMs?: number | undefined;
}

interface Active {
  readonly id: number;
  readonly fault: Fault;
  seen: number;
  struck: number;
}

/** The connection is to be cut without an answer. */
export class ConnectionCut extends Error {}

/** Faults that tests switch on. All chance is seeded. */
export class Faults {
  readonly #random: Random;
  readonly #clock: Clock;
  #active: Active[] = [];
  #next = 1;
  /** Chance that a repeated dispatch token is answered with a child that never existed (nomad-api §17). */
  phantomDispatch = 0;
  /** Chance that the event stream swallows a frame. */
  skipEvents = 0;

  constructor(random: Random, clock: Clock) {
    this.#random = random;
    this.#clock = clock;
  }

  /** Switches a fault on and returns its number. */
  add(fault: Fault): number {
    const id = this.#next++;
    this.#active.push({ id, fault, seen: 0, struck: 0 });
    return id;
  }

  remove(id: number): void {
    this.#active = this.#active.filter((one) => one.id !== id);
  }

  clear(): void {
    this.#active = [];
    this.phantomDispatch = 0;
    this.skipEvents = 0;
  }

  list(): { id: number; fault: Fault; struck: number }[] {
    return this.#active.map(({ id, fault, struck }) => ({ id, fault, struck }));
  }

  phantom(): boolean {
    return this.phantomDispatch > 0 && this.#random.next() < this.phantomDispatch;
  }

  swallowsEvent(): boolean {
    return this.skipEvents > 0 && this.#random.next() < this.skipEvents;
  }

  /** The fault that strikes this request, if any. */
  strike(method: string, path: string): Fault | undefined {
    for (const one of this.#active) {
      const { fault } = one;
      if (fault.method !== undefined && fault.method !== method) continue;
      if (fault.path !== undefined && !matches(fault.path, path)) continue;
      if (++one.seen <= (fault.skip ?? 0)) continue;
      if (fault.times !== undefined && one.struck >= fault.times) continue;
      if (fault.probability !== undefined && this.#random.next() >= fault.probability) continue;
      one.struck++;
      return fault;
    }
    return undefined;
  }

  wait(fault: Fault): Promise<void> {
    return this.#clock.sleep(fault.delayMs ?? 30_000);
  }
}

function matches(pattern: string, path: string): boolean {
  const escaped = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`).test(path);
}
