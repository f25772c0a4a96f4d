import { InvalidRequestError, NomadError } from "../model/errors.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import type { LiveJob } from "../model/nomad.ts";
import { listJobs } from "./job-lists.ts";
import { readJob } from "./jobs.ts";
import { jobPath, namespaceOf } from "./paths.ts";
import type { NomadTransport } from "./transport.ts";

// Goes into a filter expression between quotes, and into a query.
const TOKEN = /^[\w.:/-]{1,200}$/;

/**
 * Dispatches under an idempotency token, once, and reads the child that Nomad names.
 * `exists: false`: it never came to be (§17); look it up by token.
 * @throws NomadError `unknown_outcome` when the answer, or the child's, was lost: look it up by token too.
 * @throws InvalidRequestError `bad_dispatch_token`.
 */
export async function dispatch(
  transport: NomadTransport,
  parent: JobKey,
  token: string,
  meta: Readonly<Record<string, string>>,
): Promise<{ readonly childId: string; readonly exists: boolean }> {
  assertToken(token);
  const { namespace, jobId } = splitJobKey(parent);
  const { value } = await transport.call({
    operation: "dispatch",
    what: `dispatch job ${parent}`,
    effect: "write",
    method: "PUT",
    path: jobPath(parent, "/dispatch"),
    query: { ...namespaceOf(parent), idempotency_token: token },
    body: { JobID: jobId, Meta: meta },
    secrets: Object.values(meta),
  });
  const childId = (value as { readonly DispatchedJobID?: string }).DispatchedJobID;
  if (typeof childId !== "string" || childId === "") throw lost(parent, "names no child");
  const child = await readJob(transport, jobKey(namespace, childId)).catch((error: unknown) => {
    throw lost(parent, error instanceof NomadError ? error.message : "child not readable");
  });
  return { childId, exists: child !== undefined };
}

/** The child of `parent` that carries the token, dead ones included; garbage collected ones are gone. */
export async function findDispatched(transport: NomadTransport, parent: JobKey, token: string): Promise<LiveJob | undefined> {
  assertToken(token);
  const { namespace, jobId } = splitJobKey(parent);
  const { jobs } = await listJobs(transport, namespace, {
    prefix: `${jobId}/dispatch-`,
    filter: `DispatchIdempotencyToken == "${token}"`,
  });
  for (const stub of jobs) {
    if (stub.ParentID !== jobId) continue;
    const child = await readJob(transport, jobKey(namespace, stub.ID));
    if (child?.DispatchIdempotencyToken === token) return child;
  }
  return undefined;
}

function assertToken(token: string): void {
  if (TOKEN.test(token)) return;
  throw new InvalidRequestError("a dispatch token is 1 to 200 letters, digits and . : / _ -", { code: "bad_dispatch_token" });
}

function lost(parent: JobKey, why: string): NomadError {
  return new NomadError(`dispatched job ${parent}, but which child runs is not known: ${why}`, { kind: "unknown_outcome" });
}
