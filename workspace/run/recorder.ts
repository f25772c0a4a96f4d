import { type Clock, toInstant } from "../../model/clock.ts";
import { phaseStatus, projectStatus, recomputePhases, serviceStatus } from "../journal/aggregate.ts";
import type { JournalStore } from "../journal/journal.ts";
import type { Journal, ScopeRecord, ServiceRecord } from "../journal/types.ts";
import type { DeployPlan } from "../pipeline/deploy.ts";
import { type ResolvedStep, stepsOf } from "../pipeline/types.ts";
import { scopeFingerprintOf } from "./decisions.ts";

export interface StepResult {
  readonly status: "ok" | "failed" | "skipped";
  readonly durationMs: number;
  readonly tolerated?: boolean;
}

/** Writes what a deploy does into the journal, each outcome at once (workspace §9.2). */
export interface Recorder {
  /** The run begins. */
  begin(): void;
  /** A step is about to run its body. */
  starting(step: ResolvedStep): void;
  done(step: ResolvedStep, result: StepResult): void;
  /** A step was skipped by its record, which stays. */
  kept(step: ResolvedStep): void;
  finish(ok: boolean): void;
  /** The error of the last write, when it failed. */
  failure(): unknown;
}

/** For pipelines without a journal: run, stop, reset. */
export const noRecorder: Recorder = {
  begin() {},
  starting() {},
  done() {},
  kept() {},
  finish() {},
  failure: () => undefined,
};

export interface RecorderInput {
  readonly store: JournalStore;
  /** As loaded under the lock; changed in place. */
  readonly journal: Journal;
  readonly deploy: DeployPlan;
  readonly force: boolean;
  readonly clock: Clock;
  /** Services that exist in the configuration: records of others go at the end of a successful full deploy. */
  readonly configured: ReadonlySet<string>;
}

/** A recorder over a loaded journal. A write that fails does not stop the run; `failure` tells at the end. */
export function createRecorder(input: RecorderInput): Recorder {
  if (input.force) forget(input.journal, input.deploy);
  return new JournalRecorder(input);
}

class JournalRecorder implements Recorder {
  readonly #input: RecorderInput;
  readonly #startedAt: string;
  /** Services of which a step began or was skipped by a condition in this run. */
  readonly #seen = new Set<string>();
  /** Services that a former run left unfinished and whose steps are all there now. */
  readonly #left = new Set<string>();
  readonly #handled = new Set<string>();
  #failure: unknown;

  constructor(input: RecorderInput) {
    this.#input = input;
    this.#startedAt = this.#now();
  }

  begin(): void {
    const { journal, deploy } = this.#input;
    if (deploy.service !== undefined) return;
    journal.project.last_run = { status: "in_progress", started_at: this.#startedAt };
    stamp(journal.project, deploy, undefined);
    this.#flush();
  }

  starting(step: ResolvedStep): void {
    const first = step.scope !== undefined && !this.#seen.has(step.scope);
    this.#open(step.scope);
    if (first) this.#flush();
  }

  kept(step: ResolvedStep): void {
    this.#handled.add(step.address);
    const service = step.scope === undefined ? undefined : this.#input.journal.services[step.scope];
    if (step.scope === undefined || service === undefined) return;
    if (service.status !== "deployed" || service.last_run?.status !== "ok") this.#left.add(step.scope);
  }

  done(step: ResolvedStep, result: StepResult): void {
    this.#handled.add(step.address);
    const record = this.#open(step.scope);
    const phase = record.phases[step.phase] ?? { steps: {} };
    record.phases[step.phase] = phase;
    phase.steps[step.name] = {
      status: result.status,
      finished_at: this.#now(),
      action_hash: step.fingerprint.hash,
      duration_ms: Math.round(result.durationMs),
      ...(result.tolerated === true ? { tolerated: true } : {}),
      inputs: { ...step.fingerprint.inputs },
    };
    phase.status = phaseStatus(phase);
    this.#flush();
  }

  finish(ok: boolean): void {
    const { journal, deploy } = this.#input;
    const complete = (scope: string): boolean =>
      stepsOf(deploy.plan).every((step) => step.scope !== scope || this.#handled.has(step.address));
    for (const scope of new Set([...this.#seen, ...this.#left])) finishService(journal, scope, complete(scope), this.#now());
    if (deploy.service === undefined) {
      finishProject(journal, this.#input, ok, { startedAt: this.#startedAt, finishedAt: this.#now() });
    }
    journal.project.status = projectStatus(journal, new Set(deploy.tracked));
    this.#flush();
  }

  failure(): unknown {
    return this.#failure;
  }

  #now(): string {
    return toInstant(this.#input.clock.now());
  }

  #flush(): void {
    try {
      this.#input.store.save(this.#input.journal);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
    }
  }

  /** First write of a scope in this run: the stamp goes along, so that a kill later finds it (workspace §7.5). */
  #open(scope: string | undefined): ScopeRecord {
    const { journal, deploy } = this.#input;
    if (scope === undefined) return journal.project;
    const service: ServiceRecord = journal.services[scope] ?? { status: "not_deployed", phases: {} };
    journal.services[scope] = service;
    if (!this.#seen.has(scope)) {
      this.#seen.add(scope);
      service.last_run = { status: "in_progress", started_at: this.#now() };
      stamp(service, deploy, scope);
    }
    return service;
  }
}

/** `--force`: everything of the run's scope counts as absent. Pending operations stay until the run succeeds. */
function forget(journal: Journal, deploy: DeployPlan): void {
  if (deploy.service !== undefined) {
    delete journal.services[deploy.service];
    return;
  }
  journal.project = { status: "not_deployed", phases: {} };
  journal.services = {};
}

/** Drops what does not belong to the present configuration, and says which one that is. */
function stamp(record: ScopeRecord, deploy: DeployPlan, scope: string | undefined): void {
  const fingerprint = scopeFingerprintOf(deploy, scope);
  if (record.config_hash !== fingerprint.hash) record.phases = {};
  record.config_hash = fingerprint.hash;
  record.config_inputs = { ...fingerprint.inputs };
  const planned = new Set(stepsOf(deploy.plan).flatMap((step) => (step.scope === scope ? [`${step.phase}\0${step.name}`] : [])));
  for (const [phaseName, phase] of Object.entries(record.phases)) {
    // A step that is no longer planned must not decide the status of its phase for ever.
    for (const name of Object.keys(phase.steps)) if (!planned.has(`${phaseName}\0${name}`)) delete phase.steps[name];
    if (Object.keys(phase.steps).length === 0) delete record.phases[phaseName];
  }
  recomputePhases(record.phases);
}

function finishService(journal: Journal, scope: string, complete: boolean, now: string): void {
  const service = journal.services[scope];
  if (service === undefined) return;
  const status = serviceStatus(service);
  service.status = status === "deployed" && !complete ? "partial" : status;
  const ok = service.status === "deployed";
  service.last_run = { ...service.last_run, status: ok ? "ok" : "failed", finished_at: now };
  if (ok) service.deployed_at = now;
}

function finishProject(
  journal: Journal,
  input: RecorderInput,
  ok: boolean,
  times: { readonly startedAt: string; readonly finishedAt: string },
): void {
  journal.project.last_run = { status: ok ? "ok" : "failed", started_at: times.startedAt, finished_at: times.finishedAt };
  if (!ok) return;
  journal.project.deployed_at = times.finishedAt;
  for (const name of Object.keys(journal.services)) if (!input.configured.has(name)) delete journal.services[name];
}
