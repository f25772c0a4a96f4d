import type { Clock, Timer } from "../../model/clock.ts";
import type { Variable } from "../state/cluster-types.ts";
import type { State } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import { unlock } from "./store.ts";

/**
 * Lets locks expire: not renewed for twice their TTL they are lost, and free after their delay (nomad-api §10.2). Timers live
 * beside the state, as on a leader: a restore starts them anew.
 */
export class LockTimers {
  readonly #state: State;
  readonly #clock: Clock;
  readonly #timers = new Map<string, Timer>();

  constructor(state: State, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
    state.listen((write) => {
      for (const change of write.changes) {
        if (change.table !== "variables") continue;
        const row = change.after ?? change.before;
        if (row === undefined) continue;
        const lock = change.after?.Lock ?? null;
        if (lock === null) this.#drop(scoped(row.Namespace, row.Path));
        else if (lock.ID !== change.before?.Lock?.ID) this.#start(row);
      }
    });
    state.onRestore(() => {
      for (const key of [...this.#timers.keys()]) this.#drop(key);
      for (const row of state.variables.rows.values()) if (row.Lock !== null) this.#start(row);
    });
  }

  #drop(key: string): void {
    this.#timers.get(key)?.cancel();
    this.#timers.delete(key);
  }

  #start(variable: Variable): void {
    const key = scoped(variable.Namespace, variable.Path);
    const lock = variable.Lock;
    this.#drop(key);
    if (lock === null) return;
    const timer = this.#clock.setTimer((2 * lock.TTL) / 1e6, () => {
      this.#timers.delete(key);
      this.#clock.setTimer(lock.LockDelay / 1e6, () => this.#free(key, lock.ID));
    });
    this.#timers.set(key, timer);
  }

  #free(key: string, lockId: string): void {
    const current = this.#state.variables.get(key);
    if (current?.Lock?.ID === lockId) this.#state.write("VarApply", (tx) => unlock(tx, current));
  }

  /** False when the time was over already: the holder has lost the lock although it still stands there. */
  renew(variable: Variable): boolean {
    if (!this.#timers.has(scoped(variable.Namespace, variable.Path))) return false;
    this.#start(variable);
    return true;
  }
}
