/**
 * What the HTTP API takes and gives (contract §4): the one thing that server, CLI and dashboard share.
 * Keys are snake_case and stable; times are ISO 8601 UTC; identifiers of deployments are ULIDs.
 */
import { z } from "@hono/zod-openapi";
import { tokenCapabilities } from "../model/capabilities.ts";
import { loginMethods } from "../model/login.ts";
import { syncStates } from "../model/sync-state.ts";

const instant = z.string().openapi({ format: "date-time", example: "2026-01-02T03:04:05.678Z" });
const state = z.enum([
  "detected",
  "pending_approval",
  "pre_hook",
  "applying",
  "post_hook",
  "completed",
  "failed",
  "rejected",
  "superseded",
]);
const policy = z.enum(["auto", "approval", "none"]);

export const deploymentSchema = z
  .object({
    id: z.string(),
    namespace: z.string(),
    job: z.string(),
    repository: z.string(),
    file: z.string(),
    commit_sha: z.string(),
    commit_subject: z.string(),
    commit_author: z.string(),
    spec_hash: z.string(),
    policy,
    state,
    mode: z.enum(["apply", "verify"]),
    base_index: z.int(),
    applied_index: z.int().nullable(),
    error: z.string().nullable(),
    reason: z.string().nullable(),
    decided_by: z.string().nullable(),
    decided_at: instant.nullable(),
    retry_of: z.string().nullable(),
    retried_by: z.string().nullable(),
    awaiting_promotion_since: instant.nullable(),
    promoted_at: instant.nullable(),
    window_lifted_by: z.string().nullable(),
    created_at: instant,
    updated_at: instant,
  })
  .openapi("Deployment");

export const hookRunSchema = z
  .object({
    id: z.string(),
    phase: z.enum(["pre", "post"]),
    position: z.int(),
    job: z.string(),
    revision: z.string(),
    dispatched_job: z.string().nullable(),
    state: z.enum(["dispatching", "running", "succeeded", "failed", "timed_out", "unknown"]),
    timeout_seconds: z.number(),
    error: z.string().nullable(),
    log_tail: z.string().nullable(),
    resolution: z.enum(["ran", "did_not_run"]).nullable(),
    resolved_by: z.string().nullable(),
    started_at: instant,
    finished_at: instant.nullable(),
  })
  .openapi("HookRun");

export const eventSchema = z
  .object({
    id: z.int(),
    time: instant,
    kind: z.string(),
    namespace: z.string().nullable(),
    job: z.string().nullable(),
    deployment_id: z.string().nullable(),
    from: state.nullable(),
    to: state.nullable(),
    actor: z.string(),
    reason: z.string().nullable(),
    message: z.string(),
    hash: z.string(),
  })
  .openapi("Event");

export const approvalSchema = z
  .object({ actor: z.string(), spec_hash: z.string(), comment: z.string().nullable(), at: instant })
  .openapi("Approval");

export const frozenHookSchema = z
  .object({
    phase: z.enum(["pre", "post"]),
    position: z.int(),
    job: z.string(),
    revision: z.string(),
    timeout_seconds: z.number(),
  })
  .openapi("FrozenHook");

/** Nomad's job diff with every secret masked. */
const diff = z.record(z.string(), z.unknown()).nullable().openapi({ description: "Nomad's job diff, redacted" });

export const deploymentDetailSchema = deploymentSchema
  .extend({
    diff,
    hooks: z.array(frozenHookSchema),
    hook_runs: z.array(hookRunSchema),
    approvals: z.array(approvalSchema),
    approvals_required: z.int(),
    events: z.array(eventSchema),
  })
  .openapi("DeploymentDetail");

export const holdSchema = z
  .object({
    kind: z.enum(["paused", "window"]),
    reason: z.string(),
    by: z.string().nullable(),
    since: instant.nullable(),
    until: instant.nullable(),
  })
  .openapi("Hold");

export const windowSchema = z
  .object({
    open: z.boolean(),
    changes_at: instant.nullable(),
    time_zone: z.string(),
    allow: z.string().nullable(),
    deny: z.string().nullable(),
  })
  .openapi("Window");

export const issueSchema = z
  .object({ severity: z.enum(["warn", "error"]), key: z.string(), message: z.string() })
  .openapi("Issue");

export const jobSchema = z
  .object({
    namespace: z.string(),
    job: z.string(),
    repository: z.string().nullable(),
    file: z.string().nullable(),
    commit: z.string().nullable(),
    policy,
    sync: z.enum(syncStates),
    reason: z.string().nullable(),
    message: z.string(),
    drift: z.boolean(),
    spec_hash: z.string().nullable(),
    blocked_by: z.string().nullable(),
    hold: holdSchema.nullable(),
    window: windowSchema.nullable(),
    health: z.string().nullable(),
    issues: z.array(issueSchema),
    last_deployment: deploymentSchema.nullable(),
  })
  .openapi("Job");

export const jobDetailSchema = jobSchema.extend({ diff, deployments: z.array(deploymentSchema) }).openapi("JobDetail");

export const gateSchema = z
  .object({
    gate: z.string(),
    result: z.enum(["pass", "fail", "not_reached"]),
    fact: z.string(),
    source: z.string(),
    may_change: z.string().nullable(),
  })
  .openapi("Gate");

export const explanationSchema = z
  .object({
    namespace: z.string(),
    job: z.string(),
    summary: z.string(),
    blocking_gate: z.string().nullable(),
    gates: z.array(gateSchema),
  })
  .openapi("Explanation");

export const pauseSchema = z
  .object({ paused: z.boolean(), reason: z.string().nullable(), by: z.string().nullable(), since: instant.nullable() })
  .openapi("Pause");

export const repositoryStatusSchema = z
  .object({
    name: z.string(),
    branch: z.string(),
    commit: z.string().nullable(),
    commit_subject: z.string().nullable(),
    last_check_at: instant.nullable(),
    last_error: z.string().nullable(),
    managed_jobs: z.int(),
    issues: z.array(
      z.object({ severity: z.enum(["warn", "error"]), file: z.string(), line: z.int().nullable(), message: z.string() }),
    ),
    /** Set while a commit waits for `nops fetch REPO --accept`. */
    held_commit: z.string().nullable(),
  })
  .openapi("Repository");

export const statusSchema = z
  .object({
    version: z.string(),
    mode: z.enum(["active", "read_only", "standby", "restored"]),
    repositories: z.array(repositoryStatusSchema),
    nomad: z.object({
      address: z.string(),
      reachable: z.boolean(),
      error: z.string().nullable(),
      last_contact_at: instant.nullable(),
    }),
    started_at: instant.nullable(),
    /** Last pass of each loop. */
    loops: z.record(z.string(), instant.nullable()),
    /** What each loop has to do: keys that wait, are worked on, and whose last pass failed. */
    queues: z.record(z.string(), z.object({ waiting: z.int(), running: z.int(), failing: z.int() })),
    counts: z.record(z.string(), z.int()),
    paused: pauseSchema,
    /** What every reader has to know, one sentence each; empty when all is well. */
    warnings: z.array(z.string()),
  })
  .openapi("Status");

export const sessionSchema = z
  .object({
    /** For display. */
    name: z.string(),
    method: z.enum([...loginMethods, "token", "anonymous"]),
    /** What counts as one person, as `METHOD:SUBJECT`. */
    identity: z.string(),
    email: z.string().nullable(),
    rights: z.array(z.object({ capabilities: z.array(z.enum(tokenCapabilities)), namespaces: z.array(z.string()) })),
    ends_at: instant.nullable(),
  })
  .openapi("Session");

export const loginOptionsSchema = z.object({ methods: z.array(z.enum([...loginMethods, "token"])) }).openapi("LoginOptions");

/** `next`: the path to go on to; `/` where the wanted one is none of the dashboard's. */
export const loggedInSchema = z.object({ next: z.string(), session: sessionSchema }).openapi("LoggedIn");

export const errorSchema = z
  .object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }) })
  .openapi("Error");

export const approveRequest = z.strictObject({ spec_hash: z.string().min(1), comment: z.string().max(500).optional() });
export const rejectRequest = z.strictObject({ comment: z.string().max(500).optional() });
export const retryRequest = z.strictObject({ reschedule: z.boolean().optional(), rerun_unknown_hooks: z.boolean().optional() });
export const passwordLogin = z.strictObject({
  name: z.string().min(1).max(100),
  password: z.string().min(1).max(1_000),
  next: z.string().max(2_000).optional(),
});
export const nomadTokenLogin = z.strictObject({ token: z.string().min(1).max(4_000), next: z.string().max(2_000).optional() });
export const pauseRequest = z.strictObject({ reason: z.string().trim().min(1).max(500) });
export const deployNowRequest = z.strictObject({ spec_hash: z.string().min(1) });
export const fetchRequest = z.strictObject({ repository: z.string().optional(), accept: z.boolean().optional() });
export const resolveHookRequest = z.strictObject({ resolution: z.enum(["ran", "did_not_run"]) });

export type DeploymentJson = z.infer<typeof deploymentSchema>;
export type DeploymentDetailJson = z.infer<typeof deploymentDetailSchema>;
export type HookRunJson = z.infer<typeof hookRunSchema>;
export type EventJson = z.infer<typeof eventSchema>;
export type JobJson = z.infer<typeof jobSchema>;
export type JobDetailJson = z.infer<typeof jobDetailSchema>;
export type ExplanationJson = z.infer<typeof explanationSchema>;
export type PauseJson = z.infer<typeof pauseSchema>;
export type StatusJson = z.infer<typeof statusSchema>;
export type SessionJson = z.infer<typeof sessionSchema>;
export type LoginOptionsJson = z.infer<typeof loginOptionsSchema>;
export type LoggedInJson = z.infer<typeof loggedInSchema>;
export type ErrorJson = z.infer<typeof errorSchema>;
export type RetryRequest = z.infer<typeof retryRequest>;
