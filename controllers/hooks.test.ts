import { describe, expect, it } from "vitest";
import { NomadError } from "../model/errors.ts";
import type { JobSpec } from "../model/nomad.ts";
import { ann, endWorldsAfterEach, present, startWorld, stopWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

function hook(
  id: string,
  change: {
    readonly command?: string;
    readonly meta?: Record<string, string>;
    readonly required?: string[];
    readonly optional?: string[];
    readonly more?: Partial<JobSpec>;
  } = {},
): JobSpec {
  return {
    ID: id,
    Name: id,
    Type: "batch",
    Meta: { nops_role: "hook", ...change.meta },
    ParameterizedJob: {
      Payload: "",
      MetaRequired: change.required ?? [],
      MetaOptional: change.optional ?? ["nops_phase", "nops_run_id"],
    },
    TaskGroups: [
      { Name: "main", Count: 1, Tasks: [{ Name: "main", Driver: "exec", Config: { command: change.command ?? "true" } }] },
    ],
    ...change.more,
  };
}

const web = (meta: Record<string, string>, image = "web:1") => ({ "web.hcl": service("web", { image, meta }) });
const pre = { nops_pre_hook: "migrate" };
const post = { nops_post_hook: "smoke" };

async function latest(world: World) {
  return present(await world.latest("web"));
}

async function runs(world: World) {
  return world.store.hookRuns((await latest(world)).id);
}

const dispatches = (world: World): string[] => world.nomad.calls.filter((call) => call.startsWith("dispatch "));

describe("hooks that succeed", () => {
  it("pre-hooks run in order before the register, post-hooks after the job is healthy", async () => {
    const world = await startWorld(
      {},
      {
        ...web({ nops_pre_hook: "backup,migrate", nops_post_hook: "smoke" }),
        "a.hcl": hook("backup"),
        "b.hcl": hook("migrate"),
        "c.hcl": hook("smoke"),
      },
    );
    await world.clock.advance(20_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect((await runs(world)).map((run) => `${run.phase} ${run.hookId} ${run.state}`)).toEqual([
      "pre backup succeeded",
      "pre migrate succeeded",
      "post smoke succeeded",
    ]);
    const order = world.nomad.calls
      .filter((call) => /^(dispatch|register default\/web)/.test(call))
      .map((call) => call.replace(/-[0-9a-f]{8} .*/, ""));
    expect(order).toEqual([
      "dispatch default/backup",
      "dispatch default/migrate",
      "register default/web",
      "dispatch default/smoke",
    ]);
  });

  it("gives a hook what it declares and nothing else", async () => {
    const world = await startWorld(
      {},
      {
        ...web(pre),
        "b.hcl": hook("migrate", {
          required: ["nops_job_id", "nops_image_main"],
          optional: ["nops_phase", "nops_run_id", "mine"],
        }),
      },
    );
    await world.clock.advance(10_000);
    const { id } = await latest(world);
    const child = [...world.nomad.jobs.values()].find((job) => job.parentId.startsWith("migrate-"));
    expect(child?.spec.Meta).toEqual({
      nops_role: "hook",
      nops_job_id: "web",
      nops_image_main: "web:1",
      nops_phase: "pre",
      nops_run_id: `${id}:pre:0`,
    });
  });

  it("registers a revision once: the same content costs no second write", async () => {
    const world = await startWorld({}, { ...web(pre), "b.hcl": hook("migrate") });
    await world.clock.advance(10_000);
    await world.commit({ ...web(pre, "web:2"), "b.hcl": hook("migrate") });
    await world.clock.advance(10_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(world.nomad.calls.filter((call) => call.startsWith("register default/migrate-")).length).toBe(1);
    expect(dispatches(world).length).toBe(2);
  });

  it("a changed hook alone starts nothing, and replaces a waiting deployment (operator §8.8)", async () => {
    const world = await startWorld({}, { ...web({ ...pre, nops_policy: "approval" }), "b.hcl": hook("migrate") });
    const before = await latest(world);
    await world.commit({ ...web({ ...pre, nops_policy: "approval" }), "b.hcl": hook("migrate", { command: "false" }) });
    expect(await world.store.deployment(before.id)).toMatchObject({ state: "superseded", reason: "superseded_newer_spec" });
    const after = await latest(world);
    expect((await world.store.frozenHooks(after.id))[0]?.revisionId).not.toBe(
      (await world.store.frozenHooks(before.id))[0]?.revisionId,
    );
    await world.operator.approve(after.id, after.specHash, undefined, ann);
    await world.clock.advance(10_000);
    await world.commit({ ...web({ ...pre, nops_policy: "approval" }), "b.hcl": hook("migrate", { command: "yes" }) });
    expect(await latest(world)).toMatchObject({ id: after.id, state: "completed" });
  });
});

describe("hooks that fail", () => {
  it("a failed pre-hook ends the deployment with exit code and log, and nothing is registered", async () => {
    const world = await startWorld();
    world.nomad.childExit = 3;
    world.nomad.logTail = "cannot connect: password=hunter2\n";
    await world.commit({ ...web({ ...pre, nops_post_hook: "smoke" }), "b.hcl": hook("migrate"), "c.hcl": hook("smoke") });
    await world.clock.advance(10_000);
    expect(await latest(world)).toMatchObject({
      state: "failed",
      reason: "hook_failed",
      error: expect.stringMatching(/pre-hook migrate failed: .*Exit Code: 3.*the live job was not touched/),
    });
    expect(await runs(world)).toMatchObject([{ state: "failed", logTail: expect.stringContaining("cannot connect") }]);
    expect(world.nomad.jobs.has(key("web"))).toBe(false);
    expect(dispatches(world).length).toBe(1);
  });

  it("a failed post-hook leaves the new version live and says so", async () => {
    const world = await startWorld();
    world.nomad.childExit = 1;
    await world.commit({ ...web(post), "c.hcl": hook("smoke") });
    await world.clock.advance(10_000);
    expect(await latest(world)).toMatchObject({
      state: "failed",
      error: expect.stringContaining("the new version is live and stays"),
    });
    expect(world.nomad.jobs.has(key("web"))).toBe(true);
  });

  it("the first that fails ends the phase: later hooks are neither registered nor run", async () => {
    const world = await startWorld();
    world.nomad.childExit = 1;
    await world.commit({ ...web({ nops_pre_hook: "a,b" }), "a.hcl": hook("a"), "b.hcl": hook("b") });
    await world.clock.advance(10_000);
    expect(world.nomad.calls.some((call) => call.includes("default/b-"))).toBe(false);
  });

  it("a hook that takes too long is stopped, and the time counts from its first record", async () => {
    const world = await startWorld();
    world.nomad.childExit = undefined;
    await world.commit({ ...web(pre), "b.hcl": hook("migrate", { meta: { nops_timeout: "90s" } }) });
    await world.clock.advance(85_000);
    expect(await latest(world)).toMatchObject({ state: "pre_hook" });
    await stopWorld(world);
    world.restart();
    await world.operator.start();
    await world.clock.advance(10_000);
    expect(await latest(world)).toMatchObject({
      state: "failed",
      reason: "hook_timed_out",
      error: expect.stringContaining("1m30s"),
    });
    expect(world.nomad.count("stop")).toBe(1);
  });

  it.each<[string, Record<string, JobSpec>, string]>([
    ["is not in git", {}, "pre-hook migrate is missing"],
    ["has invalid meta", { "b.hcl": hook("migrate", { meta: { nops_timeout: "x" } }) }, "pre-hook migrate is invalid"],
    ["is no hook", { "b.hcl": service("migrate") }, "invalid"],
    ["is not of type batch", { "b.hcl": hook("migrate", { more: { Type: "service" } }) }, "must be of type batch"],
    ["is not parameterized", { "b.hcl": hook("migrate", { more: { ParameterizedJob: null } }) }, "no parameterized block"],
  ])(
    "a hook that %s fails the deployment at birth, before anybody is asked; mending it unblocks",
    async (_name, files, message) => {
      const world = await startWorld({}, { ...web({ ...pre, nops_policy: "approval" }), ...files });
      expect(await latest(world)).toMatchObject({ state: "failed", error: expect.stringContaining(message) });
      await world.clock.advance(5_000);
      expect(world.nomad.count("register")).toBeLessThanOrEqual(1);
      await world.commit({ ...web({ ...pre, nops_policy: "approval" }), "b.hcl": hook("migrate") });
      expect(await latest(world)).toMatchObject({ state: "pending_approval" });
    },
  );

  it("a broken hook file freezes the job instead of calling its hook missing", async () => {
    const world = await startWorld({}, { ...web(pre), "b.hcl": hook("migrate") });
    await world.clock.advance(10_000);
    await world.commit({ ...web(pre, "web:2"), "b.hcl": "oh no" });
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "frozen", message: expect.stringContaining("migrate") });
    expect(await latest(world)).toMatchObject({ state: "completed" });
  });

  it("a required key that nobody can provide fails the hook", async () => {
    const world = await startWorld({}, { ...web(pre), "b.hcl": hook("migrate", { required: ["who_knows"] }) });
    await world.clock.advance(5_000);
    expect(await latest(world)).toMatchObject({ state: "failed", error: expect.stringContaining("who_knows") });
    expect(dispatches(world)).toEqual([]);
  });

  it("a revision that cannot be registered ends with the hook's own time", async () => {
    const world = await startWorld();
    world.nomad.fault = (when, call) => {
      if (when === "before" && call.startsWith("register default/migrate-"))
        throw new NomadError("Permission denied", { kind: "not_permitted", status: 403 });
    };
    await world.commit({ ...web(pre), "b.hcl": hook("migrate", { meta: { nops_timeout: "1m" } }) });
    await world.clock.advance(50_000);
    expect(await latest(world)).toMatchObject({ state: "pre_hook" });
    await world.clock.advance(15_000);
    expect(await latest(world)).toMatchObject({
      state: "failed",
      reason: "hook_not_registered",
      error: expect.stringMatching(/1m.*Permission denied.*not touched/),
    });
  });

  it("a run that somebody stops fails", async () => {
    const world = await startWorld();
    world.nomad.childExit = undefined;
    await world.commit({ ...web(pre), "b.hcl": hook("migrate") });
    await world.clock.advance(3_000);
    const [run] = await runs(world);
    world.nomad.stop(key(run?.dispatchedJobId ?? ""));
    await world.clock.advance(3_000);
    expect(await latest(world)).toMatchObject({ state: "failed", error: expect.stringContaining("stopped from outside") });
  });
});

describe("dispatches whose answer is lost (design D9)", () => {
  const lose = (world: World, when: "before" | "after"): void => {
    world.nomad.fault = (at, call) => {
      if (at !== when || !call.startsWith("dispatch ")) return;
      world.nomad.fault = () => {};
      throw new NomadError("socket hang up", { kind: "unknown_outcome" });
    };
  };

  it("a run that did start is found by its token and adopted, never dispatched again", async () => {
    const world = await startWorld();
    lose(world, "after");
    await world.commit({ ...web(pre), "b.hcl": hook("migrate") });
    await world.clock.advance(10_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect(dispatches(world).length).toBe(1);
  });

  it("without any run after 30 s the outcome is unknown and the hook fails rather than run twice", async () => {
    const world = await startWorld();
    lose(world, "before");
    await world.commit({ ...web(pre), "b.hcl": hook("migrate") });
    await world.clock.advance(25_000);
    expect(await latest(world)).toMatchObject({ state: "pre_hook" });
    await world.clock.advance(10_000);
    expect(await latest(world)).toMatchObject({ state: "failed", reason: "hook_unknown" });
    expect(await runs(world)).toMatchObject([{ state: "unknown", error: expect.stringContaining("nops hook resolve") }]);
    expect(dispatches(world).length).toBe(1);
  });

  it("a child that never existed is looked for by token (nomad-api §17)", async () => {
    const world = await startWorld();
    const real = world.nomad.dispatch.bind(world.nomad);
    world.nomad.dispatch = async (...args) => ({ ...(await real(...args)), childId: "migrate/dispatch-ghost", exists: false });
    await world.commit({ ...web(pre), "b.hcl": hook("migrate") });
    await world.clock.advance(10_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
    expect((await runs(world))[0]?.dispatchedJobId).not.toContain("ghost");
  });

  it.each(["not_sent", "overloaded", "not_permitted"] as const)(
    "a dispatch that had no effect (%s) is sent again",
    async (kind) => {
      const world = await startWorld();
      world.nomad.fault = (when, call) => {
        if (when !== "before" || !call.startsWith("dispatch ")) return;
        world.nomad.fault = () => {};
        throw new NomadError("no", { kind });
      };
      await world.commit({ ...web(pre), "b.hcl": hook("migrate") });
      await world.clock.advance(10_000);
      expect(await latest(world)).toMatchObject({ state: "completed" });
      expect(dispatches(world).length).toBe(2);
    },
  );

  it("a revision that was stopped in between is registered again", async () => {
    const world = await startWorld();
    world.nomad.fault = (when, call) => {
      if (when !== "before" || !call.startsWith("dispatch ")) return;
      world.nomad.fault = () => {};
      world.nomad.stop(key((call.split(" ")[1] ?? "").replace("default/", "")));
    };
    await world.commit({ ...web(pre), "b.hcl": hook("migrate") });
    await world.clock.advance(10_000);
    expect(await latest(world)).toMatchObject({ state: "completed" });
  });

  it("a run that vanished is unknown", async () => {
    const world = await startWorld();
    world.nomad.childExit = undefined;
    await world.commit({ ...web(pre), "b.hcl": hook("migrate") });
    await world.clock.advance(3_000);
    world.nomad.purge(key((await runs(world))[0]?.dispatchedJobId ?? ""));
    await world.clock.advance(3_000);
    expect(await latest(world)).toMatchObject({ state: "failed", reason: "hook_unknown" });
  });

  it("a run that vanished with all of Nomad's jobs is not repeated by itself, though the live job moved (D33)", async () => {
    const world = await startWorld({}, web({}));
    world.nomad.childExit = undefined;
    await world.commit({ ...web(pre, "web:2"), "b.hcl": hook("migrate") });
    await world.clock.advance(3_000);
    world.nomad.becomeEmpty();
    await world.clock.advance(60_000);
    expect(await latest(world)).toMatchObject({ state: "failed", reason: "hook_unknown" });
    expect(dispatches(world).length).toBe(1);
  });

  describe("a person settles it (D33)", () => {
    async function unknown(): Promise<World> {
      const world = await startWorld();
      lose(world, "before");
      await world.commit({ ...web(pre), "b.hcl": hook("migrate") });
      await world.clock.advance(40_000);
      return world;
    }

    it("a retry is refused until somebody says what happened, or that it may run again", async () => {
      const world = await unknown();
      const { id } = await latest(world);
      await expect(world.operator.retry(id, { reschedule: false, rerunUnknownHooks: false }, ann)).rejects.toMatchObject({
        code: "hook_outcome_unknown",
      });
      await world.operator.retry(id, { reschedule: false, rerunUnknownHooks: true }, ann);
      await world.clock.advance(10_000);
      expect(await latest(world)).toMatchObject({ state: "completed", retryOf: id });
      expect(dispatches(world).length).toBe(2);
    });

    it.each([
      ["ran", 1],
      ["did_not_run", 2],
    ] as const)("%s: the successor dispatches it so often in all: %d", async (resolution, count) => {
      const world = await unknown();
      const { id } = await latest(world);
      const [run] = await runs(world);
      await world.operator.resolveHook(run?.id ?? "", resolution, ann);
      await world.operator.retry(id, { reschedule: false, rerunUnknownHooks: false }, ann);
      await world.clock.advance(10_000);
      expect(await latest(world)).toMatchObject({ state: "completed", retryOf: id });
      expect(dispatches(world).length).toBe(count);
    });
  });
});

describe("collection of revisions (operator §13.7)", () => {
  it("stops those that nobody needs and keeps those in use, other jobs and children", async () => {
    const world = await startWorld({}, { ...web(post), "c.hcl": hook("smoke") });
    world.nomad.edit(key("smoke-deadbeef"), () => ({ ...hook("smoke-deadbeef"), Namespace: "default" }));
    world.nomad.edit(key("plain-deadbeef"), () => ({ ...service("plain-deadbeef"), Namespace: "default" }));
    await world.clock.advance(120_000);
    const stopped = world.nomad.calls.filter((call) => call.startsWith("stop ")).map((call) => call.replace("stop default/", ""));
    expect(stopped.toSorted()).toEqual(["smoke-deadbeef", expect.stringMatching(/^smoke-[0-9a-f]{8}$/)].toSorted());
    expect(stopped).not.toContain("plain-deadbeef");
  });

  it("never stops one that an active deployment has frozen", async () => {
    const world = await startWorld(
      {},
      {
        ...web({ ...pre, nops_policy: "approval" }),
        "b.hcl": hook("migrate"),
        "x.hcl": service("x", { meta: post }),
        "c.hcl": hook("smoke"),
      },
    );
    const [frozen] = await world.store.frozenHooks((await latest(world)).id);
    world.nomad.edit(key(frozen?.revisionId ?? ""), () => ({ ...hook(frozen?.revisionId ?? ""), Namespace: "default" }));
    await world.clock.advance(120_000);
    expect(world.nomad.count("stop")).toBe(1);
    expect(world.nomad.live(key(frozen?.revisionId ?? ""))?.Stop).toBe(false);
  });
});
