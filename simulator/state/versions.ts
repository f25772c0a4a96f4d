import type { Tx } from "./state.ts";
import { scoped } from "./table.ts";
import type { Job } from "./types.ts";

/** How many versions of a job are kept (`job_tracked_versions`). */
const tracked = 6;

/** The kept versions of a job, newest first. */
export function versionsOf(state: Tx["state"], namespace: string, id: string): Job[] {
  return state.job_version.by("job", scoped(namespace, id)).sort((a, b) => b.Version - a.Version);
}

export function versionAt(state: Tx["state"], namespace: string, id: string, version: number): Job | undefined {
  return state.job_version.get(`${scoped(namespace, id)}\u0000${version}`);
}

/** Keeps a version, and drops the oldest one beyond the limit: tagged ones do not count, the last stable one stays. */
export function putVersion(tx: Tx, job: Job): void {
  tx.put("job_version", job);
  const untagged = versionsOf(tx.state, job.Namespace, job.ID).filter((one) => !one.VersionTag);
  if (untagged.length <= tracked) return;
  const lastStable = untagged.findIndex((one) => one.Stable);
  const dropped = untagged[lastStable === tracked ? tracked - 1 : tracked];
  if (dropped !== undefined) tx.delete("job_version", tx.state.job_version.keyOf(dropped));
}
