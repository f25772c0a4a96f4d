import type { Instant } from "./clock.ts";
import type { BirthState, DeploymentMode, DeploymentState, Trigger } from "./lifecycle.ts";
import type { JobDiff, JobSpec } from "./nomad.ts";
import type { Policy } from "./policy.ts";
import type { ReasonCode } from "./reasons.ts";

/** Who acts: a person, an API token, or nops itself. */
export interface Actor {
  /** What is shown: user name or token name; `nops` for the engine. */
  readonly name: string;
  readonly kind: "person" | "token" | "engine";
  /** Public id of the token used, when there was one. */
  readonly accessorId?: string;
  /** As the identity provider vouches for it; only to refuse self-approval. */
  readonly email?: string;
  /** Stable identity that counts for "one approval a person", for example `oidc:ISSUER:SUB` or `token:ID`. */
  readonly identity: string;
}

export const engineActor: Actor = { name: "nops", kind: "engine", identity: "nops" };

export type HookPhase = "pre" | "post";

/** A hook as the deployment froze it at birth (operator §13.3). */
export interface FrozenHook {
  readonly phase: HookPhase;
  /** Order within the phase, from 0. */
  readonly position: number;
  /** The job ID by which the target declares it. */
  readonly hookId: string;
  /** Hash of the hook's own spec. */
  readonly hash: string;
  readonly spec: JobSpec;
  /** ID under which this exact spec is registered: hook ID, hyphen, first 8 hex digits of the hash. */
  readonly revisionId: string;
  /** Longest run, ms. */
  readonly timeoutMs: number;
}

/** `unknown` is a failure whose effect nobody can tell (design D9, D33). */
export type HookRunState = "dispatching" | "running" | "succeeded" | "failed" | "timed_out" | "unknown";
export type HookResolution = "ran" | "did_not_run";

export interface HookRun {
  readonly id: string;
  readonly deploymentId: string;
  readonly phase: HookPhase;
  readonly position: number;
  readonly hookId: string;
  readonly revisionId: string;
  /** Also the dispatch's idempotency token. */
  readonly token: string;
  readonly dispatchedJobId: string | undefined;
  readonly state: HookRunState;
  readonly timeoutMs: number;
  readonly error: string | undefined;
  /** Tail of the hook's own log, redacted. */
  readonly logTail: string | undefined;
  /** First record of the run: its timeout counts from here (operator §13.5). */
  readonly startedAt: Instant;
  readonly finishedAt: Instant | undefined;
  /** When a lost dispatch is being looked for: since when (design D9, up to 30 s). */
  readonly searchingSince: Instant | undefined;
  readonly resolution: HookResolution | undefined;
  readonly resolvedBy: string | undefined;
}

/** One attempt to bring one job to one spec. */
export interface Deployment {
  /** ULID. */
  readonly id: string;
  readonly namespace: string;
  readonly jobId: string;
  readonly repository: string;
  readonly commitSha: string;
  readonly commitSubject: string;
  readonly commitAuthor: string;
  /** Path of the job file in the repository at that commit. */
  readonly file: string;
  /** Identity of what the deployment will do: target spec plus frozen hooks (design D4). */
  readonly specHash: string;
  /** Hash of the target spec alone. */
  readonly targetHash: string;
  readonly policy: Exclude<Policy, "none">;
  readonly state: DeploymentState;
  readonly mode: DeploymentMode;
  /** +1 with every write to the row; a writer with an older value loses (design D15). */
  readonly version: number;
  /** Nomad's JobModifyIndex that was seen at detection; 0 means the job did not exist. */
  readonly baseIndex: number;
  /** JobModifyIndex of our own register, read back and proved (design D7). */
  readonly appliedIndex: number | undefined;
  /** Nomad's job version that our register made. */
  readonly appliedVersion: number | undefined;
  readonly evalId: string | undefined;
  readonly error: string | undefined;
  readonly reason: ReasonCode | undefined;
  readonly hasPreHooks: boolean;
  readonly hasPostHooks: boolean;
  readonly decidedBy: string | undefined;
  readonly decidedAt: Instant | undefined;
  readonly retriedBy: string | undefined;
  readonly retriedAt: Instant | undefined;
  readonly retryOf: string | undefined;
  /** Ask Nomad to place again before judging health (design D12). */
  readonly reschedule: boolean;
  /** Since when canaries wait for a person's promotion. */
  readonly promotionWaitSince: Instant | undefined;
  readonly promotedAt: Instant | undefined;
  readonly windowLiftedBy: string | undefined;
  /** When the present state began: timeouts count from here, not from a restart. */
  readonly enteredAt: Instant;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The heavy columns of a deployment, read only by whom needs them. The spec never leaves the database except to Nomad. */
export interface DeploymentSpec {
  /** Canonical spec that was planned, live counts of scaled groups substituted; registered as it is. */
  readonly spec: JobSpec;
  /** Source and variables that go along with the register. */
  readonly submission: { readonly source: string; readonly format: "hcl2" | "json"; readonly variables: string };
}

/** What a new deployment is born with; written in one transaction with its hooks and event. */
export interface NewDeployment {
  readonly namespace: string;
  readonly jobId: string;
  readonly repository: string;
  readonly commitSha: string;
  readonly commitSubject: string;
  readonly commitAuthor: string;
  /** Email of the commit's author, used only to refuse self-approval; never shown. */
  readonly commitAuthorEmail: string;
  readonly file: string;
  readonly specHash: string;
  readonly targetHash: string;
  readonly policy: Exclude<Policy, "none">;
  /** Policy as git has it now, when the stricter old one still counts (design D31). Absent: the same as `policy`. */
  readonly declaredPolicy?: Exclude<Policy, "none">;
  readonly mode: DeploymentMode;
  readonly state: BirthState;
  readonly baseIndex: number;
  readonly spec: DeploymentSpec;
  /** Redacted. */
  readonly diff: JobDiff | undefined;
  readonly hooks: readonly FrozenHook[];
  readonly reason: ReasonCode;
  /** Sentence for the birth event, and the error of one that is born failed. */
  readonly message: string;
  readonly retryOf?: string;
  readonly reschedule?: boolean;
  /** Set when a Deploy now request lifted the window; the request is used up in the same transaction. */
  readonly windowLiftedBy?: string;
  /**
   * The job's newest deployment that the decision rests on, `null` when there was none. One that was made since then, even if it is over
   * by now, makes this a lost race: a failure that it ended in may block the same again (operator §11). Absent: not asked.
   */
  readonly over?: string | null;
}

/** A change of state that a controller asks for. The transition table decides where it leads. */
export interface Move {
  readonly trigger: Trigger;
  readonly actor: Actor;
  readonly reason: ReasonCode;
  /** Sentence for the event; becomes the deployment's `error` when the trigger is `fail`. */
  readonly message: string;
}

/** A person's approval of one deployment at one spec hash. */
export interface Approval {
  readonly deploymentId: string;
  readonly specHash: string;
  readonly actor: string;
  readonly identity: string;
  readonly comment: string | undefined;
  readonly at: Instant;
}

/** A line of the audit log (design D16). `deploymentId` is absent for pauses, lifts, tokens and repositories. */
export interface EventRecord {
  readonly id: number;
  readonly at: Instant;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly jobId: string | undefined;
  readonly deploymentId: string | undefined;
  /** Repository that the event is about or that the deployment came from. */
  readonly repository?: string | undefined;
  readonly fromState: DeploymentState | undefined;
  readonly toState: DeploymentState | undefined;
  readonly actor: string;
  readonly accessorId: string | undefined;
  readonly identity: string | undefined;
  readonly reason: ReasonCode | undefined;
  readonly message: string;
  readonly prevHash: string;
  readonly hash: string;
}

/** A pause of one job or of all; the row stays after the resume. */
export interface Pause {
  readonly pausedBy: string;
  readonly pausedAt: Instant;
  readonly reason: string;
  readonly resumedBy: string | undefined;
  readonly resumedAt: Instant | undefined;
}

/** A Deploy now request that detection has not used yet (operator §12.8). */
export interface WindowLift {
  readonly namespace: string;
  readonly jobId: string;
  readonly specHash: string;
  readonly requestedBy: string;
  readonly requestedAt: Instant;
}
