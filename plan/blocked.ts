import type { Deployment } from "../model/deployment.ts";
import type { ReasonCode } from "../model/reasons.ts";

/** A failed or rejected deployment that keeps the same one from being made again (operator §11). */
export interface Block {
  readonly deploymentId: string;
  readonly reason: Extract<ReasonCode, "blocked_failed" | "blocked_applied" | "blocked_rejected">;
  readonly message: string;
}

/**
 * Whether the job's newest deployment blocks a new one (operator §11.1): it failed or was rejected, nobody asked for a retry, git
 * wants the same, and either nothing changed in the live job since, or it had been registered. The second rule holds whatever the
 * live job is now: Nomad's auto_revert moves it, and without the rule apply and revert would follow each other for ever. Nor does a live
 * job that moved run a hook again of which nobody can tell whether it ran: that needs a person's word (design D33).
 *
 * `liveUnmoved`: the live job is the one that was seen at detection, apart from scaling (design D6).
 */
export function blockOf(latest: Deployment | undefined, specHash: string, liveUnmoved: boolean): Block | undefined {
  if (latest === undefined || (latest.state !== "failed" && latest.state !== "rejected")) return undefined;
  if (latest.retriedAt !== undefined || latest.specHash !== specHash) return undefined;
  const change = "a new commit or a retry unblocks it";
  const registered = reachedRegister(latest);
  if (latest.state === "failed" && registered) {
    const why = latest.error === undefined ? "" : ` (${latest.error})`;
    const message = `deployment ${latest.id} of this spec failed after it was registered${why}; ${change}`;
    return { deploymentId: latest.id, reason: "blocked_applied", message };
  }
  const mayHaveRun = latest.state === "failed" && latest.reason === "hook_unknown";
  if (!liveUnmoved && !registered && !mayHaveRun) return undefined;
  const rejected = latest.state === "rejected";
  const what = rejected ? `was rejected by ${latest.decidedBy ?? "a person"}` : "failed before anything was changed";
  const also = registered || mayHaveRun ? "" : ", and so does a change of the live job";
  return {
    deploymentId: latest.id,
    reason: rejected ? "blocked_rejected" : "blocked_failed",
    message: `deployment ${latest.id} of this spec ${what}; ${change}${also}`,
  };
}

/** Whether the live job may be what the deployment wanted: it was registered, or only verified. */
export function reachedRegister(deployment: Deployment): boolean {
  return deployment.appliedIndex !== undefined || deployment.mode === "verify";
}
