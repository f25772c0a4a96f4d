import { describe, expect, it } from "vitest";
import type { DesiredState } from "../model/desired.ts";
import { jobKey } from "../model/job-key.ts";
import { aDeployment, aDesiredJob, aPause, aVerdict, builtAtMs, someFacts, someSettings } from "../testkit/builders.ts";
import { decide } from "./decide.ts";
import type { GateInput } from "./gates.ts";

type Change = Partial<GateInput> & {
  readonly state?: "detected" | "pending_approval";
  readonly active?: Parameters<typeof aDeployment>[0];
};
const managed = (over: Parameters<typeof aDesiredJob>[0] = {}): DesiredState => ({ kind: "managed", job: aDesiredJob(over) });
const closed = { cron: "0 0 1 1 *", durationMs: 60_000, timeZone: "UTC" };

/** What becomes of a waiting deployment: the move and its reason, or what the engine does instead. */
function fate({ state = "pending_approval", active = {}, ...over }: Change): string {
  const deployment = aDeployment({ state, policy: state === "detected" ? "auto" : "approval", ...active });
  const input: GateInput = {
    now: builtAtMs,
    mode: "normal",
    desired: managed({ policy: state === "detected" ? "auto" : "approval" }),
    facts: someFacts({ active: deployment, latest: deployment }),
    verdict: aVerdict({ jobModifyIndex: deployment.baseIndex }),
    problem: undefined,
    baseUnmoved: true,
    dependencies: { ok: true, message: "" },
    massChange: false,
    ...over,
  };
  const decision = decide(input);
  return decision.act === "move"
    ? `${decision.trigger} ${decision.reason}`
    : decision.act === "nothing"
      ? `stays ${decision.reason}`
      : decision.act;
}

const frozen: DesiredState = {
  kind: "frozen",
  frozen: { key: jobKey("default", "web"), repository: "main", files: [], reason: "file_broken", message: "x" },
};
const moved = { verdict: aVerdict({ jobModifyIndex: 105 }), baseUnmoved: false };
const paused = (state: "detected" | "pending_approval") => {
  const deployment = aDeployment({ state, policy: state === "detected" ? "auto" : "approval" });
  return { state, facts: someFacts({ active: deployment, latest: deployment, jobPause: aPause() }) };
};

describe("a waiting deployment, first rule that matches (operator §8.3e)", () => {
  it.each<[string, Change, string]>([
    ["waits on", {}, "stays waiting_for_approval"],
    ["the policy became none", { desired: managed({ policy: "none", specHash: "new" }) }, "supersede superseded_policy_none"],
    [
      "a newer spec, also when the live job moved",
      { desired: managed({ policy: "approval", specHash: "new" }), ...moved },
      "supersede superseded_newer_spec",
    ],
    ["the live job moved", moved, "supersede superseded_live_changed"],
    [
      "the live job moved to what git wants",
      { verdict: aVerdict({ jobModifyIndex: 105, drift: "none" }), baseUnmoved: false },
      "supersede superseded_live_changed",
    ],
    ["only the scale moved", { verdict: aVerdict({ jobModifyIndex: 105 }), baseUnmoved: true }, "refresh_base"],
    ["in sync", { verdict: aVerdict({ drift: "none" }) }, "in_sync nothing_to_apply"],
    ["only own keys differ any more", { verdict: aVerdict({ drift: "own_keys" }) }, "in_sync nothing_to_apply"],
    [
      "a verification is not ended by being in sync",
      { active: { mode: "verify" }, verdict: aVerdict({ drift: "none" }) },
      "stays waiting_for_approval",
    ],
    ["a verification with nothing to verify any more", { active: { mode: "verify" } }, "supersede superseded_live_changed"],
    ["removed from git", { desired: { kind: "absent", certain: true } }, "supersede superseded_removed"],
    ["perhaps removed", { desired: { kind: "absent", certain: false } }, "stays repository_unavailable"],
    ["no longer managed", { desired: { kind: "unmanaged" } }, "supersede superseded_removed"],
    ["its file is broken", { desired: frozen }, "stays file_broken"],
    ["Nomad cannot answer", { verdict: undefined, problem: "Nomad is away" }, "stays nomad_error"],
    ["nobody has asked Nomad yet", { verdict: undefined }, "stays not_compared"],
    ["paused, waiting for a person", paused("pending_approval"), "stays paused"],
    ["detected and free: starts", { state: "detected" }, "start ready"],
    [
      "detected under approval",
      { state: "detected", desired: managed({ policy: "approval" }) },
      "need_approval waiting_for_approval",
    ],
    ["detected and paused", paused("detected"), "supersede superseded_held"],
    [
      "detected, the window closed",
      { state: "detected", desired: managed({ settings: someSettings({ allowWindow: closed }) }) },
      "supersede superseded_held",
    ],
    [
      "detected, the window closed but lifted for it",
      {
        state: "detected",
        active: { windowLiftedBy: "ann" },
        desired: managed({ settings: someSettings({ allowWindow: closed }) }),
      },
      "start ready",
    ],
    [
      "detected, a dependency is behind",
      { state: "detected", dependencies: { ok: false, reason: "waiting_for_dependency", message: "db", on: undefined } },
      "stays waiting_for_dependency",
    ],
    ["detected, nops only looks on", { state: "detected", mode: "read_only" }, "stays read_only"],
    [
      "a newer spec over a restored database",
      {
        mode: "restored_database",
        desired: managed({ policy: "approval", specHash: "new" }),
        verdict: aVerdict({ specHash: "new" }),
      },
      "stays restored_database",
    ],
    [
      "pending by the brake, under auto, waits on",
      { active: { policy: "auto", reason: "mass_change" }, desired: managed() },
      "stays waiting_for_approval",
    ],
  ])("%s", (_name, change, expected) => expect(fate(change)).toBe(expected));
});
