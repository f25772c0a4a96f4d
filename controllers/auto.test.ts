import { describe, expect, it } from "vitest";
import { NomadError } from "../model/errors.ts";
import { endWorldsAfterEach, startWorld } from "../testkit/fakes/started-world.ts";
import { key, service } from "../testkit/fakes/world.ts";

endWorldsAfterEach();

describe("policy auto, to the end", () => {
  it("creates a job that git has and Nomad has not, and completes when it is healthy", async () => {
    const world = await startWorld();
    await world.commit({ "web.nomad.hcl": service("web") });
    expect(await world.latest("web")).toMatchObject({ state: "completed", baseIndex: 0, appliedIndex: 11, mode: "apply" });
    expect(world.nomad.live(key("web"))).toMatchObject({
      Meta: { nops_managed: "true", nops_policy: "auto" },
      JobModifyIndex: 11,
    });
    expect(world.nomad.calls.filter((call) => !call.startsWith("deployments"))).toEqual([
      expect.stringMatching(/^parse /),
      "plan default/web",
      "plan default/web",
      "register default/web",
      "plan default/web",
    ]);
  });

  it("k changed files cost at most 5 k calls over lists, parses, plans, registers and job reads", async () => {
    const world = await startWorld();
    const files = (image: string) =>
      Object.fromEntries(["a", "b", "c", "d", "e"].map((id) => [`${id}.hcl`, service(id, { image })]));
    await world.commit(files("x:1"));
    world.nomad.calls.length = 0;
    await world.commit(files("x:2"));
    expect(world.nomad.count("list", "parse", "plan", "register", "read", "versions")).toBe(25);
    expect(world.nomad.count("register")).toBe(5);
  });

  it("puts back what somebody changed outside, in at most 7 calls", async () => {
    const world = await startWorld();
    await world.commit({ "web.hcl": service("web", { image: "web:1" }) });
    world.nomad.calls.length = 0;
    world.nomad.edit(key("web"), (spec) => ({ ...spec, Priority: 70 }));
    await world.clock.advance(2_000);
    expect(world.nomad.calls.length).toBeLessThanOrEqual(7);
    expect(world.nomad.live(key("web"))?.Priority).toBeUndefined();
    expect(await world.latest("web")).toMatchObject({ state: "completed", reason: "healthy" });
  });

  it("ends once when Nomad sees no difference any more at the register, and does not begin again", async () => {
    const world = await startWorld();
    const plan = world.nomad.plan.bind(world.nomad);
    let plans = 0;
    // A Nomad that was upgraded between the two plans: its canonical form is another one, and the job's index is the same.
    const upgraded: typeof plan = async (spec) => {
      const answer = await plan(spec);
      if (plans > 20) throw new NomadError("planned without end", { kind: "overloaded" });
      return plans++ === 0 ? answer : { ...answer, diff: { Type: "None", ID: "web" } };
    };
    Object.assign(world.nomad, { plan: upgraded });
    await world.commit({ "web.hcl": service("web") });
    const ended = await world.latest("web");
    expect(ended).toMatchObject({ state: "completed", reason: "nothing_to_apply" });
    await world.clock.advance(600_000);
    expect((await world.latest("web"))?.id).toBe(ended?.id);
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "sync", reason: "in_sync" });
    expect(world.nomad.count("register")).toBe(0);
  });

  it("costs no call at all while nothing changes, over hours", async () => {
    const world = await startWorld();
    await world.commit({ "web.hcl": service("web"), "shown.hcl": service("shown", { meta: { nops_policy: "none" } }) });
    world.nomad.calls.length = 0;
    await world.clock.advance(6 * 3_600_000);
    expect(world.nomad.calls).toEqual([]);
  });

  it("only shows the difference under policy none", async () => {
    const world = await startWorld();
    await world.commit({ "web.hcl": service("web", { meta: { nops_policy: "none" } }) });
    expect(await world.latest("web")).toBeUndefined();
    expect(await world.operator.job(key("web"))).toMatchObject({ sync: "drift", reason: "policy_none", drift: "drift" });
    expect(world.nomad.count("register")).toBe(0);
  });
});
