import { Refusal } from "../refusal.ts";
import { isParameterized, isPeriodic, nanos } from "../state/facts.ts";
import { upsertJob } from "../state/job-writes.ts";
import { scoped } from "../state/table.ts";
import type { Job } from "../state/types.ts";
import type { Operations } from "./context.ts";
import { snappy } from "./payload.ts";
import { evalFor, evaluate } from "./register.ts";

/** Bytes that a dispatch may carry. */
const payloadLimit = 16_384;

export interface DispatchRequest {
  /** Base64. */
  readonly payload: string;
  readonly meta: Readonly<Record<string, string>>;
  readonly idPrefix: string;
  readonly priority: number;
  readonly token: string;
}

export interface Dispatched {
  readonly DispatchedJobID: string;
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly JobCreateIndex: number;
  readonly Index: number;
}

/**
 * Makes a child of a parameterized job (nomad-api §5). A token that a child still carries gives that child. With `phantom` the
 * answer to a repeated token names a child that never existed, as concurrent requests may see it (§17). Throws Refusal.
 */
export function dispatch(ops: Operations, namespace: string, id: string, request: DispatchRequest, phantom = false): Dispatched {
  const { state } = ops;
  const parent = state.jobs.get(scoped(namespace, id));
  if (parent === undefined) throw new Refusal(500, "parameterized job not found");
  if (!isParameterized(parent)) throw new Refusal(500, `Specified job "${id}" is not a parameterized job`);
  if (parent.Stop) throw new Refusal(500, `Specified job "${id}" is stopped`);
  const priority = request.priority === 0 ? parent.Priority : request.priority;
  check(parent, request, priority);
  const twin = request.token === "" ? undefined : childWithToken(ops, parent, request.token);
  if (twin !== undefined && !phantom) {
    return {
      DispatchedJobID: twin.ID,
      EvalID: "",
      EvalCreateIndex: 0,
      JobCreateIndex: twin.CreateIndex,
      Index: twin.ModifyIndex,
    };
  }
  const child = childOf(ops, parent, request, priority);
  const evaluation = isPeriodic(child) ? undefined : evalFor(ops, child, "job-register");
  return state.write("JobRegister", (tx) => {
    if (twin === undefined) {
      upsertJob(tx, child, { newId: ops.newId });
      if (evaluation !== undefined) evaluate(tx, child, { ...evaluation, JobModifyIndex: tx.index });
    }
    return {
      DispatchedJobID: child.ID,
      EvalID: evaluation?.ID ?? "",
      EvalCreateIndex: evaluation === undefined ? 0 : tx.index,
      JobCreateIndex: tx.index,
      Index: tx.index,
    };
  });
}

function childWithToken(ops: Operations, parent: Job, token: string): Job | undefined {
  return ops.state.jobs.by("parent", scoped(parent.Namespace, parent.ID)).find((job) => job.DispatchIdempotencyToken === token);
}

function childOf(ops: Operations, parent: Job, request: DispatchRequest, priority: number): Job {
  const prefix = request.idPrefix === "" ? "" : `${request.idPrefix}-`;
  const ID = `${parent.ID}/dispatch-${prefix}${Math.floor(ops.now() / 1000)}-${ops.newId().slice(0, 8)}`;
  const meta = { ...parent.Meta, ...request.meta };
  return {
    ...parent,
    ID,
    Name: ID,
    ParentID: parent.ID,
    Dispatched: true,
    Status: "",
    StatusDescription: "",
    DispatchIdempotencyToken: request.token,
    Priority: priority,
    Meta: Object.keys(meta).length === 0 ? null : meta,
    Payload: request.payload === "" ? null : snappy(request.payload),
    SubmitTime: nanos(ops.now()),
  };
}

function check(parent: Job, request: DispatchRequest, priority: number): void {
  const rules = parent.ParameterizedJob;
  const refuse = (text: string) => new Refusal(500, text);
  if (rules?.Payload === "required" && request.payload === "")
    throw refuse("Payload is not provided but required by parameterized job");
  if (rules?.Payload === "forbidden" && request.payload !== "")
    throw refuse("Payload provided but forbidden by parameterized job");
  const size = Buffer.byteLength(request.payload, "base64");
  if (size > payloadLimit) throw refuse(`Payload exceeds maximum size; ${size} > ${payloadLimit}`);
  const required = rules?.MetaRequired ?? [];
  const allowed = new Set([...required, ...(rules?.MetaOptional ?? [])]);
  const extra = Object.keys(request.meta).filter((key) => !allowed.has(key));
  if (extra.length > 0) throw refuse(`Dispatch request included unpermitted metadata keys: [${extra.join(" ")}]`);
  const missing = required.filter((key) => !(key in request.meta));
  if (missing.length > 0) throw refuse(`Dispatch did not provide required meta keys: [${missing.join(" ")}]`);
  if (priority < 1 || priority > 100) throw refuse("dispatch job priority must be between [1, 100]");
}
