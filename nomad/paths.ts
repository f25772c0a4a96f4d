import { type JobKey, splitJobKey } from "../model/job-key.ts";

/** `/v1/job/<id>` with the ID in one path part: it may hold slashes (nomad-api §4). */
export function jobPath(key: JobKey, rest = ""): string {
  return `/v1/job/${encodeURIComponent(splitJobKey(key).jobId)}${rest}`;
}

/** Namespace of a job as a query. Never used on plan and register, where it would move the job (nomad-api §2.1). */
export function namespaceOf(key: JobKey): { readonly namespace: string } {
  return { namespace: splitJobKey(key).namespace };
}
