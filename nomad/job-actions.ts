import { type JobKey, splitJobKey } from "../model/job-key.ts";
import { jobPath, namespaceOf } from "./paths.ts";
import type { NomadTransport } from "./transport.ts";

async function deregister(transport: NomadTransport, key: JobKey, purge: boolean): Promise<void> {
  await transport.call({
    operation: purge ? "purge_job" : "stop_job",
    what: `${purge ? "purge" : "stop"} job ${key}`,
    effect: "write",
    method: "DELETE",
    path: jobPath(key),
    query: { ...namespaceOf(key), purge },
  });
}

/** Stops without purge: a new version with `Stop: true`. Absent: no error (nomad-api §4). Children keep running. */
export async function stopJob(transport: NomadTransport, key: JobKey): Promise<void> {
  await deregister(transport, key, false);
}

/** Stops and forgets: versions, submissions and deployments go at once. */
export async function purgeJob(transport: NomadTransport, key: JobKey): Promise<void> {
  await deregister(transport, key, true);
}

/** Evaluates the job with forced rescheduling (design D12). @throws NomadError `not_found`. */
export async function reschedule(transport: NomadTransport, key: JobKey): Promise<void> {
  await transport.call({
    operation: "reschedule",
    what: `reschedule job ${key}`,
    effect: "write",
    method: "PUT",
    path: jobPath(key, "/evaluate"),
    query: namespaceOf(key),
    // Nomad wants the ID in the body too.
    body: { JobID: splitJobKey(key).jobId, EvalOptions: { ForceReschedule: true } },
  });
}

/** Sets the count of one group. Refused while a deployment is active. */
export async function scaleGroup(
  transport: NomadTransport,
  key: JobKey,
  group: string,
  count: number,
  message = "",
): Promise<void> {
  const { namespace, jobId } = splitJobKey(key);
  await transport.call({
    operation: "scale_job",
    what: `scale group ${group} of job ${key}`,
    effect: "write",
    method: "PUT",
    path: jobPath(key, "/scale"),
    query: { namespace },
    body: { Count: count, Target: { Job: jobId, Namespace: namespace, Group: group }, Message: message },
  });
}

/** Makes an old version the newest one; `enforcePriorVersion` must be the current version. */
export async function revertJob(
  transport: NomadTransport,
  key: JobKey,
  version: number,
  enforcePriorVersion?: number,
): Promise<void> {
  await transport.call({
    operation: "revert_job",
    what: `revert job ${key} to version ${version}`,
    effect: "write",
    method: "PUT",
    path: jobPath(key, "/revert"),
    query: namespaceOf(key),
    body: {
      JobID: splitJobKey(key).jobId,
      JobVersion: version,
      ...(enforcePriorVersion === undefined ? {} : { EnforcePriorVersion: enforcePriorVersion }),
    },
  });
}

/** Starts a periodic job now. */
export async function forcePeriodic(transport: NomadTransport, key: JobKey): Promise<void> {
  await transport.call({
    operation: "force_periodic",
    what: `start periodic job ${key}`,
    effect: "write",
    method: "PUT",
    path: jobPath(key, "/periodic/force"),
    query: namespaceOf(key),
    body: {},
  });
}
