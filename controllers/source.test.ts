import { describe, expect, it } from "vitest";
import { NomadError } from "../model/errors.ts";
import { builtInDefaults } from "../model/settings.ts";
import { ann, endWorldsAfterEach, startWorld, stopWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

const three = { "a.hcl": service("a"), "b.hcl": service("b"), "c.hcl": service("c") };
const repository = (name: string, namespaces: string[] = []) => ({
  name,
  pollIntervalMs: 60_000,
  namespaces,
  defaults: builtInDefaults,
});
const main = (world: World) => world.operator.repositories()[0];

describe("a broken file (D11)", () => {
  it("freezes only the jobs that it last declared; everything else goes on, removals included", async () => {
    const world = await startWorld({}, three);
    world.nomad.edit(key("a"), (spec) => ({ ...spec, Priority: 1 }));
    await world.commit({ "a.hcl": "{", "b.hcl": service("b", { image: "b:2" }) });
    expect(await world.operator.job(key("a"))).toMatchObject({
      sync: "frozen",
      reason: "file_broken",
      message: expect.stringContaining("Failed to parse job"),
    });
    expect(await world.latest("b")).toMatchObject({ state: "completed" });
    await world.clock.advance(2_000);
    expect((await world.operator.orphans()).map((view) => view.key)).toEqual([key("c")]);
    expect(main(world)).toMatchObject({ removalsSuspended: false, issues: [{ file: "a.hcl", severity: "error" }] });
  });

  it("is known by its last keys also after a restart", async () => {
    const world = await startWorld({}, three);
    await stopWorld(world);
    world.git.commit("main", { ...three, "a.hcl": "{" });
    world.restart();
    await world.operator.start();
    await world.clock.advance(2_000);
    expect(await world.operator.job(key("a"))).toMatchObject({ sync: "frozen" });
    expect(await world.operator.orphans()).toEqual([]);
  });

  it("whose jobs are not known suspends removals of its repository, and says so", async () => {
    const world = await startWorld({}, three);
    await world.commit({ "a.hcl": service("a"), "b.hcl": service("b"), "new.hcl": "{" });
    await world.clock.advance(2_000);
    expect(main(world)).toMatchObject({ removalsSuspended: true });
    expect(await world.operator.orphans()).toEqual([]);
    expect(await world.operator.explain(key("c"))).toMatchObject({ verdict: "repository_unavailable" });
  });

  it("still counts among the managed jobs; a job that did not opt in does not", async () => {
    const world = await startWorld({}, three);
    await world.commit({ ...three, "a.hcl": "{", "d.hcl": service("d", { meta: { nops_managed: "false" } }) });
    expect(main(world)).toMatchObject({ managedJobs: 3, files: 4 });
  });

  it("is parsed once, not each time something else changes", async () => {
    const world = await startWorld({}, { ...three, "x.hcl": "{" });
    world.nomad.calls.length = 0;
    await world.commit({ ...three, "x.hcl": "{", "b.hcl": service("b", { image: "b:2" }) });
    expect(world.nomad.count("parse")).toBe(1);
  });
});

it("S49: two files with one job freeze it, both are named, the others go on", async () => {
  const world = await startWorld(
    {},
    { "one.hcl": service("a"), "two.hcl": service("a", { image: "a:2" }), "b.hcl": service("b") },
  );
  expect(await world.operator.job(key("a"))).toMatchObject({
    sync: "frozen",
    reason: "duplicate_job",
    message: expect.stringMatching(/one\.hcl.*two\.hcl/),
  });
  expect(await world.latest("b")).toMatchObject({ state: "completed" });
  expect(await world.latest("a")).toBeUndefined();
  await world.commit({ "two.hcl": service("a", { image: "a:2" }), "b.hcl": service("b") });
  expect(await world.latest("a")).toMatchObject({ state: "completed" });
});

it("the same job in two repositories is a duplicate too", async () => {
  const world = await startWorld({ repositories: [repository("main"), repository("other")] }, { "a.hcl": service("a") });
  await world.commit({ "x/a.hcl": service("a", { image: "a:9" }) }, "other");
  expect(await world.operator.job(key("a"))).toMatchObject({
    reason: "duplicate_job",
    message: expect.stringContaining("main:a.hcl and other:x/a.hcl"),
  });
});

describe("S61: namespaces", () => {
  it("outside the list are refused, and nothing of the job reaches Nomad", async () => {
    const world = await startWorld({}, { "a.hcl": { ...service("a"), Namespace: "prod" }, "b.hcl": service("b") });
    expect(await world.operator.job(key("a", "prod"))).toMatchObject({ sync: "frozen", reason: "namespace_not_allowed" });
    expect(world.nomad.calls.some((call) => call.includes("prod/"))).toBe(false);
  });

  it("are exact: a repository's list is no prefix and no pattern", async () => {
    const world = await startWorld(
      { namespaces: ["default", "prod", "prod-eu"], repositories: [repository("main", ["prod"])] },
      { "a.hcl": { ...service("a"), Namespace: "prod-eu" }, "b.hcl": { ...service("b"), Namespace: "prod" } },
    );
    expect(await world.operator.job(key("a", "prod-eu"))).toMatchObject({ reason: "namespace_not_allowed" });
    expect(await world.latest("b", "prod")).toMatchObject({ state: "completed" });
  });

  it("keep jobs of one ID apart", async () => {
    const world = await startWorld(
      { namespaces: ["default", "prod"] },
      { "a.hcl": service("a"), "p.hcl": { ...service("a", { image: "a:2" }), Namespace: "prod" } },
    );
    expect(world.nomad.live(key("a"))?.TaskGroups?.[0]?.Tasks?.[0]?.Config).toEqual({ image: "a:1" });
    expect(world.nomad.live(key("a", "prod"))?.TaskGroups?.[0]?.Tasks?.[0]?.Config).toEqual({ image: "a:2" });
  });
});

it("D4: a file that parses differently each time is never deployed", async () => {
  const world = await startWorld();
  let serial = 0;
  const real = world.nomad.parse.bind(world.nomad);
  world.nomad.parse = async (source) => ({ ...(await real(source)), Priority: serial++ });
  await world.commit({ "a.hcl": service("a", { meta: { id: "= uuidv4()" } }) });
  expect(await world.operator.job(key("a"))).toMatchObject({ sync: "frozen", reason: "not_deterministic" });
  expect(world.nomad.count("plan")).toBe(0);
});

describe("S48, D32: a commit that loses more than half of the jobs", () => {
  it("takes no effect until a person accepts it", async () => {
    const world = await startWorld({}, three);
    await world.commit({ "a.hcl": service("a", { image: "a:2" }) });
    expect(main(world)).toMatchObject({ heldMessage: expect.stringMatching(/loses 2 of 3 jobs.*nops fetch main --accept/) });
    expect(world.nomad.count("register")).toBe(3);
    expect(await world.operator.orphans()).toEqual([]);
    world.operator.fetch("main", ann);
    await world.clock.advance(3_000);
    expect(world.nomad.count("register")).toBe(4);
    expect((await world.operator.orphans()).map((view) => view.key)).toEqual([key("b"), key("c")]);
    expect(main(world)).toMatchObject({ heldMessage: undefined });
  });

  it("half of them may go", async () => {
    const world = await startWorld({}, { "a.hcl": service("a"), "b.hcl": service("b") });
    await world.commit({ "a.hcl": service("a") });
    await world.clock.advance(2_000);
    expect((await world.operator.orphans()).map((view) => view.key)).toEqual([key("b")]);
  });

  it("after a restart everything of the repository stands still", async () => {
    const world = await startWorld({}, three);
    await stopWorld(world);
    world.git.commit("main", {});
    world.restart();
    await world.operator.start();
    await world.clock.advance(2_000);
    expect((await world.operator.jobs()).map((view) => `${view.job} ${view.sync} ${view.reason}`)).toEqual([
      "a frozen mass_removal",
      "b frozen mass_removal",
      "c frozen mass_removal",
    ]);
    world.operator.fetch("main", ann);
    await world.clock.advance(3_000);
    expect((await world.operator.orphans()).length).toBe(3);
  });

  it("a word given while nothing was held back does not let a later commit through", async () => {
    const world = await startWorld({}, three);
    world.operator.fetch("main", ann);
    await world.clock.advance(2_000);
    await world.commit({});
    expect(main(world)?.heldCommit).toBeDefined();
  });
});

describe("D36: what cannot be read", () => {
  it("git away at the start: what was fetched last is used, and the status says why", async () => {
    const world = await startWorld({}, three);
    await stopWorld(world);
    world.git.down = "could not resolve host git.example.com";
    world.git.cached = true;
    world.nomad.edit(key("a"), (spec) => ({ ...spec, Priority: 1 }));
    world.restart();
    await world.operator.start();
    await world.clock.advance(5_000);
    expect(main(world)).toMatchObject({
      managedJobs: 3,
      checkedAt: undefined,
      error: "could not resolve host git.example.com; ask the network",
    });
    expect(world.nomad.live(key("a"))?.Priority).not.toBe(1);
    world.git.down = undefined;
    await world.commit({ ...three, "a.hcl": service("a", { image: "a:2" }) });
    await world.clock.advance(60_000);
    expect(main(world)).toMatchObject({ error: undefined, checkedAt: expect.any(String) });
    expect(await world.latest("a")).toMatchObject({ state: "completed", commitSubject: "change 2" });
  });

  it("git away: the last state stays, the status says why, and it heals by itself", async () => {
    const world = await startWorld({}, three);
    world.git.down = "could not resolve host git.example.com";
    await world.clock.advance(120_000);
    expect(main(world)).toMatchObject({ error: expect.stringContaining("resolve host"), managedJobs: 3 });
    expect((await world.operator.status()).notReady).toMatchObject({ "repository main": expect.any(String) });
    world.git.down = undefined;
    await world.commit({ ...three, "a.hcl": service("a", { image: "a:2" }) });
    await world.clock.advance(60_000);
    expect(main(world)).toMatchObject({ error: undefined });
    expect(world.nomad.count("register")).toBe(4);
  });

  it("Nomad away for long: its files are parsed as soon as Nomad answers a list", async () => {
    const world = await startWorld();
    world.nomad.fault = (_when, call) => {
      if (call.startsWith("parse")) throw new NomadError("no connection", { kind: "not_sent" });
    };
    await world.commit(three);
    await world.clock.advance(100_000);
    expect(main(world)).toMatchObject({ error: expect.stringContaining("no connection") });
    world.nomad.fault = () => {};
    world.nomad.relist("default");
    await world.clock.advance(2_000);
    expect(main(world)).toMatchObject({ error: undefined, managedJobs: 3 });
  });

  it("Nomad away during the parse: nothing is lost, and the commit takes effect later", async () => {
    const world = await startWorld({}, three);
    world.nomad.fault = () => {
      throw new NomadError("connect ECONNREFUSED", { kind: "not_sent" });
    };
    await world.commit({ ...three, "a.hcl": service("a", { image: "a:2" }), "d.hcl": service("d") });
    expect(await world.operator.job(key("b"))).toMatchObject({ sync: "sync" });
    world.nomad.fault = () => {};
    await world.clock.advance(120_000);
    expect(world.nomad.count("register")).toBe(5);
  });

  it("S68: one file that always fails disturbs no other", async () => {
    const world = await startWorld();
    world.nomad.fault = (_when, call) => {
      if (call.includes('"ID":"bad"')) throw new Error("boom");
    };
    await world.commit({ "bad.hcl": service("bad"), ...three });
    expect(await world.latest("a")).toMatchObject({ state: "completed" });
    expect(main(world)?.issues).toMatchObject([{ file: "bad.hcl", message: expect.stringContaining("boom") }]);
  });
});

it("S50: one slow parse delays no other file, and its answer is taken when it comes", async () => {
  const world = await startWorld();
  const real = world.nomad.parse.bind(world.nomad);
  world.nomad.parse = async (source) => {
    if (source.source.includes('"ID":"slow"')) await world.clock.sleep(30_000);
    return real(source);
  };
  await world.commit({ "slow.hcl": service("slow"), "web.hcl": service("web") });
  await world.clock.advance(5_000);
  expect(await world.latest("web")).toMatchObject({ state: "completed" });
  expect(main(world)?.issues).toMatchObject([{ file: "slow.hcl", message: expect.stringContaining("no answer within 5s") }]);
  await world.clock.advance(40_000);
  expect(await world.latest("slow")).toMatchObject({ state: "completed" });
  expect(world.nomad.count("parse")).toBe(2);
});

it("records a rewritten history", async () => {
  const world = await startWorld({}, three);
  const real = world.git.fetch.bind(world.git);
  world.git.fetch = async (name, known) => ({ ...(await real(name, known)), historyRewritten: true });
  const recorded: string[] = [];
  const record = world.store.recordRepositoryEvent;
  Object.assign(world.store, {
    recordRepositoryEvent: (...args: Parameters<typeof record>) => {
      recorded.push(args[1]);
      return record(...args);
    },
  });
  await world.commit({ ...three, "a.hcl": service("a", { image: "a:2" }) });
  expect(recorded).toEqual(["history_rewritten"]);
});

describe("a person's fetch", () => {
  it("looks at once, however long a repository that failed would wait", async () => {
    const world = await startWorld({}, three);
    world.git.down = "no such host";
    world.git.commit("main", { ...three, "d.hcl": service("d") });
    await world.clock.advance(10 * 60_000);
    expect(main(world)?.error).toContain("no such host");
    world.git.down = undefined;
    world.operator.fetch("main");
    await world.clock.advance(50);
    expect(main(world)?.error).toBeUndefined();
    expect(await world.operator.job(key("d"))).toMatchObject({ file: "d.hcl" });
  });
});

it("S39: a push of which no webhook tells is found within the poll interval", async () => {
  const world = await startWorld({}, three);
  world.git.commit("main", { ...three, "a.hcl": service("a", { image: "a:2" }) });
  await world.clock.advance(repository("main").pollIntervalMs + 2_000);
  expect(await world.latest("a")).toMatchObject({ state: "completed" });
});
