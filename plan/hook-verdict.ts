import type { AllocationStub, LiveJob } from "../model/nomad.ts";
import { explainAllocation } from "./health-words.ts";

export type HookVerdict =
  | { readonly state: "succeeded" }
  | { readonly state: "failed"; readonly message: string; readonly allocation: AllocationStub | undefined }
  /** Somebody stopped it: nops itself at the deadline, or anybody else. */
  | { readonly state: "stopped"; readonly message: string }
  | { readonly state: "running"; readonly message: string };

/** What a dispatched run and its allocations say about a hook (operator §13.5). The clock is the caller's. */
export function judgeHookRun(child: LiveJob, allocations: readonly AllocationStub[]): HookVerdict {
  const bad = allocations
    .filter((each) => each.ClientStatus === "failed" || each.ClientStatus === "lost")
    .toSorted((a, b) => b.ModifyIndex - a.ModifyIndex)[0];
  if (bad !== undefined && bad.DesiredStatus !== "stop")
    return { state: "failed", message: explainAllocation(bad), allocation: bad };
  const asked = allocations.find((each) => each.DesiredStatus === "stop" || each.DesiredStatus === "evict");
  if (asked !== undefined || child.Stop === true) return { state: "stopped", message: "the run was stopped from outside" };
  const done = allocations.length > 0 && allocations.every((each) => each.ClientStatus === "complete");
  if (child.Status === "dead" && done) return { state: "succeeded" };
  const running = allocations.filter((each) => each.ClientStatus === "running").length;
  return { state: "running", message: running > 0 ? "running" : "waiting to be placed" };
}
