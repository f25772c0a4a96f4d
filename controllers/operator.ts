import type { Actor, Deployment, HookResolution, HookRun, Pause } from "../model/deployment.ts";
import type { JobKey } from "../model/job-key.ts";
import type { Redactor } from "../model/redact.ts";
import type { OperatorMode } from "../plan/gates.ts";
import type { PassReport } from "../queue/workers.ts";
import type { NomadWatchPort, Ports } from "./ports.ts";
import type { RetryWish } from "./retry.ts";
import type { OperatorSettings } from "./settings.ts";
import type { ExplainView, JobView, OperatorView, RepositoryView } from "./views.ts";

export interface OperatorDeps extends Ports {
  readonly watch: NomadWatchPort;
  readonly redactor: Redactor;
  readonly settings: OperatorSettings;
  /** One finished pass of any loop, for metrics. */
  readonly onPass?: (report: PassReport) => void;
}

/** The running operator as API, CLI and metrics use it. */
export interface Operator {
  start(): Promise<void>;
  /** Refuses new work, lets running passes end for up to `graceMs`, then aborts them. */
  stop(graceMs: number): Promise<void>;
  /**
   * Looks at a repository (or all), after `afterMs` or at once. `accept`: a commit that loses most jobs may take effect (design D32).
   * @throws NotFoundError
   */
  fetch(repository?: string, accept?: Actor, afterMs?: number): void;
  /** A person accepted a restored database, or the standby became the one. */
  setMode(mode: OperatorMode): void;
  /** @throws see `approval.ts`: RefusedError `stale_approval` when git or the live job moved, after that was recorded. */
  approve(id: string, specHash: string, comment: string | undefined, actor: Actor): Promise<Deployment>;
  reject(id: string, comment: string | undefined, actor: Actor): Promise<Deployment>;
  /** Answers the successor, or the marked deployment while there is none yet. */
  retry(id: string, wish: RetryWish, actor: Actor): Promise<Deployment>;
  promote(id: string, actor: Actor): Promise<Deployment>;
  /** Fails the waiting canaries. */
  fail(id: string, actor: Actor): Promise<Deployment>;
  pauseJob(key: JobKey, reason: string, actor: Actor): Promise<Pause>;
  resumeJob(key: JobKey, actor: Actor): Promise<Pause>;
  pauseAll(reason: string, actor: Actor): Promise<Pause>;
  resumeAll(actor: Actor): Promise<Pause>;
  /** Answers the deployment that was made, or `undefined` while there is none yet. */
  deployNow(key: JobKey, specHash: string, actor: Actor): Promise<Deployment | undefined>;
  /** Settles a hook run whose outcome nobody knew (design D33). */
  resolveHook(runId: string, resolution: HookResolution, actor: Actor): Promise<HookRun>;
  jobs(): Promise<readonly JobView[]>;
  /** @throws NotFoundError when neither git nor the database knows the job. */
  job(key: JobKey): Promise<JobView>;
  explain(key: JobKey): Promise<ExplainView>;
  orphans(): Promise<readonly JobView[]>;
  repositories(): readonly RepositoryView[];
  status(): Promise<OperatorView>;
}
