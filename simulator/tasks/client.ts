import type { Clock, Random } from "../../model/clock.ts";
import type { ClientUpdate } from "../state/alloc-writes.ts";
import type { State } from "../state/state.ts";
import type { Allocation } from "../state/types.ts";
import { AllocRunner } from "./alloc-runner.ts";
import type { BehaviourHook } from "./behaviour.ts";
import { writeClientUpdates } from "./client-updates.ts";
import { TaskLogs } from "./logs.ts";

/** Milliseconds for which a client gathers news before it reports. */
const batchDelay = 3;

/** The clients of all simulated nodes: takes up allocations, lives them through and reports. */
export class Clients {
  readonly logs = new TaskLogs();
  /** A test's own behaviour of tasks. */
  hook: BehaviourHook | undefined;
  readonly #state: State;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #newId: () => string;
  readonly #runners = new Map<string, AllocRunner>();
  readonly #news = new Set<AllocRunner>();
  readonly #silent = new Set<string>();
  #reporting = false;

  constructor(state: State, clock: Clock, random: Random, newId: () => string) {
    this.#state = state;
    this.#clock = clock;
    this.#random = random;
    this.#newId = newId;
    state.listen((write) => {
      for (const change of write.changes) {
        if (change.table !== "allocs") continue;
        if (change.after === undefined) this.#remove(change.before?.ID ?? "");
        else this.#seen(change.after, change.before);
      }
    });
    state.onRestore(() => this.#restored());
  }

  /** A node that is silent neither reports nor hears of changes until it is back. */
  setSilent(nodeId: string, silent: boolean): void {
    if (silent) {
      this.#silent.add(nodeId);
      return;
    }
    this.#silent.delete(nodeId);
    for (const alloc of this.#state.allocs.by("node", nodeId)) this.#seen(alloc, undefined);
    for (const runner of this.#runners.values()) if (runner.nodeId === nodeId) this.#changed(runner);
  }

  /** Restores may bring back allocations that clients had already dropped, or drop ones that run. */
  #restored(): void {
    for (const id of [...this.#runners.keys()]) if (this.#state.allocs.get(id) === undefined) this.#remove(id);
    for (const alloc of this.#state.allocs.rows.values()) this.#seen(alloc, undefined);
  }

  #remove(id: string): void {
    const runner = this.#runners.get(id);
    runner?.destroy();
    this.#runners.delete(id);
    if (runner !== undefined) this.#news.delete(runner);
    this.logs.forget(id);
  }

  #seen(alloc: Allocation, before: Allocation | undefined): void {
    if (this.#silent.has(alloc.NodeID)) return;
    const runner = this.#runners.get(alloc.ID);
    if (runner !== undefined) {
      if (before?.AllocModifyIndex !== alloc.AllocModifyIndex) runner.update(alloc);
      return;
    }
    if (alloc.DesiredStatus !== "run" || alloc.ClientStatus !== "pending") return;
    const fresh = new AllocRunner(
      {
        clock: this.#clock,
        random: this.#random,
        logs: this.logs,
        hook: (context) => this.hook?.(context),
        node: (id) => this.#state.nodes.get(id),
        changed: (one) => this.#changed(one),
      },
      alloc,
    );
    this.#runners.set(alloc.ID, fresh);
    fresh.start();
  }

  #changed(runner: AllocRunner): void {
    this.#news.add(runner);
    if (this.#reporting) return;
    this.#reporting = true;
    this.#clock.setTimer(batchDelay, () => {
      this.#reporting = false;
      this.#report();
    });
  }

  /** What clients report, written as the server takes it. A test may report for a node that is silent. */
  deliver(updates: readonly ClientUpdate[]): void {
    writeClientUpdates(this.#state, updates, { newId: this.#newId, now: () => this.#clock.now() });
  }

  #report(): void {
    const due = [...this.#news].filter(
      (runner) => !this.#silent.has(runner.nodeId) && this.#state.allocs.get(runner.id) !== undefined,
    );
    for (const runner of due) this.#news.delete(runner);
    if (due.length === 0) return;
    this.deliver(due.map((runner) => runner.report()));
    for (const runner of due) {
      if (runner.over) this.#runners.delete(runner.id);
    }
  }
}
