import type { State } from "../state/state.ts";
import type { LoadIndex } from "./load-index.ts";

/** What every part of the scheduler reads. */
export interface SchedulerEnvironment {
  readonly state: State;
  readonly loads: LoadIndex;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
}
