import { messageOf, NopsError } from "../../model/errors.ts";
import type { ResolvedGroup, ResolvedStep } from "../pipeline/types.ts";

/**
 * Runs the sub-steps of a group side by side, at most `maxConcurrent` at a time (workspace §3.4). With `failFast` the first
 * failure cancels those that run and keeps the others from starting; without, all run and the errors are joined.
 * @throws NopsError `step_failed` when any failed.
 */
export async function runGroup(
  group: ResolvedGroup,
  signal: AbortSignal,
  run: (step: ResolvedStep, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const cancel = new AbortController();
  const combined = AbortSignal.any([signal, cancel.signal]);
  const queue = [...group.steps];
  const errors: string[] = [];
  const worker = async (): Promise<void> => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
      if (combined.aborted) return;
      try {
        await run(step, combined);
      } catch (error) {
        errors.push(messageOf(error));
        if (group.failFast) cancel.abort(new NopsError(`cancelled: ${step.address} failed`, { code: "cancelled" }));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(group.maxConcurrent, group.steps.length) }, worker));
  signal.throwIfAborted();
  if (errors.length > 0) throw new NopsError(group.failFast ? (errors[0] ?? "") : errors.join("\n"), { code: "step_failed" });
}
