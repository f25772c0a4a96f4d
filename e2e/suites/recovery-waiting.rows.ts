/** Rows of operator §15 about deployments that have not started, and about requests of people that nothing has come of yet. */
import { expect } from "vitest";
import type { DeploymentJson, EventJson, StatusJson } from "../../api/contract.ts";
import { systemClock } from "../../cmd/system-clock.ts";
import type { DoorWorld } from "./door-world.ts";
import { serviceJob } from "./job-text.ts";
import type { RecoveryRow } from "./recovery-row.ts";

const asked = { nops_policy: "approval" };

export const waitingRows: readonly RecoveryRow[] = [
  {
    name: "detected, before start: routed as usual",
    files: { "unstarted.hcl": serviceJob({ id: "unstarted" }) },
    // Creation and start are two writes with no call between them.
    bring: (world) => world.boltMove("unstarted", "applying").reached,
    after: async (world) => {
      const { events } = await world.detail("unstarted");
      const done = await world.deployment("unstarted", ({ state }) => state === "completed");
      expect(events.some((event) => event.to === "detected" && event.deployment_id === done.id)).toBe(true);
      expect(world.registers("unstarted")).toBe(1);
    },
  },
  {
    name: "detected, before start: hold rules apply",
    files: { "unstarted-paused.hcl": serviceJob({ id: "unstarted-paused" }) },
    bring: async (world) => {
      const job = "unstarted-paused";
      const start = world.boltMove(job, "applying").reached;
      // The pause is stored, and the process dies before it could supersede what was waiting.
      const end = world.boltMove(job, "superseded").reached;
      await start;
      await world.nops.post(`/api/v1/jobs/default/${job}/pause`, { reason: "freeze" });
      await end;
    },
    after: async (world) => {
      const held = await world.deployment("unstarted-paused", ({ state }) => state === "superseded");
      expect(held).toMatchObject({ reason: "superseded_held" });
      expect(world.registers("unstarted-paused")).toBe(0);
    },
  },
  {
    name: "pending_approval, any time: waits for a person, who may approve as soon as git was read",
    files: { "asked.hcl": serviceJob({ id: "asked", meta: asked }) },
    bring: (world) => world.deployment("asked", ({ state }) => state === "pending_approval"),
    after: async (world) => {
      const pending = await world.deployment("asked", () => true);
      expect(pending.state).toBe("pending_approval");
      expect(world.registers("asked")).toBe(0);
      await world.nops.until<StatusJson>("/api/v1/status", ({ repositories: [main] }) => typeof main?.commit === "string");
      await world.nops.post(`/api/v1/deployments/${pending.id}/approve`, { spec_hash: pending.spec_hash });
      await world.deployment("asked", ({ id, state }) => id === pending.id && state === "completed");
    },
  },
  retryRow(),
  ...liftRows(),
];

function retryRow(): RecoveryRow {
  return {
    name: "retry marked, no successor: the first detection cycle creates it",
    files: { "refused.hcl": serviceJob({ id: "refused", meta: asked }) },
    bring: async (world) => {
      const { id } = await world.deployment("refused", ({ state }) => state === "pending_approval");
      await world.nops.post(`/api/v1/deployments/${id}/reject`, { comment: "not today" });
      const creation = world.boltCreation("refused").reached;
      await world.nops.status("POST", `/api/v1/deployments/${id}/retry`, {});
      await creation;
      expect(world.read("SELECT retried_at FROM deployments WHERE job_id = 'refused'")).toEqual([expect.any(String)]);
    },
    after: async (world) => {
      const successor = await world.deployment("refused", ({ retry_of }) => retry_of !== null);
      expect(successor).toMatchObject({ state: "pending_approval" });
      expect(world.read("SELECT id FROM deployments WHERE job_id = 'refused'")).toEqual([successor.retry_of, successor.id]);
    },
  };
}

/** A window that opens in an hour. */
function closedWindow(): Readonly<Record<string, string>> {
  const at = new Date(systemClock.now() + 3_600_000);
  return { nops_sync_window: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`, nops_sync_window_duration: "10m" };
}

function liftRows(): readonly RecoveryRow[] {
  const meta = closedWindow();
  return [
    {
      name: "Deploy now row, before the cycle: the next detection cycle uses it",
      files: { "lifted.hcl": serviceJob({ id: "lifted", meta }) },
      bring: (world) => liftAndStop(world, "lifted"),
      after: async (world) => {
        const done = await world.deployment("lifted", ({ state }) => state === "completed");
        expect(done.window_lifted_by).toBe("bootstrap token");
        expect(liftsOf(world, "lifted")).toEqual([]);
      },
    },
    {
      name: "Deploy now row, before the cycle: the next detection cycle drops it when git wants something else by then",
      files: { "lifted-for-nothing.hcl": serviceJob({ id: "lifted-for-nothing", meta }) },
      bring: (world) => liftAndStop(world, "lifted-for-nothing"),
      meanwhile: (world) =>
        world.place.repository.commit({
          files: { "lifted-for-nothing.hcl": serviceJob({ id: "lifted-for-nothing", meta, count: 2 }) },
        }),
      after: async (world) => {
        const { events } = await world.nops.until<{ events: EventJson[] }>("/api/v1/events?job=lifted-for-nothing", (page) =>
          page.events.some(({ kind }) => kind.includes("lift") && kind.includes("drop")),
        );
        expect(events.length).toBeGreaterThan(0);
        expect(liftsOf(world, "lifted-for-nothing")).toEqual([]);
        const { deployments } = await world.nops.get<{ deployments: DeploymentJson[] }>(
          "/api/v1/deployments?job=lifted-for-nothing",
        );
        expect(deployments).toEqual([]);
      },
    },
  ];
}

const liftsOf = (world: DoorWorld, job: string): readonly string[] =>
  world.read("SELECT spec_hash FROM window_lifts WHERE job_id = ?", job);

/** The request is stored, and the process dies before it could make the deployment. */
async function liftAndStop(world: DoorWorld, job: string): Promise<void> {
  const creation = world.boltCreation(job).reached;
  const { jobs } = await world.nops.until<{ jobs: { job: string; sync: string; spec_hash: string }[] }>("/api/v1/jobs", (page) =>
    page.jobs.some((each) => each.job === job && each.sync === "held"),
  );
  const spec_hash = jobs.find((each) => each.job === job)?.spec_hash;
  await world.nops.status("POST", `/api/v1/jobs/default/${job}/deploy-now`, { spec_hash });
  await creation;
  expect(liftsOf(world, job)).toEqual([spec_hash]);
}
