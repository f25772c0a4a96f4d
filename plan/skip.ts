/**
 * The workspace's skip table: whether one step of a deploy runs, and why (workspace §8).
 * Pure: the caller has already compared the scope's hashes and read the journal.
 */

/** Outcome of a step as the journal keeps it. Readers accept `partial` and `in_progress`; nops never writes them. */
export type StepStatus = "ok" | "failed" | "skipped" | "partial" | "in_progress";

/** Why a step runs or not; each has one sentence in the output. */
export type SkipReason =
  | "forced"
  | "config_changed"
  | "new"
  | "changed"
  | "failed_before"
  | "interrupted"
  | "skipped_before"
  | "revalidate"
  | "gate_decides"
  | "already_done";

export interface SkipInput {
  /** What the journal says of the step, if anything. */
  readonly prior: { readonly status: StepStatus; readonly hash: string } | undefined;
  /** Step hash now. */
  readonly hash: string;
  /** The step has a `check`, or its body is a predicate: both run every time. */
  readonly revalidates: boolean;
  /** The scope's config hash equals the recorded one; otherwise every step of the scope counts as absent. */
  readonly scopeMatches: boolean;
  readonly force: boolean;
  /** State of the step's files gate, when it has one. `missing` bypasses the journal. */
  readonly gate: "readable" | "missing" | undefined;
}

export interface SkipDecision {
  readonly run: boolean;
  readonly reason: SkipReason;
}

/**
 * Decides by the rows of workspace §8. A `run` still passes the step's conditions and a `readable` gate afterwards;
 * a skip is final and leaves the record untouched.
 */
export function decideStep(input: SkipInput): SkipDecision {
  if (input.gate === "missing") return { run: true, reason: "gate_decides" };
  if (input.force) return { run: true, reason: "forced" };
  if (!input.scopeMatches) return { run: true, reason: "config_changed" };
  const { prior } = input;
  if (prior === undefined) return { run: true, reason: "new" };
  if (prior.status === "failed") return { run: true, reason: "failed_before" };
  if (prior.status === "partial" || prior.status === "in_progress") return { run: true, reason: "interrupted" };
  if (prior.status === "skipped") return { run: true, reason: "skipped_before" };
  if (prior.hash !== input.hash) return { run: true, reason: "changed" };
  if (input.revalidates) return { run: true, reason: "revalidate" };
  return { run: false, reason: "already_done" };
}
