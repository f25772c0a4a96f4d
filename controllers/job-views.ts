import type { Instant } from "../model/clock.ts";
import { toInstant } from "../model/clock.ts";
import type { DesiredJob, DesiredState } from "../model/desired.ts";
import { type JobKey, splitJobKey } from "../model/job-key.ts";
import type { Policy } from "../model/policy.ts";
import type { SyncState } from "../model/sync-state.ts";
import { leavesToRegister } from "../plan/drift.ts";
import { evaluateGates, type Gate, type GateInput } from "../plan/gates.ts";
import { type Hold, pauseOf, windowHold, windowOf } from "../plan/holds.ts";
import { explainPlacement } from "../plan/placement.ts";
import { windowStatus } from "../plan/windows.ts";
import type { ExplainView, HoldView, HookView, JobView, WindowView } from "./views.ts";

/** Everything a page says about one job, from the same input and the same gates that the engine decides by (design D14). */
export function toJobView(
  key: JobKey,
  input: GateInput,
  orphan: { readonly policy: Policy | undefined; readonly message: string } | undefined,
): JobView {
  const { failing } = evaluateGates(input);
  const { facts, desired, verdict } = input;
  const job = desired.kind === "managed" ? desired.job : undefined;
  const { namespace, jobId } = splitJobKey(key);
  const hold =
    pauseOf(facts) ?? (job === undefined ? undefined : windowHold(windowOf(job.settings, job.policy, input.now), false));
  return {
    key,
    namespace,
    job: jobId,
    sync: syncState(input, failing, orphan !== undefined),
    reason: orphan === undefined ? failing?.reason : "not_in_git",
    message: orphan?.message ?? standing(input, failing),
    managed: job !== undefined,
    policy: job?.policy ?? orphan?.policy,
    ...whereFrom(desired),
    specHash: job?.specHash,
    drift: verdict?.drift,
    diff: verdict?.diff,
    warnings: verdict?.warnings ?? "",
    placement: explainPlacement(verdict?.failedPlacements),
    blockedBy: failing?.name === "blocked" ? facts.latest?.id : undefined,
    hold: hold === undefined ? undefined : toHoldView(hold),
    window: job === undefined ? undefined : toWindowView(job, input.now),
    deployNowRequestedBy: facts.lift?.requestedBy,
    hooks: job === undefined ? [] : job.hooks.map(toHookView),
    dependsOn: job?.settings.dependsOn ?? [],
    issues: job?.settings.issues ?? [],
    activeDeployment: facts.active,
    lastDeployment: facts.latest,
    health: facts.active === undefined ? undefined : input.activity,
    comparedAt: verdict?.plannedAt,
  };
}

/** The first gate that fails, in words. A pause is told beside it, since it holds whatever comes after (operator §12.9). */
function standing({ facts }: GateInput, failing: Gate | undefined): string {
  const fact = failing?.fact ?? "nothing stands in the way";
  const pause = pauseOf(facts);
  return pause === undefined || failing?.name === "paused" ? fact : `${fact}; besides, ${pause.message}`;
}

/** First that applies (operator §19.3); `frozen` before all, since nothing else can be said of such a job. */
function syncState(input: GateInput, failing: Gate | undefined, orphan: boolean): SyncState {
  const { desired, facts, verdict } = input;
  if (desired.kind === "frozen") return "frozen";
  if (failing?.reason === "invalid_meta") return "invalid";
  if (pauseOf(facts) !== undefined) return "paused";
  if (failing?.name === "blocked") return "blocked";
  if (orphan) return "orphan";
  if (facts.active?.state === "pending_approval") return "pending";
  if (facts.active !== undefined) return "deploying";
  if (failing?.name === "window") return "held";
  if (verdict === undefined) return "unknown";
  return leavesToRegister(verdict, facts) && failing?.reason !== "batch_done" ? "drift" : "sync";
}

function whereFrom(desired: DesiredState): Pick<JobView, "repository" | "file" | "commitSha" | "commitSubject" | "commitAuthor"> {
  if (desired.kind === "managed") {
    const { repository, file, commit } = desired.job;
    return { repository, file, commitSha: commit.sha, commitSubject: commit.subject, commitAuthor: commit.author };
  }
  const frozen = desired.kind === "frozen" ? desired.frozen : undefined;
  return {
    repository: frozen?.repository,
    file: frozen?.files.join(", "),
    commitSha: undefined,
    commitSubject: undefined,
    commitAuthor: undefined,
  };
}

function toHoldView(hold: Hold): HoldView {
  return { ...hold, until: instant(hold.until) };
}

/** Also for jobs whose policy no window concerns, so that a reader sees what the annotations mean. */
export function toWindowView(job: DesiredJob, now: number): WindowView | undefined {
  const { allowWindow: allow, denyWindow: deny } = job.settings;
  if (allow === undefined && deny === undefined) return undefined;
  const status = windowStatus(allow, deny, now);
  return { open: status.open, reason: status.reason, changesAt: instant(status.changesAt), allow, deny };
}

function toHookView(hook: DesiredJob["hooks"][number]): HookView {
  const { phase, hookId, usable } = hook;
  return {
    phase,
    hookId,
    usable,
    timeoutMs: hook.usable ? hook.timeoutMs : undefined,
    problem: hook.usable ? undefined : `${hook.problem}: ${hook.detail}`,
  };
}

export function toExplainView(key: JobKey, input: GateInput): ExplainView {
  const { gates, failing } = evaluateGates(input);
  return {
    key,
    gates: gates.map((gate) => ({ ...gate, changesAt: instant(gate.changesAt) })),
    verdict: failing?.reason,
    message: standing(input, failing),
  };
}

function instant(ms: number | undefined): Instant | undefined {
  return ms === undefined ? undefined : toInstant(ms);
}
