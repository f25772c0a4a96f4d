import { parseDocument } from "yaml";
import { NopsError } from "../../model/errors.ts";
import type { StepStatus } from "../../plan/skip.ts";
import { paths } from "../config/paths.ts";
import {
  emptyJournal,
  type Journal,
  type LastRun,
  type Pending,
  type PendingOperation,
  type PhaseRecord,
  type PhaseStatus,
  type ProjectStatus,
  type RunStatus,
  type ScopeRecord,
  type ServiceStatus,
  type StepRecord,
} from "./types.ts";

/** The journal's text is no YAML, or not a mapping. Nothing is overwritten; `state clear` or `--force` get past it. */
export class JournalCorruptError extends NopsError {
  override readonly name = "JournalCorruptError";
}

const stepStatuses: readonly StepStatus[] = ["ok", "failed", "skipped", "partial", "in_progress"];
const phaseStatuses: readonly PhaseStatus[] = ["ok", "failed", "skipped"];
const serviceStatuses: readonly ServiceStatus[] = ["deployed", "partial", "failed", "not_deployed"];
const projectStatuses: readonly ProjectStatus[] = [...serviceStatuses, "in_progress"];
const runStatuses: readonly RunStatus[] = ["in_progress", "ok", "failed"];

/**
 * Reads a journal leniently: unknown keys are dropped, missing parts get their defaults, so that an older nops reads the
 * file of a newer one (workspace §9.1).
 * @throws JournalCorruptError `state_corrupt` for text that is not a YAML mapping.
 */
export function parseJournal(text: string): Journal {
  const document = parseDocument(text);
  const problem = document.errors[0];
  if (problem !== undefined) throw corrupt((problem.message.split("\n")[0] ?? "invalid YAML").replace(/:$/, ""));
  const root: unknown = document.toJS();
  if (root === null || root === undefined) return emptyJournal();
  if (typeof root !== "object" || Array.isArray(root)) throw corrupt("not a mapping");
  const journal = emptyJournal();
  const file = fields(root);
  journal.schema_version = typeof file.schema_version === "string" ? file.schema_version : "1";
  const project = fields(file.project);
  journal.project = { status: oneOf(projectStatuses, project.status) ?? "not_deployed", ...scope(project) };
  for (const [name, value] of Object.entries(fields(file.services))) {
    const service = fields(value);
    journal.services[name] = { status: oneOf(serviceStatuses, service.status) ?? "not_deployed", ...scope(service) };
  }
  const noted = pending(fields(file.pending));
  if (noted !== undefined) journal.pending = noted;
  return journal;
}

function corrupt(detail: string): JournalCorruptError {
  return new JournalCorruptError(`failed to parse state file ${paths.state}: ${detail}`, {
    code: "state_corrupt",
    hint: "`nops deploy state clear` deletes it, `nops deploy run --force` sets it aside and starts afresh",
  });
}

function scope(value: Record<string, unknown>): ScopeRecord {
  const record: ScopeRecord = { phases: {} };
  if (typeof value.deployed_at === "string") record.deployed_at = value.deployed_at;
  if (typeof value.config_hash === "string") record.config_hash = value.config_hash;
  const inputs = digests(value.config_inputs);
  if (inputs !== undefined) record.config_inputs = inputs;
  const run = lastRun(fields(value.last_run));
  if (run !== undefined) record.last_run = run;
  for (const [name, phase] of Object.entries(fields(value.phases))) record.phases[name] = phaseRecord(fields(phase));
  return record;
}

function lastRun(value: Record<string, unknown>): LastRun | undefined {
  const status = oneOf(runStatuses, value.status);
  if (status === undefined) return undefined;
  return {
    status,
    ...(typeof value.started_at === "string" ? { started_at: value.started_at } : {}),
    ...(typeof value.finished_at === "string" ? { finished_at: value.finished_at } : {}),
  };
}

function phaseRecord(value: Record<string, unknown>): PhaseRecord {
  const status = oneOf(phaseStatuses, value.status);
  const record: PhaseRecord = { ...(status === undefined ? {} : { status }), steps: {} };
  for (const [name, step] of Object.entries(fields(value.steps))) {
    const read = stepOf(fields(step));
    if (read !== undefined) record.steps[name] = read;
  }
  return record;
}

function stepOf(value: Record<string, unknown>): StepRecord | undefined {
  const status = oneOf(stepStatuses, value.status);
  if (status === undefined) return undefined;
  const inputs = digests(value.inputs);
  return {
    status,
    finished_at: typeof value.finished_at === "string" ? value.finished_at : "",
    action_hash: typeof value.action_hash === "string" ? value.action_hash : "",
    duration_ms: typeof value.duration_ms === "number" ? value.duration_ms : 0,
    ...(value.tolerated === true ? { tolerated: true } : {}),
    ...(inputs === undefined ? {} : { inputs }),
  };
}

function pending(value: Record<string, unknown>): Pending | undefined {
  if (!Array.isArray(value.operations)) return undefined;
  const operations: PendingOperation[] = [];
  for (const item of value.operations) {
    const operation = fields(item);
    const kind = oneOf(["restart", "deploy"] as const, operation.kind);
    if (kind === undefined) continue;
    const services = Array.isArray(operation.services)
      ? operation.services.filter((name): name is string => typeof name === "string")
      : [];
    operations.push(kind === "restart" ? { kind } : { kind, services });
  }
  if (operations.length === 0) return undefined;
  return {
    operations,
    ...(typeof value.config_hash === "string" ? { config_hash: value.config_hash } : {}),
    created_at: typeof value.created_at === "string" ? value.created_at : "",
  };
}

function digests(value: unknown): Record<string, string> | undefined {
  const entries = Object.entries(fields(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function oneOf<T extends string>(known: readonly T[], value: unknown): T | undefined {
  return known.find((candidate) => candidate === value);
}
