import type { Random } from "../../model/clock.ts";

/** The port that a call goes to. `watch`: the way back, on which signals arrive. */
export type PortName = "nomad" | "git" | "store" | "watch";

/** One call of the operator to the world, which waits until the driver lets it happen. */
export interface PendingCall {
  readonly port: PortName;
  readonly name: string;
  readonly args: readonly unknown[];
  /** Does what the call asks for, at once. Throws what the port throws. */
  readonly effect: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The only door between the operator and the world. A call goes in and stays until the driver takes it: so the driver decides the
 * order of calls made at the same time, what fails, and where the process dies, and nothing else ever happens by itself.
 */
export class Gate {
  private waiting: PendingCall[] = [];
  /** How many of the waiting calls, at their end, were made since one was taken. */
  private fresh = 0;

  get size(): number {
    return this.waiting.length;
  }

  call<T>(port: PortName, name: string, args: readonly unknown[], effect: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.fresh += 1;
      this.waiting.push({ port, name, args, effect, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Whether a call of this name waits. */
  has(name: string): boolean {
    return this.waiting.some((call) => call.name === name);
  }

  /** Whether a call that fits waits. */
  hasSuch(fits: (call: PendingCall) => boolean): boolean {
    return this.waiting.some(fits);
  }

  /**
   * Takes out one of the waiting calls by chance. `follow`: one of those that the last answer led to, if there are any, and what leads to
   * deployments rather than to the files in git, which take many calls to read.
   */
  take(random: Random, follow: boolean): PendingCall | undefined {
    const { waiting } = this;
    const from = follow && this.fresh > 0 ? waiting.length - this.fresh : 0;
    const choice = waiting.length - from;
    const chosen = choice < 2 ? from : from + Math.floor(random.next() * choice);
    const next = from + ((chosen - from + 1) % choice);
    return this.takeAt(follow && choice > 1 && waiting[chosen]?.port === "git" ? next : chosen);
  }

  /** Takes out the first of the waiting calls that fits. */
  takeSuch(fits: (call: PendingCall) => boolean): PendingCall | undefined {
    const at = this.waiting.findIndex(fits);
    return at < 0 ? undefined : this.takeAt(at);
  }

  private takeAt(at: number): PendingCall | undefined {
    const { waiting } = this;
    const call = waiting[at];
    this.fresh = 0;
    const last = waiting.pop();
    if (last !== undefined && at < waiting.length) waiting[at] = last;
    return call;
  }

  /** The process is gone: nobody waits any more. */
  drop(): void {
    this.waiting = [];
    this.fresh = 0;
  }
}
