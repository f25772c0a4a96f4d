import { toInstant } from "../model/clock.ts";
import type { Deployment, DeploymentSpec } from "../model/deployment.ts";
import { messageOf, NomadError } from "../model/errors.ts";
import type { Verdict } from "../model/facts.ts";
import { type JobKey, jobKey } from "../model/job-key.ts";
import type { JobSpec, LiveJob, PlanResult } from "../model/nomad.ts";
import type { ReasonCode } from "../model/reasons.ts";
import { judgeDrift, provesApplied } from "../plan/drift.ts";
import { hasScaling, onlyScaledBetween, substituteCounts } from "../plan/scaling.ts";
import type { Pass } from "../queue/reconciler.ts";
import type { ApplyDeps } from "./apply-deps.ts";
import { deploymentIn, stamped } from "./stamp.ts";

/** How one attempt to register ended. */
export type RegisterOutcome =
  | { readonly kind: "applied" }
  | { readonly kind: "in_sync" }
  | { readonly kind: "failed"; readonly reason: ReasonCode; readonly message: string }
  | { readonly kind: "again"; readonly message: string; readonly afterMs?: number };

/**
 * Brings the deployment's spec into Nomad, or finds that it is there (operator §14.4, design D7). Safe to call again after a crash
 * at any point: the index tells whether somebody wrote, and a plan tells whether it was us.
 *
 * The proof is a plan and no read: a plan answers with the index that it was made at, so what it says about the difference
 * and the index belong together, which two calls could not promise.
 */
export async function registerOnce(deployment: Deployment, deps: ApplyDeps, pass: Pass): Promise<RegisterOutcome> {
  const key = jobKey(deployment.namespace, deployment.jobId);
  const stored = await deps.store.deploymentSpec(deployment.id);
  const target: JobSpec = { ...stored.spec, ID: deployment.jobId, Namespace: deployment.namespace };
  if (deployment.mode === "verify") return beginVerification(deployment, target, deps);
  const { spec, plan } = await planNow(key, target, deps);
  if (plan.jobModifyIndex !== deployment.baseIndex) return judgeMoved(deployment, key, plan, deps);
  const drift = judgeDrift(plan.diff, false);
  if (drift === "own_keys" || (drift === "none" && !(await wasUnknown(deployment, key, deps)))) {
    // What detection saw at this very index is no longer so: left on record, it would start the same deployment again and again.
    await remember(deployment, key, plan, drift, deps);
    return { kind: "in_sync" };
  }
  const outcome = await register(deployment, spec, stored, deps, pass);
  if (outcome !== undefined) return outcome;
  return prove(deployment, key, spec, deps);
}

/** Plans with the counts that scaled groups have at this moment, so that a register never scales anything back (design D6). */
async function planNow(key: JobKey, target: JobSpec, deps: ApplyDeps): Promise<{ spec: JobSpec; plan: PlanResult }> {
  const spec = hasScaling(target) ? substituteCounts(target, await deps.nomad.readJob(key)) : target;
  return { spec, plan: await deps.nomad.plan(spec) };
}

/** A difference that plan does not see was the reason for this deployment: then an empty plan is no reason to end it (design D29). */
async function wasUnknown(deployment: Deployment, key: JobKey, deps: ApplyDeps): Promise<boolean> {
  const { verdict, unknownRegistered } = await deps.store.jobFacts(key);
  return verdict?.specHash === deployment.specHash && verdict.drift === "unknown" && unknownRegistered !== deployment.specHash;
}

async function register(
  deployment: Deployment,
  spec: JobSpec,
  stored: DeploymentSpec,
  deps: ApplyDeps,
  pass: Pass,
): Promise<RegisterOutcome | undefined> {
  try {
    await deps.nomad.register(spec, deployment.baseIndex, stamped(deployment, stored.submission));
    return undefined;
  } catch (error) {
    if (!(error instanceof NomadError)) throw error;
    switch (error.kind) {
      case "refused":
        return { kind: "failed", reason: "register_refused", message: `Nomad refused the job: ${error.message}` };
      case "conflict":
        return { kind: "again", message: `the live job moved: ${error.message}`, afterMs: 0 };
      case "unknown_outcome":
        pass.log.warn("the answer to a register was lost, looking", { error: error.message });
        return { kind: "again", message: `the answer to the register was lost: ${error.message}` };
      default:
        throw error;
    }
  }
}

/** Somebody wrote since detection: we, before a crash or a lost answer; or an autoscaler; or anybody else. */
async function judgeMoved(deployment: Deployment, key: JobKey, plan: PlanResult, deps: ApplyDeps): Promise<RegisterOutcome> {
  const drift = judgeDrift(plan.diff, false);
  if (drift === "none" || drift === "unknown") return record(deployment, key, plan, deps);
  const versions = plan.jobModifyIndex === 0 ? [] : await deps.nomad.jobVersions(key);
  const ours = await versionOf(deployment, key, versions, deps);
  if (ours !== undefined) {
    // It was registered and then changed, by auto_revert or by a person; health tells which (nomad-api §3.7).
    await deps.store.recordApplied(deployment.id, deployment.version, {
      index: ours.JobModifyIndex,
      jobVersion: ours.Version,
      evalId: undefined,
    });
    return { kind: "applied" };
  }
  const { spec } = await deps.store.deploymentSpec(deployment.id);
  if (hasScaling(spec) && onlyScaledBetween(versions, deployment.baseIndex, plan.jobModifyIndex)) {
    await deps.store.refreshBase(deployment.id, deployment.version, plan.jobModifyIndex);
    return { kind: "again", message: "only the scale moved; the base was refreshed", afterMs: 0 };
  }
  const message =
    `conflict: the live job changed under the deployment (index ${deployment.baseIndex} at detection, ${plan.jobModifyIndex} now), ` +
    "and it does not have this deployment's spec; nothing was overwritten";
  return { kind: "failed", reason: "conflict", message };
}

/** The version that our own register made, known by its stamp; later versions may have inherited it. */
async function versionOf(
  deployment: Deployment,
  key: JobKey,
  versions: readonly LiveJob[],
  deps: ApplyDeps,
): Promise<LiveJob | undefined> {
  const later = versions.filter((version) => version.JobModifyIndex > deployment.baseIndex);
  for (const version of later.toSorted((a, b) => a.JobModifyIndex - b.JobModifyIndex)) {
    if (deploymentIn(await deps.nomad.readSubmission(key, version.Version)) === deployment.id) return version;
  }
  return undefined;
}

/** The response of a register proves nothing (nomad-api §3.3): a plan at the new index does. */
async function prove(deployment: Deployment, key: JobKey, spec: JobSpec, deps: ApplyDeps): Promise<RegisterOutcome> {
  const plan = await deps.nomad.plan(spec);
  if (provesApplied(plan.diff)) return record(deployment, key, plan, deps);
  if (plan.jobModifyIndex === deployment.baseIndex)
    return { kind: "again", message: "Nomad took the register but the job did not change" };
  return judgeMoved(deployment, key, plan, deps);
}

async function record(deployment: Deployment, key: JobKey, plan: PlanResult, deps: ApplyDeps): Promise<RegisterOutcome> {
  const drift = judgeDrift(plan.diff, false);
  if (drift === "unknown" || (await wasUnknown(deployment, key, deps)))
    await deps.store.markUnknownRegistered(key, deployment.specHash);
  await deps.store.recordApplied(deployment.id, deployment.version, {
    index: plan.jobModifyIndex,
    jobVersion: undefined,
    evalId: undefined,
  });
  await remember(deployment, key, plan, drift, deps);
  return { kind: "applied" };
}

/** Puts what a plan of the deployment's spec said in place of what detection knew. */
async function remember(
  deployment: Deployment,
  key: JobKey,
  plan: PlanResult,
  drift: Verdict["drift"],
  deps: ApplyDeps,
): Promise<void> {
  await deps.store.saveVerdict(key, {
    specHash: deployment.specHash,
    targetHash: deployment.targetHash,
    jobModifyIndex: plan.jobModifyIndex,
    drift,
    diff: drift === "drift" || drift === "own_keys" ? deps.redactor.diff(plan.diff) : undefined,
    failedPlacements: plan.failedPlacements,
    warnings: deps.redactor.text(plan.warnings),
    plannedAt: toInstant(deps.clock.now()),
  });
  deps.live.note(key, plan.jobModifyIndex);
}

/** A verification registers nothing; it begins by making sure that there still is something to verify (design D12). */
async function beginVerification(deployment: Deployment, target: JobSpec, deps: ApplyDeps): Promise<RegisterOutcome> {
  const key = jobKey(deployment.namespace, deployment.jobId);
  const { plan } = await planNow(key, target, deps);
  const drift = judgeDrift(plan.diff, false);
  if (drift === "drift") {
    await remember(deployment, key, plan, drift, deps);
    return { kind: "failed", reason: "conflict", message: "the live job no longer equals git, so there is nothing to verify" };
  }
  if (deployment.reschedule && (await deps.store.recordRescheduleIntent(deployment.id))) {
    try {
      await deps.nomad.reschedule(key);
    } catch (error) {
      return {
        kind: "failed",
        reason: "nothing_runs",
        message: `Nomad could not be asked to place the job again: ${messageOf(error)}`,
      };
    }
  }
  return record(await currentOf(deployment, deps), key, plan, deps);
}

async function currentOf(deployment: Deployment, deps: ApplyDeps): Promise<Deployment> {
  return (await deps.store.deployment(deployment.id)) ?? deployment;
}
