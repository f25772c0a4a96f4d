import { getTableColumns } from "drizzle-orm";
import type { Approval, Deployment, EventRecord, HookRun, Pause, WindowLift } from "../model/deployment.ts";
import type { SqliteDatabase } from "./database.ts";
import { membersOf, type RowQuery, rowQuery, type WithoutNulls } from "./query.ts";
import { approvals, deployments, type events, hookRuns, type jobPauses, type nopsPauses, type windowLifts } from "./schema.ts";

// The spec, the diff and the author's address are read only by whom needs them.
const {
  jobSpec: _jobSpec,
  submission: _submission,
  storedHash: _storedHash,
  planDiff: _planDiff,
  commitAuthorEmail: _commitAuthorEmail,
  rerunUnknownHooks: _rerunUnknownHooks,
  rescheduleIntentAt: _rescheduleIntentAt,
  declaredPolicy: _declaredPolicy,
  birthState: _birthState,
  notifyCompleted: _notifyCompleted,
  ...light
} = getTableColumns(deployments);

/** The columns that make a `Deployment`. */
export const deploymentColumns = light;

const deploymentMembers = Object.keys(light) as (keyof typeof light)[];
const approvalMembers = membersOf(approvals, "id", "accessorId");
const hookRunMembers = membersOf(hookRuns, "resolvedAt");

/** Row types with `null`, as SQLite has it, where the model has `undefined`. */
type FullRow = typeof deployments.$inferSelect;
export type DeploymentRow = Pick<FullRow, keyof typeof light>;

export function toDeployment(row: DeploymentRow): Deployment {
  return withoutNulls(row);
}

/** Prepares a query for whole deployments; see `rowQuery`. */
export function deploymentQuery(database: SqliteDatabase, end: string): RowQuery<Deployment> {
  return rowQuery(database, deployments, deploymentMembers, end);
}

/** Prepares a query for approvals. */
export function approvalQuery(database: SqliteDatabase, end: string): RowQuery<Approval> {
  return rowQuery(database, approvals, approvalMembers, end);
}

/** Prepares a query for pauses of jobs or of everything. */
export function pauseQuery(database: SqliteDatabase, table: typeof jobPauses | typeof nopsPauses, end: string): RowQuery<Pause> {
  return rowQuery(database, table, ["pausedBy", "pausedAt", "reason", "resumedBy", "resumedAt"], end);
}

/** Prepares a query for whole hook runs. */
export function hookRunQuery(database: SqliteDatabase, end: string): RowQuery<HookRun> {
  return rowQuery(database, hookRuns, hookRunMembers, end);
}

export function toHookRun(row: typeof hookRuns.$inferSelect): HookRun {
  const { resolvedAt: _resolvedAt, ...rest } = row;
  return withoutNulls(rest);
}

export function toApproval(row: typeof approvals.$inferSelect): Approval {
  const { id: _id, accessorId: _accessorId, ...rest } = row;
  return withoutNulls(rest);
}

export function toEvent(row: typeof events.$inferSelect): EventRecord {
  return withoutNulls(row);
}

export function toPause(row: typeof nopsPauses.$inferSelect | typeof jobPauses.$inferSelect): Pause {
  const { pausedBy, pausedAt, reason, resumedBy, resumedAt } = row;
  return { pausedBy, pausedAt, reason, resumedBy: resumedBy ?? undefined, resumedAt: resumedAt ?? undefined };
}

export function toLift(row: typeof windowLifts.$inferSelect): WindowLift {
  return row;
}

/** A row with `undefined` in place of each `null`. The row is fresh from the database and belongs to the caller. */
function withoutNulls<T extends object>(row: T): WithoutNulls<T> {
  const result = row as Record<string, unknown>;
  for (const name in result) if (result[name] === null) result[name] = undefined;
  return row as WithoutNulls<T>;
}
