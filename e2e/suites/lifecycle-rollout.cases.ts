import { expect, it } from "vitest";
import { hookJob, serviceJob } from "./job-text.ts";
import type { SuiteWorld } from "./suite-world.ts";

/** The rollout itself: failures in words, canaries, auto revert, scaling, nothing outside overwritten. */
export function rolloutCases(world: () => SuiteWorld): void {
  failureCases(world);
  canaryCases(world);
  outsideCases(world);
}

function failureCases(world: () => SuiteWorld): void {
  it("unplaceable: fails by its own clock and says in words which dimension lacks", async () => {
    await world().commit({ "huge.hcl": serviceJob({ id: "huge", cpu: 90_000_000, meta: { nops_apply_timeout: "3s" } }) });
    const failed = await world().untilDeployment("huge", (row) => row.state === "failed");
    expect(failed.error).toMatch(/cpu/i);
  });

  it("auto_revert: Nomad goes back, nops does not fight it", async () => {
    const update = "      auto_revert = true";
    await world().commit({ "revert.hcl": serviceJob({ id: "revert", update }) });
    const good = await world().untilDeployment("revert", (row) => row.state === "completed");
    await world().commit({ "revert.hcl": serviceJob({ id: "revert", update, fails: true }) });
    const bad = await world().untilDeployment("revert", (row) => row.id !== good.id && row.state === "failed");
    await world().untilJob("revert", (job) => job.sync === "blocked" && job.blocked_by === bad.id);
    const live = await world().nomad<{ Version: number; TaskGroups: { Tasks: { Config: { args: string[] } }[] }[] }>(
      "GET",
      "/v1/job/revert",
    );
    expect(live.TaskGroups[0]?.Tasks[0]?.Config.args[1]).toBe("sleep 86400");
    expect(live.Version).toBe(2);
    expect((await world().untilDeployment("revert", () => true)).id).toBe(bad.id);
  });
}

function canaryCases(world: () => SuiteWorld): void {
  it("canaries wait for a person without a clock; promoted, they complete", async () => {
    const update = "      canary = 1";
    const meta = { nops_apply_timeout: "15s" };
    await world().commit({ "canary.hcl": serviceJob({ id: "canary", update, meta }) });
    const first = await world().untilDeployment("canary", (row) => row.state === "completed");
    await world().commit({ "canary.hcl": serviceJob({ id: "canary", update, meta, env: { V: "2" } }) });
    const waiting = await world().untilDeployment(
      "canary",
      (row) => row.id !== first.id && row.awaiting_promotion_since !== null,
    );
    await world().nops.post(`/api/v1/deployments/${waiting.id}/promote`);
    await world().untilDeployment("canary", (row) => row.id === waiting.id && row.state === "completed");
    expect((await world().refusal(`/api/v1/deployments/${waiting.id}/promote`)).status).toBe(409);
  });

  it("canaries failed by a person fail the deployment", async () => {
    const update = "      canary = 1";
    await world().commit({ "dropped.hcl": serviceJob({ id: "dropped", update }) });
    const first = await world().untilDeployment("dropped", (row) => row.state === "completed");
    await world().commit({ "dropped.hcl": serviceJob({ id: "dropped", update, env: { V: "2" } }) });
    const waiting = await world().untilDeployment(
      "dropped",
      (row) => row.id !== first.id && row.awaiting_promotion_since !== null,
    );
    await world().nops.post(`/api/v1/deployments/${waiting.id}/fail`);
    await world().untilDeployment("dropped", (row) => row.id === waiting.id && row.state === "failed");
  });
}

function outsideCases(world: () => SuiteWorld): void {
  it("scaled job: the live count stays, and scaling is neither drift nor stale", async () => {
    const group = "    scaling {\n      min = 1\n      max = 5\n    }\n";
    await world().commit({ "scaled.hcl": serviceJob({ id: "scaled", group }) });
    const first = await world().untilDeployment("scaled", (row) => row.state === "completed");
    await world().nomad("POST", "/v1/job/scaled/scale", { Count: 3, Target: { Group: "main" } });
    await world().untilJob("scaled", (job) => job.sync === "sync");
    await world().commit({ "scaled.hcl": serviceJob({ id: "scaled", group, env: { V: "2" } }) });
    await world().untilDeployment("scaled", (row) => row.id !== first.id && row.state === "completed");
    const live = await world().nomad<{ TaskGroups: { Count: number }[] }>("GET", "/v1/job/scaled");
    expect(live.TaskGroups[0]?.Count).toBe(3);
  });

  it("an outside edit while a hook runs: nothing of it is overwritten", async () => {
    await world().commit({ "race.hcl": serviceJob({ id: "race" }) });
    const first = await world().untilDeployment("race", (row) => row.state === "completed");
    await world().commit({
      "pausing.hcl": hookJob("pausing", "sleep 3"),
      "race.hcl": serviceJob({ id: "race", count: 2, meta: { nops_pre_hook: "pausing" } }),
    });
    const second = await world().untilDeployment("race", (row) => row.id !== first.id && row.state === "pre_hook");
    const live = await world().nomad<Record<string, unknown>>("GET", "/v1/job/race");
    await world().nomad("POST", "/v1/jobs", { Job: { ...live, Priority: 77 } });
    await world().nops.until<{ state: string; reason: string }>(
      `/api/v1/deployments/${second.id}`,
      (row) => row.state === "failed" && row.reason === "conflict",
    );
    const { events } = await world().deployment(second.id);
    expect(events.some((event) => event.kind === "applied")).toBe(false);
  });

  it("an outside edit while the rollout is under way fails the deployment and stays", async () => {
    const update = "      canary = 1";
    await world().commit({ "meddled.hcl": serviceJob({ id: "meddled", update }) });
    const first = await world().untilDeployment("meddled", (row) => row.state === "completed");
    await world().commit({ "meddled.hcl": serviceJob({ id: "meddled", update, env: { V: "2" } }) });
    const second = await world().untilDeployment(
      "meddled",
      (row) => row.id !== first.id && row.state === "applying" && row.awaiting_promotion_since !== null,
    );
    const live = await world().nomad<Record<string, unknown>>("GET", "/v1/job/meddled");
    await world().nomad("POST", "/v1/jobs", { Job: { ...live, Priority: 73 } });
    await world().untilDeployment("meddled", (row) => row.id === second.id && row.state === "failed");
    // It had been registered, so nothing but a commit or a person starts another one (operator §11.1).
    await world().untilJob("meddled", (job) => job.sync === "blocked" && job.blocked_by === second.id);
    expect(await world().nomad("GET", "/v1/job/meddled")).toMatchObject({ Priority: 73 });
  });
}
