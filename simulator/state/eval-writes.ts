import { setJobStatus } from "./job-status.ts";
import type { Tx } from "./state.ts";
import { summarizeQueued } from "./summary.ts";
import { scoped } from "./table.ts";
import type { Evaluation } from "./types.ts";

/** Puts an evaluation without looking at its job's status. A complete one without failures ends the blocked ones. */
export function putEval(tx: Tx, evaluation: Evaluation): Evaluation {
  const old = tx.state.evals.get(evaluation.ID);
  const row = { ...evaluation, CreateIndex: old?.CreateIndex ?? tx.index, ModifyIndex: tx.index };
  if (row.QueuedAllocations) summarizeQueued(tx, row.Namespace, row.JobID, row.QueuedAllocations);
  if (row.Status === "complete" && Object.keys(row.FailedTGAllocs ?? {}).length === 0) {
    for (const other of tx.state.evals.by("job", scoped(row.Namespace, row.JobID))) {
      if (other.Status !== "blocked") continue;
      tx.put("evals", {
        ...other,
        Status: "canceled",
        StatusDescription: `evaluation "${row.ID}" successful`,
        ModifyIndex: tx.index,
        ModifyTime: row.ModifyTime,
      });
    }
  }
  tx.put("evals", row);
  return row;
}

/** Puts evaluations and brings the status of their jobs up to date. */
export function upsertEvals(tx: Tx, evaluations: readonly Evaluation[]): void {
  const rows = evaluations.map((evaluation) => putEval(tx, evaluation));
  for (const row of rows) {
    const job = tx.state.jobs.get(scoped(row.Namespace, row.JobID));
    if (job !== undefined) setJobStatus(tx, job);
  }
}
