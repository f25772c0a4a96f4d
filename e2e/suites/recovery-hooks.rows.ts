/** Rows of operator §15 about hooks. */
import { expect } from "vitest";
import type { JobJson } from "../../api/contract.ts";
import { type DoorWorld, hookCall, stopOf } from "./door-world.ts";
import { hookJob, serviceJob } from "./job-text.ts";
import type { RecoveryRow } from "./recovery-row.ts";

/** A job with one hook of its own, so that what is stopped belongs to one row. */
function hooked(job: string, phase: "pre" | "post", run = "true", timeout = "10m"): Readonly<Record<string, string>> {
  return {
    [`${job}-hook.hcl`]: hookJob(`${job}-hook`, run, timeout),
    [`${job}.hcl`]: serviceJob({ id: job, meta: { [`nops_${phase}_hook`]: `${job}-hook` } }),
  };
}

const runStates = (world: DoorWorld, job: string): readonly string[] =>
  world.read(
    "SELECT r.state || iif(r.dispatched_job_id IS NULL, '', ' with id') FROM hook_runs r JOIN deployments d ON d.id = r.deployment_id WHERE d.job_id = ?",
    job,
  );

/** It ended well, and its hook ran once. */
async function completedWithOneRun(world: DoorWorld, job: string): Promise<void> {
  await world.deployment(job, ({ state }) => state === "completed");
  expect(runStates(world, job)).toEqual(["succeeded with id"]);
  expect(await world.children(`${job}-hook`)).toHaveLength(1);
  expect(world.registers(job)).toBe(1);
}

function noRunRow(name: string, job: string, phase: "pre" | "post"): RecoveryRow {
  return {
    name,
    files: hooked(job, phase),
    bring: async (world) => {
      await world.door.stop("request", hookCall(`${job}-hook`, "plan")).reached;
      expect(runStates(world, job)).toEqual([]);
      expect(await world.children(`${job}-hook`)).toEqual([]);
    },
    after: (world) => completedWithOneRun(world, job),
  };
}

function endedRow(name: string, job: string, phase: "pre" | "post", next: string): RecoveryRow {
  return {
    name,
    files: hooked(job, phase),
    bring: async (world) => {
      // The run's end and the deployment's move are two writes with no call between them.
      await world.boltMove(job, next).reached;
      expect(runStates(world, job)).toEqual(["succeeded with id"]);
    },
    after: (world) => completedWithOneRun(world, job),
  };
}

export const hookRows: readonly RecoveryRow[] = [
  noRunRow("pre_hook, no run row, before the row: registers the revision, creates the row, dispatches", "unplanned", "pre"),
  noRunRow(
    "post_hook, no run row, before the row: registers the revision, creates the row, dispatches",
    "unplanned-after",
    "post",
  ),
  {
    name: "run `dispatching`, before the running mark: nothing was sent, dispatches",
    files: hooked("unmarked", "pre"),
    bring: async (world) => {
      // The row's birth and its mark are two writes with no call between them.
      const condition = "NEW.state = 'running' AND (SELECT job_id FROM deployments WHERE id = NEW.deployment_id) = 'unmarked'";
      await world.bolt("mark of unmarked", "UPDATE OF state ON hook_runs", condition).reached;
      expect(runStates(world, "unmarked")).toEqual(["dispatching"]);
      expect(world.door.count(hookCall("unmarked-hook", "dispatch"))).toBe(0);
    },
    after: (world) => completedWithOneRun(world, "unmarked"),
  },
  {
    name: "run `running`, no dispatched ID, around the dispatch: adopts by token what had begun",
    files: hooked("answered-late", "pre"),
    bring: async (world) => {
      await world.door.stop("answer", hookCall("answered-late-hook", "dispatch")).reached;
      expect(runStates(world, "answered-late")).toEqual(["running"]);
      expect(await world.children("answered-late-hook")).toHaveLength(1);
    },
    after: async (world) => {
      await completedWithOneRun(world, "answered-late");
      expect(world.door.count(hookCall("answered-late-hook", "dispatch"))).toBe(1);
    },
  },
  {
    // The next life begins to look for it; the one after has looked long enough.
    files: hooked("never-arrived", "pre"),
    bring: async (world) => {
      await world.door.stop("request", hookCall("never-arrived-hook", "dispatch")).reached;
      expect(runStates(world, "never-arrived")).toEqual(["running"]);
    },
  },
  {
    name: "run past deadline, stop sent, not saved: reads that it was stopped, past the deadline, so it timed out",
    files: hooked("stopped-late", "pre", "sleep 86400", "1s"),
    bring: async (world) => {
      await world.door.stop("answer", stopOf("stopped-late-hook")).reached;
      expect(runStates(world, "stopped-late")).toEqual(["running with id"]);
    },
    after: async (world) => {
      const failed = await world.deployment("stopped-late", ({ state }) => state === "failed");
      expect(failed).toMatchObject({ reason: "hook_timed_out" });
      expect(runStates(world, "stopped-late")).toEqual(["timed_out with id"]);
      expect(world.door.count(stopOf("stopped-late-hook"))).toBe(1);
    },
  },
  {
    name: "run `running` with ID, while waiting: waits on it",
    files: hooked("long-run", "pre", "sleep 4"),
    bring: (world) => hasBegun(world, "long-run"),
    after: async (world) => {
      await completedWithOneRun(world, "long-run");
      expect(world.door.count(hookCall("long-run-hook", "dispatch"))).toBe(1);
    },
  },
  endedRow(
    "run terminal, deployment not moved, before the transition from pre_hook: the stored result counts and it moves on",
    "unmoved",
    "pre",
    "applying",
  ),
  endedRow(
    "run terminal, deployment not moved, before the transition from post_hook: the stored result counts and it moves on",
    "unmoved-after",
    "post",
    "completed",
  ),
];

/** For a next life that begins eleven minutes later by its clock. */
export const laterHookRows: readonly RecoveryRow[] = [
  {
    name: "run `running`, no dispatched ID, around the dispatch: else failed as unknown, and never sent twice",
    bring: async (world) => {
      const since = "SELECT searching_since FROM hook_runs r JOIN deployments d ON d.id = r.deployment_id WHERE d.job_id = ?";
      await world.nops.until<{ jobs: JobJson[] }>(
        "/api/v1/jobs",
        () => world.read<string | null>(since, "never-arrived")[0] != null,
      );
    },
    after: async (world) => {
      const failed = await world.deployment("never-arrived", ({ state }) => state === "failed");
      expect(failed).toMatchObject({ reason: "hook_unknown", error: expect.stringContaining("nops hook resolve") });
      expect(world.door.count(hookCall("never-arrived-hook", "dispatch"))).toBe(1);
      expect(await world.children("never-arrived-hook")).toEqual([]);
      expect(world.registers("never-arrived")).toBe(0);
    },
  },
  {
    name: "run `running` with ID, while waiting: its deadline counts from started_at",
    files: hooked("endless", "pre", "sleep 86400", "10m"),
    bring: (world) => hasBegun(world, "endless"),
    after: async (world) => {
      const failed = await world.deployment("endless", ({ state }) => state === "failed");
      expect(failed).toMatchObject({ reason: "hook_timed_out" });
      const [child = ""] = await world.children("endless-hook");
      expect(await world.nomad("GET", `/v1/job/${encodeURIComponent(child)}`)).toMatchObject({ Stop: true });
    },
  },
];

function hasBegun(world: DoorWorld, job: string): Promise<unknown> {
  return world.nops.until("/api/v1/status", () => runStates(world, job)[0] === "running with id");
}

/** Beside a recovery that takes long, everything else goes on. */
export async function startupDoesNotBlock(world: DoorWorld): Promise<void> {
  await world.commit({ "beside.hcl": serviceJob({ id: "beside" }) });
  await world.deployment("beside", ({ state }) => state === "completed");
  expect(runStates(world, "waited-for")).toEqual(["running with id"]);
  expect(await world.deployment("waited-for", () => true)).toMatchObject({ state: "pre_hook" });
  // And it is this run that is waited for: its end is the hook's.
  const [child = ""] = await world.children("waited-for-hook");
  await world.nomad("DELETE", `/v1/job/${encodeURIComponent(child)}`);
  expect(await world.deployment("waited-for", ({ state }) => state === "failed")).toMatchObject({ reason: "hook_failed" });
  expect(await world.children("waited-for-hook")).toEqual([child]);
}

export const waitedForRow: RecoveryRow = {
  name: "Startup does not block on recovery: a hook that takes minutes is waited for, beside a commit that is deployed",
  files: hooked("waited-for", "pre", "sleep 86400", "2h"),
  bring: (world) => hasBegun(world, "waited-for"),
  after: startupDoesNotBlock,
};
