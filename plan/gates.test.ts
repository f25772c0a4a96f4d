import { describe, expect, it } from "vitest";
import type { DesiredState } from "../model/desired.ts";
import { jobKey } from "../model/job-key.ts";
import { reasons } from "../model/reasons.ts";
import {
  aDeployment,
  aDesiredJob,
  aPause,
  aVerdict,
  aWindowLift,
  builtAtMs,
  someFacts,
  someSettings,
} from "../testkit/builders.ts";
import { decide } from "./decide.ts";
import { evaluateGates, type GateInput, gateOrder } from "./gates.ts";

const managed = (over: Parameters<typeof aDesiredJob>[0] = {}): DesiredState => ({ kind: "managed", job: aDesiredJob(over) });
const hash = aDesiredJob().specHash;
const closed = { cron: "0 0 1 1 *", durationMs: 60_000, timeZone: "UTC" };

function input(over: Partial<GateInput> = {}): GateInput {
  return {
    now: builtAtMs,
    mode: "normal",
    desired: managed(),
    facts: someFacts(),
    verdict: aVerdict(),
    problem: undefined,
    baseUnmoved: true,
    dependencies: { ok: true, message: "it depends on nothing" },
    massChange: false,
    ...over,
  };
}

const failing = (over: Partial<GateInput>): string | undefined => {
  const gate = evaluateGates(input(over)).failing;
  return gate === undefined ? undefined : `${gate.name}: ${gate.reason}`;
};

it("the chain has this order and no other", () => {
  expect(gateOrder).toEqual([
    "judged",
    "managed",
    "settings",
    "policy",
    "mode",
    "active",
    "drift",
    "blocked",
    "paused",
    "window",
    "dependencies",
    "approval",
  ]);
  expect(evaluateGates(input()).gates.map((gate) => gate.name)).toEqual(gateOrder);
});

const frozen: DesiredState = {
  kind: "frozen",
  frozen: { key: jobKey("default", "web"), repository: "main", files: ["a"], reason: "duplicate_job", message: "two files" },
};
const invalid = someSettings({ issues: [{ severity: "error", key: "nops_policy", message: "no" }] });
const latest = (over: Parameters<typeof aDeployment>[0]) => aDeployment({ specHash: hash, ...over });
const retried = { retriedAt: "2026-03-01T12:00:00.000Z", retriedBy: "ann" };

describe("each gate", () => {
  it.each<[string, Partial<GateInput>, string | undefined]>([
    ["nothing in the way", {}, undefined],
    ["a frozen job", { desired: frozen }, "judged: duplicate_job"],
    ["not in git", { desired: { kind: "absent", certain: true } }, "judged: not_in_git"],
    ["perhaps not in git", { desired: { kind: "absent", certain: false } }, "judged: repository_unavailable"],
    ["not opted in", { desired: { kind: "unmanaged" } }, "managed: not_managed"],
    ["invalid meta", { desired: managed({ settings: invalid, policy: "none" }) }, "settings: invalid_meta"],
    ["policy none", { desired: managed({ policy: "none" }) }, "policy: policy_none"],
    ["read-only", { mode: "read_only" }, "mode: read_only"],
    ["standby", { mode: "standby" }, "mode: standby"],
    ["a restored database", { mode: "restored_database" }, "mode: restored_database"],
    ["a running deployment", { facts: someFacts({ active: latest({ state: "applying" }) }) }, "active: active_deployment"],
    ["Nomad cannot answer", { verdict: undefined, problem: "Nomad is away" }, "drift: nomad_error"],
    ["not compared yet", { verdict: undefined }, "drift: not_compared"],
    ["in sync", { verdict: aVerdict({ drift: "none" }) }, "drift: in_sync"],
    ["own keys", { verdict: aVerdict({ drift: "own_keys" }) }, "drift: own_keys_only"],
    ["unknown, the first time", { verdict: aVerdict({ drift: "unknown" }) }, undefined],
    [
      "unknown, registered before",
      { verdict: aVerdict({ drift: "unknown" }), facts: someFacts({ unknownRegistered: hash }) },
      "drift: unknown_difference",
    ],
    [
      "unknown, registered for another spec",
      { verdict: aVerdict({ drift: "unknown" }), facts: someFacts({ unknownRegistered: "x" }) },
      undefined,
    ],
    [
      "unknown, registered before, failed and retried",
      {
        verdict: aVerdict({ drift: "unknown" }),
        facts: someFacts({
          unknownRegistered: hash,
          latest: latest({ state: "failed", appliedIndex: 5, retriedAt: "2026-01-01T00:00:00.000Z" }),
        }),
      },
      undefined,
    ],
    ["blocked by a failure", { facts: someFacts({ latest: latest({ state: "failed" }) }) }, "blocked: blocked_failed"],
    ["a failure whose base moved", { facts: someFacts({ latest: latest({ state: "failed" }) }), baseUnmoved: false }, undefined],
    [
      "a failure after its register",
      { facts: someFacts({ latest: latest({ state: "failed", appliedIndex: 5 }) }), baseUnmoved: false },
      "blocked: blocked_applied",
    ],
    [
      "a failure after its register, which is what is live",
      { verdict: aVerdict({ drift: "none" }), facts: someFacts({ latest: latest({ state: "failed", appliedIndex: 5 }) }) },
      "blocked: blocked_applied",
    ],
    [
      "a verification that failed",
      { verdict: aVerdict({ drift: "none" }), facts: someFacts({ latest: latest({ state: "failed", mode: "verify" }) }) },
      "blocked: blocked_applied",
    ],
    [
      "a verification that a person rejected",
      { verdict: aVerdict({ drift: "none" }), facts: someFacts({ latest: latest({ state: "rejected", mode: "verify" }) }) },
      "blocked: blocked_rejected",
    ],
    [
      "a failure before its register, when somebody made the live job equal git",
      { verdict: aVerdict({ drift: "none" }), facts: someFacts({ latest: latest({ state: "failed" }) }) },
      "drift: in_sync",
    ],
    [
      "a hook of which nobody can tell whether it ran, though the base moved",
      { facts: someFacts({ latest: latest({ state: "failed", reason: "hook_unknown" }) }), baseUnmoved: false },
      "blocked: blocked_failed",
    ],
    [
      "the same, when somebody made the live job equal git",
      {
        verdict: aVerdict({ drift: "none" }),
        facts: someFacts({ latest: latest({ state: "failed", reason: "hook_unknown" }) }),
      },
      "drift: in_sync",
    ],
    ["a rejection", { facts: someFacts({ latest: latest({ state: "rejected" }) }) }, "blocked: blocked_rejected"],
    ["a failure of another spec", { facts: someFacts({ latest: latest({ state: "failed", specHash: "other" }) }) }, undefined],
    ["a retried failure", { facts: someFacts({ latest: latest({ state: "failed", ...retried }) }) }, undefined],
    ["paused", { facts: someFacts({ jobPause: aPause(), globalPause: aPause() }) }, "paused: paused"],
    ["all paused", { facts: someFacts({ globalPause: aPause() }) }, "paused: paused_all"],
    ["a closed window", { desired: managed({ settings: someSettings({ allowWindow: closed }) }) }, "window: window_closed"],
    [
      "a closed window under approval",
      { desired: managed({ policy: "approval", settings: someSettings({ allowWindow: closed }) }) },
      undefined,
    ],
    [
      "a closed window, lifted",
      {
        desired: managed({ settings: someSettings({ allowWindow: closed }) }),
        facts: someFacts({ lift: aWindowLift({ specHash: hash }) }),
      },
      undefined,
    ],
    [
      "a closed window, lifted for another spec",
      {
        desired: managed({ settings: someSettings({ allowWindow: closed }) }),
        facts: someFacts({ lift: aWindowLift({ specHash: "x" }) }),
      },
      "window: window_closed",
    ],
    [
      "a dependency",
      { dependencies: { ok: false, reason: "dependency_failed", message: "db", on: undefined } },
      "dependencies: dependency_failed",
    ],
    [
      "waiting for a person",
      { facts: someFacts({ active: latest({ state: "pending_approval" }) }) },
      "approval: waiting_for_approval",
    ],
    [
      "waiting for a person, paused",
      { facts: someFacts({ active: latest({ state: "pending_approval" }), jobPause: aPause() }) },
      "paused: paused",
    ],
    [
      "retry of what equals git and was registered",
      {
        verdict: aVerdict({ drift: "none" }),
        facts: someFacts({ latest: latest({ state: "failed", appliedIndex: 5, ...retried }) }),
      },
      undefined,
    ],
    [
      "retry of what equals git and never was registered",
      { verdict: aVerdict({ drift: "none" }), facts: someFacts({ latest: latest({ state: "failed", ...retried }) }) },
      "drift: in_sync",
    ],
  ])("%s", (_name, over, expected) => expect(failing(over)).toBe(expected));

  it("blocked comes before held, so that a job that is both shows its block (operator §8.3g)", () => {
    expect(failing({ facts: someFacts({ latest: latest({ state: "failed" }), jobPause: aPause() }) })).toBe(
      "blocked: blocked_failed",
    );
  });

  it("a batch job that completed here and is gone is done; a periodic one never is", () => {
    const facts = someFacts({ latestCompleted: latest({ state: "completed" }) });
    const verdict = aVerdict({ jobModifyIndex: 0 });
    const batch = (more: object) => managed({ spec: { ID: "web", Type: "batch", ...more } });
    expect(failing({ desired: batch({}), facts, verdict })).toBe("drift: batch_done");
    expect(failing({ desired: batch({ Periodic: { Spec: "@daily" } }), facts, verdict })).toBeUndefined();
    expect(failing({ desired: batch({}), facts, verdict: aVerdict({ jobModifyIndex: 5 }) })).toBeUndefined();
    expect(failing({ desired: managed(), facts, verdict })).toBeUndefined();
  });
});

it("every failing gate names a known reason, a fact and its source; gates after it are not reached", () => {
  const { gates } = evaluateGates(input({ desired: managed({ policy: "none" }) }));
  const at = gates.findIndex((gate) => gate.status === "fail");
  expect(Object.keys(reasons)).toContain(gates[at]?.reason);
  expect(gates[at]?.fact).not.toBe("");
  expect(gates.slice(at + 1).every((gate) => gate.status === "not_reached" && gate.reason === undefined)).toBe(true);
  expect(gates.every((gate) => gate.source !== "")).toBe(true);
});

describe("decide: what a new deployment is born as", () => {
  const birth = (over: Partial<GateInput>) => {
    const decision = decide(input(over));
    if (decision.act !== "create") throw new Error(`no creation but ${JSON.stringify(decision)}`);
    const { state, mode, reason, retryOf, windowLiftedBy, message } = decision.birth;
    return { state, mode, reason, retryOf, windowLiftedBy, message };
  };
  const hook = (usable: boolean) =>
    ({ phase: "pre", position: 0, hookId: "migrate", usable, problem: "missing", detail: "not there" }) as never;

  it.each<[string, Partial<GateInput>, object]>([
    ["auto", {}, { state: "detected", mode: "apply", reason: "drift" }],
    ["approval", { desired: managed({ policy: "approval" }) }, { state: "pending_approval", reason: "drift" }],
    [
      "an edit outside of what was deployed",
      { facts: someFacts({ latest: latest({ state: "completed" }), latestCompleted: latest({ state: "completed" }) }) },
      { state: "detected", reason: "changed_outside", message: expect.stringContaining("changed outside of nops") },
    ],
    [
      "a return to a spec that was deployed before another one failed",
      {
        facts: someFacts({
          latest: latest({ state: "failed", appliedIndex: 9, specHash: "other" }),
          latestCompleted: latest({ state: "completed" }),
        }),
      },
      { reason: "drift" },
    ],
    [
      "a commit after a completed one",
      { facts: someFacts({ latestCompleted: latest({ state: "completed", specHash: "other" }) }) },
      { reason: "drift" },
    ],
    [
      "a lowered policy",
      { facts: someFacts({ policyFloor: "approval" }) },
      { state: "pending_approval", reason: "policy_lowered" },
    ],
    ["a mass change", { massChange: true }, { state: "pending_approval", reason: "mass_change" }],
    [
      "a hook that is missing",
      { desired: managed({ policy: "approval", hooks: [hook(false)] }) },
      { state: "failed", reason: "hook_missing", message: expect.stringMatching(/pre-hook migrate is missing/) },
    ],
    [
      "a retry",
      { facts: someFacts({ latest: latest({ id: "old", state: "failed", ...retried }) }) },
      { state: "detected", mode: "apply", reason: "retry", retryOf: "old" },
    ],
    [
      "a retry of another spec is none",
      { facts: someFacts({ latest: latest({ id: "old", state: "failed", specHash: "x", ...retried }) }) },
      { retryOf: undefined, reason: "drift" },
    ],
    [
      "a verification",
      {
        verdict: aVerdict({ drift: "none" }),
        facts: someFacts({ latest: latest({ id: "old", state: "failed", appliedIndex: 3, ...retried }) }),
      },
      { state: "detected", mode: "verify", reason: "verify", retryOf: "old" },
    ],
    [
      "a verification under approval",
      {
        desired: managed({ policy: "approval" }),
        verdict: aVerdict({ drift: "none" }),
        facts: someFacts({ latest: latest({ state: "failed", appliedIndex: 3, ...retried }) }),
      },
      { state: "pending_approval", mode: "verify" },
    ],
    [
      "Deploy now",
      {
        desired: managed({ settings: someSettings({ allowWindow: closed }) }),
        facts: someFacts({ lift: aWindowLift({ specHash: hash, requestedBy: "ann" }) }),
      },
      { state: "detected", reason: "deploy_now", windowLiftedBy: "ann" },
    ],
    [
      "Deploy now that was not needed",
      { facts: someFacts({ lift: aWindowLift({ specHash: hash }) }) },
      { windowLiftedBy: undefined },
    ],
  ])("%s", (_name, over, expected) => expect(birth(over)).toMatchObject(expected));
});

describe("decide: a Deploy now that cannot be used is dropped, one that may yet be used is kept", () => {
  const lift = aWindowLift({ specHash: hash });
  it.each<[string, Partial<GateInput>, string]>([
    ["in sync", { verdict: aVerdict({ drift: "none" }) }, "drop_lift"],
    ["paused", { facts: someFacts({ lift, jobPause: aPause() }) }, "drop_lift"],
    ["blocked", { facts: someFacts({ lift, latest: latest({ state: "failed" }) }) }, "drop_lift"],
    [
      "another spec",
      {
        desired: managed({ specHash: "new", settings: someSettings({ allowWindow: closed }) }),
        verdict: aVerdict({ specHash: "new" }),
      },
      "drop_lift",
    ],
    ["Nomad away", { verdict: undefined }, "nothing"],
    [
      "a dependency behind",
      { dependencies: { ok: false, reason: "waiting_for_dependency", message: "db", on: undefined } },
      "nothing",
    ],
    ["read-only", { mode: "read_only" }, "nothing"],
    ["frozen", { desired: frozen }, "nothing"],
  ])("%s", (_name, over, act) => expect(decide(input({ facts: someFacts({ lift }), ...over })).act).toBe(act));
});
