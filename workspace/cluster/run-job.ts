import { NomadError } from "../../model/errors.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import type { JobSpec, LiveJob, PlanResult, Submission } from "../../model/nomad.ts";
import { withPlace } from "../../model/place.ts";
import { blindSpotsDiffer, judgeDrift } from "../../plan/drift.ts";
import { substituteCounts } from "../../plan/scaling.ts";
import { stepFailed } from "../builtins/params.ts";
import type { PreparedJob, WorkspaceNomad } from "../ports.ts";
import { refuseOperatorOwned, withLabels } from "./labels.ts";

/** A job on its way to Nomad: parsed, labelled, with its namespace. */
export interface ReadyJob {
  readonly key: JobKey;
  readonly spec: JobSpec;
  readonly submission: Submission | undefined;
}

/**
 * Lets Nomad parse a job file that is ready for it.
 * @throws NomadError of the same kind whose message names file and line where Nomad refuses the text.
 */
export async function parseJobFile(
  nomad: WorkspaceNomad,
  file: string,
  prepared: PreparedJob,
  namespace: string,
): Promise<JobSpec> {
  try {
    return await nomad.parse(prepared, namespace);
  } catch (error) {
    if (!(error instanceof NomadError) || error.kind !== "refused") throw error;
    const { kind, status } = error;
    throw new NomadError(withPlace(file, error.message), { kind, status, cause: error });
  }
}

/** Puts namespace, region and labels into a parsed job. A namespace that the file states wins over the workspace's. */
export function readyJob(
  parsed: JobSpec,
  place: { readonly namespace: string | undefined; readonly fallback: string; readonly region: string | undefined },
  own: Readonly<Record<string, string>>,
  submission: Submission | undefined,
): ReadyJob {
  const stated = parsed.Namespace ?? "";
  const namespace = place.namespace ?? (stated === "" || stated === "default" ? place.fallback : stated);
  const region = parsed.Region === "global" || (parsed.Region ?? "") === "" ? place.region : parsed.Region;
  const spec = withLabels({ ...parsed, Namespace: namespace, ...(region === undefined ? {} : { Region: region }) }, own);
  return { key: jobKey(namespace, spec.ID), spec, submission };
}

export interface RegisterOptions {
  /** Nothing of the step's own input changed since its last success: a difference that Nomad cannot name is then no reason. */
  readonly inputUnchanged: boolean;
  readonly policyOverride: boolean;
}

/**
 * Brings a job to Nomad: plan, and when something differs a register under check-and-set (design D7). Groups with a
 * `scaling` block keep their live count (D6).
 * @returns `unchanged` when Nomad has it already.
 * @throws NopsError `step_failed` when somebody changed the job between plan and register; RefusedError `operator_owned` when the
 *   live job is the operator's, which would put its own back over ours: one owner for a job (design D3).
 */
export async function registerJob(
  nomad: WorkspaceNomad,
  ready: ReadyJob,
  options: RegisterOptions,
): Promise<"registered" | "unchanged"> {
  const live = await nomad.readJob(ready.key);
  if (live !== undefined && live.Stop !== true) refuseOperatorOwned(live);
  const spec = substituteCounts(ready.spec, live);
  const plan = await nomad.plan(spec, { policyOverride: options.policyOverride });
  if (live !== undefined && isSame(plan, spec, live, options)) return "unchanged";
  try {
    await nomad.register(spec, plan.jobModifyIndex, ready.submission, { policyOverride: options.policyOverride });
  } catch (error) {
    if (error instanceof NomadError && error.kind === "conflict") {
      throw stepFailed(`job ${ready.key} was changed by somebody else since it was planned`, "run the deploy again");
    }
    if (error instanceof NomadError && error.kind === "unknown_outcome" && (await landed(nomad, ready.key, spec)))
      return "registered";
    throw error;
  }
  return "registered";
}

function isSame(plan: PlanResult, spec: JobSpec, live: LiveJob, options: RegisterOptions): boolean {
  if (live.Stop === true) return false;
  const drift = judgeDrift(plan.diff, blindSpotsDiffer(spec, live));
  return drift === "none" || (drift === "unknown" && options.inputUnchanged);
}

/** After a lost answer: whether Nomad now has our spec. The response proves nothing, a new plan does. */
async function landed(nomad: WorkspaceNomad, key: JobKey, spec: JobSpec): Promise<boolean> {
  const live = await nomad.readJob(key);
  if (live === undefined || live.Stop === true) return false;
  const plan = await nomad.plan(spec);
  return judgeDrift(plan.diff, blindSpotsDiffer(spec, live)) === "none";
}
