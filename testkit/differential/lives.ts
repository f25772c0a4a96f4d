import type { Random } from "../../model/clock.ts";
import type { Rec } from "../../simulator/jobspec/values.ts";
import { type Chooser, chooser } from "../job-generator/chooser.ts";
import { changedSmallJob, smallJob } from "../job-generator/small-job.ts";

/** What happens to a job, in words that mean the same on both servers. */
export type LifeStep =
  | { readonly do: "register"; readonly job: Rec }
  | { readonly do: "scale"; readonly group: string; readonly count: number }
  | { readonly do: "stop"; readonly purge: boolean }
  | { readonly do: "revert"; readonly back: number }
  | { readonly do: "deployment"; readonly action: "promote" | "fail" | "pause" | "resume" }
  | { readonly do: "evaluate"; readonly reschedule: boolean }
  /** What the client says of the allocations at these places of the list, counted from its start, round and round. */
  | { readonly do: "report"; readonly at: readonly number[]; readonly fate: Fate }
  | { readonly do: "stop-alloc"; readonly at: number }
  | { readonly do: "node"; readonly node: 0 | 1; readonly fate: NodeFate }
  | { readonly do: "dispatch"; readonly meta: Readonly<Record<string, string>> }
  | { readonly do: "plan"; readonly job: Rec };

export type Fate = "running" | "healthy" | "unhealthy" | "failed" | "complete" | "stopped";
export type NodeFate = "drain" | "undrain" | "ineligible" | "eligible" | "down" | "ready";

/** A job's life: the same seed, the same life. */
export function generateLife(random: Random, name: string, datacenter: string): LifeStep[] {
  const choose = chooser(random);
  let job = smallJob(choose, name, datacenter);
  const steps: LifeStep[] = [{ do: "register", job }];
  for (let i = choose.int(3, 9); i > 0; i--) {
    const step = nextStep(choose, job);
    if (step.do === "register") job = step.job;
    steps.push(step);
  }
  return steps;
}

const FATES: readonly Fate[] = [
  "running",
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

function nextStep(choose: Chooser, job: Rec): LifeStep {
  const dice = choose.int(0, 99);
  const [group] = job["TaskGroups"] as Rec[];
  if (dice < 40) {
    const at = choose.chance(0.5) ? [0, 1, 2, 3, 4, 5, 6, 7] : [choose.int(0, 5)];
    return { do: "report", at, fate: choose.pick(FATES) };
  }
  if (dice < 62) return { do: "register", job: changedSmallJob(choose, job) };
  if (dice < 72) return { do: "deployment", action: choose.pick(ACTIONS) };
  if (dice < 77) return { do: "scale", group: String(group?.["Name"]), count: choose.int(0, 4) };
  if (dice < 80) return { do: "revert", back: choose.int(1, 2) };
  if (dice < 83) return { do: "evaluate", reschedule: choose.chance(0.5) };
  if (dice < 86) return { do: "stop", purge: choose.chance(0.3) };
  if (dice < 88) return { do: "stop-alloc", at: choose.int(0, 3) };
  if (dice < 95) return { do: "node", node: choose.chance(0.5) ? 0 : 1, fate: choose.pick(NODE_FATES) };
  if (dice < 97 || job["ParameterizedJob"] === undefined) return { do: "plan", job: changedSmallJob(choose, job) };
  return { do: "dispatch", meta: choose.chance(0.5) ? { a: "1" } : {} };
}

const NODE_FATES: readonly NodeFate[] = ["drain", "undrain", "ineligible", "eligible", "down", "ready"];
