import type { Deployment } from "../../model/deployment.ts";

/** What a receiver is told (operator §23). No spec, no diff: only what people need to decide whether to look. */
export interface NotificationMessage {
  readonly kind: "pending_approval" | "failed" | "promotion_wait" | "completed";
  readonly deployment: Deployment;
  /** Page of the deployment, when a public address is configured. */
  readonly url: string | undefined;
}

const titles: Readonly<Record<NotificationMessage["kind"], string>> = {
  pending_approval: "waits for approval",
  failed: "failed",
  promotion_wait: "waits for promotion of its canaries",
  completed: "completed",
};

/** One line: which job, and what is with it. */
export function titleOf({ kind, deployment }: NotificationMessage): string {
  return `${deployment.namespace}/${deployment.jobId} ${titles[kind]}`;
}

/** The line's reason: the error of a failure, else the commit. */
export function detailOf({ deployment }: NotificationMessage): string {
  const commit = `${deployment.commitSha.slice(0, 8)} ${deployment.commitSubject}`;
  return deployment.error === undefined ? commit : `${deployment.error} (${commit})`;
}
