/** Domain rows as the API shows them. Nothing here can hold a spec: the types it takes have none. */
import type { Approval, Deployment, EventRecord, FrozenHook, HookRun, Pause } from "../model/deployment.ts";
import type { DeploymentJson, EventJson, HookRunJson, PauseJson } from "./contract.ts";

export function presentDeployment(row: Deployment): DeploymentJson {
  return {
    id: row.id,
    namespace: row.namespace,
    job: row.jobId,
    repository: row.repository,
    file: row.file,
    commit_sha: row.commitSha,
    commit_subject: row.commitSubject,
    commit_author: row.commitAuthor,
    spec_hash: row.specHash,
    policy: row.policy,
    state: row.state,
    mode: row.mode,
    base_index: row.baseIndex,
    applied_index: row.appliedIndex ?? null,
    error: row.error ?? null,
    reason: row.reason ?? null,
    decided_by: row.decidedBy ?? null,
    decided_at: row.decidedAt ?? null,
    retry_of: row.retryOf ?? null,
    retried_by: row.retriedBy ?? null,
    awaiting_promotion_since: row.promotedAt === undefined ? (row.promotionWaitSince ?? null) : null,
    promoted_at: row.promotedAt ?? null,
    window_lifted_by: row.windowLiftedBy ?? null,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

export function presentHookRun(run: HookRun): HookRunJson {
  return {
    id: run.id,
    phase: run.phase,
    position: run.position,
    job: run.hookId,
    revision: run.revisionId,
    dispatched_job: run.dispatchedJobId ?? null,
    state: run.state,
    timeout_seconds: run.timeoutMs / 1000,
    error: run.error ?? null,
    log_tail: run.logTail ?? null,
    resolution: run.resolution ?? null,
    resolved_by: run.resolvedBy ?? null,
    started_at: run.startedAt,
    finished_at: run.finishedAt ?? null,
  };
}

export function presentFrozenHook(hook: Omit<FrozenHook, "spec">) {
  return {
    phase: hook.phase,
    position: hook.position,
    job: hook.hookId,
    revision: hook.revisionId,
    timeout_seconds: hook.timeoutMs / 1000,
  };
}

export function presentApproval(approval: Approval) {
  return { actor: approval.actor, spec_hash: approval.specHash, comment: approval.comment ?? null, at: approval.at };
}

export function presentEvent(event: EventRecord): EventJson {
  return {
    id: event.id,
    time: event.at,
    kind: event.kind,
    namespace: event.namespace ?? null,
    job: event.jobId ?? null,
    deployment_id: event.deploymentId ?? null,
    from: event.fromState ?? null,
    to: event.toState ?? null,
    actor: event.actor,
    reason: event.reason ?? null,
    message: event.message,
    hash: event.hash,
  };
}

/** A pause in force; anything else shows as not paused. */
export function presentPause(pause: Pause | undefined): PauseJson {
  const inForce = pause !== undefined && pause.resumedAt === undefined;
  return {
    paused: inForce,
    reason: inForce ? pause.reason : null,
    by: inForce ? pause.pausedBy : null,
    since: inForce ? pause.pausedAt : null,
  };
}
