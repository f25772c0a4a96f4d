/**
 * The tables as the code reads and writes them (contract §5). Constraints, indexes and triggers live in `migrations/`;
 * a test compares the columns of both.
 */
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { HookPhase, HookResolution, HookRunState } from "../model/deployment.ts";
import type { BirthState, DeploymentMode, DeploymentState } from "../model/lifecycle.ts";
import type { LoginMethod } from "../model/login.ts";
import type { ReasonCode } from "../model/reasons.ts";

type StartPolicy = "auto" | "approval";
const flag = () => integer({ mode: "boolean" });

export const deployments = sqliteTable("deployments", {
  id: text().primaryKey(),
  namespace: text().notNull(),
  jobId: text("job_id").notNull(),
  repository: text().notNull(),
  commitSha: text("commit_sha").notNull(),
  commitSubject: text("commit_subject").notNull(),
  commitAuthor: text("commit_author").notNull(),
  commitAuthorEmail: text("commit_author_email").notNull(),
  file: text().notNull(),
  specHash: text("spec_hash").notNull(),
  targetHash: text("target_hash").notNull(),
  jobSpec: text("job_spec").notNull(),
  submission: text().notNull(),
  storedHash: text("stored_hash").notNull(),
  planDiff: text("plan_diff"),
  policy: text().$type<StartPolicy>().notNull(),
  declaredPolicy: text("declared_policy").$type<StartPolicy>().notNull(),
  state: text().$type<DeploymentState>().notNull(),
  birthState: text("birth_state").$type<BirthState>().notNull(),
  mode: text().$type<DeploymentMode>().notNull(),
  version: integer().notNull(),
  baseIndex: integer("base_index").notNull(),
  appliedIndex: integer("applied_index"),
  appliedVersion: integer("applied_version"),
  evalId: text("eval_id"),
  error: text(),
  reason: text().$type<ReasonCode>(),
  hasPreHooks: integer("has_pre_hooks", { mode: "boolean" }).notNull(),
  hasPostHooks: integer("has_post_hooks", { mode: "boolean" }).notNull(),
  notifyCompleted: integer("notify_completed", { mode: "boolean" }).notNull(),
  decidedBy: text("decided_by"),
  decidedAt: text("decided_at"),
  retriedBy: text("retried_by"),
  retriedAt: text("retried_at"),
  retryOf: text("retry_of"),
  reschedule: flag().notNull(),
  rescheduleIntentAt: text("reschedule_intent_at"),
  rerunUnknownHooks: integer("rerun_unknown_hooks", { mode: "boolean" }).notNull().default(false),
  promotionWaitSince: text("promotion_wait_since"),
  promotedAt: text("promoted_at"),
  windowLiftedBy: text("window_lifted_by"),
  enteredAt: text("entered_at").notNull(),
  createdAt: text("created_at").notNull(),
  updatedAt: text("updated_at").notNull(),
});

export const deploymentHooks = sqliteTable(
  "deployment_hooks",
  {
    deploymentId: text("deployment_id").notNull(),
    phase: text().$type<HookPhase>().notNull(),
    position: integer().notNull(),
    hookId: text("hook_id").notNull(),
    hash: text().notNull(),
    spec: text().notNull(),
    storedHash: text("stored_hash").notNull(),
    revisionId: text("revision_id").notNull(),
    timeoutMs: integer("timeout_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.deploymentId, table.phase, table.position] })],
);

export const hookRuns = sqliteTable("hook_runs", {
  id: text().primaryKey(),
  deploymentId: text("deployment_id").notNull(),
  phase: text().$type<HookPhase>().notNull(),
  position: integer().notNull(),
  hookId: text("hook_id").notNull(),
  revisionId: text("hook_job_id").notNull(),
  token: text("idempotency_token").notNull(),
  dispatchedJobId: text("dispatched_job_id"),
  state: text().$type<HookRunState>().notNull(),
  timeoutMs: integer("timeout_ms").notNull(),
  error: text(),
  logTail: text("log_tail"),
  startedAt: text("started_at").notNull(),
  finishedAt: text("finished_at"),
  searchingSince: text("searching_since"),
  resolution: text().$type<HookResolution>(),
  resolvedBy: text("resolved_by"),
  resolvedAt: text("resolved_at"),
});

export const approvals = sqliteTable("approvals", {
  id: integer().primaryKey({ autoIncrement: true }),
  deploymentId: text("deployment_id").notNull(),
  specHash: text("spec_hash").notNull(),
  actor: text().notNull(),
  identity: text().notNull(),
  accessorId: text("accessor_id"),
  comment: text(),
  at: text().notNull(),
});

const pauseColumns = {
  id: integer().primaryKey({ autoIncrement: true }),
  pausedBy: text("paused_by").notNull(),
  pausedAt: text("paused_at").notNull(),
  reason: text().notNull(),
  resumedBy: text("resumed_by"),
  resumedAt: text("resumed_at"),
};

export const jobPauses = sqliteTable("job_pauses", {
  ...pauseColumns,
  namespace: text().notNull(),
  jobId: text("job_id").notNull(),
});

export const nopsPauses = sqliteTable("nops_pauses", pauseColumns);

export const windowLifts = sqliteTable(
  "window_lifts",
  {
    namespace: text().notNull(),
    jobId: text("job_id").notNull(),
    specHash: text("spec_hash").notNull(),
    requestedBy: text("requested_by").notNull(),
    requestedAt: text("requested_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.namespace, table.jobId] })],
);

export const events = sqliteTable("events", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text("ts").notNull(),
  kind: text().notNull(),
  namespace: text(),
  jobId: text("job_id"),
  repository: text(),
  deploymentId: text("deployment_id"),
  fromState: text("from_state").$type<DeploymentState>(),
  toState: text("to_state").$type<DeploymentState>(),
  actor: text().notNull(),
  accessorId: text("accessor_id"),
  identity: text(),
  reason: text().$type<ReasonCode>(),
  message: text().notNull(),
  prevHash: text("prev_hash").notNull(),
  hash: text().notNull(),
});

export const eventAnchors = sqliteTable("event_anchors", {
  seq: integer().primaryKey(),
  hash: text().notNull(),
  at: text().notNull(),
});

export const meta = sqliteTable("meta", {
  key: text().primaryKey(),
  value: text().notNull(),
});

export const verdicts = sqliteTable(
  "verdicts",
  {
    namespace: text().notNull(),
    jobId: text("job_id").notNull(),
    specHash: text("spec_hash").notNull(),
    targetHash: text("target_hash").notNull(),
    jobModifyIndex: integer("job_modify_index").notNull(),
    drift: text().$type<"none" | "own_keys" | "unknown" | "drift">().notNull(),
    diff: text(),
    failedPlacements: text("failed_placements").notNull(),
    warnings: text().notNull(),
    plannedAt: text("planned_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.namespace, table.jobId] })],
);

export const unknownRegistrations = sqliteTable("unknown_registrations", {
  id: integer().primaryKey({ autoIncrement: true }),
  namespace: text().notNull(),
  jobId: text("job_id").notNull(),
  specHash: text("spec_hash").notNull(),
  at: text().notNull(),
});

export const repositories = sqliteTable("repositories", {
  name: text().primaryKey(),
  lastGoodCommit: text("last_good_commit"),
  acceptedCommit: text("accepted_commit"),
  updatedAt: text("updated_at").notNull(),
});

export const jobFiles = sqliteTable(
  "job_files",
  {
    repository: text().notNull(),
    file: text().notNull(),
    namespace: text().notNull(),
    jobId: text("job_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.repository, table.file, table.namespace, table.jobId] })],
);

export const notifications = sqliteTable("notifications", {
  id: integer().primaryKey({ autoIncrement: true }),
  kind: text().$type<"pending_approval" | "failed" | "promotion_wait" | "completed">().notNull(),
  deploymentId: text("deployment_id").notNull(),
  eventId: integer("event_id").notNull(),
  createdAt: text("created_at").notNull(),
  status: text().$type<"waiting" | "delivered" | "given_up">().notNull().default("waiting"),
  attempts: integer().notNull().default(0),
  dueAt: text("due_at").notNull(),
  deliveredTo: text("delivered_to").notNull().default("[]"),
  lastError: text("last_error"),
  finishedAt: text("finished_at"),
});

export const apiTokens = sqliteTable("api_tokens", {
  id: text().primaryKey(),
  name: text().notNull(),
  secretHash: text("secret_hash").notNull(),
  capabilities: text().notNull(),
  namespaces: text().notNull(),
  createdBy: text("created_by").notNull(),
  createdAt: text("created_at").notNull(),
  expiresAt: text("expires_at"),
  lastUsedAt: text("last_used_at"),
  revokedBy: text("revoked_by"),
  revokedAt: text("revoked_at"),
  owner: text(),
});

export const sessions = sqliteTable("sessions", {
  id: text().primaryKey(),
  secretHash: text("secret_hash").notNull(),
  method: text().$type<LoginMethod>().notNull(),
  subject: text().notNull(),
  name: text().notNull(),
  email: text(),
  claims: text().notNull(),
  checkedAt: text("checked_at").notNull(),
  createdAt: text("created_at").notNull(),
  lastUsedAt: text("last_used_at").notNull(),
  endsAt: text("ends_at").notNull(),
});

export const loginAttempts = sqliteTable("login_attempts", {
  id: integer().primaryKey({ autoIncrement: true }),
  at: text().notNull(),
  source: text().notNull(),
  account: text().notNull(),
});
