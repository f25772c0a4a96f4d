/** Identity of a job in the cluster that nops serves (design D1): `namespace/job-id`. A job ID may contain slashes, a namespace may not. */
export type JobKey = string & { readonly brand: "JobKey" };

/** The key of a job. Both parts must be non-empty and the namespace free of slashes; that holds for everything Nomad accepts. */
export function jobKey(namespace: string, jobId: string): JobKey {
  return `${namespace}/${jobId}` as JobKey;
}

/** The two parts of a key. */
export function splitJobKey(key: JobKey): { readonly namespace: string; readonly jobId: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), jobId: key.slice(slash + 1) };
}

/** Reads `job` or `namespace/job` as a person types it; a bare job is taken in `defaultNamespace`. */
export function parseJobKey(text: string, defaultNamespace: string): JobKey {
  const slash = text.indexOf("/");
  return slash > 0 && slash < text.length - 1 ? (text as JobKey) : jobKey(defaultNamespace, text);
}
