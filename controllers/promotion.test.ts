import { describe, expect, it } from "vitest";
import { NomadError } from "../model/errors.ts";
import { ann, endWorldsAfterEach, present, startWorld, stopWorld } from "../testkit/fakes/started-world.ts";
import { key, service, type World } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

const hour = 3_600_000;

async function canary(): Promise<World> {
  const world = await startWorld({}, { "web.hcl": service("web") });
  world.nomad.fate = "canary";
  await world.commit({ "web.hcl": service("web", { image: "web:2" }) });
  await world.clock.advance(5_000);
  return world;
}

const latest = async (world: World) => present(await world.latest("web"));
const waits = async (world: World) => (await latest(world)).promotionWaitSince;

describe("canaries that wait for a person (operator §14.7)", () => {
  it("have no clock: a wait longer than the apply timeout fails nothing, also over a restart", async () => {
    const world = await canary();
    const since = await waits(world);
    expect(since).toBeDefined();
    await world.clock.advance(hour);
    await stopWorld(world);
    world.restart();
    await world.operator.start();
    await world.clock.advance(hour / 4);
    expect(await latest(world)).toMatchObject({ state: "applying", promotionWaitSince: since, promotedAt: undefined });
    expect(await world.operator.explain(key("web"))).toMatchObject({
      verdict: "active_deployment",
      message: expect.stringContaining("promote"),
    });
  });

  it("also not while a canary is unhealthy for a time: the wait is open until somebody ends it", async () => {
    const world = await canary();
    const { appliedIndex } = await latest(world);
    const rollout = world.nomad.deployments.find((each) => each.JobSpecModifyIndex === appliedIndex);
    for (const group of Object.values(rollout?.TaskGroups ?? {})) Object.assign(group, { HealthyAllocs: 0 });
    await world.clock.advance(700_000);
    expect(await latest(world)).toMatchObject({ state: "applying", promotedAt: undefined });
  });

  it("a promotion completes it; the wish is on record before Nomad is asked", async () => {
    const world = await canary();
    const { id } = await latest(world);
    await world.operator.promote(id, ann);
    await world.clock.advance(5_000);
    expect(await latest(world)).toMatchObject({ id, state: "completed", promotedAt: expect.any(String) });
    await expect(world.operator.promote(id, ann)).rejects.toMatchObject({ code: "nothing_to_promote" });
  });

  it("a promotion in Nomad itself restarts the clock from its notice", async () => {
    const world = await canary();
    await world.clock.advance(hour / 2);
    const rollout = await latest(world);
    world.nomad.changeDeployment(`nd-${rollout.appliedIndex}`, {}, true);
    await world.clock.advance(5_000);
    expect(await latest(world)).toMatchObject({ state: "applying", promotedAt: expect.any(String) });
    await world.clock.advance(590_000);
    expect(await latest(world)).toMatchObject({ state: "applying" });
    await world.clock.advance(20_000);
    expect(await latest(world)).toMatchObject({ state: "failed", reason: "health_timeout" });
  });

  it("a person may let Nomad fail it", async () => {
    const world = await canary();
    await world.operator.fail((await latest(world)).id, ann);
    await world.clock.advance(5_000);
    expect(await latest(world)).toMatchObject({
      state: "failed",
      reason: "rollout_failed",
      error: expect.stringContaining("marked as failed"),
    });
  });

  it("keeps the wish on record when Nomad refuses, and shows Nomad's answer", async () => {
    const world = await canary();
    world.nomad.fault = (when, call) => {
      if (when === "before" && call.startsWith("promote")) throw new NomadError("no leader", { kind: "overloaded" });
    };
    await expect(world.operator.promote((await latest(world)).id, ann)).rejects.toThrow("no leader");
    expect(await latest(world)).toMatchObject({ state: "applying", promotedAt: undefined });
  });

  it("is refused while nothing waits", async () => {
    const world = await startWorld();
    world.nomad.fate = "pending";
    await world.commit({ "web.hcl": service("web") });
    const { id } = await latest(world);
    for (const act of [world.operator.promote, world.operator.fail])
      await expect(act(id, ann)).rejects.toMatchObject({ code: "nothing_to_promote" });
  });

  it("a new commit waits behind it, and comes when it is over", async () => {
    const world = await canary();
    await world.commit({ "web.hcl": service("web", { image: "web:3" }) });
    expect(world.nomad.count("register")).toBe(2);
    world.nomad.fate = "healthy";
    await world.operator.promote((await latest(world)).id, ann);
    await world.clock.advance(8_000);
    expect(world.nomad.live(key("web"))?.TaskGroups?.[0]?.Tasks?.[0]?.Config).toEqual({ image: "web:3" });
    expect(await latest(world)).toMatchObject({ state: "completed" });
  });
});
