import type { AdmitContext, ServerJob } from "./types.ts";
import { flag, num, rec, recs, str } from "./values.ts";
import { jobWarnings } from "./warnings.ts";

export interface Verdict {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** Everything the server's validators say about an admitted job, in their order. */
export function validateAdmission(job: ServerJob, context: AdmitContext): Verdict {
  return { errors: [], warnings: [...jobWarnings(job), ...oversubscriptionWarnings(job, context)] };
}

function oversubscriptionWarnings(job: ServerJob, context: AdmitContext): string[] {
  const pool = context.nodePool(str(job, "NodePool"));
  if (pool?.SchedulerConfiguration?.MemoryOversubscriptionEnabled ?? context.memoryOversubscription) return [];
  return recs(job, "TaskGroups").flatMap((group) =>
    recs(group, "Tasks")
      .filter((task) => num(rec(task, "Resources"), "MemoryMaxMB") !== 0)
      .map(
        (task) =>
          `Memory oversubscription is not enabled; Task "${str(group, "Name")}.${str(task, "Name")}" memory_max value will be ignored. ` +
          "Update the Scheduler Configuration to allow oversubscription.",
      ),
  );
}

export function unused(job: ServerJob): boolean {
  return flag(job, "x");
}
