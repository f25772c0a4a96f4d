import type { Tx } from "./state.ts";
import type { GroupSummary, JobSummary } from "./summary-types.ts";
import { scoped } from "./table.ts";
import type { Allocation, Job } from "./types.ts";

const empty: GroupSummary = { Queued: 0, Complete: 0, Failed: 0, Running: 0, Starting: 0, Lost: 0, Unknown: 0 };

const counterOf: Readonly<Record<string, keyof GroupSummary>> = {
  pending: "Starting",
  running: "Running",
  complete: "Complete",
  failed: "Failed",
  lost: "Lost",
  unknown: "Unknown",
};

/** Makes the summary of a job, or adds the groups that a new version brought. */
export function summarizeJob(tx: Tx, job: Job): void {
  const old = tx.state.job_summary.get(scoped(job.Namespace, job.ID));
  const missing = job.TaskGroups.filter((group) => old?.Summary[group.Name] === undefined);
  if (old !== undefined && missing.length === 0) return;
  const base: JobSummary = old ?? {
    JobID: job.ID,
    Namespace: job.Namespace,
    Summary: {},
    Children: { Pending: 0, Running: 0, Dead: 0 },
    CreateIndex: tx.index,
    ModifyIndex: tx.index,
  };
  const groups = Object.fromEntries(missing.map((group) => [group.Name, empty]));
  tx.put("job_summary", { ...base, Summary: { ...base.Summary, ...groups }, ModifyIndex: tx.index });
}

/** Counts an allocation from one client status to the next. Allocations of an earlier life of the job do not count. */
export function summarizeAlloc(tx: Tx, alloc: Allocation, before: Allocation | undefined): void {
  if (before?.ClientStatus === alloc.ClientStatus) return;
  const summary = tx.state.job_summary.get(scoped(alloc.Namespace, alloc.JobID));
  const group = summary?.Summary[alloc.TaskGroup];
  if (summary === undefined || group === undefined || summary.CreateIndex !== alloc.Job.CreateIndex) return;
  const next: Record<keyof GroupSummary, number> = { ...group };
  const to = counterOf[alloc.ClientStatus];
  if (to !== undefined) next[to] += 1;
  if (before === undefined) {
    if (next.Queued > 0) next.Queued -= 1;
  } else {
    const from = counterOf[before.ClientStatus];
    // Failed and complete are totals: an allocation that leaves them does not come back.
    if (from !== undefined && from !== "Failed" && from !== "Complete" && next[from] > 0) next[from] -= 1;
  }
  tx.put("job_summary", { ...summary, Summary: { ...summary.Summary, [alloc.TaskGroup]: next }, ModifyIndex: tx.index });
}

/** Takes over what the scheduler could not place. */
export function summarizeQueued(tx: Tx, namespace: string, jobId: string, queued: Readonly<Record<string, number>>): void {
  const summary = tx.state.job_summary.get(scoped(namespace, jobId));
  if (summary === undefined) return;
  const groups: Record<string, GroupSummary> = {};
  for (const [name, count] of Object.entries(queued)) {
    const group = summary.Summary[name];
    if (group !== undefined && group.Queued !== count) groups[name] = { ...group, Queued: count };
  }
  if (Object.keys(groups).length === 0) return;
  tx.put("job_summary", { ...summary, Summary: { ...summary.Summary, ...groups }, ModifyIndex: tx.index });
}

const childCounter: Readonly<Record<string, "Pending" | "Running" | "Dead">> = {
  pending: "Pending",
  running: "Running",
  dead: "Dead",
};

/** Counts a child job in its parent's summary. `from` is "" for a new child. */
export function summarizeChild(tx: Tx, child: Job, from: string, to: string): void {
  if (child.ParentID === "") return;
  const summary = tx.state.job_summary.get(scoped(child.Namespace, child.ParentID));
  if (summary === undefined) return;
  const children = { ...summary.Children };
  const old = childCounter[from];
  const next = childCounter[to];
  if (old !== undefined) children[old] -= 1;
  if (next !== undefined) children[next] += 1;
  tx.put("job_summary", { ...summary, Children: children, ModifyIndex: tx.index });
}
