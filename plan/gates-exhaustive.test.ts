/** Every combination of facts that the gates look at: what explain names is the true first obstacle, and the engine stands exactly there. */
import { expect, it } from "vitest";
import type { JobFacts } from "../model/facts.ts";
import { jobKey } from "../model/job-key.ts";
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
import { evaluateGates, type GateInput, type GateName } from "./gates.ts";
import { revalidate } from "./revalidate.ts";

const dimensions = {
  desired: ["frozen", "gone", "perhaps gone", "unmanaged", "invalid", "none", "auto", "approval"],
  window: ["absent", "open", "closed", "denied"],
  mode: ["normal", "read_only"],
  active: ["nothing", "detected", "pending_approval", "applying", "verify"],
  compared: ["not yet", "no answer", "equal", "own keys", "unknown", "unknown again", "different"],
  latest: ["nothing", "failed", "failed, base moved", "failed, applied", "rejected", "retried", "other spec"],
  pause: ["nothing", "job", "all"],
  lift: ["nothing", "this spec"],
  dependency: ["done", "behind"],
} as const;

type Situation = { readonly [D in keyof typeof dimensions]: (typeof dimensions)[D][number] };

const hash = aDesiredJob().specHash;
const never = { cron: "0 0 1 1 *", durationMs: 60_000, timeZone: "UTC" };
const always = { cron: "0 0 * * *", durationMs: 24 * 3_600_000, timeZone: "UTC" };
const windows = {
  absent: {},
  open: { allowWindow: always },
  closed: { allowWindow: never },
  denied: { denyWindow: always },
} as const;
const verdicts = {
  "not yet": undefined,
  "no answer": undefined,
  equal: aVerdict({ drift: "none" }),
  "own keys": aVerdict({ drift: "own_keys" }),
  unknown: aVerdict({ drift: "unknown" }),
  "unknown again": aVerdict({ drift: "unknown" }),
  different: aVerdict(),
} as const;
const retried = { retriedAt: "2026-03-01T12:00:00.000Z", retriedBy: "ann" };
const deployment = (over: Parameters<typeof aDeployment>[0]) => aDeployment({ specHash: hash, ...over });
const latests = {
  nothing: undefined,
  failed: deployment({ state: "failed" }),
  "failed, base moved": deployment({ state: "failed" }),
  "failed, applied": deployment({ state: "failed", appliedIndex: 5 }),
  rejected: deployment({ state: "rejected" }),
  retried: deployment({ state: "failed", ...retried }),
  "other spec": deployment({ state: "failed", specHash: "other" }),
} as const;
const actives = {
  nothing: undefined,
  detected: deployment({ state: "detected" }),
  pending_approval: deployment({ state: "pending_approval" }),
  applying: deployment({ state: "applying" }),
  verify: deployment({ state: "detected", mode: "verify" }),
} as const;

function desiredOf(situation: Situation): GateInput["desired"] {
  switch (situation.desired) {
    case "frozen":
      return {
        kind: "frozen",
        frozen: { key: jobKey("default", "web"), repository: "main", files: ["a"], reason: "file_broken", message: "broken" },
      };
    case "gone":
      return { kind: "absent", certain: true };
    case "perhaps gone":
      return { kind: "absent", certain: false };
    case "unmanaged":
      return { kind: "unmanaged" };
    case "invalid":
    case "none":
    case "auto":
    case "approval": {
      const issues = [{ severity: "error", key: "nops_policy", message: "no" }] as const;
      const settings = someSettings({ ...windows[situation.window], ...(situation.desired === "invalid" ? { issues } : {}) });
      const policy = situation.desired === "invalid" ? "none" : situation.desired;
      return { kind: "managed", job: aDesiredJob({ policy, settings }) };
    }
  }
}

function factsOf(situation: Situation): JobFacts {
  return someFacts({
    active: actives[situation.active],
    latest: actives[situation.active] ?? latests[situation.latest],
    jobPause: situation.pause === "job" ? aPause() : undefined,
    globalPause: situation.pause === "all" ? aPause() : undefined,
    lift: situation.lift === "this spec" ? aWindowLift({ specHash: hash }) : undefined,
    unknownRegistered: situation.compared === "unknown again" ? hash : undefined,
  });
}

function inputOf(situation: Situation): GateInput {
  return {
    now: builtAtMs,
    mode: situation.mode,
    desired: desiredOf(situation),
    facts: factsOf(situation),
    verdict: verdicts[situation.compared],
    problem: situation.compared === "no answer" ? "Nomad is away" : undefined,
    baseUnmoved: situation.latest !== "failed, base moved",
    dependencies:
      situation.dependency === "done"
        ? { ok: true, message: "done" }
        : { ok: false, reason: "waiting_for_dependency", message: "db", on: undefined },
    massChange: false,
  };
}

/** What stands in the way, told by a person who reads operator §8.3, §11 and §12; and what would take it away. */
const law: readonly { readonly gate: GateName; readonly when: (s: Situation) => boolean; readonly mend: Partial<Situation> }[] = [
  { gate: "judged", when: (s) => ["frozen", "gone", "perhaps gone"].includes(s.desired), mend: { desired: "auto" } },
  { gate: "managed", when: (s) => s.desired === "unmanaged", mend: { desired: "auto" } },
  { gate: "settings", when: (s) => s.desired === "invalid", mend: { desired: "auto" } },
  { gate: "policy", when: (s) => s.desired === "none", mend: { desired: "auto" } },
  { gate: "mode", when: (s) => s.mode !== "normal", mend: { mode: "normal" } },
  { gate: "active", when: (s) => s.active === "applying", mend: { active: "nothing" } },
  {
    gate: "drift",
    when: (s) =>
      s.active !== "verify" &&
      !["different", "unknown"].includes(s.compared) &&
      !(s.active === "nothing" && s.latest === "failed, applied" && !["not yet", "no answer"].includes(s.compared)),
    mend: { compared: "different" },
  },
  {
    gate: "blocked",
    when: (s) => s.active === "nothing" && ["failed", "failed, applied", "rejected"].includes(s.latest),
    mend: { latest: "retried", compared: "different" },
  },
  { gate: "paused", when: (s) => s.pause !== "nothing", mend: { pause: "nothing" } },
  {
    gate: "window",
    when: (s) =>
      s.desired === "auto" &&
      s.active !== "pending_approval" &&
      ["closed", "denied"].includes(s.window) &&
      !(s.active === "nothing" && s.lift === "this spec"),
    mend: { window: "open" },
  },
  { gate: "dependencies", when: (s) => s.dependency === "behind", mend: { dependency: "done" } },
  // What a person let go starts whatever its window says.
  { gate: "approval", when: (s) => s.active === "pending_approval", mend: { active: "detected", window: "absent" } },
];

/** The newest deployment is the active one when there is one, and of a job that is not to be deployed nobody reads the rest. */
function isDistinct({ active, latest, desired, window, lift, dependency }: Situation): boolean {
  if (active !== "nothing" && latest !== "nothing") return false;
  return desired === "auto" || desired === "approval" || (window === "absent" && lift === "nothing" && dependency === "done");
}

function* situations(): Generator<Situation> {
  const names = Object.keys(dimensions) as (keyof Situation)[];
  const total = names.reduce((product, name) => product * dimensions[name].length, 1);
  for (let number = 0; number < total; number++) {
    let rest = number;
    const chosen: Record<string, string> = {};
    for (const name of names) {
      const values = dimensions[name];
      chosen[name] = values[rest % values.length] ?? "";
      rest = Math.floor(rest / values.length);
    }
    if (isDistinct(chosen as unknown as Situation)) yield chosen as unknown as Situation;
  }
}

const order = new Map(law.map(({ gate }, at) => [gate, at] as const));

/** The first thing that is wrong about the answers in one situation. */
function fault(situation: Situation): string | undefined {
  const input = inputOf(situation);
  const { gates, failing } = evaluateGates(input);
  const expected = law.find(({ when }) => when(situation));
  if (failing?.name !== expected?.gate) return `explain names ${failing?.name}, in the way is ${expected?.gate}`;
  const at = gates.findIndex((gate) => gate.status === "fail");
  const shape = gates.map((gate) => gate.status);
  if (shape.some((status, index) => status !== (at < 0 || index < at ? "pass" : index === at ? "fail" : "not_reached")))
    return `the gates read ${shape}`;
  const acts = !["nothing", "drop_lift"].includes(decide(input).act);
  if (revalidate(input) === undefined && acts !== (failing === undefined)) return `the engine answers ${decide(input).act}`;
  if (expected === undefined) return undefined;
  const mended = evaluateGates(inputOf({ ...situation, ...expected.mend })).failing;
  const later = mended === undefined ? law.length : (order.get(mended.name) ?? -1);
  if (later <= (order.get(expected.gate) ?? 0)) return `with ${expected.gate} out of the way, ${mended?.name} is in the way`;
  return undefined;
}

it("explain names the first true obstacle in every situation, and the engine stands there and nowhere else (design D14)", () => {
  let count = 0;
  const reached = new Set<string>();
  for (const situation of situations()) {
    count++;
    reached.add(law.find(({ when }) => when(situation))?.gate ?? "nothing");
    const wrong = fault(situation);
    if (wrong !== undefined) expect.fail(`${wrong}: ${JSON.stringify(situation)}`);
  }
  const deployments = 7 + 4;
  expect(count).toBe((2 * 4 * 2 * 2 + 6) * 2 * deployments * 7 * 3);
  expect(reached.size).toBe(law.length + 1);
});
