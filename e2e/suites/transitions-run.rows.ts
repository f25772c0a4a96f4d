/** Rows of operator §10.1: how deployments that have started go on and end. */
import { expect } from "vitest";
import type { JobJson } from "../../api/contract.ts";
import { type DoorWorld, hookCall, registerOf } from "./door-world.ts";
import { hookJob, serviceJob } from "./job-text.ts";
import { moveOf, type TransitionRow, told } from "./transition-row.ts";
import { equalToLive, minimalJob } from "./transitions-birth.rows.ts";

/** A failure has an event, an error, and one notification. */
async function failedWith(world: DoorWorld, job: string, from: string, reason: string, words: RegExp): Promise<void> {
  expect(await moveOf(world, job, from, "failed")).toMatchObject({ reason });
  expect((await world.detail(job)).error).toMatch(words);
  await told(world, job, "failed");
}

function hooked(job: string, phase: "pre" | "post", run: string, timeout = "20s"): Readonly<Record<string, string>> {
  return {
    [`${job}-hook.hcl`]: hookJob(`${job}-hook`, run, timeout),
    [`${job}.hcl`]: serviceJob({ id: job, meta: { [`nops_${phase}_hook`]: `${job}-hook` } }),
  };
}

export const hookRows: readonly TransitionRow[] = [
  {
    name: "pre_hook → applying: all pre-hooks succeeded",
    files: {
      "one.hcl": hookJob("one", "true"),
      "two.hcl": hookJob("two", "true"),
      "two-hooks.hcl": serviceJob({ id: "two-hooks", meta: { nops_pre_hook: "one,two" } }),
    },
    run: async (world) => {
      expect(await moveOf(world, "two-hooks", "pre_hook", "applying")).toMatchObject({ reason: "hooks_succeeded" });
      const { hook_runs: runs } = await world.detail("two-hooks");
      expect(runs.map((run) => [run.job, run.state])).toEqual([
        ["one", "succeeded"],
        ["two", "succeeded"],
      ]);
    },
  },
  {
    name: "pre_hook → failed: a hook failed",
    files: hooked("pre-fails", "pre", "exit 3"),
    run: async (world) => {
      await failedWith(world, "pre-fails", "pre_hook", "hook_failed", /pre-hook pre-fails-hook failed.*\b3\b.*not touched/);
      expect(world.registers("pre-fails")).toBe(0);
    },
  },
  {
    name: "pre_hook → failed: a hook timed out",
    files: hooked("pre-slow", "pre", "sleep 86400", "1s"),
    run: (world) => failedWith(world, "pre-slow", "pre_hook", "hook_timed_out", /pre-slow-hook ran longer than 1s.*not touched/),
  },
  {
    name: "pre_hook → failed: a hook could not be registered in time",
    files: hooked("pre-unplanned", "pre", "true", "1s"),
    prepare: (world) =>
      void world.door.answer(hookCall("pre-unplanned-hook", "plan"), { status: 429, body: "too many connections" }),
    run: (world) =>
      failedWith(world, "pre-unplanned", "pre_hook", "hook_not_registered", /pre-unplanned-hook could not be registered.*1s/),
  },
  {
    name: "applying → post_hook: healthy, and the frozen spec declares post-hooks",
    files: hooked("post-good", "post", "true"),
    run: async (world) => {
      expect(await moveOf(world, "post-good", "applying", "post_hook")).toMatchObject({ reason: "healthy" });
      expect((await world.detail("post-good")).applied_index).not.toBeNull();
    },
  },
  {
    name: "post_hook → completed: all post-hooks succeeded",
    files: hooked("post-done", "post", "true"),
    run: async (world) => {
      expect(await moveOf(world, "post-done", "post_hook", "completed")).toMatchObject({ reason: "hooks_succeeded" });
      expect(world.notified("post-done")).toEqual([]);
    },
  },
  {
    name: "post_hook → failed: a hook failed, and the error says that the apply stays live",
    files: hooked("post-fails", "post", "exit 4"),
    run: async (world) => {
      await failedWith(world, "post-fails", "post_hook", "hook_failed", /post-fails-hook failed.*\b4\b.*live and stays/);
      expect(await world.nomad("GET", "/v1/job/post-fails")).toMatchObject({ Version: 0, Stop: false });
    },
  },
  {
    name: "post_hook → failed: a hook timed out, and the error says that the apply stays live",
    files: hooked("post-slow", "post", "sleep 86400", "1s"),
    run: async (world) => {
      await failedWith(world, "post-slow", "post_hook", "hook_timed_out", /post-slow-hook ran longer than 1s.*live and stays/);
      expect(await world.nomad("GET", "/v1/job/post-slow")).toMatchObject({ Version: 0, Stop: false });
    },
  },
];

const validationError = "rpc error: 1 error occurred:\n\t* Job priority must be between [1, 100]";

export const applyRows: readonly TransitionRow[] = [
  {
    name: "applying → completed: healthy without post-hooks, with the notification that the job opted in to",
    files: {
      "quiet.hcl": serviceJob({ id: "quiet" }),
      "loud.hcl": serviceJob({ id: "loud", meta: { nops_notify_completed: "true" } }),
    },
    run: async (world) => {
      expect(await moveOf(world, "quiet", "applying", "completed")).toMatchObject({ reason: "healthy" });
      expect(await moveOf(world, "loud", "applying", "completed")).toMatchObject({ reason: "healthy" });
      await told(world, "loud", "completed");
      expect(world.notified("quiet")).toEqual([]);
    },
  },
  nothingToApplyRow(),
  conflictRow(),
  {
    name: "applying → failed: register timeout",
    files: { "unregistered.hcl": serviceJob({ id: "unregistered", meta: { nops_apply_timeout: "2s" } }) },
    prepare: (world) => void world.door.answer(registerOf("unregistered"), { status: 503, body: "no leader" }),
    run: (world) =>
      failedWith(world, "unregistered", "applying", "register_timeout", /could not be registered within 2s: .*(lost|503|leader)/),
  },
  {
    name: "applying → failed: Nomad refused the spec",
    files: { "refused.hcl": serviceJob({ id: "refused" }) },
    prepare: (world) => void world.door.answer(registerOf("refused"), { status: 500, body: validationError }),
    run: (world) => failedWith(world, "refused", "applying", "register_refused", /priority must be/),
  },
  {
    name: "applying → failed: unhealthy",
    files: { "unhealthy.hcl": serviceJob({ id: "unhealthy", fails: true }) },
    run: (world) => failedWith(world, "unhealthy", "applying", "rollout_failed", /unhealthy/),
  },
  {
    name: "applying → failed: health timeout",
    files: { "huge.hcl": serviceJob({ id: "huge", cpu: 90_000_000, meta: { nops_apply_timeout: "2s" } }) },
    run: (world) => failedWith(world, "huge", "applying", "health_timeout", /not healthy within 2s.*cpu/i),
  },
];

function nothingToApplyRow(): TransitionRow {
  return {
    name: "applying → completed: nothing to apply",
    files: hooked("emptied", "pre", "true"),
    prepare: (world) => {
      // The difference goes away while the hook is about to run: detection has seen it, the apply step does not.
      const stop = world.door.stop("request", hookCall("emptied-hook", "dispatch"));
      void stop.reached.then(() => {
        equalToLive(world, "emptied", 0);
        stop.letGo();
      });
    },
    run: async (world) => {
      expect(await moveOf(world, "emptied", "applying", "completed")).toMatchObject({ reason: "nothing_to_apply" });
      expect(world.registers("emptied")).toBe(0);
      expect((await world.detail("emptied")).applied_index).toBeNull();
      // What is on record by then says the same, so neither the deployment nor its hook comes again.
      await world.nops.until<JobJson>("/api/v1/jobs/default/emptied", ({ sync }) => sync === "sync");
      expect(world.read("SELECT id FROM deployments WHERE job_id = 'emptied'")).toHaveLength(1);
      expect(await world.children("emptied-hook")).toHaveLength(1);
    },
  };
}

function conflictRow(): TransitionRow {
  return {
    name: "applying → failed: conflict, when somebody else writes between plan and register",
    files: { "raced.hcl": serviceJob({ id: "raced", meta: { nops_policy: "approval" } }) },
    prepare: (world) => {
      const stop = world.door.stop("request", registerOf("raced"));
      void stop.reached.then(async () => {
        await world.nomad("POST", "/v1/jobs", { Job: minimalJob("raced") });
        stop.letGo();
      });
    },
    run: async (world) => {
      const { id, spec_hash } = await world.deployment("raced", ({ state }) => state === "pending_approval");
      await world.nops.post(`/api/v1/deployments/${id}/approve`, { spec_hash });
      expect(await moveOf(world, "raced", "applying", "failed")).toMatchObject({
        reason: "conflict",
        message: expect.stringContaining("nothing was overwritten"),
      });
      expect(await world.nomad("GET", "/v1/job/raced")).toMatchObject({ Version: 0, Meta: null });
      expect(world.registers("raced")).toBe(1);
    },
  };
}
