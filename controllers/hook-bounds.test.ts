/** S62: what a repository names as a hook is only ever the hook that was frozen, in its own bounds. */
import { describe, expect, it } from "vitest";
import { TerminalError } from "../model/errors.ts";
import { jobKey } from "../model/job-key.ts";
import type { JobSpec } from "../model/nomad.ts";
import { ann, endWorldsAfterEach, present, startWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

const declared = { nops_pre_hook: "migrate", nops_policy: "approval" };
const hook = (change: Partial<JobSpec> = {}, image = "tool:1"): JobSpec => ({
  ID: "migrate",
  Type: "batch",
  Meta: { nops_role: "hook" },
  ParameterizedJob: { MetaOptional: ["nops_phase"] },
  TaskGroups: [{ Name: "main", Tasks: [{ Name: "main", Driver: "docker", Config: { image } }] }],
  ...change,
});
const files = (migrate: JobSpec, meta: Record<string, string> = declared) => ({
  "web.hcl": service("web", { meta }),
  "h.hcl": migrate,
});
const latest = async (world: World) => present(await world.latest("web"));
const dispatches = (world: World): string[] => world.nomad.calls.filter((call) => call.startsWith("dispatch "));

async function approve(world: World) {
  const { id, specHash } = await latest(world);
  await world.operator.approve(id, specHash, undefined, ann);
  await world.clock.advance(10_000);
  return present(await world.store.deployment(id));
}

/** Images of all runs that were dispatched. */
function ran(world: World): unknown[] {
  const children = [...world.nomad.jobs.values()].filter((job) => job.parentId !== "");
  return children.map((child) => child.spec.TaskGroups?.[0]?.Tasks?.[0]?.Config?.image);
}

describe("S62: only hooks of the repository are dispatched", () => {
  it.each<[string, JobSpec]>([
    ["a job without the role", hook({ Meta: {} })],
    ["a job that is not parameterized", hook({ ParameterizedJob: null })],
    ["a service", hook({ Type: "service" })],
    ["a job of another namespace", hook({ Namespace: "team" })],
  ])("%s is none, even when Nomad has a fine hook of that name", async (_name, migrate) => {
    const world = await startWorld({ namespaces: ["default", "team"] });
    world.nomad.edit(key("migrate"), () => ({ ...hook(), Namespace: "default" }));
    await world.commit(files(migrate));
    expect(await latest(world)).toMatchObject({ state: "failed", reason: expect.stringMatching(/^hook_(missing|invalid)$/) });
    await world.clock.advance(10_000);
    expect(dispatches(world)).toEqual([]);
  });

  it("a job of the cluster that git does not have is none", async () => {
    const world = await startWorld();
    world.nomad.edit(key("drop-database"), () => ({ ...hook({ ID: "drop-database" }), Namespace: "default" }));
    await world.commit({ "web.hcl": service("web", { meta: { nops_pre_hook: "drop-database" } }) });
    expect(await latest(world)).toMatchObject({ state: "failed", reason: "hook_missing" });
    expect(dispatches(world)).toEqual([]);
  });

  it("no payload is sent, and no key that the hook does not declare", async () => {
    const world = await startWorld({}, files(hook(), { nops_pre_hook: "migrate", secret: "of the job" }));
    await world.clock.advance(10_000);
    const child = [...world.nomad.jobs.values()].find((job) => job.parentId !== "");
    expect(child?.spec.Meta).toEqual({ nops_role: "hook", nops_phase: "pre" });
    expect(child?.spec.Payload).toBeUndefined();
  });
});

describe("S62: a hook that is edited between freeze and run", () => {
  it("in git: what was approved counts for nothing any more", async () => {
    const world = await startWorld({}, files(hook()));
    const seen = await latest(world);
    await world.commit(files(hook({}, "tool:2")));
    await expect(world.operator.approve(seen.id, seen.specHash, undefined, ann)).rejects.toThrow();
    expect(dispatches(world)).toEqual([]);
  });

  it("in git, after the approval: the frozen one runs", async () => {
    const world = await startWorld({}, files(hook()));
    const { id, specHash } = await latest(world);
    const register = world.nomad.register.bind(world.nomad);
    world.nomad.register = async (...args) => {
      world.git.commit("main", files(hook({}, "tool:2")));
      world.operator.fetch("main");
      return register(...args);
    };
    await world.operator.approve(id, specHash, undefined, ann);
    await world.clock.advance(10_000);
    expect(ran(world)[0]).toBe("tool:1");
  });

  it("in Nomad, under the revision's own name: it is put right before the dispatch", async () => {
    const world = await startWorld({}, files(hook()));
    const { id } = await latest(world);
    const [frozen] = await world.store.frozenHooks(id);
    const revision = frozen?.revisionId ?? "";
    world.nomad.edit(jobKey("default", revision), () => ({ ...hook({ ID: revision }, "evil:1"), Namespace: "default" }));
    expect(await approve(world)).toMatchObject({ state: "completed" });
    expect(ran(world)).toEqual(["tool:1"]);
  });

  it("in the database: it is not run, and the deployment fails", async () => {
    const world = await startWorld({}, files(hook()));
    Object.assign(world.store, {
      frozenHooks: () => Promise.reject(new TerminalError("the stored hook does not match its hash", { code: "integrity" })),
    });
    expect(await approve(world)).toMatchObject({ state: "failed", reason: "integrity" });
    expect(dispatches(world)).toEqual([]);
    expect(world.nomad.count("register")).toBe(0);
  });
});
