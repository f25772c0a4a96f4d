import { rfc3339 } from "../state/facts.ts";
import type { Allocation, Evaluation, Job } from "../state/types.ts";

/** Evaluations whose times lie closer together than this many milliseconds are made as one. */
const batchWindow = 5000;

const DISCONNECTED = "created for delayed disconnect timeout";

export interface LaterEvals {
  readonly evals: Evaluation[];
  readonly byAlloc: ReadonlyMap<string, string>;
}

/** Evaluations that wait until their time, for allocations that are placed again later. */
export function laterEvals(
  later: readonly { readonly alloc: Allocation; readonly at: number }[],
  job: Job,
  priority: number,
  triggeredBy: string,
  newId: () => string,
): LaterEvals {
  const disconnected = triggeredBy === "max-disconnect-timeout";
  const evals: Evaluation[] = [];
  const byAlloc = new Map<string, string>();
  let start = Number.NEGATIVE_INFINITY;
  for (const { alloc, at } of [...later].sort((a, b) => a.at - b.at)) {
    if (at - start >= batchWindow) {
      start = at;
      evals.push({
        ID: newId(),
        Namespace: job.Namespace,
        Priority: priority,
        Type: job.Type,
        // The first is made for the delay; further ones of a rescheduling say what any retry says.
        TriggeredBy: disconnected || evals.length === 0 ? triggeredBy : "alloc-failure",
        JobID: job.ID,
        JobModifyIndex: job.ModifyIndex,
        Status: "pending",
        StatusDescription: disconnected ? DISCONNECTED : evals.length === 0 ? "created for delayed rescheduling" : "",
        WaitUntil: rfc3339(at),
        CreateIndex: 0,
        ModifyIndex: 0,
        CreateTime: 0,
        ModifyTime: 0,
      });
    }
    byAlloc.set(alloc.ID, evals.at(-1)?.ID ?? "");
  }
  return { evals, byAlloc };
}
