/** The rules that a history is watched for (operator §3 as O1…O7, reliability §1.4 as I1…I16, design D5). */
export const invariants = {
  I1: "at most one deployment of a job is under way",
  I2: "a hook runs at most once for a deployment",
  I3: "a deployment registers at most once, and only over the index that was shown",
  I4: "what is registered is what was approved and stored",
  I5: "nothing starts without policy auto or enough approvals",
  I6: "an end is final",
  I7: "every state has its event, and the events tell the row",
  I8: "nothing held starts",
  I9: "a blocked job gets no new deployment",
  I10: "a job is never stopped, undone or written beside its register",
  I11: "a completed deployment is really live",
  I12: "timeouts count from the beginning of the step",
  I13: "every deployment ends or waits for a person",
  I14: "what a person was told to be done stays done",
  I15: "a running deployment is never superseded",
  I16: "epochs only grow",
  D5: "what was found to be live is deployed again at the same index only after a plan that shows a difference",
  O1: "a register follows a plan of the same spec",
  O7: "the intention is stored before Nomad is touched",
  X: "nothing fails in an unexpected way",
} as const;

export type Invariant = keyof typeof invariants;

/** A broken rule: the history has failed. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: Invariant;

  constructor(invariant: Invariant, what: string) {
    super(`${invariant} (${invariants[invariant]}): ${what}`);
    this.invariant = invariant;
  }
}
