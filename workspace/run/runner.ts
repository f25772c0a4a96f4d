import { type Clock, toInstant } from "../../model/clock.ts";
import { messageOf, NopsError, RefusedError } from "../../model/errors.ts";
import type { ResolvedGroup, ResolvedPhase, ResolvedPlan, ResolvedStep } from "../pipeline/types.ts";
import { stepsOf } from "../pipeline/types.ts";
import { conditionHolds, describeCondition } from "./conditions.ts";
import type { Decision } from "./decisions.ts";
import type { Counts, EventSink } from "./events.ts";
import type { GateResult } from "./files-gate.ts";
import { runGroup } from "./group.ts";
import type { ProcessRunner } from "./process.ts";
import type { Recorder } from "./recorder.ts";

/** What a run needs; bodies are executed by `execute`, so that the order of things can be tested without any. */
export interface RunnerInput {
  readonly plan: ResolvedPlan;
  readonly service: string | undefined;
  /** By address; absent for pipelines without a journal: every step runs. */
  readonly decisions: ReadonlyMap<string, Decision>;
  readonly recorder: Recorder;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly processes: ProcessRunner;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly sink: EventSink;
  readonly execute: ExecuteStep;
  readonly probe: (step: ResolvedStep) => GateResult;
}

/** Runs a step's body or its check. */
export type ExecuteStep = (
  step: ResolvedStep,
  part: "body" | "check",
  run: { readonly signal: AbortSignal; readonly print: (line: string) => void; readonly grouped: boolean },
) => Promise<void>;

export interface RunResult {
  readonly ok: boolean;
  readonly counts: Counts;
  /** Why the run ended early. */
  readonly error: string | undefined;
  /** Code of the rule by which the failed step was refused (exit code 3), when it was. */
  readonly refused: string | undefined;
  readonly interrupted: boolean;
}

/** State that phases and groups of one run share. */
export interface RunState extends RunnerInput {
  readonly total: number;
  readonly counts: Counts;
  readonly numbers: ReadonlyMap<string, number>;
}

/**
 * Runs a resolved pipeline in order and stops at the first failure that is not let pass (workspace §6). Every outcome
 * reaches the recorder before the next step begins. Never throws for a failed step.
 */
export async function runPipeline(input: RunnerInput): Promise<RunResult> {
  const tracked = stepsOf(input.plan).filter((step) => !step.untracked);
  const state: RunState = {
    ...input,
    total: tracked.length,
    counts: { executed: 0, revalidated: 0, skipped: 0, failed: 0 },
    numbers: new Map(tracked.map((step, index) => [step.address, index + 1])),
  };
  const began = input.clock.now();
  const at = (): string => toInstant(input.clock.now());
  const service = input.service === undefined ? {} : { service: input.service };
  input.sink({ event: "run_started", pipeline: input.plan.pipeline, ...service, total: state.total, at: at() });
  input.recorder.begin();
  let error: string | undefined;
  let refused: string | undefined;
  try {
    for (const phase of input.plan.phases) await runPhase(state, phase);
  } catch (thrown) {
    error = messageOf(thrown);
    if (thrown instanceof Error && thrown.cause instanceof RefusedError) refused = thrown.cause.code;
    if (!(thrown instanceof NopsError) && !input.signal.aborted)
      input.sink({ event: "notice", level: "warning", message: error });
  }
  const ok = error === undefined;
  input.recorder.finish(ok);
  input.sink({
    event: "run_finished",
    ok,
    counts: state.counts,
    duration_ms: input.clock.now() - began,
    ...(error === undefined ? {} : { error }),
    at: at(),
  });
  return { ok, counts: state.counts, error, refused, interrupted: input.signal.aborted };
}

async function runPhase(state: RunState, phase: ResolvedPhase): Promise<void> {
  state.signal.throwIfAborted();
  const steps = phase.items.flatMap((item) => (item.kind === "step" ? [item] : item.steps));
  if (phase.when !== undefined && !(await conditionHolds(phase.when, state))) {
    for (const step of steps) skip(state, step, `phase ${describeCondition(phase.when)}`);
    return;
  }
  if (steps.some((step) => !step.untracked)) {
    state.sink({
      event: "phase_started",
      phase: phase.name,
      ...(phase.scope === undefined ? {} : { service: phase.scope }),
      ...(phase.description === undefined ? {} : { description: phase.description }),
      at: toInstant(state.clock.now()),
    });
  }
  for (const item of phase.items) {
    state.signal.throwIfAborted();
    if (item.kind === "step") await runStep(state, item, { signal: state.signal, group: undefined });
    else await runWholeGroup(state, item);
  }
}

async function runWholeGroup(state: RunState, group: ResolvedGroup): Promise<void> {
  if (group.when !== undefined && !(await conditionHolds(group.when, state))) {
    for (const step of group.steps) skip(state, step, describeCondition(group.when));
    return;
  }
  await runGroup(group, state.signal, (step, signal) => runStep(state, step, { signal, group: group.name }));
}

interface StepRun {
  readonly signal: AbortSignal;
  /** Name of the group a sub-step belongs to. */
  readonly group: string | undefined;
}

/** One step: conditions, gate and journal in the order of workspace §6, then body and check. */
export async function runStep(state: RunState, step: ResolvedStep, run: StepRun): Promise<void> {
  if (step.when !== undefined && !(await conditionHolds(step.when, { ...state, signal: run.signal }))) {
    return skip(state, step, describeCondition(step.when));
  }
  const decision = state.decisions.get(step.address);
  if (decision !== undefined && !decision.run) return keep(state, step, decision);
  if (step.gate !== undefined) {
    let gate: GateResult;
    try {
      gate = state.probe(step);
    } catch (error) {
      return fail(state, step, error, 0, decision?.words ?? "");
    }
    if (!gate.open) return skip(state, step, gate.words);
  }
  await perform(state, step, run, decision);
}

async function perform(state: RunState, step: ResolvedStep, run: StepRun, decision: Decision | undefined): Promise<void> {
  const { clock, sink, recorder } = state;
  const words = decision?.words ?? "";
  recorder.starting(step);
  if (!step.untracked) {
    const description = step.description === undefined ? {} : { description: step.description };
    sink({
      event: "step_started",
      address: step.address,
      ...numbered(state, step),
      total: state.total,
      ...description,
      at: toInstant(clock.now()),
    });
  }
  const began = clock.now();
  // Output of sub-steps would interleave; it is shown in one piece when the sub-step ends.
  const held: string[] = [];
  const group = run.group === undefined ? {} : { group: run.group };
  const emit = (line: string): void => sink({ event: "step_output", address: step.address, line, ...group });
  const print = run.group === undefined ? emit : (line: string): void => void held.push(line);
  try {
    await withTimeout(state, step.timeoutMs, run.signal, (signal) =>
      state.execute(step, "body", { signal, print, grouped: run.group !== undefined }),
    );
    if (step.check !== undefined) {
      await state.execute(step, "check", { signal: run.signal, print, grouped: run.group !== undefined });
    }
  } catch (error) {
    held.forEach(emit);
    return fail(state, step, error, clock.now() - began, words);
  }
  held.forEach(emit);
  const outcome = decision?.reason === "revalidate" ? "revalidated" : "executed";
  recorder.done(step, { status: "ok", durationMs: clock.now() - began });
  report(state, step, outcome, words, clock.now() - began);
}

/** Bounds the body alone, by cancelling it (workspace §3.3). */
async function withTimeout(
  state: RunState,
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (timeoutMs === 0) return work(signal);
  const limit = new AbortController();
  const timer = state.clock.setTimer(timeoutMs, () =>
    limit.abort(new NopsError(`timed out after ${timeoutMs / 1000}s`, { code: "step_timeout" })),
  );
  try {
    await work(AbortSignal.any([signal, limit.signal]));
  } finally {
    timer.cancel();
  }
}

function numbered(state: RunState, step: ResolvedStep): { readonly number?: number } {
  const number = state.numbers.get(step.address);
  return number === undefined ? {} : { number };
}

function skip(state: RunState, step: ResolvedStep, words: string): void {
  state.recorder.done(step, { status: "skipped", durationMs: 0 });
  report(state, step, "skipped", words, 0);
}

function keep(state: RunState, step: ResolvedStep, decision: Decision): void {
  state.recorder.kept(step);
  report(state, step, "skipped", decision.words, 0);
}

function fail(state: RunState, step: ResolvedStep, cause: unknown, durationMs: number, words: string): void {
  const message = messageOf(cause);
  const tolerated = step.continueOnError && !state.signal.aborted;
  state.recorder.done(step, { status: "failed", durationMs, tolerated });
  report(state, step, "failed", words, durationMs, { error: message, tolerated });
  if (!tolerated) throw new NopsError(`step ${step.address}: ${message}`, { code: "step_failed", cause });
}

function report(
  state: RunState,
  step: ResolvedStep,
  outcome: "executed" | "revalidated" | "skipped" | "failed",
  reason: string,
  durationMs: number,
  failure?: { readonly error: string; readonly tolerated: boolean },
): void {
  if (!step.untracked || outcome === "failed") state.counts[outcome] += 1;
  if (step.untracked && outcome !== "failed") return;
  state.sink({
    event: "step_finished",
    address: step.address,
    ...numbered(state, step),
    total: state.total,
    outcome,
    reason,
    duration_ms: Math.round(durationMs),
    ...(failure === undefined ? {} : { error: failure.error }),
    ...(failure?.tolerated === true ? { tolerated: true } : {}),
    at: toInstant(state.clock.now()),
  });
}
