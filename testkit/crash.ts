import type { OperatorDeps } from "../controllers/operator.ts";
import type { NomadSignal } from "../controllers/ports.ts";
import type { Clock, Timer } from "../model/clock.ts";

/** Thrown into everything that a dead process still tries. */
export class ProcessDeath extends Error {
  override readonly name = "ProcessDeath";
}

/** Where a process dies: around its `call`-th call of store, Nomad or git, counted from 1. */
export interface CrashPoint {
  readonly call: number;
  readonly when: "before" | "after";
}

/**
 * Counts the calls that an operator makes of its ports and lets it die at one of them: from then on no call has an effect, no timer fires,
 * no signal arrives, as after SIGKILL. What other processes did stays.
 */
export class Mortal {
  /** Calls so far, named `port.method`, for the message of a failed test. */
  readonly calls: string[] = [];
  private readonly point: CrashPoint | undefined;
  private dead = false;

  constructor(point?: CrashPoint) {
    this.point = point;
  }

  get isDead(): boolean {
    return this.dead;
  }

  /** Ends the process now, between two calls. */
  kill(): void {
    this.dead = true;
  }

  wrap(deps: OperatorDeps): OperatorDeps {
    return {
      ...deps,
      clock: this.mortalClock(deps.clock),
      store: this.mortalPort("store", deps.store),
      nomad: this.mortalPort("nomad", deps.nomad),
      git: this.mortalPort("git", deps.git),
      watch: {
        watch: (namespace, onSignal, abort) =>
          deps.watch.watch(namespace, (signal: NomadSignal) => (this.dead ? undefined : onSignal(signal)), abort),
      },
    };
  }

  private mortalPort<T extends object>(name: string, port: T): T {
    return new Proxy(port, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property);
        if (typeof member !== "function" || typeof property !== "string") return member;
        return (...args: unknown[]) => this.call(`${name}.${property}`, () => Reflect.apply(member, target, args));
      },
    });
  }

  private async call(name: string, act: () => unknown): Promise<unknown> {
    this.dieIfDead();
    this.calls.push(name);
    const here = this.point?.call === this.calls.length;
    if (here && this.point?.when === "before") this.die(name);
    const result = await act();
    // Another call may have been the last one while this one was under way: its answer reaches nobody.
    this.dieIfDead();
    if (here) this.die(name);
    return result;
  }

  private die(name: string): never {
    this.dead = true;
    throw new ProcessDeath(`died at ${name}`);
  }

  private dieIfDead(): void {
    if (this.dead) throw new ProcessDeath("dead");
  }

  private mortalClock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      setTimer: (ms, fn): Timer =>
        clock.setTimer(ms, () => {
          if (!this.dead) fn();
        }),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    };
  }
}
