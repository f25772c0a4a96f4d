/** The promises of the deployment lifecycle, over HTTP, on whatever Nomad it is given. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hookJob, serviceJob } from "./job-text.ts";
import { approvalCases } from "./lifecycle-approval.cases.ts";
import { holdCases, windowOpensCase } from "./lifecycle-holds.cases.ts";
import { hookCases } from "./lifecycle-hooks.cases.ts";
import { rolloutCases } from "./lifecycle-rollout.cases.ts";
import { type SuiteWorld, startSuiteWorld } from "./suite-world.ts";

export interface NomadUnderTest {
  readonly address: string;
  stop(): Promise<void>;
}

export function lifecycleSuite(name: string, start: () => Promise<NomadUnderTest>): void {
  describe(`lifecycle on ${name}`, () => {
    let nomad: NomadUnderTest;
    let world: SuiteWorld;
    const current = (): SuiteWorld => world;

    beforeAll(async () => {
      nomad = await start();
      await fetch(`${nomad.address}/v1/namespace/team`, { method: "POST", body: JSON.stringify({ Name: "team" }) });
      world = await startSuiteWorld(nomad.address, { "nomad-namespaces": "default,team", "engine-apply-timeout": "25s" });
    });

    afterAll(async () => {
      await world.stop();
      await nomad.stop();
    });

    const opening = windowOpensCase(current);
    opening.before();
    basicCases(current);
    approvalCases(current);
    hookCases(current);
    holdCases(current);
    rolloutCases(current);

    lastCases(current);
    opening.after();
  });
}

/** One job after another, each in a file of its own. */
function basicCases(world: () => SuiteWorld): void {
  it("auto: a new job is registered and completes; a change follows", async () => {
    const sha = await world().commit({ "auto.hcl": serviceJob({ id: "auto" }) });
    const first = await world().untilDeployment("auto", (row) => row.state === "completed");
    expect(first).toMatchObject({ commit_sha: sha, policy: "auto", base_index: 0 });
    await world().commit({ "auto.hcl": serviceJob({ id: "auto", count: 2 }) });
    const second = await world().untilDeployment("auto", (row) => row.id !== first.id && row.state === "completed");
    expect(second.base_index).toBe(first.applied_index);
  });

  it("none: the difference is shown and nothing is deployed", async () => {
    await world().commit({ "shown.hcl": serviceJob({ id: "shown", meta: { nops_policy: "none" } }) });
    const job = await world().untilJob("shown", (row) => row.sync === "drift");
    expect(job).toMatchObject({ policy: "none", reason: "policy_none", last_deployment: null });
    expect(job.diff).not.toBeNull();
  });

  it("two namespaces: the same ID is two jobs", async () => {
    await world().commit({ "a.hcl": serviceJob({ id: "twin" }), "b.hcl": serviceJob({ id: "twin", namespace: "team" }) });
    await world().untilDeployment("twin", (row) => row.state === "completed");
    await world().untilDeployment("twin", (row) => row.state === "completed", "team");
  });

  it("a broken file freezes its job and no other, and the mended one goes on", async () => {
    await world().commit({ "frozen.hcl": serviceJob({ id: "frozen" }) });
    await world().untilDeployment("frozen", (row) => row.state === "completed");
    await world().commit({ "frozen.hcl": 'job "frozen" {\n  group "x" {\n', "beside.hcl": serviceJob({ id: "beside" }) });
    await world().untilDeployment("beside", (row) => row.state === "completed");
    expect(await world().untilJob("frozen", (row) => row.sync === "frozen")).toMatchObject({ reason: "file_broken" });
    await world().commit({ "frozen.hcl": serviceJob({ id: "frozen", count: 2 }) });
    await world().untilDeployment("frozen", (row) => row.state === "completed" && row.base_index > 0);
  });

  it("an edit outside of git is undone, and the audit log tells the whole story", async () => {
    await world().commit({ "edited.hcl": serviceJob({ id: "edited" }) });
    const first = await world().untilDeployment("edited", (row) => row.state === "completed");
    const live = await world().nomad<Record<string, unknown>>("GET", "/v1/job/edited");
    await world().nomad("POST", "/v1/jobs", { Job: { ...live, Priority: 71 } });
    const second = await world().untilDeployment("edited", (row) => row.id !== first.id && row.state === "completed");
    expect(await world().nomad("GET", "/v1/job/edited")).toMatchObject({ Priority: 50 });
    const { events } = await world().deployment(second.id);
    expect(events.map((event) => event.to)).toEqual(expect.arrayContaining(["detected", "applying", "completed"]));
  });
}

/** What needs the others to have gone before. */
function lastCases(world: () => SuiteWorld): void {
  it("a commit that removes a file leaves an orphan that runs on", async () => {
    await world().commit({ "auto.hcl": null });
    await world().untilJob("auto", (job) => job.sync === "orphan");
    expect(await world().nomad("GET", "/v1/job/auto")).toMatchObject({ Stop: false });
  });

  it("a hook job alone is never registered", async () => {
    await world().commit({ "lonely.hcl": hookJob("lonely", "true"), "beside2.hcl": serviceJob({ id: "beside2" }) });
    await world().untilDeployment("beside2", (row) => row.state === "completed");
    await expect(world().nomad("GET", "/v1/job/lonely")).rejects.toThrow("404");
  });
}
