import type { ApiJob } from "../jobspec/types.ts";
import { admitContext } from "../operations/context.ts";
import { dispatch } from "../operations/dispatch.ts";
import { planJob } from "../operations/plan.ts";
import { deregister, forceEvaluate, type Registered, revert } from "../operations/register.ts";
import { scale } from "../operations/scale.ts";
import { setStable, tagVersion, untagVersion } from "../operations/versions.ts";
import { permissionDenied, Refusal } from "../refusal.ts";
import { scoped } from "../state/table.ts";
import { allow, field, flag, number, queryFlag, queryNumber, record, text, textMap } from "./input.ts";
import {
  actions,
  allocations,
  deployment,
  deployments,
  evaluations,
  need,
  readJob,
  scaleStatus,
  services,
  submission,
  summary,
  versions,
} from "./job-reads.ts";
import { admitted, jobOf, refusing, registerJob, registrationDisabled, rejects } from "./jobs.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";
import { shapedBody, shapes } from "./shapes.ts";

type JobHandler = (service: Service, call: Call, id: string) => Reply | Promise<Reply>;

/** Endings of `/v1/job/…` paths; the longest one that fits wins, so a job whose id ends like one is out of reach (nomad-api §4). */
const endings: readonly (readonly [string, JobHandler])[] = [
  ["/evaluate", evaluateJob],
  ["/allocations", allocations],
  ["/evaluations", evaluations],
  ["/periodic/force", forcePeriodic],
  ["/plan", plan],
  ["/summary", summary],
  ["/dispatch", dispatchJob],
  ["/dispatch/payload", dispatchPayload],
  ["/versions", versions],
  ["/revert", revertJob],
  ["/deployments", deployments],
  ["/deployment", deployment],
  ["/stable", stable],
  ["/scale", scaleJob],
  ["/services", services],
  ["/submission", submission],
  ["/actions", actions],
];

/** Everything below `/v1/job/`. */
export function job(service: Service, call: Call, [path = ""]: readonly string[]): Reply | Promise<Reply> {
  for (const [ending, handler] of endings) {
    if (path.endsWith(ending)) return handler(service, call, path.slice(0, -ending.length));
  }
  const tag = /^([^/]+)\/versions\/([^/]+)\/tag$/.exec(path);
  if (tag !== null) return tagJob(service, call, tag[1] ?? "", tag[2] ?? "");
  return crud(service, call, path);
}

function crud(service: Service, call: Call, id: string): Reply | Promise<Reply> {
  allow(call, "GET", "PUT", "POST", "DELETE");
  if (call.request.method === "DELETE") return remove(service, call, id);
  return call.request.method === "GET" ? readJob(service, call, id) : registerJob(service, call, id);
}

function registered(done: Registered, Warnings = "", known = false): Reply {
  return {
    json: {
      EvalID: done.evalId,
      EvalCreateIndex: done.evalCreateIndex,
      JobModifyIndex: done.jobModifyIndex,
      Warnings,
      Index: done.index,
      LastContact: 0,
      KnownLeader: known,
      NextToken: "",
    },
    index: done.index,
  };
}

function remove(service: Service, call: Call, id: string): Reply {
  const purge = queryFlag(call.request, "purge");
  queryFlag(call.request, "global");
  const evalPriority = queryNumber(call.request, "eval_priority");
  const noShutdownDelay = shutdownDelayFlag(call);
  need(call, "submit-job", "purge-job", ...(purge ? [] : ["deregister-job"]));
  const done = deregister(service, call.namespace, id, { purge, evalPriority, noShutdownDelay });
  return {
    json: {
      EvalID: done.evalId,
      EvalCreateIndex: done.index,
      JobModifyIndex: done.index,
      VolumeEvalIndex: 0,
      VolumeEvalID: "",
      Index: done.index,
      LastContact: 0,
      KnownLeader: false,
      NextToken: "",
    },
    index: done.index,
  };
}

/** The server's own text has a letter too many. */
function shutdownDelayFlag(call: Call): boolean {
  try {
    return queryFlag(call.request, "no_shutdown_delay");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.status, error.message.replace('"no_shutdown_delay"', '"no_shutdown_delay"q'));
  }
}

function plan(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  const body = shapedBody(call.request, shapes.plan);
  const raw = jobOf(body, "JobPlanRequest");
  const jobId = field(raw, "ID");
  if (jobId === undefined) throw new Refusal(400, "Job must have a valid ID");
  if (jobId !== id) throw new Refusal(400, "Job ID does not match");
  return refusing(() => {
    const { job: wanted, warnings } = admitted(service, call, raw, body);
    if (!call.local.ns(wanted.Namespace, "submit-job", "plan-job")) throw permissionDenied();
    const answer = planJob(service, wanted, flag(body, "Diff"), warnings);
    return { json: answer, index: answer.Index };
  });
}

function dispatchJob(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  const body = shapedBody(call.request, shapes.dispatch);
  const named = text(body, "JobID");
  if (named !== "" && named !== id) throw new Refusal(400, "Job ID does not match");
  return send(service, call, id, {
    payload: text(body, "Payload"),
    meta: textMap(body, "Meta"),
    idPrefix: text(body, "IdPrefixTemplate"),
    priority: number(body, "Priority"),
    token: call.request.query.get("idempotency_token") || text(body, "IdempotencyToken"),
  });
}

function dispatchPayload(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  const { body, query } = call.request;
  const payload = typeof body === "string" ? Buffer.from(body).toString("base64") : "";
  return send(service, call, id, { payload, meta: {}, idPrefix: "", priority: 0, token: query.get("idempotency_token") ?? "" });
}

function send(service: Service, call: Call, id: string, request: Parameters<typeof dispatch>[3]): Reply {
  need(call, "dispatch-job");
  if (rejects(service, call)) throw registrationDisabled();
  const done = dispatch(service, call.namespace, id, request, service.faults.phantom());
  return { json: done, index: done.Index };
}

function forcePeriodic(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  need(call, "submit-job", "dispatch-job", "force-periodic-job");
  const done = service.periodic.force(call.namespace, id);
  return { json: { EvalID: done.evalId, EvalCreateIndex: done.index, Index: done.index }, index: done.index };
}

function evaluateJob(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  const body = call.request.body ? shapedBody(call.request, shapes.evaluate) : {};
  const named = text(body, "JobID");
  if (call.request.body && named === "") throw new Refusal(400, "Job ID must be specified");
  if (call.request.body && named !== id) throw new Refusal(400, "JobID not same as job name");
  need(call, "submit-job", "evaluate-job");
  const options = record(body, "EvalOptions") ?? {};
  return registered(forceEvaluate(service, call.namespace, id, flag(options, "ForceReschedule")));
}

function revertJob(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  const body = shapedBody(call.request, shapes.revert);
  const named = text(body, "JobID");
  if (named === "") throw new Refusal(400, "JobID must be specified");
  if (named !== id) throw new Refusal(400, "Job ID does not match");
  need(call, "submit-job", "revert-job");
  const prior = field(body, "EnforcePriorVersion");
  const done = refusing(() =>
    revert(service, call.namespace, id, {
      version: number(body, "JobVersion"),
      enforcePriorVersion: typeof prior === "number" ? prior : undefined,
      tokenId: call.access.tokenId,
    }),
  );
  const reverted = service.state.jobs.get(scoped(call.namespace, id)) as unknown as ApiJob;
  const { Warnings } = service.rules.validate(reverted, admitContext(service, call.namespace, undefined));
  return { ...registered(done, Warnings), leader: false };
}

function stable(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  const body = shapedBody(call.request, shapes.stable);
  if (text(body, "JobID") === "") throw new Refusal(400, "JobID must be specified");
  if (text(body, "JobID") !== id) throw new Refusal(400, "Job ID does not match");
  need(call, "submit-job", "stable-job");
  const index = setStable(service, call.namespace, id, number(body, "JobVersion"), flag(body, "Stable"));
  return { json: { Index: index }, index };
}

async function scaleJob(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET", "PUT", "POST");
  if (call.request.method === "GET") return scaleStatus(service, call, id);
  const body = shapedBody(call.request, shapes.scale);
  const target = record(body, "Target") ?? {};
  const wantedJob = text(target, "Job");
  if (wantedJob !== "" && wantedJob !== id) throw new Refusal(400, "job ID in payload did not match URL");
  need(call, "scale-job", "submit-job");
  if (rejects(service, call)) throw registrationDisabled();
  const group = text(target, "Group");
  if (group === "") throw new Refusal(400, "missing task group name for scaling action");
  const count = field(body, "Count");
  if (typeof count === "number" && count < 0) throw new Refusal(400, "scaling action count can't be negative");
  if (typeof count === "number" && flag(body, "Error"))
    throw new Refusal(400, "scaling action should not contain count if error is true");
  const done = scale(service, call.namespace, id, {
    group,
    count: typeof count === "number" ? count : null,
    message: text(body, "Message"),
    error: flag(body, "Error"),
    meta: record(body, "Meta") ?? null,
    jobModifyIndex: number(body, "JobModifyIndex"),
  });
  return registered(done, "", true);
}

function tagJob(service: Service, call: Call, id: string, name: string): Reply {
  allow(call, "PUT", "POST", "DELETE");
  const body = call.request.method === "DELETE" ? {} : shapedBody(call.request, shapes.tag);
  need(call, "submit-job", "tag-job-version");
  const answer = (tag: object, index: number): Reply => ({
    json: { ...tag, Index: index, LastContact: 0, KnownLeader: false, NextToken: "" },
  });
  // What a tag said is not told when it goes.
  if (call.request.method === "DELETE")
    return answer({ Name: "", Description: "", TaggedTime: 0 }, untagVersion(service, call.namespace, id, name));
  const [version, latest] = [number(body, "Version"), flag(body, "Latest")];
  if (latest && version > 0) throw new Refusal(500, `version must be zero when tagging latest, got: ${version}`);
  const wanted = latest ? (service.state.jobs.get(scoped(call.namespace, id))?.Version ?? 0) : version;
  const done = tagVersion(service, call.namespace, id, name, wanted, text(body, "Description"));
  return answer(done.tag, done.index);
}
