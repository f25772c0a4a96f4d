/**
 * What the running operator knows beside the database: answers of `Operator` for the API, the CLI and metrics.
 * Everything here has passed the redactor already.
 */
import type { Instant } from "../model/clock.ts";
import type { Deployment } from "../model/deployment.ts";
import type { FileIssue, MetaIssue, WindowRule } from "../model/desired.ts";
import type { JobKey } from "../model/job-key.ts";
import type { JobDiff } from "../model/nomad.ts";
import type { Policy } from "../model/policy.ts";
import type { ReasonCode } from "../model/reasons.ts";
import type { SyncState } from "../model/sync-state.ts";
import type { Gate, OperatorMode } from "../plan/gates.ts";

export interface HookView {
  readonly phase: "pre" | "post";
  readonly hookId: string;
  readonly usable: boolean;
  readonly timeoutMs: number | undefined;
  readonly problem: string | undefined;
}

export interface HoldView {
  readonly kind: "paused" | "window";
  readonly reason: ReasonCode;
  readonly message: string;
  readonly by: string | undefined;
  readonly since: Instant | undefined;
  readonly until: Instant | undefined;
}

export interface WindowView {
  readonly open: boolean;
  readonly reason: ReasonCode | undefined;
  /** When it opens or closes next; absent: never. */
  readonly changesAt: Instant | undefined;
  readonly allow: WindowRule | undefined;
  readonly deny: WindowRule | undefined;
}

/** One job that git declares or that is an orphan. */
export interface JobView {
  readonly key: JobKey;
  readonly namespace: string;
  readonly job: string;
  readonly sync: SyncState;
  /** Why, in a code and in words; the first gate that fails. */
  readonly reason: ReasonCode | undefined;
  readonly message: string;
  readonly managed: boolean;
  readonly policy: Policy | undefined;
  readonly repository: string | undefined;
  readonly file: string | undefined;
  readonly commitSha: string | undefined;
  readonly commitSubject: string | undefined;
  readonly commitAuthor: string | undefined;
  readonly specHash: string | undefined;
  readonly drift: "none" | "own_keys" | "unknown" | "drift" | undefined;
  /** Redacted. */
  readonly diff: JobDiff | undefined;
  readonly warnings: string;
  /** Placement failures of the last plan, in words. */
  readonly placement: string;
  readonly blockedBy: string | undefined;
  readonly hold: HoldView | undefined;
  readonly window: WindowView | undefined;
  readonly deployNowRequestedBy: string | undefined;
  readonly hooks: readonly HookView[];
  readonly dependsOn: readonly string[];
  readonly issues: readonly MetaIssue[];
  readonly activeDeployment: Deployment | undefined;
  readonly lastDeployment: Deployment | undefined;
  /** What the last look at the job's health said, while one is being waited for. */
  readonly health: string | undefined;
  readonly comparedAt: Instant | undefined;
}

export interface ExplainView {
  readonly key: JobKey;
  readonly gates: readonly (Omit<Gate, "changesAt"> & { readonly changesAt: Instant | undefined })[];
  /** The first gate that fails; absent: nops is about to act. */
  readonly verdict: ReasonCode | undefined;
  readonly message: string;
}

export interface RepositoryView {
  readonly name: string;
  readonly commitSha: string | undefined;
  readonly commitSubject: string | undefined;
  readonly commitAuthor: string | undefined;
  readonly committedAt: Instant | undefined;
  /** Last time the branch head was looked at with success. */
  readonly checkedAt: Instant | undefined;
  /** Why the last look failed; absent after a success. */
  readonly error: string | undefined;
  /** Jobs that opted in; hooks and other jobs beside them are not counted. */
  readonly managedJobs: number;
  readonly files: number;
  readonly issues: readonly FileIssue[];
  /** Set while a commit is held back because it loses more than half of the jobs (design D32). */
  readonly heldCommit: string | undefined;
  readonly heldMessage: string | undefined;
  /** Removals and orphans are not looked for, because a broken file's jobs are not known. */
  readonly removalsSuspended: boolean;
}

export interface LoopView {
  readonly name: string;
  readonly waiting: number;
  readonly running: number;
  readonly failing: number;
  readonly lastPassAt: Instant | undefined;
}

export interface NamespaceView {
  readonly namespace: string;
  /** Last full list of live jobs. */
  readonly listedAt: Instant | undefined;
  readonly liveJobs: number;
}

export interface OperatorView {
  readonly mode: OperatorMode;
  readonly startedAt: Instant | undefined;
  readonly repositories: readonly RepositoryView[];
  readonly namespaces: readonly NamespaceView[];
  readonly loops: readonly LoopView[];
  /** Jobs by sync state. */
  readonly jobs: Readonly<Record<SyncState, number>>;
  readonly orphans: number;
  /** Why nops is not ready, by what is missing; empty when it is. */
  readonly notReady: Readonly<Record<string, string>>;
}
