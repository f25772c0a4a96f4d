/** Rows of operator §10.1: how deployments come to be, and how those that wait end or start. */
import { expect } from "vitest";
import type { DeploymentJson } from "../../api/contract.ts";
import type { DoorWorld } from "./door-world.ts";
import { hookJob, serviceJob } from "./job-text.ts";
import { moveOf, type TransitionRow, theMove, told } from "./transition-row.ts";

const asked = { nops_policy: "approval" };

export const birthRows: readonly TransitionRow[] = [
  {
    name: "(new) → detected: auto, drift, not blocked, not held; with the row its frozen hooks and an event",
    files: {
      "born-hook.hcl": hookJob("born-hook", "true"),
      "born.hcl": serviceJob({ id: "born", meta: { nops_pre_hook: "born-hook" } }),
    },
    run: async (world) => {
      expect(await moveOf(world, "born", null, "detected")).toMatchObject({ reason: "drift", actor: "nops" });
      const { hooks, policy } = await world.detail("born");
      expect(policy).toBe("auto");
      expect(hooks).toMatchObject([{ phase: "pre", position: 0, job: "born-hook" }]);
    },
  },
  {
    name: "(new) → pending_approval: approval, drift, not blocked, not paused; with a notification",
    files: { "born-asked.hcl": serviceJob({ id: "born-asked", meta: asked }) },
    run: async (world) => {
      const { id } = await pending(world, "born-asked");
      expect(await theMove(world, id, null, "detected")).toMatchObject({ reason: "drift", actor: "nops" });
      await told(world, "born-asked", "pending_approval");
      expect(world.registers("born-asked")).toBe(0);
    },
  },
  bornFailedRow(
    "(new) → failed: declared hook missing; with its error and a notification",
    "missing",
    serviceJob({ id: "born-missing", meta: { nops_pre_hook: "nowhere" } }),
    /pre-hook nowhere is missing/,
  ),
  bornFailedRow(
    "(new) → failed: declared hook invalid; with its error and a notification",
    "invalid",
    serviceJob({ id: "born-invalid", meta: { nops_post_hook: "born" } }),
    /post-hook born is invalid/,
  ),
];

function bornFailedRow(name: string, problem: "missing" | "invalid", text: string, words: RegExp): TransitionRow {
  const job = `born-${problem}`;
  return {
    name,
    files: { [`${job}.hcl`]: text },
    run: async (world) => {
      // The log reads as if it had been created and then moved (operator §8.3i).
      expect(await moveOf(world, job, "detected", "failed")).toMatchObject({ reason: `hook_${problem}` });
      expect((await world.detail(job)).error).toMatch(words);
      await told(world, job, "failed");
      expect(world.registers(job)).toBe(0);
    },
  };
}

/** Stays `detected`: the store refuses the start for as long as the job's test needs. */
function detectedRow(
  name: string,
  job: string,
  run: (world: DoorWorld, seen: DeploymentJson) => Promise<unknown>,
): TransitionRow {
  return {
    name,
    files: { [`${job}.hcl`]: serviceJob({ id: job }) },
    prepare: (world) => void world.boltMove(job, "applying"),
    run: async (world) => run(world, await world.deployment(job, ({ state }) => state === "detected")),
  };
}

const ended = async (world: DoorWorld, { id }: DeploymentJson, from: string, to: string, reason: string): Promise<void> => {
  await world.nops.until<DeploymentJson>(`/api/v1/deployments/${id}`, ({ state }) => state === to);
  expect(await theMove(world, id, from, to)).toMatchObject({ reason });
};

export const detectedRows: readonly TransitionRow[] = [
  {
    name: "detected → applying: auto only, not held, and no pre-hooks in the frozen spec",
    files: { "plain.hcl": serviceJob({ id: "plain" }) },
    run: async (world) => {
      expect(await moveOf(world, "plain", "detected", "applying")).toMatchObject({ reason: "ready" });
    },
  },
  {
    name: "detected → pre_hook: iff the frozen spec declares pre-hooks",
    files: {
      "first.hcl": hookJob("first", "true"),
      "hooked.hcl": serviceJob({ id: "hooked", meta: { nops_pre_hook: "first" } }),
    },
    run: async (world) => {
      expect(await moveOf(world, "hooked", "detected", "pre_hook")).toMatchObject({ reason: "ready" });
    },
  },
  detectedRow("detected → superseded: by a newer spec, whose commit is named", "outdated", async (world, seen) => {
    const sha = await world.commit({ "outdated.hcl": serviceJob({ id: "outdated", count: 2 }) });
    await ended(world, seen, "detected", "superseded", "superseded_newer_spec");
    expect((await theMove(world, seen.id, "detected", "superseded")).message).toContain(sha.slice(0, 12));
  }),
  detectedRow("detected → superseded: the policy became none", "hushed", async (world, seen) => {
    await world.commit({ "hushed.hcl": serviceJob({ id: "hushed", meta: { nops_policy: "none" } }) });
    await ended(world, seen, "detected", "superseded", "superseded_policy_none");
  }),
  detectedRow("detected → superseded: the live job changed outside", "preempted", async (world, seen) => {
    await world.nomad("POST", "/v1/jobs", { Job: minimalJob("preempted") });
    await ended(world, seen, "detected", "superseded", "superseded_live_changed");
  }),
  detectedRow("detected → superseded: the job left git", "withdrawn", async (world, seen) => {
    await world.commit({ "withdrawn.hcl": null });
    await ended(world, seen, "detected", "superseded", "superseded_removed");
  }),
  detectedRow("detected → superseded: the job is held, with the hold's reason", "frozen-late", async (world, seen) => {
    await world.nops.post("/api/v1/jobs/default/frozen-late/pause", { reason: "fair week" });
    await ended(world, seen, "detected", "superseded", "superseded_held");
    expect((await theMove(world, seen.id, "detected", "superseded")).message).toContain("fair week");
  }),
  detectedRow("detected → completed: nothing is left to apply", "equalled", async (world, seen) => {
    equalToLive(world, "equalled", 0);
    // Deploy now looks afresh before it refuses, and the waiting pass finds what it saw.
    const { spec_hash } = seen;
    expect((await world.nops.refusal("/api/v1/jobs/default/equalled/deploy-now", { spec_hash })).status).toBe(409);
    await ended(world, seen, "detected", "completed", "nothing_to_apply");
    expect(world.registers("equalled")).toBe(0);
  }),
];

/**
 * Nomad finds no difference any more at the same index, as when it was upgraded and its canonical form became another one. Nothing else
 * brings this about: whoever writes a job moves its index, and that comes first (operator §8.3e, rule 3 before 4).
 */
export function equalToLive(world: DoorWorld, job: string, index: number): void {
  const body = JSON.stringify({ Diff: { Type: "None", ID: job }, JobModifyIndex: index, Warnings: "" });
  world.door.answer(({ path }) => path === `/v1/job/${job}/plan`, { status: 200, body });
}

/** A service that somebody registered by hand. */
export function minimalJob(id: string): unknown {
  const task = { Name: "main", Driver: "raw_exec", Config: { command: "/bin/sleep", args: ["86400"] } };
  return { ID: id, Name: id, Type: "service", Datacenters: ["*"], TaskGroups: [{ Name: "main", Count: 1, Tasks: [task] }] };
}

async function pending(world: DoorWorld, job: string): Promise<DeploymentJson> {
  await moveOf(world, job, "detected", "pending_approval");
  return world.deployment(job, ({ state }) => state === "pending_approval");
}

const approve = (world: DoorWorld, { id, spec_hash }: DeploymentJson): Promise<DeploymentJson> =>
  world.nops.post(`/api/v1/deployments/${id}/approve`, { spec_hash });

/** Waits for a person, and something else happens to it first. */
function pendingRow(name: string, job: string, run: (world: DoorWorld, seen: DeploymentJson) => Promise<unknown>): TransitionRow {
  return {
    name,
    files: { [`${job}.hcl`]: serviceJob({ id: job, meta: asked }) },
    run: async (world) => run(world, await pending(world, job)),
  };
}

const refusesApproval = async (world: DoorWorld, { id, spec_hash }: DeploymentJson): Promise<void> => {
  expect((await world.nops.refusal(`/api/v1/deployments/${id}/approve`, { spec_hash })).status).toBe(409);
};

export const pendingRows: readonly TransitionRow[] = [
  pendingRow(
    "pending_approval → applying: approve, with decided_by, decided_at and an event",
    "approved",
    async (world, seen) => {
      const decided = await approve(world, seen);
      expect(decided).toMatchObject({ decided_by: "bootstrap token", decided_at: expect.any(String) });
      expect(await theMove(world, seen.id, "pending_approval", "applying")).toMatchObject({
        reason: "approved",
        actor: "bootstrap token",
      });
    },
  ),
  {
    name: "pending_approval → pre_hook: approve, when the frozen spec declares pre-hooks",
    files: {
      "gate.hcl": hookJob("gate", "true"),
      "gated.hcl": serviceJob({ id: "gated", meta: { ...asked, nops_pre_hook: "gate" } }),
    },
    run: async (world) => {
      const seen = await pending(world, "gated");
      expect(await approve(world, seen)).toMatchObject({ state: "pre_hook", decided_by: "bootstrap token" });
      expect(await theMove(world, seen.id, "pending_approval", "pre_hook")).toMatchObject({ reason: "approved" });
    },
  },
  pendingRow("pending_approval → rejected: reject, with decided_by, decided_at and an event", "rejected", async (world, seen) => {
    const rejected = await world.nops.post<DeploymentJson>(`/api/v1/deployments/${seen.id}/reject`, { comment: "not today" });
    expect(rejected).toMatchObject({ state: "rejected", decided_by: "bootstrap token", decided_at: expect.any(String) });
    const move = await theMove(world, seen.id, "pending_approval", "rejected");
    expect(move).toMatchObject({ reason: "rejected", message: expect.stringContaining("not today") });
    expect(world.registers("rejected")).toBe(0);
  }),
  pendingRow("pending_approval → superseded: by a newer spec", "asked-outdated", async (world, seen) => {
    await world.commit({ "asked-outdated.hcl": serviceJob({ id: "asked-outdated", meta: asked, count: 2 }) });
    await ended(world, seen, "pending_approval", "superseded", "superseded_newer_spec");
    await refusesApproval(world, seen);
  }),
  pendingRow("pending_approval → superseded: the policy became none", "asked-hushed", async (world, seen) => {
    await world.commit({ "asked-hushed.hcl": serviceJob({ id: "asked-hushed", meta: { nops_policy: "none" } }) });
    await ended(world, seen, "pending_approval", "superseded", "superseded_policy_none");
  }),
  pendingRow("pending_approval → superseded: the live job changed outside", "asked-preempted", async (world, seen) => {
    await world.nomad("POST", "/v1/jobs", { Job: minimalJob("asked-preempted") });
    await ended(world, seen, "pending_approval", "superseded", "superseded_live_changed");
  }),
  pendingRow("pending_approval → superseded: the job left git", "asked-withdrawn", async (world, seen) => {
    await world.commit({ "asked-withdrawn.hcl": null });
    await ended(world, seen, "pending_approval", "superseded", "superseded_removed");
  }),
  pendingRow("pending_approval → completed: nothing is left to apply", "asked-equalled", async (world, seen) => {
    equalToLive(world, "asked-equalled", 0);
    await refusesApproval(world, seen);
    await ended(world, seen, "pending_approval", "completed", "nothing_to_apply");
    expect(world.registers("asked-equalled")).toBe(0);
  }),
];
