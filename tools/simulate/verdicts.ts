import type { JobKey } from "../../model/job-key.ts";
import { isRunning } from "../../model/lifecycle.ts";
import type { ReasonCode } from "../../model/reasons.ts";
import type { Shadow } from "./shadow.ts";

/** Reasons that a job is given only when neither a block nor a pause stood before them. */
const afterHolds: ReadonlySet<ReasonCode> = new Set([
  "window_closed",
  "window_denied",
  "waiting_for_dependency",
  "dependency_failed",
  "dependency_cycle",
  "waiting_for_approval",
]);

type Judge = (key: JobKey, shadow: Shadow) => string | undefined;

const blocked =
  (state: "failed" | "rejected"): Judge =>
  (key, shadow) => {
    const latest = shadow.latest(key);
    return latest?.state === state && latest.retriedAt === undefined ? undefined : `the newest deployment is ${latest?.state}`;
  };

const judges: { readonly [Reason in ReasonCode]?: Judge } = {
  active_deployment: (key, shadow) => {
    const active = shadow.active(key);
    return active !== undefined && isRunning(active.state) ? undefined : "no deployment is running";
  },
  waiting_for_approval: (key, shadow) =>
    shadow.active(key)?.state === "pending_approval" ? undefined : "no deployment waits for a person",
  blocked_failed: blocked("failed"),
  blocked_applied: blocked("failed"),
  blocked_rejected: blocked("rejected"),
  paused: (key, shadow) => (shadow.pausedJobs.has(key) ? undefined : "nobody paused the job"),
  paused_all: (key, shadow) =>
    shadow.pausedAll && !shadow.pausedJobs.has(key) ? undefined : "nobody paused everything, or the job by itself too",
};

/** What contradicts the reason that `nops explain` gives for a job at rest, by what the observer knows beside the product. */
export function contradiction(reason: ReasonCode, key: JobKey, shadow: Shadow): string | undefined {
  if (afterHolds.has(reason) && (shadow.pausedAll || shadow.pausedJobs.has(key)))
    return "a pause is in force, which counts first";
  return judges[reason]?.(key, shadow);
}
