import type { StepStatus } from "../../plan/skip.ts";

/**
 * The journal `.nops/deploy/state.yml` (workspace §9.1). Field names are the file's own. Everything is plain data;
 * functions of `edit.ts` and `aggregate.ts` change it in place, `journal.ts` is the only one that writes it.
 */

export type PhaseStatus = "ok" | "failed" | "skipped";
export type ServiceStatus = "deployed" | "partial" | "failed" | "not_deployed";
export type ProjectStatus = ServiceStatus | "in_progress";
export type RunStatus = "in_progress" | "ok" | "failed";

export interface StepRecord {
  status: StepStatus;
  /** RFC 3339, UTC. */
  finished_at: string;
  action_hash: string;
  /** Whole milliseconds. */
  duration_ms: number;
  /** A failure that `continue_on_error` let pass: the step runs again, its phase counts as ok. */
  tolerated?: boolean;
  /** Digests of the parts of the hash, for `deploy why`. */
  inputs?: Record<string, string>;
}

export interface PhaseRecord {
  status?: PhaseStatus;
  steps: Record<string, StepRecord>;
}

export interface LastRun {
  status: RunStatus;
  started_at?: string;
  finished_at?: string;
}

/** What project and services have in common. */
export interface ScopeRecord {
  deployed_at?: string;
  config_hash?: string;
  config_inputs?: Record<string, string>;
  last_run?: LastRun;
  phases: Record<string, PhaseRecord>;
}

export interface ProjectRecord extends ScopeRecord {
  status: ProjectStatus;
}

export interface ServiceRecord extends ScopeRecord {
  status: ServiceStatus;
}

export type PendingKind = "restart" | "deploy";

export interface PendingOperation {
  kind: PendingKind;
  /** Sorted; only with `deploy`. */
  services?: string[];
}

export interface Pending {
  operations: PendingOperation[];
  /** Project hash when the first operation was noted. */
  config_hash?: string;
  created_at: string;
}

export interface Journal {
  schema_version: string;
  project: ProjectRecord;
  services: Record<string, ServiceRecord>;
  pending?: Pending;
}

/** A journal in which nothing has happened. */
export function emptyJournal(): Journal {
  return { schema_version: "1", project: { status: "not_deployed", phases: {} }, services: {} };
}

/** Record of one service, or of the project for `undefined`. */
export function scopeRecord(journal: Journal, scope: string | undefined): ScopeRecord | undefined {
  return scope === undefined ? journal.project : Object.hasOwn(journal.services, scope) ? journal.services[scope] : undefined;
}

/** Record of a step by its place. */
export function stepRecord(
  journal: Journal,
  at: { readonly scope: string | undefined; readonly phase: string; readonly name: string },
): StepRecord | undefined {
  const phases = scopeRecord(journal, at.scope)?.phases ?? {};
  const phase = Object.hasOwn(phases, at.phase) ? phases[at.phase] : undefined;
  return phase !== undefined && Object.hasOwn(phase.steps, at.name) ? phase.steps[at.name] : undefined;
}
