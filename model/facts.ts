import type { Instant } from "./clock.ts";
import type { Deployment, Pause, WindowLift } from "./deployment.ts";
import type { JobKey } from "./job-key.ts";
import type { JobDiff, PlacementFailures } from "./nomad.ts";
import type { Policy } from "./policy.ts";

/** What the last plan of a job said, kept so that an unchanged job is never planned again (design D5). */
export interface Verdict {
  readonly specHash: string;
  readonly targetHash: string;
  /** JobModifyIndex of the live job that was planned against; 0 when there was none. */
  readonly jobModifyIndex: number;
  /** `own_keys`: only nops_* keys differ (D3). `unknown`: Edited without a differing leaf (D29). */
  readonly drift: "none" | "own_keys" | "unknown" | "drift";
  /** Redacted; absent when there is nothing to show. */
  readonly diff: JobDiff | undefined;
  readonly failedPlacements: PlacementFailures;
  readonly warnings: string;
  readonly plannedAt: Instant;
}

/** Everything the store knows about one job, read in one consistent snapshot for one pass. */
export interface JobFacts {
  readonly active: Deployment | undefined;
  /** Newest deployment in any state. */
  readonly latest: Deployment | undefined;
  readonly latestCompleted: Deployment | undefined;
  readonly jobPause: Pause | undefined;
  readonly globalPause: Pause | undefined;
  readonly lift: WindowLift | undefined;
  readonly verdict: Verdict | undefined;
  /** Strictest policy the job may not fall below until a person approved once (design D31). */
  readonly policyFloor: Policy | undefined;
  /** Spec hash for which an `unknown` difference was registered once, the newest one (design D29). */
  readonly unknownRegistered: string | undefined;
}

/** A job that once had a deployment, and how far the database has followed it. */
export interface JobOnRecord {
  readonly key: JobKey;
  readonly newestDeployment: string;
  /** Highest JobModifyIndex of the live job that the database knows of. */
  readonly seenIndex: number;
}
