import { clientTerminal, deploymentActive, groupOf, millis, nanos } from "../state/facts.ts";
import { lastUnknown, replacedWhenCutOff } from "../state/silence.ts";
import type { Allocation, Deployment, RescheduleEvent, ReschedulePolicy } from "../state/types.ts";

/** Failures within this many milliseconds of their time are placed at once. */
const window = 1000;

/** When the last of an allocation's tasks ended, in milliseconds. */
export function lastEventTime(alloc: Allocation): number {
  const finished = Object.values(alloc.TaskStates ?? {}).map((state) =>
    state.FinishedAt === null ? 0 : Date.parse(state.FinishedAt),
  );
  const last = Math.max(0, ...finished);
  return last > 0 ? last : millis(alloc.ModifyTime);
}

export function policyOf(alloc: Allocation): ReschedulePolicy | undefined {
  return groupOf(alloc.Job, alloc.TaskGroup)?.ReschedulePolicy ?? undefined;
}

export function policyEnabled(policy: ReschedulePolicy | null | undefined): boolean {
  return policy !== null && policy !== undefined && (policy.Attempts > 0 || policy.Unlimited);
}

function attempted(events: readonly RescheduleEvent[], policy: ReschedulePolicy, failedAt: number): number {
  return events.filter((event) => nanos(failedAt) - event.RescheduleTime < policy.Interval).length;
}

/** Whether the policy still allows another try. */
export function rescheduleAllowed(policy: ReschedulePolicy | null | undefined, alloc: Allocation, at: number): boolean {
  if (policy === null || policy === undefined || !policyEnabled(policy)) return false;
  if (policy.Unlimited) return true;
  const events = alloc.RescheduleTracker?.Events ?? [];
  return events.length === 0 || attempted(events, policy, at) < policy.Attempts;
}

/** Milliseconds to wait before the next try: constant, doubling, or growing like Fibonacci's numbers, up to a ceiling. */
export function nextDelay(alloc: Allocation): number {
  const policy = policyOf(alloc);
  if (policy === undefined) return 0;
  const events = alloc.RescheduleTracker?.Events ?? [];
  const last = events.at(-1);
  if (last === undefined || !["exponential", "fibonacci"].includes(policy.DelayFunction)) return millis(policy.Delay);
  let delay = policy.Delay;
  if (policy.DelayFunction === "exponential") {
    delay = last.Delay * 2;
  } else {
    const beforeLast = events.at(-2);
    if (beforeLast !== undefined) {
      const restarted = beforeLast.Delay === policy.MaxDelay && last.Delay === policy.Delay;
      delay = restarted ? last.Delay : last.Delay + beforeLast.Delay;
    }
  }
  if (policy.MaxDelay > 0 && delay > policy.MaxDelay) {
    delay = policy.MaxDelay;
    if (nanos(lastEventTime(alloc)) - last.RescheduleTime > delay) delay = policy.Delay;
  }
  return millis(delay);
}

export type Rescheduling = { readonly kind: "no" } | { readonly kind: "now" } | { readonly kind: "later"; readonly at: number };

/** Whether a scheduler wanted to place it again, and noted that there was no room. */
export function foundNoPlace(alloc: Allocation): boolean {
  const last = alloc.RescheduleTracker?.LastReschedule ?? "";
  return last !== "" && last !== "ok";
}

/**
 * Whether a failed allocation, or one whose node falls silent just now (`cutOff`), is placed again, and when. One of a running deployment
 * waits for the deployment's word (`DesiredTransition.Reschedule`).
 */
export function rescheduling(
  alloc: Allocation,
  now: number,
  evalId: string,
  deployment: Deployment | undefined,
  cutOff = false,
): Rescheduling {
  const transition = alloc.DesiredTransition;
  const deploying = deployment !== undefined && alloc.DeploymentID === deployment.ID && deploymentActive(deployment);
  if (deploying && !transition.Reschedule) return { kind: "no" };
  if (transition.ForceReschedule && clientTerminal(alloc)) return { kind: "now" };
  if (cutOff && !replacedWhenCutOff(alloc)) return { kind: "no" };
  const policy = policyOf(alloc);
  if (policy === undefined) return { kind: "no" };
  const failedAt = cutOff ? now : failureTime(alloc, evalId);
  if (failedAt === undefined) return { kind: "no" };
  const delay = nextDelay(alloc);
  if (!hasTriesLeft(alloc, policy, failedAt, delay)) return { kind: "no" };
  const at = failedAt + delay;
  if (alloc.FollowupEvalID === evalId || at - now <= window) return { kind: "now" };
  return alloc.FollowupEvalID === "" ? { kind: "later", at } : { kind: "no" };
}

/** From when on the delay counts; undefined for what has not failed, or is not tried again. */
function failureTime(alloc: Allocation, evalId: string): number | undefined {
  if (alloc.ClientStatus === "unknown" && alloc.FollowupEvalID === evalId) return lastUnknown(alloc) ?? 0;
  const stoppedBatch = alloc.Job.Type === "batch" && alloc.DesiredTransition.Reschedule === true;
  const failed = alloc.ClientStatus === "failed" || alloc.ClientStatus === "lost";
  const over = alloc.DesiredStatus === "stop" && !foundNoPlace(alloc);
  return over || (!failed && !stoppedBatch) || !policyEnabled(policyOf(alloc)) ? undefined : lastEventTime(alloc);
}

/**
 * Whether the number of tries allows another one. A server takes an allocation whose first try found no place, so that it is said to have
 * been tried without a list of tries, for one that has none left.
 */
function hasTriesLeft(alloc: Allocation, policy: ReschedulePolicy, failedAt: number, delay: number): boolean {
  const tracker = alloc.RescheduleTracker;
  if (policy.Attempts > 0 && tracker !== null && tracker.Events !== null)
    return attempted(tracker.Events, policy, failedAt) < policy.Attempts && nanos(delay) < policy.Interval;
  return policy.Unlimited || (policy.Attempts > 0 && tracker === null);
}

/** The history that a replacement carries on: events within the interval, or the last five without a limit of attempts. */
export function trackerFor(previous: Allocation, now: number): Allocation["RescheduleTracker"] {
  const policy = policyOf(previous);
  const old = previous.RescheduleTracker?.Events ?? [];
  const kept =
    policy !== undefined && policy.Attempts > 0
      ? old.filter((event) => policy.Interval > 0 && nanos(now) - event.RescheduleTime <= policy.Interval)
      : old.slice(-5);
  const event: RescheduleEvent = {
    RescheduleTime: nanos(now),
    PrevAllocID: previous.ID,
    PrevNodeID: previous.NodeID,
    Delay: nanos(nextDelay(previous)),
  };
  return { Events: [...kept, event], LastReschedule: "ok" };
}
