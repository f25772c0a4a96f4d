import { canonicalizeInPlace } from "./canonicalize.ts";
import { injectConnect } from "./connect.ts";
import { addConsulDefaults } from "./consul.ts";
import { decodeApiJob } from "./decode.ts";
import { injectExposePaths } from "./expose-check.ts";
import { goQuote } from "./go-text.ts";
import { addImplicitIdentities } from "./identities.ts";
import { addImpliedConstraints } from "./implied-constraints.ts";
import { listErrors, listWarnings } from "./messages.ts";
import { canonicalizeServerJob } from "./server-canonicalize.ts";
import { toServerJob } from "./server-form.ts";
import { AdmissionError, type AdmitContext, type Admitted, type ApiJob, type ServerJob, type Validation } from "./types.ts";
import { validateAdmission } from "./validate.ts";
import { flag, isUnset, rec, sameJson, str } from "./values.ts";

/**
 * What plan and register do to a job before anything else (nomad-api §2.1, §2.2, §3.4): region and namespace, the client's defaults, the
 * server's form, its defaults, implied constraints and identities, added Connect tasks; then validation. The input is not changed.
 * Throws AdmissionError: 400 for a value of the wrong type, 500 with the list of problems.
 */
export function admitJob(apiJob: ApiJob, context: AdmitContext): Admitted {
  const job = mutateJob(apiJob, context, "where it goes");
  const { errors, warnings } = validateAdmission(job, context);
  if (errors.length > 0) throw new AdmissionError(listErrors(errors));
  return { job, warnings: listWarnings(warnings), warningList: warnings };
}

/** The answer of `/v1/validate/job` (nomad-api §1). Throws AdmissionError where Nomad answers with an error instead of a list. */
export function validateJob(apiJob: ApiJob, context: AdmitContext): Validation {
  const { errors, warnings } = validateAdmission(mutateJob(apiJob, context, "as it stands"), context);
  return {
    DriverConfigValidated: true,
    ValidationErrors: errors.length === 0 ? null : errors,
    Error: errors.length === 0 ? "" : listErrors(errors),
    Warnings: listWarnings(warnings),
  };
}

/** Everything that admission changes or adds. What is only validated goes nowhere, so its region stays as it stands. */
function mutateJob(apiJob: ApiJob, context: AdmitContext, region: "where it goes" | "as it stands"): ServerJob {
  const api = decodeApiJob(apiJob);
  api["Namespace"] = context.requestNamespace || str(api, "Namespace") || "default";
  const target = regionOf(api, context);
  canonicalizeInPlace(api);
  const job = toServerJob(api);
  if (region === "where it goes") job["Region"] = target;
  canonicalizeServerJob(job);
  addConsulDefaults(job);
  refuse("connect", injectConnect(job, { suffix: context.randomName ?? (() => "000000") }));
  refuse("expose-check", injectExposePaths(job));
  addImpliedConstraints(job);
  if (str(job, "NodePool") === "") job["NodePool"] = "default";
  addImplicitIdentities(job);
  return job;
}

function refuse(mutator: string, problem: string | undefined): void {
  if (problem !== undefined) throw new AdmissionError(`error in job mutator ${mutator}: ${problem}`);
}

/** Query, then body, then the job's own; "global" means the agent's (nomad-api §2.1). */
function regionOf(api: ApiJob, context: AdmitContext): string {
  if (rec(api, "Multiregion") !== undefined) return "global";
  const wanted = context.requestRegion || str(api, "Region");
  return wanted === "" || wanted === "global" ? context.region : wanted;
}

/** Refuses what a register may not turn a job into (nomad-api §2.2). Throws AdmissionError (500). Plan does not ask this. */
export function checkJobUpdate(old: ServerJob | undefined, next: ServerJob): void {
  const problem = transitionProblem(old, next);
  if (problem !== undefined) throw new AdmissionError(problem);
}

function transitionProblem(old: ServerJob | undefined, next: ServerJob): string | undefined {
  if (old === undefined) return flag(next, "Dispatched") ? "job can't be submitted with 'Dispatched' set" : undefined;
  const [from, to] = [str(old, "Type"), str(next, "Type")];
  if (from !== to) return `cannot update job from type ${goQuote(from)} to ${goQuote(to)}`;
  for (const [word, is] of [
    ["periodic", isPeriodic],
    ["parameterized", isParameterized],
  ] as const) {
    if (is(old) && !is(next)) return `cannot update ${word} job to being non-${word}`;
    if (is(next) && !is(old)) return `cannot update non-${word} job to being ${word}`;
  }
  return flag(old, "Dispatched") === flag(next, "Dispatched") ? undefined : "field 'Dispatched' is read-only";
}

function isPeriodic(job: ServerJob): boolean {
  return !isUnset(job["Periodic"]);
}

function isParameterized(job: ServerJob): boolean {
  return !isUnset(job["ParameterizedJob"]) && !flag(job, "Dispatched");
}

const NOT_SPECIFICATION = new Set([
  "Status",
  "StatusDescription",
  "Stable",
  "Version",
  "CreateIndex",
  "ModifyIndex",
  "JobModifyIndex",
  "SubmitTime",
]);

/** Whether registering `next` over `old` makes a new version: every field but the server's own counters (nomad-api §3.3). */
export function specChanged(old: ServerJob, next: ServerJob): boolean {
  for (const key in old) if (!NOT_SPECIFICATION.has(key) && !sameJson(old[key], next[key])) return true;
  for (const key in next) if (!(key in old) && !NOT_SPECIFICATION.has(key) && !isUnset(next[key])) return true;
  return false;
}
