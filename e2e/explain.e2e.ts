/** `explain` names the true blocking gate in every state that a job can come to, with the real process (operator §31, design D14). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExplanationJson } from "../api/contract.ts";
import { systemClock } from "../cmd/system-clock.ts";
import { DoorWorld } from "./suites/door-world.ts";
import { batchJob, hookJob, serviceJob } from "./suites/job-text.ts";

interface Case {
  readonly name: string;
  readonly gate: string;
  readonly fact: RegExp;
  readonly first: Readonly<Record<string, string>>;
  /** A later commit, or whatever else brings the job there. */
  bring?(): Promise<unknown>;
  /** The gate tells when it may change by itself. */
  readonly changes?: true;
  /** Nothing is in the way, because nothing is to be done. */
  readonly done?: true;
}

let world: DoorWorld;

const asked = { nops_policy: "approval" };
const file = (id: string, meta: Readonly<Record<string, string>> = {}) => ({ [`${id}.hcl`]: serviceJob({ id, meta }) });
const reaches = (job: string, state: string) => world.deployment(job, (row) => row.state === state);

/** A minute and an hour of the day, so far from now. */
function at(offsetMs: number): string {
  const then = new Date(systemClock.now() + offsetMs);
  return `${then.getUTCMinutes()} ${then.getUTCHours()} * * *`;
}
const hourMs = 3_600_000;

const inGit: readonly Case[] = [
  {
    name: "the gate judged: its file is broken",
    gate: "judged",
    fact: /line|parse|block/i,
    first: file("broken"),
    bring: async () => {
      await reaches("broken", "completed");
      await world.commit({ "broken.hcl": 'job "broken" {\n  group "x" {\n' });
    },
  },
  {
    name: "the gate judged: two files declare it",
    gate: "judged",
    fact: /duplicate-again\.hcl and main:duplicate\.hcl/,
    first: { ...file("duplicate"), "duplicate-again.hcl": serviceJob({ id: "duplicate" }) },
  },
  {
    name: "the gate judged: git no longer has it",
    gate: "judged",
    fact: /git no longer has/,
    first: file("left"),
    bring: async () => {
      await reaches("left", "completed");
      await world.commit({ "left.hcl": null });
    },
  },
  {
    name: "the gate managed: it is not managed by nops any more",
    gate: "managed",
    fact: /not managed/,
    first: file("freed"),
    bring: async () => {
      await reaches("freed", "completed");
      await world.commit(file("freed", { nops_managed: "false" }));
    },
  },
  {
    name: "the gate settings: an annotation is wrong",
    gate: "settings",
    fact: /nops_policy: .*sometimes|nops_policy/,
    first: file("wrong", { nops_policy: "sometimes" }),
  },
  {
    name: "the gate policy: it is only shown",
    gate: "policy",
    fact: /policy is none/,
    first: file("shown", { nops_policy: "none" }),
  },
  {
    name: "the gate active: a deployment is under way, and what it does",
    gate: "active",
    fact: /in pre_hook since .*endless/,
    first: { "endless.hcl": hookJob("endless", "sleep 86400", "1h"), ...file("running", { nops_pre_hook: "endless" }) },
  },
];

const inNomad: readonly Case[] = [
  { name: "the gate drift: it equals git", gate: "drift", fact: /equals git/, first: file("equal"), done: true },
  {
    name: "the gate drift: only keys of nops differ",
    gate: "drift",
    fact: /only nops_\* keys differ/,
    done: true,
    first: file("keys"),
    bring: async () => {
      await reaches("keys", "completed");
      await world.commit(file("keys", { nops_notify_completed: "true" }));
    },
  },
  {
    name: "the gate drift: a batch job that completed and was collected is done",
    gate: "drift",
    fact: /already completed/,
    done: true,
    first: { "batch.hcl": batchJob("batch", "true") },
    bring: async () => {
      await reaches("batch", "completed");
      world.place.simulator.collectGarbage();
      await expect(world.nomad("GET", "/v1/job/batch")).rejects.toThrow("404");
    },
  },
  { name: "the gate drift: Nomad cannot answer", gate: "drift", fact: /no path to region/i, first: file("unanswered") },
];

const inDatabase: readonly Case[] = [
  {
    name: "the gate blocked: it failed before anything was changed",
    gate: "blocked",
    fact: /failed before anything was changed; .*so does a change of the live job/,
    first: { "fails.hcl": hookJob("fails", "exit 1"), ...file("unhooked", { nops_pre_hook: "fails" }) },
  },
  {
    name: "the gate blocked: it failed after its register",
    gate: "blocked",
    fact: /failed after it was registered/,
    first: { "falls.hcl": serviceJob({ id: "falls", fails: true }) },
  },
  {
    name: "the gate blocked: a person rejected it",
    gate: "blocked",
    fact: /was rejected by bootstrap token/,
    first: file("rejected", asked),
    bring: async () => {
      const { id } = await reaches("rejected", "pending_approval");
      await world.nops.post(`/api/v1/deployments/${id}/reject`);
    },
  },
  {
    name: "the gate paused: a person paused the job",
    gate: "paused",
    fact: /bootstrap token paused the job: fair week/,
    first: file("paused"),
    bring: async () => {
      await reaches("paused", "completed");
      await world.nops.post("/api/v1/jobs/default/paused/pause", { reason: "fair week" });
      await world.commit({ "paused.hcl": serviceJob({ id: "paused", count: 2 }) });
    },
  },
  {
    name: "the gate window: the sync window is closed",
    gate: "window",
    fact: /closed/,
    first: file("closed", { nops_sync_window: at(hourMs), nops_sync_window_duration: "10m" }),
    changes: true,
  },
  {
    name: "the gate window: a deny window is open",
    gate: "window",
    fact: /deny/,
    first: file("denied", { nops_deny_window: at(-hourMs), nops_deny_window_duration: "3h" }),
    changes: true,
  },
  {
    name: "the gate dependencies: one it depends on is unfinished",
    gate: "dependencies",
    fact: /asked is being deployed \(pending_approval/,
    first: file("above", { nops_depends_on: "asked" }),
  },
  {
    name: "the gate dependencies: one it depends on failed",
    gate: "dependencies",
    fact: /of falls was a failure/,
    first: file("above-failed", { nops_depends_on: "falls" }),
  },
  {
    name: "the gate dependencies: a cycle",
    gate: "dependencies",
    fact: /cycle: round → about → round/,
    first: { ...file("round", { nops_depends_on: "about" }), ...file("about", { nops_depends_on: "round" }) },
  },
  {
    name: "the gate approval: a person has to approve",
    gate: "approval",
    fact: /waits for a person since/,
    first: file("asked", asked),
  },
];

const cases = [...inGit, ...inNomad, ...inDatabase];
const jobs = [
  ...["broken", "duplicate", "left", "freed", "wrong", "shown", "running", "equal", "keys", "batch", "unanswered"],
  ...["unhooked", "falls", "rejected", "paused", "closed", "denied", "above", "above-failed", "round", "asked"],
];

beforeAll(async () => {
  world = await DoorWorld.open();
  await world.begin();
  world.door.answer(({ path }) => path === "/v1/job/unanswered/plan", { status: 500, body: "No path to region" });
  await world.commit(Object.assign({}, ...cases.map(({ first }) => first)) as Record<string, string>);
});

afterAll(() => world.close());

/** All gates before it pass, none after it was reached: the first obstacle is the one that is told. */
async function explains(job: string, gate: string, fact: RegExp, done = false): Promise<ExplanationJson> {
  const result = done ? "pass" : "fail";
  const explanation = await world.nops.until<ExplanationJson>(
    `/api/v1/jobs/default/${job}/explain`,
    (answer) => answer.gates?.some((one) => one.gate === gate && one.result === result && fact.test(one.fact)) === true,
  );
  const place = explanation.gates.findIndex((one) => one.gate === gate);
  expect(explanation.blocking_gate).toBe(done ? null : gate);
  expect(explanation.summary).toMatch(fact);
  expect(explanation.gates.map((each) => each.result)).toEqual(
    explanation.gates.map((_, index) => (index < place ? "pass" : index === place ? result : "not_reached")),
  );
  return explanation;
}

describe.concurrent("explain names", () => {
  for (const [index, { name, gate, fact, bring, changes, done }] of cases.entries())
    it(name, async () => {
      const job = jobs[index] ?? "";
      await bring?.();
      const { gates } = await explains(job, gate, fact, done);
      const told = gates.find((one) => one.result === "fail")?.may_change ?? null;
      if (changes === true) expect(Date.parse(told ?? "")).toBeGreaterThan(systemClock.now());
      else expect(told).toBeNull();
      const said = await world.nops.cli("explain", job);
      expect(said.stdout).toMatch(fact);
    });
});

describe("explain names what holds every job", () => {
  it("the gate paused: every job is paused", async () => {
    await world.nops.post("/api/v1/pause", { reason: "incident" });
    await world.commit({ "equal.hcl": serviceJob({ id: "equal", count: 2 }) });
    await explains("equal", "paused", /paused every job: incident/);
  });

  it("the gate mode: this nops only looks on", async () => {
    await world.kill();
    await world.begin({ flags: ["--read-only"] });
    await explains("equal", "mode", /read-only/);
  });
});
