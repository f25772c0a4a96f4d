import { getTableColumns } from "drizzle-orm";
import type { Approval, Deployment, EventRecord, HookRun, Pause, WindowLift } from "../model/deployment.ts";
import type { SqliteDatabase } from "./database.ts";
import {
  type approvals,
  deployments,
  type events,
  type hookRuns,
  type jobPauses,
  type nopsPauses,
  type windowLifts,
} from "./schema.ts";

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

/** Row types with `null`, as SQLite has it, where the model has `undefined`. */
type FullRow = typeof deployments.$inferSelect;
export type DeploymentRow = Pick<FullRow, keyof typeof light>;

export function toDeployment(row: DeploymentRow): Deployment {
  return withoutNulls(row);
}

const booleans = Object.entries(light).flatMap(([name, column]) => (column.dataType === "boolean" ? [name] : []));
const lightList = Object.entries(light)
  .map(([name, column]) => `${column.name} AS ${name}`)
  .join(", ");

/** A prepared query for whole deployments. */
export interface DeploymentQuery {
  get(parameters?: Readonly<Record<string, unknown>>): Deployment | undefined;
  all(parameters?: Readonly<Record<string, unknown>>): readonly Deployment[];
}

/**
 * Prepares `SELECT … FROM deployments` with a fixed end such as `WHERE id = @id`. Every pass and every move begins with one of
 * these, and a store prepares several of them, so the text is put together once and the rows are not mapped twice.
 */
export function deploymentQuery(database: SqliteDatabase, end: string): DeploymentQuery {
  const text = ["SELECT", lightList, "FROM deployments", end].join(" ");
  const statement = database.prepare<[Readonly<Record<string, unknown>>], DeploymentRow>(text);
  const toModel = (row: DeploymentRow): Deployment => {
    const members = row as unknown as Record<string, unknown>;
    for (const name of booleans) members[name] = members[name] === 1;
    return withoutNulls(row);
  };
  return {
    get(parameters = {}) {
      const row = statement.get(parameters);
      return row === undefined ? undefined : toModel(row);
    },
    all: (parameters = {}) => statement.all(parameters).map(toModel),
  };
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

type WithoutNulls<T> = { readonly [K in keyof T]: null extends T[K] ? Exclude<T[K], null> | undefined : T[K] };

/** A row with `undefined` in place of each `null`. The row is fresh from the database and belongs to the caller. */
function withoutNulls<T extends object>(row: T): WithoutNulls<T> {
  const result = row as Record<string, unknown>;
  for (const name in result) if (result[name] === null) result[name] = undefined;
  return row as WithoutNulls<T>;
}
