import { describe, expect, it } from "vitest";
import { ann, endWorldsAfterEach, present, startWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

const app = (on: string, image = "app:1", meta: Record<string, string> = {}) =>
  service("app", { image, meta: { nops_depends_on: on, ...meta } });
const order = (world: World): string[] =>
  world.nomad.calls.filter((call) => call.startsWith("register")).map((call) => call.replace("register default/", ""));

describe("nops_depends_on", () => {
  it("waits while the dependency's deployment is under way, and comes right after it", async () => {
    const world = await startWorld();
    world.nomad.fate = "pending";
    await world.commit({ "app.hcl": app("db"), "db.hcl": service("db") });
    expect(order(world)).toEqual(["db"]);
    expect(await world.operator.explain(key("app"))).toMatchObject({
      verdict: "waiting_for_dependency",
      message: expect.stringContaining("db is being deployed"),
    });
    world.nomad.fate = "healthy";
    world.nomad.changeDeployment("nd-11", { Status: "successful" }, false);
    await world.clock.advance(8_000);
    expect(order(world)).toEqual(["db", "app"]);
  });

  it("follows a chain in order, whatever the order of the files", async () => {
    const world = await startWorld(
      {},
      {
        "a.hcl": service("a", { meta: { nops_depends_on: "b" } }),
        "b.hcl": service("b", { meta: { nops_depends_on: "c" } }),
        "c.hcl": service("c"),
      },
    );
    await world.clock.advance(10_000);
    expect(order(world)).toEqual(["c", "b", "a"]);
  });

  it("is refused with a reason when the dependency failed, until git or a retry mends that", async () => {
    const world = await startWorld();
    world.nomad.fate = "failing";
    await world.commit({ "app.hcl": app("db"), "db.hcl": service("db") });
    await world.clock.advance(5_000);
    expect(await world.latest("app")).toBeUndefined();
    expect(await world.operator.explain(key("app"))).toMatchObject({
      verdict: "dependency_failed",
      message: expect.stringContaining("of db was a failure"),
    });
    world.nomad.fate = "healthy";
    await world.commit({ "app.hcl": app("db"), "db.hcl": service("db", { image: "db:2" }) });
    await world.clock.advance(10_000);
    expect(await world.latest("app")).toMatchObject({ state: "completed" });
  });

  it("cycles are told, job by job, and nothing of them is deployed or spins", async () => {
    const world = await startWorld(
      {},
      { "app.hcl": app("db"), "db.hcl": service("db", { meta: { nops_depends_on: "app" } }), "x.hcl": service("x") },
    );
    await world.clock.advance(60_000);
    expect(order(world)).toEqual(["x"]);
    expect(await world.operator.explain(key("app"))).toMatchObject({
      verdict: "dependency_cycle",
      message: expect.stringContaining("app → db → app"),
    });
    expect(world.nomad.count("plan")).toBeLessThan(8);
  });

  it("a job that nops does not deploy stands in nobody's way", async () => {
    const world = await startWorld(
      {},
      { "app.hcl": app("db,outside"), "db.hcl": service("db", { meta: { nops_policy: "none" } }) },
    );
    await world.clock.advance(5_000);
    expect(await world.latest("app")).toMatchObject({ state: "completed" });
  });

  it("refuses an approval while a dependency is behind", async () => {
    const world = await startWorld({}, { "app.hcl": app("db", "app:1", { nops_policy: "approval" }), "db.hcl": service("db") });
    await world.clock.advance(5_000);
    const waiting = present(await world.latest("app"));
    world.nomad.fate = "pending";
    await world.commit({
      "app.hcl": app("db", "app:1", { nops_policy: "approval" }),
      "db.hcl": service("db", { image: "db:2" }),
    });
    await expect(world.operator.approve(waiting.id, waiting.specHash, undefined, ann)).rejects.toMatchObject({
      code: "waiting_for_dependency",
    });
  });
});

describe("D32: the brake on mass changes", () => {
  const many = (image: string) =>
    Object.fromEntries(["a", "b", "c", "d", "e"].map((id) => [`${id}.hcl`, service(id, { image })]));

  it("S47: a commit starts so many by itself; the others wait for a person, with the reason", async () => {
    const world = await startWorld({ maxNewDeploymentsPerCycle: 2, concurrency: 1 }, {});
    await world.commit(many("x:1"));
    await world.clock.advance(5_000);
    const views = await world.operator.jobs();
    expect(views.map((view) => view.sync).toSorted()).toEqual(["pending", "pending", "pending", "sync", "sync"]);
    const held = present(views.find((view) => view.sync === "pending")?.activeDeployment);
    expect(held).toMatchObject({ reason: "mass_change", policy: "auto" });
    await world.operator.approve(held.id, held.specHash, undefined, ann);
    await world.clock.advance(5_000);
    expect(world.nomad.count("register")).toBe(3);
    await world.commit({ ...many("x:1"), "a.hcl": service("a", { image: "x:2" }) });
    expect(await world.latest("a")).toMatchObject({ state: "completed" });
  });
});

describe("orphans (operator §16)", () => {
  it("are shown with the command to stop them, never touched, and clear when stopped or back in git", async () => {
    const files = { "a.hcl": service("a"), "b.hcl": service("b"), "c.hcl": service("c") };
    const world = await startWorld({}, files);
    const { "a.hcl": _gone, ...rest } = files;
    await world.commit(rest);
    await world.clock.advance(2_000);
    expect(await world.operator.orphans()).toMatchObject([
      {
        key: key("a"),
        sync: "orphan",
        reason: "not_in_git",
        policy: "auto",
        message: expect.stringContaining("nomad job stop -namespace=default a"),
      },
    ]);
    expect((await world.operator.status()).orphans).toBe(1);
    world.nomad.stop(key("a"));
    await world.clock.advance(2_000);
    expect(await world.operator.orphans()).toEqual([]);
    expect(world.nomad.live(key("a"))?.Stop).toBe(true);
    const { "b.hcl": _too, ...last } = rest;
    await world.commit(last);
    await world.clock.advance(2_000);
    expect((await world.operator.orphans()).map((view) => view.key)).toEqual([key("b")]);
    await world.commit(rest);
    await world.clock.advance(2_000);
    expect(await world.operator.orphans()).toEqual([]);
  });

  it("a job that only lost its opt-in is none, and one that nops never deployed is none", async () => {
    const world = await startWorld({}, { "a.hcl": service("a"), "b.hcl": service("b") });
    world.nomad.edit(key("stranger"), () => ({ ...service("stranger"), Namespace: "default" }));
    await world.commit({ "a.hcl": service("a", { meta: { nops_managed: "false" } }), "b.hcl": service("b") });
    await world.clock.advance(2_000);
    expect(await world.operator.orphans()).toEqual([]);
  });
});

describe("explain", () => {
  it("lists the gates in order, up to the first that fails", async () => {
    const world = await startWorld({}, { "web.hcl": service("web", { meta: { nops_policy: "none" } }) });
    const { gates } = await world.operator.explain(key("web"));
    expect(gates.map((gate) => `${gate.name} ${gate.status}`)).toEqual([
      "judged pass",
      "managed pass",
      "settings pass",
      "policy fail",
      "mode not_reached",
      "active not_reached",
      "drift not_reached",
      "blocked not_reached",
      "paused not_reached",
      "window not_reached",
      "dependencies not_reached",
      "approval not_reached",
    ]);
  });

  it("costs no call to Nomad", async () => {
    const world = await startWorld({}, { "web.hcl": service("web") });
    world.nomad.calls.length = 0;
    await world.operator.explain(key("web"));
    await world.operator.jobs();
    await world.operator.status();
    expect(world.nomad.calls).toEqual([]);
  });

  it("knows what it does not know", async () => {
    const world = await startWorld();
    await expect(world.operator.explain(key("nope"))).rejects.toMatchObject({ code: "unknown_job" });
  });
});
