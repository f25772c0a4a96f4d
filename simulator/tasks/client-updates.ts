import { rescheduleAllowed } from "../scheduler/reschedule.ts";
import { applyClientUpdate, type ClientUpdate } from "../state/alloc-writes.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { groupOf } from "../state/facts.ts";
import { newEval } from "../state/records.ts";
import type { State, Tx } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Evaluation } from "../state/types.ts";

export interface UpdateTools {
  readonly newId: () => string;
  /** Milliseconds. */
  readonly now: () => number;
}

/** Writes what clients report, and one evaluation for each job that has to look at it again. */
export function writeClientUpdates(state: State, updates: readonly ClientUpdate[], tools: UpdateTools): void {
  state.write("AllocationUpdated", (tx) => {
    const evals = new Map<string, Evaluation>();
    const nodes = new Set<string>();
    for (const update of updates) {
      const before = tx.state.allocs.get(update.id);
      if (before === undefined) continue;
      const evaluation = evaluationFor(tx, before, update, tools);
      const key = scoped(before.Namespace, before.JobID);
      if (evaluation !== undefined && !evals.has(key)) evals.set(key, evaluation);
      applyClientUpdate(tx, update, tools.now());
      nodes.add(before.NodeID);
    }
    for (const id of nodes) {
      const node = tx.state.nodes.get(id);
      if (node !== undefined) tx.put("nodes", { ...node, LastAllocUpdateIndex: tx.index });
    }
    if (evals.size > 0) upsertEvals(tx, [...evals.values()]);
  });
}

/** The end of an allocation concerns its job when it may be placed again, had been missed, or belongs to nobody any more. */
function evaluationFor(tx: Tx, alloc: Allocation, update: ClientUpdate, tools: UpdateTools): Evaluation | undefined {
  const missed = alloc.ClientStatus === "unknown";
  if (!["complete", "failed", "lost"].includes(update.clientStatus) && !missed) return undefined;
  const job = tx.state.jobs.get(scoped(alloc.Namespace, alloc.JobID));
  if (job === undefined) return newEval(tools.newId(), alloc.Job, "job-deregister", tools.now());
  const failed = update.clientStatus === "failed" && alloc.FollowupEvalID === "";
  const group = groupOf(job, alloc.TaskGroup);
  if (failed && group === undefined) return undefined;
  if (missed) return newEval(tools.newId(), job, "reconnect", tools.now());
  if (!failed || !rescheduleAllowed(group?.ReschedulePolicy, alloc, tools.now())) return undefined;
  return newEval(tools.newId(), job, "alloc-failure", tools.now());
}
