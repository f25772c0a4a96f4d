import type { Clock, Timer } from "../../model/clock.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { evalTerminal, nanos } from "../state/facts.ts";
import type { State } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Evaluation } from "../state/types.ts";

/** Milliseconds between an evaluation and its scheduler. */
const processDelay = 1;
/** Milliseconds after which one that got no further looks again. */
const againDelay = 50;

interface Turn {
  readonly id: string;
  timer: Timer;
  processing: boolean;
  /** What came meanwhile; also itself, when it is to be processed once more. */
  readonly waiting: Set<string>;
}

/**
 * Lets the evaluations of one job be processed one after the other. Of those that come while one is processed only one is left: that of
 * the highest priority, else the one written last; the others are cancelled, as they would find nothing else to do.
 */
export class EvalTurns {
  readonly #state: State;
  readonly #clock: Clock;
  readonly #process: (id: string) => "done" | "again";
  readonly #turns = new Map<string, Turn>();

  constructor(state: State, clock: Clock, process: (id: string) => "done" | "again") {
    this.#state = state;
    this.#clock = clock;
    this.#process = process;
  }

  clear(): void {
    for (const { timer } of this.#turns.values()) timer.cancel();
    this.#turns.clear();
  }

  /** Takes up an evaluation that is due. One that is waiting already, or about to have its turn, is taken once. */
  take(evaluation: Evaluation): void {
    const job = scoped(evaluation.Namespace, evaluation.JobID);
    const current = this.#turns.get(job);
    if (current === undefined) this.#start(job, evaluation.ID);
    else if (current.processing || current.id !== evaluation.ID) current.waiting.add(evaluation.ID);
  }

  /** Whether an evaluation is about to have its turn. */
  has(evaluation: Evaluation): boolean {
    const turn = this.#turns.get(scoped(evaluation.Namespace, evaluation.JobID));
    return turn !== undefined && (turn.id === evaluation.ID || turn.waiting.has(evaluation.ID));
  }

  #start(job: string, id: string): void {
    const timer = this.#clock.setTimer(processDelay, () => this.#run(job));
    this.#turns.set(job, { id, timer, processing: false, waiting: new Set() });
  }

  #run(job: string): void {
    const turn = this.#turns.get(job);
    if (turn === undefined) return;
    turn.processing = true;
    if (this.#process(turn.id) === "again") {
      turn.timer = this.#clock.setTimer(againDelay, () => this.#run(job));
      return;
    }
    this.#turns.delete(job);
    const [next, ...others] = [...turn.waiting]
      .flatMap((id) => this.#state.evals.get(id) ?? [])
      .filter((one) => !evalTerminal(one))
      .sort((a, b) => b.Priority - a.Priority || b.ModifyIndex - a.ModifyIndex);
    if (next !== undefined) this.#start(job, next.ID);
    if (others.length > 0) this.#cancel(others);
  }

  #cancel(evals: readonly Evaluation[]): void {
    const StatusDescription = "canceled after more recent eval was processed";
    const ModifyTime = nanos(this.#clock.now());
    this.#state.write("EvalUpdate", (tx) =>
      upsertEvals(
        tx,
        evals.map((one) => ({ ...one, Status: "canceled", StatusDescription, ModifyTime })),
      ),
    );
  }
}
