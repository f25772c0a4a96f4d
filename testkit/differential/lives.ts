import type { Random } from "../../model/clock.ts";
import type { Rec } from "../../simulator/jobspec/values.ts";
import { type Chooser, chooser } from "../job-generator/chooser.ts";
import { changedSmallJob, SOON, smallJob } from "../job-generator/small-job.ts";

/** What happens to a job, in words that mean the same on both servers. */
export type LifeStep =
  | { readonly do: "register"; readonly job: Rec; readonly more?: RegisterMore }
  | { readonly do: "scale"; readonly group: string; readonly count?: number; readonly message?: string; readonly error?: boolean }
  | { readonly do: "stop"; readonly purge: boolean }
  | { readonly do: "revert"; readonly back: number; readonly enforce?: boolean }
  | { readonly do: "deployment"; readonly action: "promote" | "fail" | "pause" | "resume"; readonly groups?: readonly string[] }
  /** Health that a person says of allocations. */
  | { readonly do: "health"; readonly at: readonly number[]; readonly healthy: boolean }
  | { readonly do: "evaluate"; readonly reschedule: boolean }
  /** What the client says of the allocations at these places of the list, counted from its start, round and round. */
  | { readonly do: "report"; readonly at: readonly number[]; readonly fate: Fate }
  | { readonly do: "stop-alloc"; readonly at: number }
  | { readonly do: "node"; readonly node: 0 | 1; readonly fate: NodeFate }
  | { readonly do: "dispatch"; readonly request: Rec }
  | { readonly do: "force" }
  | { readonly do: "stop-child"; readonly at: number; readonly purge: boolean }
  | { readonly do: "tag"; readonly tag: string; readonly back: number; readonly description: string }
  | { readonly do: "untag"; readonly tag: string }
  | { readonly do: "stable"; readonly back: number; readonly stable: boolean }
  /** Lets milliseconds pass. */
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "collect" }
  | { readonly do: "plan"; readonly job: Rec };

/** What a register says beside the job. The index is the one that the job has, or one that it cannot have. */
export interface RegisterMore {
  readonly index?: "known" | "wrong";
  readonly fields?: Rec;
}

export type Fate = "running" | "restarted" | "healthy" | "unhealthy" | "failed" | "complete" | "stopped";
export type NodeFate = "drain" | "undrain" | "ineligible" | "eligible" | "down" | "disconnected" | "ready";

/**
 * A job's life: the same seed, the same life. With `alone` no other life goes on at the same time, so that the server may be told to
 * collect garbage now and then, which concerns all jobs that it has.
 */
export function generateLife(random: Random, name: string, datacenter: string, alone = false): LifeStep[] {
  const choose = chooser(random);
  let job = smallJob(choose, name, datacenter);
  const steps: LifeStep[] = [{ do: "register", job, ...more(choose) }];
  for (let i = choose.int(3, 10); i > 0; i--) {
    const step: LifeStep = alone && choose.chance(0.25) ? { do: "collect" } : nextStep(choose, job);
    if (spins(job, step) && !alone) continue;
    if (step.do === "register") job = step.job;
    steps.push(step);
    // What failed is tried again after five seconds where the job says so.
    if (step.do === "report" && step.fate === "failed" && hurries(job)) steps.push({ do: "wait", ms: 5_300 });
    if (step.do === "node" && step.fate === "disconnected") steps.push(...afterSilence(choose, job, step.node));
  }
  return steps;
}

/**
 * Whether a real server may be busy with nothing else for a while: when the client of a node that was silent speaks of a system job's
 * allocation, the server plans and writes over and over until the node is ready. Other lives cannot go on beside that.
 */
function spins(job: Rec, step: LifeStep): boolean {
  return job["Type"] === "system" && step.do === "node" && step.fate === "disconnected";
}

/** What falls silent expires, or its client comes back: it is ready once it has told how its allocations fared. */
function afterSilence(choose: Chooser, job: Rec, node: 0 | 1): LifeStep[] {
  const expires = hurries(job) || disconnects(job).some((block) => block["LostAfter"] === SOON);
  const steps: LifeStep[] = expires ? [{ do: "wait", ms: 5_300 }] : [];
  if (choose.chance(0.3)) return steps;
  if (choose.chance(0.3)) steps.push(nextStep(choose, job));
  steps.push({ do: "node", node, fate: "ready" });
  steps.push({ do: "report", at: places(choose), fate: choose.pick(["running", "running", "healthy", "failed", "complete"]) });
  return [...steps, { do: "node", node, fate: "ready" }];
}

function disconnects(job: Rec): Rec[] {
  return (job["TaskGroups"] as Rec[]).flatMap((group): Rec[] =>
    group["Disconnect"] === undefined ? [] : [group["Disconnect"] as Rec],
  );
}

const FATES: readonly Fate[] = [
  "running",
  "restarted",
  "healthy",
  "healthy",
  "healthy",
  "unhealthy",
  "failed",
  "failed",
  "complete",
  "stopped",
];
const ACTIONS = ["promote", "promote", "fail", "pause", "resume"] as const;
const NODE_FATES: readonly NodeFate[] = [
  "drain",
  "undrain",
  "ineligible",
  "eligible",
  "down",
  "disconnected",
  "disconnected",
  "ready",
];
const TAGS = ["golden", "v1"];

function nextStep(choose: Chooser, job: Rec): LifeStep {
  if (job["ParameterizedJob"] !== undefined && choose.chance(0.35)) return { do: "dispatch", request: dispatchRequest(choose) };
  if (job["Periodic"] !== undefined && choose.chance(0.3)) return { do: "force" };
  const dice = choose.int(0, 99);
  if (dice < 38) return { do: "report", at: places(choose), fate: choose.pick(FATES) };
  if (dice < 58) return { do: "register", job: changedSmallJob(choose, job), ...more(choose) };
  if (dice < 68) return { do: "deployment", action: choose.pick(ACTIONS), ...(choose.chance(0.2) ? { groups: ["g0"] } : {}) };
  if (dice < 70) return { do: "health", at: places(choose), healthy: choose.chance(0.7) };
  if (dice < 75) return scaling(choose, job);
  if (dice < 79) return { do: "revert", back: choose.int(1, 2), ...(choose.chance(0.2) ? { enforce: true } : {}) };
  if (dice < 81) return { do: "evaluate", reschedule: choose.chance(0.5) };
  if (dice < 84) return { do: "stop", purge: choose.chance(0.3) };
  if (dice < 86) return { do: "stop-alloc", at: choose.int(0, 3) };
  if (dice < 94) return { do: "node", node: choose.chance(0.5) ? 0 : 1, fate: choose.pick(NODE_FATES) };
  if (dice < 97) return versionStep(choose);
  if (dice < 98 && (job["ParameterizedJob"] ?? job["Periodic"]) !== undefined)
    return { do: "stop-child", at: choose.int(0, 2), purge: choose.chance(0.5) };
  return { do: "plan", job: changedSmallJob(choose, job) };
}

function places(choose: Chooser): number[] {
  return choose.chance(0.5) ? [0, 1, 2, 3, 4, 5, 6, 7] : [choose.int(0, 5)];
}

function more(choose: Chooser): { readonly more?: RegisterMore } {
  if (choose.chance(0.75)) return {};
  const index = choose.pick(["known", "wrong", "any"] as const);
  const fields: Record<string, unknown> = {};
  if (choose.chance(0.4)) fields["PreserveCounts"] = true;
  if (choose.chance(0.3)) fields["EvalPriority"] = choose.int(1, 100);
  if (choose.chance(0.4)) fields["Submission"] = { Source: `# ${choose.int(0, 9)}`, Format: "hcl2", VariableFlags: { a: "b" } };
  return { more: { ...(index === "any" ? {} : { index }), fields } };
}

function scaling(choose: Chooser, job: Rec): LifeStep {
  const group = String(choose.pick(job["TaskGroups"] as Rec[])["Name"]);
  // At a report without a count about a system job the server panics.
  if (choose.chance(0.2) && job["Type"] !== "system")
    return { do: "scale", group, message: "as it was", error: choose.chance(0.5) };
  return { do: "scale", group, count: choose.int(0, 4), ...(choose.chance(0.3) ? { message: "more or less" } : {}) };
}

function versionStep(choose: Chooser): LifeStep {
  const back = choose.int(0, 2);
  if (choose.chance(0.3)) return { do: "stable", back, stable: choose.chance(0.6) };
  const tag = choose.pick(TAGS);
  return choose.chance(0.3) ? { do: "untag", tag } : { do: "tag", tag, back, description: choose.pick(["", "known to be good"]) };
}

/** One key at most that is not allowed: the server names such keys in the order of a Go map. */
function dispatchRequest(choose: Chooser): Rec {
  const request: Record<string, unknown> = {};
  const meta = Object.fromEntries(choose.some(["a", "r"], 0.7).map((key) => [key, String(choose.int(0, 1))]));
  request["Meta"] = choose.chance(0.1) ? { ...meta, other: "1" } : meta;
  if (choose.chance(0.5)) request["Payload"] = Buffer.from(choose.pick(["", "a", "text ".repeat(40)])).toString("base64");
  if (choose.chance(0.4)) request["IdempotencyToken"] = choose.pick(["one", "two"]);
  if (choose.chance(0.15)) request["Priority"] = choose.pick([0, 1, 70, 101]);
  if (choose.chance(0.15)) request["IdPrefixTemplate"] = "p";
  return request;
}

/** Whether a group of it tries again after five seconds. */
function hurries(job: Rec): boolean {
  return (job["TaskGroups"] as Rec[]).some((group) => (group["ReschedulePolicy"] as Rec | undefined)?.["Delay"] === 5e9);
}
