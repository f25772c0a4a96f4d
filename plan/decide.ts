import type { DeclaredHook, DesiredJob } from "../model/desired.ts";
import { reasons } from "../model/reasons.ts";
import type { Birth, Decision } from "./decision.ts";
import { leavesToRegister } from "./drift.ts";
import { approvalReason, driftReason, evaluateGates, type Gate, type GateInput, isLifted, needsVerification } from "./gates.ts";
import { windowOf } from "./holds.ts";
import { revalidate } from "./revalidate.ts";

/** One decision from one gathered input. Pure. */
export function decide(input: GateInput): Decision {
  const revalidation = revalidate(input);
  if (revalidation !== undefined) return revalidation;
  const { failing } = evaluateGates(input);
  if (failing !== undefined) return declined(input, failing);
  if (input.desired.kind !== "managed") throw new Error("every gate passed for a job that is not managed");
  const active = input.facts.active;
  if (active !== undefined) return { act: "move", deployment: active, trigger: "start", reason: "ready", message: reasons.ready };
  return { act: "create", birth: birthOf(input, input.desired.job) };
}

/** A Deploy now request that cannot be used is dropped, not kept for a moment that nobody expects (operator §12.8). */
function declined(input: GateInput, failing: Gate): Decision {
  const { lift } = input.facts;
  const keepsLift =
    failing.reason === "nomad_error" ||
    failing.reason === "not_compared" ||
    failing.reason === "waiting_for_dependency" ||
    failing.name === "mode" ||
    failing.name === "judged";
  if (lift !== undefined && !keepsLift) return { act: "drop_lift", message: `Deploy now cannot be used: ${failing.fact}` };
  return { act: "nothing", reason: failing.reason ?? "in_sync", message: failing.fact, changesAt: failing.changesAt };
}

function birthOf(input: GateInput, job: DesiredJob): Birth {
  const { facts, verdict } = input;
  const latest = facts.latest;
  const retried =
    latest?.retriedAt !== undefined && latest.specHash === job.specHash && latest.state !== "completed" ? latest : undefined;
  const verify = verdict !== undefined && !leavesToRegister(verdict, facts) && needsVerification(input, job);
  const window = windowOf(job.settings, job.policy, input.now);
  const lifted = window !== undefined && !window.open && isLifted(facts, job.specHash) ? facts.lift?.requestedBy : undefined;
  const broken = verify ? undefined : firstUnusable(job.hooks);
  const common = {
    job,
    mode: verify ? "verify" : "apply",
    retryOf: retried?.id,
    reschedule: retried?.reschedule ?? false,
    windowLiftedBy: lifted,
  } as const;
  if (broken !== undefined) {
    const message = `${broken.phase}-hook ${broken.hookId} is ${broken.problem}: ${broken.detail}`;
    return { ...common, state: "failed", reason: broken.problem === "missing" ? "hook_missing" : "hook_invalid", message };
  }
  const approval = approvalReason(input, job);
  const why = verify ? "verify" : retried !== undefined ? "retry" : lifted !== undefined ? "deploy_now" : driftReason(input, job);
  if (approval === undefined) return { ...common, state: "detected", reason: why, message: reasons[why] };
  const reason = approval === "waiting_for_approval" ? why : approval;
  return { ...common, state: "pending_approval", reason, message: `${reasons[reason]}; ${reasons.waiting_for_approval}` };
}

function firstUnusable(hooks: readonly DeclaredHook[]): Extract<DeclaredHook, { usable: false }> | undefined {
  return hooks.find((hook): hook is Extract<DeclaredHook, { usable: false }> => !hook.usable);
}
