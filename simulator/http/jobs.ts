import { decodeApiJob } from "../jobspec/decode.ts";
import { AdmissionError, type ApiJob, ParseFailure } from "../jobspec/types.ts";
import { admitContext } from "../operations/context.ts";
import { register } from "../operations/register.ts";
import { permissionDenied, Refusal } from "../refusal.ts";
import { scoped } from "../state/table.ts";
import type { Job } from "../state/types.ts";
import { allow, field, flag, number, queryFlag, readOptions, record, text, textMap } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { paginate } from "./page.ts";
import type { Service } from "./service.ts";
import { shapedBody, shapes } from "./shapes.ts";
import { jobStub } from "./views.ts";

/** `GET /v1/jobs`, and register by `PUT /v1/jobs`. */
export async function jobs(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET", "PUT", "POST");
  if (call.request.method !== "GET") return registerJob(service, call, undefined);
  readOptions(call.request);
  const meta = queryFlag(call.request, "meta");
  const all = call.namespace === "*";
  if (all ? !call.access.anyNs("list-jobs") : !call.access.ns(call.namespace, "list-jobs")) throw permissionDenied();
  const prefix = call.request.query.get("prefix") ?? "";
  const { state } = service;
  const found = await service.blocking.run(call.request, ["jobs", "job_summary"], () => {
    const rows = state.jobs.sorted().filter((job) => {
      return job.ID.startsWith(prefix) && (all || job.Namespace === call.namespace);
    });
    const page = paginate(call.request, rows, {
      type: "Job",
      tokenOf: (job) => `${job.Namespace}.${job.ID}`,
      visible: (job) => call.access.ns(job.Namespace, "list-jobs"),
      // Of all namespaces those with a beginning are found in one order only.
      fixed: all && prefix !== "",
    });
    return { index: state.indexOf("jobs", "job_summary"), value: page };
  });
  const stubs = found.value.rows.map((job) => jobStub(job, state.job_summary.get(scoped(job.Namespace, job.ID)), meta));
  return { json: stubs, index: found.index, read: true, nextToken: found.value.nextToken };
}

/** The job of a request body, admitted: with the server's defaults, refused where the server refuses it. */
export function admitted(
  service: Service,
  call: Call,
  job: unknown,
  fields: Readonly<Record<string, unknown>>,
): { job: Job; warnings: string } {
  const namespace = call.request.query.get("namespace") || text(fields, "Namespace") || undefined;
  const region = text(fields, "Region") || call.request.query.get("region") || undefined;
  const context = admitContext(service, namespace, region);
  refuseElsewhere(service, job as Record<string, unknown>, region);
  const { job: server, warnings } = service.rules.admit(job as ApiJob, context);
  return { job: server as unknown as Job, warnings };
}

/**
 * A request goes to the region that it or its job names; a job of several regions goes to one of its own. Throws Refusal (500) when
 * that is not this one.
 */
function refuseElsewhere(service: Service, job: Readonly<Record<string, unknown>>, region: string | undefined): void {
  const named = region ?? text(job, "Region");
  const wanted = named === "" || named === "global" ? service.region : named;
  const regions = field(record(job, "Multiregion") ?? {}, "Regions");
  const names = Array.isArray(regions) ? regions.map((one) => text(one as Record<string, unknown>, "Name")) : [];
  const target = names.length === 0 || names.includes(wanted) ? wanted : (names[0] ?? "");
  if (target !== service.region) throw new Refusal(500, "No path to region");
}

/** The job of a request body, not looked into further. Throws Refusal (400) when there is none, or its id is no text. */
export function jobOf(body: Readonly<Record<string, unknown>>, request: string): ApiJob {
  const raw = field(body, "Job");
  if (raw === undefined) throw new Refusal(400, "Job must be specified");
  const isJob = typeof raw === "object" && !Array.isArray(raw);
  const job = raw as ApiJob;
  if (!isJob || typeof field(job, "ID") !== "string") return refusing(() => decodeApiJob(raw, request));
  return job;
}

/** Turns what the pure half refuses into answers. */
export function refusing<T>(fn: () => T): T {
  try {
    return fn();
  } catch (error) {
    if (error instanceof AdmissionError) throw new Refusal(error.status, error.message);
    if (error instanceof ParseFailure) throw new Refusal(400, error.message);
    throw error;
  }
}

/** Register by either path (nomad-api §3). */
export function registerJob(service: Service, call: Call, pathId: string | undefined): Reply {
  const body = shapedBody(call.request, shapes.register);
  const raw = jobOf(body, "JobRegisterRequest");
  const id = field(raw, "ID");
  if (id === undefined) throw new Refusal(400, "Job ID hasn't been provided");
  if (pathId !== undefined && id !== pathId) throw new Refusal(400, "Job ID does not match name");
  return refusing(() => {
    if (rejects(service, call)) throw registrationDisabled();
    const { job, warnings } = admitted(service, call, raw, body);
    if (!call.local.ns(job.Namespace, "submit-job", "register-job") || !mayMount(call, job)) throw permissionDenied();
    const submission = record(body, "Submission");
    const size = submission === undefined ? 0 : Buffer.byteLength(text(submission, "Source"));
    const dropped = size > 1_000_000;
    const done = register(
      service,
      { ...job, NomadTokenID: call.local.tokenId },
      {
        enforceIndex: flag(body, "EnforceIndex") ? number(body, "JobModifyIndex") : undefined,
        preserveCounts: flag(body, "PreserveCounts"),
        preserveResources: flag(body, "PreserveResources"),
        evalPriority: number(body, "EvalPriority"),
        submission: submission === undefined || dropped ? undefined : submissionOf(submission),
      },
    );
    return {
      json: {
        EvalID: done.evalId,
        EvalCreateIndex: done.evalCreateIndex,
        JobModifyIndex: done.jobModifyIndex,
        Warnings: dropped ? withWarning(warnings, sizeWarning(size)) : warnings,
        Index: done.index,
        LastContact: 0,
        KnownLeader: false,
        NextToken: "",
      },
      index: done.index,
    };
  });
}

/** Volumes need rights of their own. */
function mayMount(call: Call, job: Job): boolean {
  return job.TaskGroups.every((group) =>
    Object.values(group.Volumes ?? {}).every((volume) =>
      volume.Type === "csi"
        ? call.local.ns(job.Namespace, "csi-mount-volume")
        : volume.Type !== "host" || call.local.hostVolume(volume.Source, !volume.ReadOnly),
    ),
  );
}

function sizeWarning(size: number): string {
  return `job source size of ${(size / 1_000_000).toFixed(1)} MB exceeds maximum of 1.0 MB and will be discarded`;
}

function withWarning(warnings: string, more: string): string {
  return warnings === "" ? `1 warning:\n\n* ${more}` : `${warnings}\n* ${more}`;
}

/** An operator switched registration off for all but management tokens. */
export function rejects(service: Service, call: Call): boolean {
  return (service.state.scheduler_config.get("")?.RejectJobRegistration ?? false) && service.acls && !call.local.management;
}

export function registrationDisabled(): Refusal {
  return new Refusal(403, "Job registration, dispatch, and scale are disabled by the scheduler configuration");
}

function submissionOf(fields: Readonly<Record<string, unknown>>) {
  const flags = textMap(fields, "VariableFlags");
  return {
    Source: text(fields, "Source"),
    Format: text(fields, "Format"),
    VariableFlags: Object.keys(flags).length === 0 ? null : flags,
    Variables: text(fields, "Variables"),
  };
}

/** `PUT /v1/jobs/parse` (nomad-api §1). */
export async function parse(service: Service, call: Call): Promise<Reply> {
  allow(call, "PUT", "POST");
  const allowed =
    call.namespace === "*"
      ? call.local.anyNs("parse-job", "submit-job")
      : call.local.ns(call.namespace, "parse-job", "submit-job");
  if (!allowed) throw permissionDenied();
  const body = shapedBody(call.request, shapes.parse);
  const hcl = text(body, "JobHCL");
  if (hcl === "") throw new Refusal(400, "Job spec is empty");
  const input = { hcl, variables: text(body, "Variables"), canonicalize: flag(body, "Canonicalize") };
  try {
    return { json: await service.rules.parse(input) };
  } catch (error) {
    return refusing<never>(() => {
      throw error;
    });
  }
}

/** `PUT /v1/validate/job`: of the namespace that the job names, and of no region but the one that the request names. */
export function validate(service: Service, call: Call): Reply {
  allow(call, "PUT", "POST");
  const body = shapedBody(call.request, shapes.validate);
  const raw = jobOf(body, "JobValidateRequest");
  const region = call.request.query.get("region") || text(body, "Region") || service.region;
  if (region !== service.region) throw new Refusal(500, "No path to region");
  const stated = field(raw, "Namespace");
  if (stated === "") throw new Refusal(500, 'mismatched request namespace in request: "default", ""');
  const namespace = typeof stated === "string" ? stated : "default";
  if (!call.local.ns(namespace, "read-job")) throw permissionDenied();
  return refusing(() => ({ json: service.rules.validate(raw, admitContext(service, namespace, region)) }));
}
