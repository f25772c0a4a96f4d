import type { Deployment } from "../model/deployment.ts";
import type { DesiredJob } from "../model/desired.ts";
import { isWaiting } from "../model/lifecycle.ts";
import { type ReasonCode, reasons } from "../model/reasons.ts";
import type { Decision } from "./decision.ts";
import { type GateInput, isLifted } from "./gates.ts";
import { pauseOf, windowHold, windowOf } from "./holds.ts";

/**
 * What becomes of a deployment that has not started (operator §8.3e), first rule that matches; `undefined`: it stays, and
 * the gates say what it waits for. A file that cannot be judged spoils nothing: its deployment stays, and cannot be approved.
 */
export function revalidate(input: GateInput): Decision | undefined {
  const { active } = input.facts;
  // While nops only looks on, and above all over a restored database, nothing that is on record is moved.
  if (active === undefined || !isWaiting(active.state) || input.mode !== "normal") return undefined;
  const { desired } = input;
  switch (desired.kind) {
    case "frozen":
      return undefined;
    case "absent":
      return desired.certain ? supersede(active, "superseded_removed", reasons.superseded_removed) : undefined;
    case "unmanaged":
      return supersede(active, "superseded_removed", "the job is no longer managed by nops");
    case "managed":
      return revalidateManaged(input, desired.job, active);
  }
}

function revalidateManaged(input: GateInput, job: DesiredJob, active: Deployment): Decision | undefined {
  if (job.policy === "none") return supersede(active, "superseded_policy_none", policyWords(job));
  if (job.specHash !== active.specHash) {
    return supersede(active, "superseded_newer_spec", `git has a newer spec in commit ${job.commit.sha.slice(0, 12)}`);
  }
  const { verdict } = input;
  if (verdict === undefined) return undefined;
  if (verdict.jobModifyIndex !== active.baseIndex) {
    if (!input.baseUnmoved) {
      const message = `somebody changed the live job: index ${active.baseIndex} was seen, now it is ${verdict.jobModifyIndex}`;
      return supersede(active, "superseded_live_changed", message);
    }
    return { act: "refresh_base", deployment: active };
  }
  if (active.mode === "apply" && (verdict.drift === "none" || verdict.drift === "own_keys")) {
    return { act: "move", deployment: active, trigger: "in_sync", reason: "nothing_to_apply", message: reasons.nothing_to_apply };
  }
  if (active.mode === "verify" && verdict.drift === "drift") {
    return supersede(active, "superseded_live_changed", "the live job no longer equals git, so there is nothing to verify");
  }
  return active.state === "detected" ? revalidateDetected(input, job, active) : undefined;
}

function revalidateDetected(input: GateInput, job: DesiredJob, active: Deployment): Decision | undefined {
  if (job.policy === "approval") {
    return {
      act: "move",
      deployment: active,
      trigger: "need_approval",
      reason: "waiting_for_approval",
      message: reasons.waiting_for_approval,
    };
  }
  const hold =
    pauseOf(input.facts) ?? windowHold(windowOf(job.settings, job.policy, input.now), isLifted(input.facts, job.specHash));
  return hold === undefined ? undefined : supersede(active, "superseded_held", hold.message);
}

function supersede(deployment: Deployment, reason: ReasonCode, message: string): Decision {
  return { act: "move", deployment, trigger: "supersede", reason, message };
}

function policyWords(job: DesiredJob): string {
  const wrong = job.settings.issues.find((issue) => issue.severity === "error");
  return wrong === undefined
    ? reasons.superseded_policy_none
    : `${reasons.superseded_policy_none}, because ${wrong.key} is invalid`;
}
