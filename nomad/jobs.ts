import { NomadError } from "../model/errors.ts";
import type { JobKey } from "../model/job-key.ts";
import type {
  JobDiff,
  JobSpec,
  LiveJob,
  PlacementFailures,
  PlanResult,
  RegisterResult,
  StoredSubmission,
  Submission,
} from "../model/nomad.ts";
import { unwrapJob, withoutServerFields } from "./job-body.ts";
import { approximate, decodeExact } from "./json.ts";
import { jobPath, namespaceOf } from "./paths.ts";
import type { NomadTransport } from "./transport.ts";

/** What a validation found; an empty list means the job is good. */
export interface ValidateResult {
  readonly errors: readonly string[];
  readonly warnings: string;
}

interface PlanAnswer {
  readonly Diff?: JobDiff | null;
  readonly JobModifyIndex?: number;
  readonly FailedTGAllocs?: PlacementFailures | null;
  readonly Warnings?: string;
}

/**
 * Lets Nomad parse a job file (nomad-api §1). `json`: API JSON, wrapped or bare, is taken as it is without a call.
 * @param namespace only decides whose right to parse is checked.
 * @throws NomadError `refused` with Nomad's own text for a file that does not parse.
 */
export async function parse(
  transport: NomadTransport,
  source: { readonly format: "hcl2" | "json"; readonly source: string; readonly variables: string },
  namespace: string,
): Promise<JobSpec> {
  if (source.format === "json") return parseApiJson(source.source);
  const { value } = await transport.call({
    operation: "parse",
    what: "parse the job file",
    effect: "read",
    method: "PUT",
    path: "/v1/jobs/parse",
    query: { namespace },
    body: { JobHCL: source.source, Variables: source.variables, Canonicalize: false },
    decoding: "exact",
  });
  return value as JobSpec;
}

/** Plans the job in `spec.Namespace` with its diff (nomad-api §2). Sends no namespace query: it would win over the specification. */
export async function plan(transport: NomadTransport, spec: JobSpec): Promise<PlanResult> {
  const { value } = await transport.call({
    operation: "plan",
    what: `plan job ${spec.ID}`,
    effect: "read",
    method: "PUT",
    path: `/v1/job/${encodeURIComponent(spec.ID)}/plan`,
    body: { Job: withoutServerFields(spec), Diff: true },
  });
  const { Diff, JobModifyIndex, FailedTGAllocs, Warnings } = value as PlanAnswer;
  return {
    diff: Diff ?? { Type: "None", ID: spec.ID },
    jobModifyIndex: JobModifyIndex ?? 0,
    failedPlacements: FailedTGAllocs ?? {},
    warnings: Warnings ?? "",
  };
}

/**
 * Registers under check-and-set; there is no other register (design D7, nomad-api §3.2). `enforceIndex` 0: the job must not exist.
 * Always goes to `/v1/jobs`, so that no job ID can be taken for a sub-path.
 * @throws NomadError `conflict` when the index does not match, `unknown_outcome` when the answer was lost.
 */
export async function register(
  transport: NomadTransport,
  spec: JobSpec,
  enforceIndex: number,
  submission: Submission,
): Promise<RegisterResult> {
  const { value } = await transport.call({
    operation: "register",
    what: `register job ${spec.ID}`,
    effect: "write",
    method: "PUT",
    path: "/v1/jobs",
    body: {
      Job: withoutServerFields(spec),
      EnforceIndex: true,
      JobModifyIndex: enforceIndex,
      Submission: {
        Source: submission.source,
        Format: submission.format,
        Variables: submission.variables,
        VariableFlags: submission.variableFlags ?? {},
      },
    },
  });
  const { EvalID, Warnings } = value as { readonly EvalID?: string; readonly Warnings?: string };
  return { evalId: EvalID ?? "", warnings: Warnings ?? "" };
}

/** Checks a job without planning it: a list of errors where plan gives one text (nomad-api §1). */
export async function validate(transport: NomadTransport, spec: JobSpec): Promise<ValidateResult> {
  const { value } = await transport.call({
    operation: "validate",
    what: `validate job ${spec.ID}`,
    effect: "read",
    method: "PUT",
    path: "/v1/validate/job",
    body: { Job: withoutServerFields(spec) },
  });
  const {
    ValidationErrors,
    Error: text,
    Warnings,
  } = value as {
    readonly ValidationErrors?: readonly string[] | null;
    readonly Error?: string;
    readonly Warnings?: string;
  };
  const errors = ValidationErrors ?? [];
  return { errors: errors.length === 0 && text ? [text] : errors, warnings: Warnings ?? "" };
}

/** The live job, stopped ones included; `undefined` when Nomad has none. `SubmitTime` is only near the true value. */
export async function readJob(transport: NomadTransport, key: JobKey): Promise<LiveJob | undefined> {
  const answer = await transport.call({
    operation: "read_job",
    what: `read job ${key}`,
    effect: "read",
    method: "GET",
    path: jobPath(key),
    query: namespaceOf(key),
    decoding: "exact",
    absent: "job not found",
  });
  const job = answer.value as LiveJob | undefined;
  return job === undefined ? undefined : readableTimes(job);
}

/** The versions that Nomad still keeps of the live incarnation, newest first; empty when there is no such job. */
export async function jobVersions(transport: NomadTransport, key: JobKey): Promise<readonly LiveJob[]> {
  const answer = await transport.call({
    operation: "job_versions",
    what: `read versions of job ${key}`,
    effect: "read",
    method: "GET",
    path: jobPath(key, "/versions"),
    query: namespaceOf(key),
    decoding: "exact",
    absent: "job versions not found",
  });
  const versions = (answer.value as { readonly Versions?: readonly LiveJob[] | null } | undefined)?.Versions ?? [];
  return versions.map(readableTimes).sort((a, b) => b.Version - a.Version);
}

/** Source stored with a job version (nomad-api §3.5); `undefined` when there is none. */
export async function readSubmission(
  transport: NomadTransport,
  key: JobKey,
  version: number,
): Promise<StoredSubmission | undefined> {
  const answer = await transport.call({
    operation: "read_submission",
    what: `read the source of job ${key} version ${version}`,
    effect: "read",
    method: "GET",
    path: jobPath(key, "/submission"),
    query: { ...namespaceOf(key), version },
    absent: "job source not found",
  });
  return answer.value as StoredSubmission | undefined;
}

function parseApiJson(source: string): JobSpec {
  let value: unknown;
  try {
    value = decodeExact(source);
  } catch (error) {
    throw new NomadError(`the job file is not JSON: ${error instanceof Error ? error.message : ""}`, { kind: "refused" });
  }
  const job = unwrapJob(value);
  if (job === undefined) throw new NomadError('the JSON file holds no job: it has no "ID"', { kind: "refused" });
  return job;
}

/** A time in nanoseconds is only looked at and never sent back, so a number serves better than all its digits. */
function readableTimes(job: LiveJob): LiveJob {
  return { ...job, SubmitTime: approximate(job["SubmitTime"]) };
}
