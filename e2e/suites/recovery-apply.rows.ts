/** Rows of operator §15 about the register and the wait for health. */
import { expect } from "vitest";
import type { EventJson } from "../../api/contract.ts";
import type { CallMatcher } from "../../testkit/nomad-door.ts";
import { type DoorWorld, registerOf } from "./door-world.ts";
import { batchJob, serviceJob } from "./job-text.ts";
import type { RecoveryRow } from "./recovery-row.ts";

const appliedIndex = (world: DoorWorld, job: string): readonly (number | null)[] =>
  world.read("SELECT applied_index FROM deployments WHERE job_id = ? ORDER BY id DESC LIMIT 1", job);

async function version(world: DoorWorld, job: string): Promise<number> {
  return (await world.nomad<{ Version: number }>("GET", `/v1/job/${job}`)).Version;
}

export const applyRows: readonly RecoveryRow[] = [
  {
    name: "applying, index = cas index, before the register: plans and registers",
    files: { "unregistered.hcl": serviceJob({ id: "unregistered" }) },
    bring: async (world) => {
      await world.door.stop("request", registerOf("unregistered")).reached;
      await expect(version(world, "unregistered")).rejects.toThrow("404");
    },
    after: async (world) => {
      await world.deployment("unregistered", ({ state }) => state === "completed");
      expect(await version(world, "unregistered")).toBe(0);
    },
  },
  {
    name: "applying, index moved, plan empty, before the applied index: records it and carries on",
    files: { "unrecorded.hcl": serviceJob({ id: "unrecorded" }) },
    bring: async (world) => {
      await world.door.stop("answer", registerOf("unrecorded")).reached;
      expect(await version(world, "unrecorded")).toBe(0);
      expect(appliedIndex(world, "unrecorded")).toEqual([null]);
    },
    after: async (world) => {
      const done = await world.deployment("unrecorded", ({ state }) => state === "completed");
      expect(await world.nomad("GET", "/v1/job/unrecorded")).toMatchObject({ Version: 0, JobModifyIndex: done.applied_index });
      expect(world.registers("unrecorded")).toBe(1);
    },
  },
  takenRow(),
  {
    name: "applying, applied index set, live index moved, no Nomad deployment for it, outside edit while down: failed",
    files: { "edited.hcl": batchJob("edited", "sleep 86400") },
    bring: (world) => hasApplied(world, "edited"),
    meanwhile: (world) => world.edit("edited", 78),
    after: async (world) => {
      const failed = await world.deployment("edited", ({ state }) => state === "failed");
      const live = await world.nomad<{ Priority: number; JobModifyIndex: number }>("GET", "/v1/job/edited");
      expect(live.Priority).toBe(78);
      expect(failed).toMatchObject({ reason: "conflict", error: expect.stringContaining(String(failed.applied_index)) });
      expect(failed.error).toContain(String(live.JobModifyIndex));
    },
  },
  {
    // What the canaries of the next life are compared with.
    files: { "canary.hcl": canaryJob("1") },
    bring: (world) => world.deployment("canary", ({ state }) => state === "completed"),
  },
];

function takenRow(): RecoveryRow {
  let sent = "";
  return {
    name: "applying, index moved, plan not empty, outside edit: failed (conflict), and nothing is overwritten",
    // Under approval, so that what git wants next waits and the edit can be looked at.
    files: { "taken.hcl": serviceJob({ id: "taken", meta: { nops_policy: "approval" } }) },
    bring: async (world) => {
      const stop = world.door.stop("request", registerOf("taken"));
      const { id, spec_hash } = await world.deployment("taken", ({ state }) => state === "pending_approval");
      await world.nops.post(`/api/v1/deployments/${id}/approve`, { spec_hash });
      sent = (await stop.reached).body;
    },
    meanwhile: (world) => {
      const { Job } = JSON.parse(sent) as { readonly Job: Record<string, unknown> };
      return world.nomad("POST", "/v1/jobs", { Job: { ...Job, Priority: 77 } });
    },
    after: async (world) => {
      const { events } = await world.nops.until<{ events: EventJson[] }>("/api/v1/events?job=taken", (page) =>
        page.events.some((event) => event.reason === "conflict"),
      );
      expect(events.find((event) => event.reason === "conflict")).toMatchObject({ from: "applying", to: "failed" });
      expect(await world.nomad("GET", "/v1/job/taken")).toMatchObject({ Priority: 77, Version: 0 });
    },
  };
}

/** Its second version leaves no room for itself and the rest of the first: the canary is placed, and what follows it is not. */
function canaryJob(revision: "1" | "2"): string {
  const cpu = revision === "1" ? 20 : 6_000;
  const text = serviceJob({ id: "canary", count: 2, update: "      canary = 1", cpu, env: { REVISION: revision } });
  return text.replace(/progress_deadline = "\w+"/, 'progress_deadline = "1h"');
}

const looksAt =
  (job: string): CallMatcher =>
  ({ method, path }) =>
    method === "GET" && path === `/v1/job/${job}/deployments`;

/** Looks at the health of a job since the death before this life. */
function lookCounter(job: string) {
  let before = 0;
  return {
    note: (world: DoorWorld) => {
      before = world.door.count(looksAt(job));
    },
    until: (world: DoorWorld, looks: number) =>
      world.nops.until("/api/v1/status", () => world.door.count(looksAt(job)) - before >= looks),
  };
}

/** For a next life that begins eleven minutes later by its clock, when the ten minutes of every step are over. */
export const laterApplyRows: readonly RecoveryRow[] = [
  {
    name: "applying, applied index set, while waiting: the health step reads health before the clock",
    files: { "healed.hcl": serviceJob({ id: "healed" }) },
    bring: async (world) => {
      await world.door.stop("request", looksAt("healed")).reached;
      expect(appliedIndex(world, "healed")).toEqual([expect.any(Number)]);
    },
    meanwhile: (world) => isHealthy(world, "healed"),
    after: async (world) => {
      await world.deployment("healed", ({ state }) => state === "completed");
      expect(world.registers("healed")).toBe(1);
    },
  },
  {
    name: "applying, applied index set, while waiting: the clock counts from the applying event",
    files: { "never-placed.hcl": serviceJob({ id: "never-placed", cpu: 90_000_000 }) },
    bring: (world) => hasApplied(world, "never-placed"),
    after: async (world) => {
      const failed = await world.deployment("never-placed", ({ state }) => state === "failed");
      expect(failed).toMatchObject({ reason: "health_timeout", error: expect.stringContaining("10m") });
    },
  },
  promotionWaitRow(),
];

function promotionWaitRow(): RecoveryRow {
  const looks = lookCounter("canary");
  return {
    name: "applying, promotion wait open, any time: no clock, no second notification",
    files: { "canary.hcl": canaryJob("2") },
    bring: async (world) => {
      await world.deployment("canary", (row) => row.awaiting_promotion_since !== null);
      // Delivered and known to be: a death between the two would have it delivered again, which is another promise.
      const status =
        "SELECT n.status FROM notifications n JOIN deployments d ON d.id = n.deployment_id WHERE d.job_id = ? AND n.kind = 'promotion_wait'";
      await world.nops.until("/api/v1/status", () => world.read(status, "canary")[0] === "delivered");
    },
    meanwhile: async (world) => looks.note(world),
    after: async (world) => {
      await looks.until(world, 1);
      expect(await world.deployment("canary", () => true)).toMatchObject({ state: "applying", promoted_at: null });
      expect(world.notified("canary")).toEqual(["promotion_wait"]);
      expect(await awaitings(world)).toBe(1);
    },
  };
}

async function awaitings(world: DoorWorld): Promise<number> {
  return (await world.detail("canary")).events.filter((event) => event.reason === "awaiting_promotion").length;
}

/** In a life whose clock is the same eleven minutes ahead: by the clock of its first step it would be over. */
export function promotedRow(): RecoveryRow {
  const looks = lookCounter("canary");
  return {
    name: "applying, applied index set, while waiting: the clock counts from promoted_at",
    bring: async (world) => {
      const { id } = await world.deployment("canary", () => true);
      await world.nops.post(`/api/v1/deployments/${id}/promote`);
      await world.deployment("canary", ({ promoted_at }) => promoted_at !== null);
    },
    meanwhile: async (world) => looks.note(world),
    after: async (world) => {
      // The second look follows only where the first one did not end it.
      await looks.until(world, 2);
      expect(await world.deployment("canary", () => true)).toMatchObject({ state: "applying" });
      expect(await awaitings(world)).toBe(1);
    },
  };
}

function hasApplied(world: DoorWorld, job: string): Promise<unknown> {
  return world.deployment(job, (row) => row.state === "applying" && row.applied_index !== null);
}

async function isHealthy(world: DoorWorld, job: string): Promise<void> {
  const query = `/v1/job/${job}/deployments`;
  let index = 0;
  for (;;) {
    const response = await fetch(`${world.place.nomad}${query}?index=${index}&wait=10s`);
    index = Number(response.headers.get("x-nomad-index"));
    const [newest] = (await response.json()) as { readonly Status: string }[];
    if (newest?.Status === "successful") return;
    if (newest?.Status === "failed") throw new Error(`${job} failed`);
  }
}
