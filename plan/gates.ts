import type { DesiredJob, DesiredState } from "../model/desired.ts";
import type { JobFacts, Verdict } from "../model/facts.ts";
import { isRunning } from "../model/lifecycle.ts";
import { type ReasonCode, reasons } from "../model/reasons.ts";
import { blockOf, reachedRegister } from "./blocked.ts";
import type { DependencyJudgement } from "./dependencies.ts";
import { leavesToRegister } from "./drift.ts";
import { isTemplateJob } from "./health.ts";
import { pauseOf, windowHold, windowOf } from "./holds.ts";
import { isPolicyLowered } from "./policy.ts";

/** Whether this nops may act at all. */
export type OperatorMode = "normal" | "read_only" | "standby" | "restored_database";

/** Everything that decides about one job, gathered before (style §3.9). */
export interface GateInput {
  /** ms since the epoch. */
  readonly now: number;
  readonly mode: OperatorMode;
  readonly desired: DesiredState;
  readonly facts: JobFacts;
  /** What the last plan said, only when it was made for the present spec hash and live index. */
  readonly verdict: Verdict | undefined;
  /** What Nomad answered instead of a verdict; absent while nobody has asked. */
  readonly problem: string | undefined;
  /** Whether the live job is the one that the newest deployment was made over, apart from scaling (design D6). */
  readonly baseUnmoved: boolean;
  readonly dependencies: DependencyJudgement;
  /** The commit has already started as many deployments as may start by themselves (design D32). */
  readonly massChange: boolean;
  /** What a running deployment does at this moment, when somebody knows. */
  readonly activity?: string;
}

export type GateName =
  | "judged"
  | "managed"
  | "settings"
  | "policy"
  | "mode"
  | "active"
  | "drift"
  | "blocked"
  | "paused"
  | "window"
  | "dependencies"
  | "approval";

/** One gate's answer. */
export interface Gate {
  readonly name: GateName;
  readonly status: "pass" | "fail" | "not_reached";
  /** Set when it fails. */
  readonly reason: ReasonCode | undefined;
  readonly fact: string;
  /** Where the fact comes from. */
  readonly source: string;
  /** When it may change by itself, ms since the epoch. */
  readonly changesAt: number | undefined;
}

type Answer =
  | { readonly pass: string }
  | { readonly fail: ReasonCode; readonly because?: string; readonly changesAt?: number | undefined };
type Judge = (input: GateInput, job: DesiredJob) => Answer;

/** The chain. Its order is the law: the first gate that fails is the one true reason (design D14); a test pins it. */
const chain: readonly { readonly name: GateName; readonly source: string; readonly judge: Judge }[] = [
  { name: "settings", source: "job meta in git", judge: judgeSettings },
  { name: "policy", source: "job meta in git, configuration", judge: judgePolicy },
  { name: "mode", source: "this process", judge: judgeMode },
  { name: "active", source: "database", judge: judgeActive },
  { name: "drift", source: "plan by Nomad", judge: judgeDriftGate },
  { name: "blocked", source: "database", judge: judgeBlocked },
  { name: "paused", source: "database", judge: judgePaused },
  { name: "window", source: "job meta in git, clock", judge: judgeWindow },
  { name: "dependencies", source: "job meta in git, database", judge: judgeDependencyGate },
  { name: "approval", source: "job meta in git, database", judge: judgeApproval },
];

export const gateOrder: readonly GateName[] = ["judged", "managed", ...chain.map((gate) => gate.name)];

/** Walks the gates in order. Engine and `nops explain` both use this, so they cannot disagree. */
export function evaluateGates(input: GateInput): { readonly gates: readonly Gate[]; readonly failing: Gate | undefined } {
  const gates: Gate[] = [];
  const add = (name: GateName, source: string, judge: () => Answer): void => {
    const stopped = gates.some((gate) => gate.status === "fail");
    gates.push(stopped ? notReached(name, source) : toGate(name, source, judge()));
  };
  add("judged", "repository", () => judgeJudged(input.desired));
  add("managed", "job meta in git", () =>
    input.desired.kind === "managed" ? { pass: "the job opted in" } : { fail: "not_managed" },
  );
  const job = input.desired.kind === "managed" ? input.desired.job : undefined;
  for (const gate of chain)
    add(gate.name, gate.source, () => (job === undefined ? { fail: "not_managed" } : gate.judge(input, job)));
  return { gates, failing: gates.find((gate) => gate.status === "fail") };
}

function notReached(name: GateName, source: string): Gate {
  return { name, status: "not_reached", reason: undefined, fact: "", source, changesAt: undefined };
}

function toGate(name: GateName, source: string, answer: Answer): Gate {
  if ("pass" in answer) return { name, status: "pass", reason: undefined, fact: answer.pass, source, changesAt: undefined };
  const fact = answer.because ?? reasons[answer.fail];
  return { name, status: "fail", reason: answer.fail, fact, source, changesAt: answer.changesAt };
}

function judgeJudged(desired: DesiredState): Answer {
  if (desired.kind === "frozen") return { fail: desired.frozen.reason, because: desired.frozen.message };
  if (desired.kind === "absent") {
    return desired.certain
      ? { fail: "not_in_git" }
      : { fail: "repository_unavailable", because: "no repository that could be read has the job, and not all could be read" };
  }
  return { pass: desired.kind === "managed" ? `${desired.job.file} in ${desired.job.repository}` : "git has the job" };
}

function judgeSettings(_input: GateInput, job: DesiredJob): Answer {
  const wrong = job.settings.issues.find((issue) => issue.severity === "error");
  return wrong === undefined
    ? { pass: "every annotation can be read" }
    : { fail: "invalid_meta", because: `${wrong.key}: ${wrong.message}` };
}

function judgePolicy(_input: GateInput, job: DesiredJob): Answer {
  return job.policy === "none" ? { fail: "policy_none" } : { pass: `the policy is ${job.policy}` };
}

function judgeMode(input: GateInput): Answer {
  return input.mode === "normal" ? { pass: "nops may act" } : { fail: input.mode };
}

function judgeActive(input: GateInput): Answer {
  const active = input.facts.active;
  if (active === undefined) return { pass: "no deployment is under way" };
  if (!isRunning(active.state)) return { pass: `deployment ${active.id} has not started yet` };
  const doing = input.activity === undefined ? "" : `: ${input.activity}`;
  return {
    fail: "active_deployment",
    because: `deployment ${active.id} is in ${active.state} since ${active.enteredAt}${doing}`,
  };
}

function judgeDriftGate(input: GateInput, job: DesiredJob): Answer {
  const { verdict, facts } = input;
  if (facts.active !== undefined && facts.active.mode === "verify")
    return { pass: "health and post-hooks are to be checked again" };
  if (verdict === undefined)
    return input.problem === undefined ? { fail: "not_compared" } : { fail: "nomad_error", because: input.problem };
  if (isFinishedBatch(input, job)) return { fail: "batch_done" };
  if (verdict.drift === "drift") return { pass: reasons[driftReason(input, job)] };
  // What is live is what failed: that is the obstacle to tell, not that nothing is left to register.
  const mayBeLive = facts.active === undefined && facts.latest !== undefined && reachedRegister(facts.latest);
  if (mayBeLive && blockOf(facts.latest, job.specHash, false) !== undefined)
    return { pass: "the live job equals git, and its deployment failed" };
  if (leavesToRegister(verdict, facts)) return { pass: "Nomad reports a difference without naming a field" };
  if (needsVerification(input, job)) return { pass: "the live job equals git; a person asked to check it again" };
  if (verdict.drift === "unknown")
    return {
      fail: "unknown_difference",
      because: `${reasons.unknown_difference}; it was registered once, which changed nothing`,
    };
  return { fail: verdict.drift === "own_keys" ? "own_keys_only" : "in_sync" };
}

/** Where a difference comes from: git has the spec that was deployed last, so it is the live job that moved; else git did. */
export function driftReason({ facts }: GateInput, job: DesiredJob): Extract<ReasonCode, "drift" | "changed_outside"> {
  const deployed = facts.latestCompleted?.specHash === job.specHash;
  return deployed && facts.latest?.specHash === job.specHash ? "changed_outside" : "drift";
}

/** A batch job that completed here at this spec and was collected by Nomad is done, not missing (design D30). */
function isFinishedBatch(input: GateInput, job: DesiredJob): boolean {
  const type = job.spec.Type;
  if ((type !== "batch" && type !== "sysbatch") || isTemplateJob(job.spec) || input.verdict?.jobModifyIndex !== 0) return false;
  return input.facts.active === undefined && input.facts.latestCompleted?.specHash === job.specHash;
}

/** A retried deployment that had reached its register, with a live job that already equals git (operator §11.5, design D12). */
export function needsVerification(input: GateInput, job: DesiredJob): boolean {
  const latest = input.facts.latest;
  if (latest?.retriedAt === undefined || latest.specHash !== job.specHash || input.facts.active !== undefined) return false;
  return (latest.state === "failed" || latest.state === "rejected") && reachedRegister(latest);
}

function judgeBlocked(input: GateInput, job: DesiredJob): Answer {
  if (input.facts.active !== undefined) return { pass: "the deployment is already there" };
  const block = blockOf(input.facts.latest, job.specHash, input.baseUnmoved);
  return block === undefined ? { pass: "nothing blocks it" } : { fail: block.reason, because: block.message };
}

function judgePaused(input: GateInput): Answer {
  const hold = pauseOf(input.facts);
  return hold === undefined ? { pass: "not paused" } : { fail: hold.reason, because: hold.message };
}

/** Whether Deploy now lifts the window for exactly this spec, or already did for the waiting deployment. */
export function isLifted(facts: JobFacts, specHash: string): boolean {
  if (facts.active !== undefined) return facts.active.windowLiftedBy !== undefined;
  return facts.lift?.specHash === specHash;
}

function judgeWindow(input: GateInput, job: DesiredJob): Answer {
  const waitsForPerson = input.facts.active?.state === "pending_approval";
  const window = waitsForPerson ? undefined : windowOf(job.settings, job.policy, input.now);
  if (window === undefined) return { pass: "no window applies" };
  const hold = windowHold(window, isLifted(input.facts, job.specHash));
  if (hold !== undefined) return { fail: hold.reason, because: hold.message, changesAt: hold.until };
  return { pass: window.open ? "the window is open" : "a person lifted the closed window" };
}

function judgeDependencyGate(input: GateInput): Answer {
  const { dependencies } = input;
  return dependencies.ok ? { pass: dependencies.message } : { fail: dependencies.reason, because: dependencies.message };
}

/** Why the job's next deployment needs a person, if it does. */
export function approvalReason(input: GateInput, job: DesiredJob): ReasonCode | undefined {
  if (job.policy === "approval") return "waiting_for_approval";
  if (isPolicyLowered(job.policy, input.facts.policyFloor)) return "policy_lowered";
  return input.massChange ? "mass_change" : undefined;
}

function judgeApproval(input: GateInput, job: DesiredJob): Answer {
  const active = input.facts.active;
  if (active?.state === "pending_approval") {
    const extra = active.reason === "policy_lowered" || active.reason === "mass_change" ? ` (${reasons[active.reason]})` : "";
    return {
      fail: "waiting_for_approval",
      because: `deployment ${active.id} waits for a person since ${active.enteredAt}${extra}`,
    };
  }
  if (active !== undefined) return { pass: "no person is needed" };
  const reason = approvalReason(input, job);
  return { pass: reason === undefined ? "no person is needed" : `a person has to approve: ${reasons[reason]}` };
}
