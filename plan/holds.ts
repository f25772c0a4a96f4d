import type { JobSettings } from "../model/desired.ts";
import type { JobFacts } from "../model/facts.ts";
import type { Policy } from "../model/policy.ts";
import type { ReasonCode } from "../model/reasons.ts";
import { type WindowStatus, windowStatus } from "./windows.ts";

/** Something that keeps a deployment from starting (operator §12). */
export interface Hold {
  readonly kind: "paused" | "window";
  readonly reason: Extract<ReasonCode, "paused" | "paused_all" | "window_closed" | "window_denied">;
  readonly message: string;
  readonly by: string | undefined;
  /** ISO 8601 UTC. */
  readonly since: string | undefined;
  /** When it ends by itself, ms since the epoch. */
  readonly until: number | undefined;
}

/** A person's pause, of the job or of all; the job's own is named first. */
export function pauseOf(facts: Pick<JobFacts, "jobPause" | "globalPause">): Hold | undefined {
  const pause = facts.jobPause ?? facts.globalPause;
  if (pause === undefined) return undefined;
  const all = facts.jobPause === undefined;
  const why = pause.reason === "" ? "" : `: ${pause.reason}`;
  return {
    kind: "paused",
    reason: all ? "paused_all" : "paused",
    message: `${pause.pausedBy} paused ${all ? "every job" : "the job"}${why}`,
    by: pause.pausedBy,
    since: pause.pausedAt,
    until: undefined,
  };
}

/** The window of a job as its policy sees it: only automatic starts are held (operator §12.1). */
export function windowOf(settings: JobSettings, policy: Policy, now: number): WindowStatus | undefined {
  if (policy !== "auto" || (settings.allowWindow === undefined && settings.denyWindow === undefined)) return undefined;
  return windowStatus(settings.allowWindow, settings.denyWindow, now);
}

/** The hold of a closed window. `lifted`: a person's Deploy now for exactly this spec. */
export function windowHold(window: WindowStatus | undefined, lifted: boolean): Hold | undefined {
  if (window === undefined || window.reason === undefined || lifted) return undefined;
  const when = window.changesAt === undefined ? "it never opens" : `it opens at ${new Date(window.changesAt).toISOString()}`;
  const what = window.reason === "window_denied" ? "a deny window is open" : "the sync window is closed";
  return {
    kind: "window",
    reason: window.reason,
    message: `${what}; ${when}`,
    by: undefined,
    since: undefined,
    until: window.changesAt,
  };
}
