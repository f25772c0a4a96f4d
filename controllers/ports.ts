/**
 * What the controllers need of the world. Adapters are matched against these in `cmd/wire.ts` only (design §2).
 * Every method either does what it promises or throws; nothing returns a half answer.
 */
import type { Clock, Instant, Random } from "../model/clock.ts";
import type {
  Actor,
  Approval,
  Deployment,
  DeploymentSpec,
  FrozenHook,
  HookPhase,
  HookResolution,
  HookRun,
  HookRunState,
  Move,
  NewDeployment,
  Pause,
  WindowLift,
} from "../model/deployment.ts";
import type { RepositorySnapshot } from "../model/desired.ts";
import type { NopsError } from "../model/errors.ts";
import type { JobFacts, JobOnRecord, Verdict } from "../model/facts.ts";
import type { JobKey } from "../model/job-key.ts";
import type { Log } from "../model/log.ts";
import type {
  AllocationStub,
  Evaluation,
  JobSpec,
  JobStub,
  LiveJob,
  NomadDeployment,
  PlanResult,
  RegisterResult,
  StoredSubmission,
  Submission,
} from "../model/nomad.ts";

/** Nomad as the controllers use it. Every failure is a `NomadError`. Adapter: `nomad/`. */
export interface NomadPort {
  /**
   * Lets Nomad parse a job file. `source.format` `hcl2`: the text; `json`: API JSON, taken as it is.
   * @throws NomadError `refused` with Nomad's own text for a file that does not parse.
   */
  parse(
    source: { readonly format: "hcl2" | "json"; readonly source: string; readonly variables: string },
    namespace: string,
  ): Promise<JobSpec>;
  /** Plans the job in `spec.Namespace`. Never sends a namespace query (nomad-api §2.1). */
  plan(spec: JobSpec): Promise<PlanResult>;
  /** Registers under check-and-set; there is no other register. @throws NomadError `conflict` when the index does not match. */
  register(spec: JobSpec, enforceIndex: number, submission: Submission): Promise<RegisterResult>;
  /** `undefined` when Nomad has no such job. */
  readJob(key: JobKey): Promise<LiveJob | undefined>;
  /** All jobs of a namespace with their index, every page. `meta` adds job meta. */
  listJobs(
    namespace: string,
    options?: { readonly meta?: boolean; readonly prefix?: string },
  ): Promise<{ readonly index: number; readonly jobs: readonly JobStub[] }>;
  /** Allocations of all versions of the live incarnation. */
  listAllocations(key: JobKey): Promise<readonly AllocationStub[]>;
  listEvaluations(key: JobKey): Promise<readonly Evaluation[]>;
  /** Nomad deployments of the live incarnation, newest first. */
  listNomadDeployments(key: JobKey): Promise<readonly NomadDeployment[]>;
  /** Source stored with a job version; `undefined` when there is none. */
  readSubmission(key: JobKey, version: number): Promise<StoredSubmission | undefined>;
  /** The versions that Nomad still keeps of the live incarnation, newest first; empty when there is no such job. Each carries its own JobModifyIndex. */
  jobVersions(key: JobKey): Promise<readonly LiveJob[]>;
  /**
   * Dispatches under an idempotency token and reads the named child back.
   * `adopted: false` means Nomad named a child that does not exist (nomad-api §17): look it up by token.
   */
  dispatch(
    parent: JobKey,
    token: string,
    meta: Readonly<Record<string, string>>,
  ): Promise<{ readonly childId: string; readonly exists: boolean }>;
  /** The child of `parent` that carries the token, dead ones included. */
  findDispatched(parent: JobKey, token: string): Promise<LiveJob | undefined>;
  /** Stops without purge. Absent: no error. */
  stopJob(key: JobKey): Promise<void>;
  promote(nomadDeploymentId: string): Promise<void>;
  failDeployment(nomadDeploymentId: string): Promise<void>;
  /** Evaluates the job with forced rescheduling (design D12). */
  reschedule(key: JobKey): Promise<void>;
  /** Last `maxBytes` bytes of a task's log. */
  readLogTail(
    namespace: string,
    allocationId: string,
    task: string,
    stream: "stdout" | "stderr",
    maxBytes: number,
  ): Promise<string>;
}

/** What a watch tells: "look at this", never "this is so". */
export type NomadSignal =
  | {
      readonly kind: "job";
      readonly key: JobKey;
      readonly index: number;
      /** What changed; absent counts as `Job`. Only `Job` can mean drift, the others wake health waits. */
      readonly topic?: "Job" | "Deployment" | "Allocation" | "Evaluation";
      /** JobModifyIndex as the event's own payload tells it (0: purged), so that a mere status change costs no read. Absent: not told. */
      readonly jobModifyIndex?: number;
      /** Set for a child of a periodic or parameterized job. */
      readonly parentId?: string;
    }
  /** A list was read: after every (re)connect and every `resync_interval` (design D21). */
  | {
      readonly kind: "listed";
      readonly namespace: string;
      readonly jobs: readonly JobStub[];
      readonly index: number;
      /** Nomad's index is lower than what was told before the list was asked for: nothing that was told is true any more. */
      readonly wentBack: boolean;
    };

export interface NomadWatchPort {
  /** Runs until `abort`, whose signal is made when it is first asked for; reconnects by itself. `onSignal` must not throw. */
  watch(namespace: string, onSignal: (signal: NomadSignal) => void, abort: Pick<AbortController, "signal">): Promise<void>;
}

/** Git as the controllers use it. Adapter: `git/`. */
export interface GitPort {
  /**
   * Looks at the branch head; reads the tree only when it differs from `knownSha`.
   * @throws NopsError when the repository or the configured path cannot be read; the last good snapshot then stays.
   */
  fetch(repository: string, knownSha: string | undefined, abort: Pick<AbortController, "signal">): Promise<FetchOutcome>;
}

export type FetchOutcome =
  | { readonly changed: false; readonly sha: string }
  | {
      readonly changed: true;
      readonly snapshot: RepositorySnapshot;
      /** The old commit is no ancestor of the new one. */
      readonly historyRewritten: boolean;
      /** Why the branch could not be looked at: the snapshot is then the one fetched last before the restart. */
      readonly problem?: NopsError;
    };

/** Reads that a pass starts from. */
export interface FactsPort {
  /** One consistent snapshot of everything stored about the job. */
  jobFacts(key: JobKey): Promise<JobFacts>;
  deployment(id: string): Promise<Deployment | undefined>;
  /** @throws TerminalError `integrity` when the stored bytes do not match their hash (S54). */
  deploymentSpec(id: string): Promise<DeploymentSpec>;
  frozenHooks(id: string): Promise<readonly FrozenHook[]>;
  hookRuns(id: string): Promise<readonly HookRun[]>;
  approvals(id: string): Promise<readonly Approval[]>;
  /** Email of the author of the deployment's commit, only to refuse self-approval; never shown. */
  commitAuthorEmail(id: string): Promise<string | undefined>;
  /** Active deployments, oldest first. */
  activeDeployments(): Promise<readonly Deployment[]>;
  /** Jobs of a namespace that ever had a deployment, each with what is known of its place in Nomad's history (design D34). */
  jobsOnRecord(namespace: string): Promise<readonly JobOnRecord[]>;
  /** Keys of jobs that ever completed a deployment: candidates for orphans (operator §16). */
  completedJobs(): Promise<readonly JobKey[]>;
  /** Revision job keys that frozen hooks of active deployments refer to. */
  revisionsInUse(): Promise<readonly JobKey[]>;
  /** Newest deployment of another job at the same commit, for `nops_depends_on`. */
  deploymentAtCommit(key: JobKey, commitSha: string): Promise<Deployment | undefined>;
  /** Automatic deployments already begun for a commit (design D32). */
  countAutomaticStarts(repository: string, commitSha: string): Promise<number>;
}

/** Creation of deployments: the drift controller's. */
export interface CreationPort {
  /** One transaction: row, frozen hooks, birth event, notification; a used lift is deleted. @throws ConflictError `active_deployment` when the job has an active one, `newer_deployment` when it got another than `over` meanwhile. */
  create(input: NewDeployment): Promise<Deployment>;
}

/** The one way to change a state (design D15). */
export interface MovePort {
  /**
   * Transition table, version check, event and notification in one transaction.
   * @throws ConflictError `stale_version` when the row moved on, or `not_allowed` when the table has no such edge.
   */
  move(id: string, version: number, move: Move): Promise<Deployment>;
}

/** Drift's own records. */
export interface DriftPort {
  saveVerdict(key: JobKey, verdict: Verdict): Promise<void>;
  /** A scaling move: the waiting deployment's base index follows, with an event (design D6). */
  refreshBase(id: string, version: number, baseIndex: number): Promise<Deployment>;
  /** Drops a lift that cannot be used, with an event. */
  dropLift(key: JobKey, reason: string): Promise<void>;
  /** Remembers that an `unknown` difference of this spec was registered once (design D29). */
  markUnknownRegistered(key: JobKey, specHash: string): Promise<void>;
}

/** What is written of the database itself. */
export interface PastPort {
  /** Marks the database as a restored older one (design D34). Once; later calls change nothing. */
  markRestored(message: string): Promise<void>;
  /** When a person last accepted this database; what was done before then counts as known. */
  restoreAcceptedAt(): Promise<Instant | undefined>;
}

/** Source's own records. */
export interface SourcePort {
  /** Keys that each file of the repository last declared, and the last good commit, for which they were stored. */
  jobFiles(repository: string): Promise<{
    readonly commit: string | undefined;
    readonly files: readonly { readonly file: string; readonly keys: readonly JobKey[] }[];
  }>;
  /** Replaces them and the last good commit in one transaction. */
  saveJobFiles(
    repository: string,
    commitSha: string,
    files: readonly { readonly file: string; readonly keys: readonly JobKey[] }[],
  ): Promise<void>;
  /** A person's word that this commit may remove more than half of the jobs (design D32), with its event. */
  acceptRemovals(repository: string, commitSha: string, actor: Actor): Promise<void>;
  /** The commit whose removals a person accepted last. */
  acceptedRemovals(repository: string): Promise<string | undefined>;
  /** Writes an audit event about a repository (history rewritten, mass removal, accepted). */
  recordRepositoryEvent(repository: string, kind: string, actor: Actor, message: string): Promise<void>;
}

/** Apply's own records. Each checks the version and writes its event in the same transaction. */
export interface ApplyPort {
  recordApplied(
    id: string,
    version: number,
    /** `jobVersion` is absent when the proof (a plan at the new index) told only the index. */
    applied: { readonly index: number; readonly jobVersion: number | undefined; readonly evalId: string | undefined },
  ): Promise<Deployment>;
  /** Once only. Notifies. */
  recordPromotionWait(id: string, version: number): Promise<Deployment>;
  recordPromoted(id: string, version: number): Promise<Deployment>;
  /** The intent of `nops retry --reschedule`, stored before Nomad is asked; `true` when this call stored it first. */
  recordRescheduleIntent(id: string): Promise<boolean>;
}

/** Changes of a hook run that a pass may store. */
export interface HookRunChange {
  readonly state: HookRunState;
  readonly dispatchedJobId?: string;
  readonly error?: string;
  readonly logTail?: string;
  readonly searchingSince?: Instant | null;
}

/** Hooks' own records. */
export interface HooksPort {
  /** Creates the run in `dispatching` with its token, or returns the one that is there. */
  ensureHookRun(deploymentId: string, hook: FrozenHook): Promise<HookRun>;
  /** @throws ConflictError `stale_hook_run` when the run is no longer in `from`. */
  updateHookRun(id: string, from: HookRunState, change: HookRunChange): Promise<HookRun>;
  /** When registering of this hook's revision was first tried: the start of its bound (operator §13.4). */
  phaseStepStartedAt(deploymentId: string, phase: HookPhase, position: number): Promise<Instant>;
}

/** People's decisions. Every method checks what it needs inside its transaction. */
export interface DecisionsPort {
  /**
   * Adds the approval; when `required` different identities have approved, moves on in the same transaction.
   * @throws ConflictError `stale_approval` when state, version or spec hash is no longer what was seen.
   */
  approve(input: {
    readonly id: string;
    readonly version: number;
    readonly specHash: string;
    readonly actor: Actor;
    readonly comment: string | undefined;
    readonly required: number;
  }): Promise<{ readonly deployment: Deployment; readonly approvals: number }>;
  /** Marks a failed or rejected deployment as retried. @throws RefusedError `already_retried`. */
  markRetried(input: {
    readonly id: string;
    readonly actor: Actor;
    readonly reschedule: boolean;
    readonly rerunUnknownHooks: boolean;
  }): Promise<Deployment>;
  /** Records the wish before Nomad is asked. */
  recordPromotionRequest(id: string, actor: Actor): Promise<void>;
  recordFailRequest(id: string, actor: Actor): Promise<void>;
  resolveHook(runId: string, resolution: HookResolution, actor: Actor): Promise<HookRun>;
  /** @throws RefusedError `already_paused`. */
  pauseJob(key: JobKey, actor: Actor, reason: string): Promise<Pause>;
  /** @throws RefusedError `not_paused`. */
  resumeJob(key: JobKey, actor: Actor): Promise<Pause>;
  pauseAll(actor: Actor, reason: string): Promise<Pause>;
  resumeAll(actor: Actor): Promise<Pause>;
  requestLift(key: JobKey, specHash: string, actor: Actor): Promise<WindowLift>;
}

/** Everything a controller may be handed. */
export interface Ports {
  readonly nomad: NomadPort;
  readonly git: GitPort;
  readonly store: StorePort;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The whole store as controllers may see it; each is handed only its part. */
export type StorePort = FactsPort &
  CreationPort &
  MovePort &
  DriftPort &
  PastPort &
  SourcePort &
  ApplyPort &
  HooksPort &
  DecisionsPort;
