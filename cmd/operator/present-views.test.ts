import { expect, it } from "vitest";
import { jobKey } from "../../model/job-key.ts";
import type { ReasonCode } from "../../model/reasons.ts";
import { presentExplanation } from "./present-views.ts";

const gate = (name: "policy" | "drift" | "paused", status: "pass" | "fail" | "not_reached", reason?: ReasonCode) => ({
  name,
  status,
  reason,
  fact: name,
  source: "a test",
  changesAt: undefined,
});

it.each([
  ["in_sync", "pass", null],
  ["own_keys_only", "pass", null],
  ["batch_done", "pass", null],
  ["unknown_difference", "fail", "drift"],
  ["nomad_error", "fail", "drift"],
  ["not_compared", "fail", "drift"],
] as const)("a gate that ends with %s is shown as %s", (reason, result, blocking) => {
  const gates = [gate("policy", "pass"), gate("drift", "fail", reason), gate("paused", "not_reached")];
  const shown = presentExplanation({ key: jobKey("default", "web"), gates, verdict: reason, message: "so it is" });
  expect(shown).toMatchObject({ summary: `so it is (${reason})`, blocking_gate: blocking });
  expect(shown.gates.map((each) => each.result)).toEqual(["pass", result, "not_reached"]);
});
