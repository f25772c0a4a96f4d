import { expect, it } from "vitest";
import { hookJob, serviceJob } from "./job-text.ts";
import type { SuiteWorld } from "./suite-world.ts";

interface Stub {
  readonly ID: string;
  readonly ParentID: string;
}

/** Hooks: in order, once, bounded; a failure before the register leaves the job untouched, one after it undoes nothing. */
export function hookCases(world: () => SuiteWorld): void {
  preHookCases(world);
  postHookCases(world);
  slowPostHookCase(world);
  declaredHookCases(world);
}

async function runsOf(world: SuiteWorld, hook: string): Promise<number> {
  const jobs = await world.nomad<readonly Stub[]>("GET", `/v1/jobs?prefix=${hook}`);
  return jobs.filter((job) => job.ParentID !== "").length;
}

function preHookCases(world: () => SuiteWorld): void {
  it("pre- and post-hooks run in order, each once", async () => {
    await world().commit({
      "first.hcl": hookJob("first", "true"),
      "second.hcl": hookJob("second", "true"),
      "after.hcl": hookJob("after", "true"),
      "hooked.hcl": serviceJob({ id: "hooked", meta: { nops_pre_hook: "first,second", nops_post_hook: "after" } }),
    });
    const { id } = await world().untilDeployment("hooked", (row) => row.state === "completed");
    const detail = await world().deployment(id);
    expect(detail.hook_runs.map((run) => [run.phase, run.job, run.state])).toEqual([
      ["pre", "first", "succeeded"],
      ["pre", "second", "succeeded"],
      ["post", "after", "succeeded"],
    ]);
    expect(await Promise.all(["first", "second", "after"].map((hook) => runsOf(world(), hook)))).toEqual([1, 1, 1]);
  });

  it("a failing pre-hook fails the deployment and leaves the job alone; a retry runs it once more; mended, it goes through", async () => {
    const files = {
      "migrate.hcl": hookJob("migrate", "echo no space left >&2; exit 3"),
      "guarded.hcl": serviceJob({ id: "guarded", meta: { nops_pre_hook: "migrate" } }),
    };
    await world().commit(files);
    const failed = await world().untilDeployment("guarded", (row) => row.state === "failed");
    const detail = await world().deployment(failed.id);
    expect(detail.error).toMatch(/migrate/);
    expect(detail.error).toMatch(/\b3\b/);
    expect(detail.hook_runs[0]?.log_tail).toContain("no space left");
    await expect(world().nomad("GET", "/v1/job/guarded")).rejects.toThrow("404");
    await world().untilJob("guarded", (job) => job.sync === "blocked");
    const again = await world().nops.post<{ id: string }>(`/api/v1/deployments/${failed.id}/retry`);
    await world().untilDeployment("guarded", (row) => row.id === again.id && row.state === "failed");
    expect(await runsOf(world(), "migrate")).toBe(2);
    await world().commit({ "migrate.hcl": hookJob("migrate", "exit 0") });
    await world().untilDeployment("guarded", (row) => row.id > again.id && row.state === "completed");
  });

  it("a pre-hook that runs too long is stopped and fails the deployment", async () => {
    await world().commit({
      "slow.hcl": hookJob("slow", "sleep 600", "1s"),
      "late.hcl": serviceJob({ id: "late", meta: { nops_pre_hook: "slow" } }),
    });
    const failed = await world().untilDeployment("late", (row) => row.state === "failed");
    const { hook_runs: runs } = await world().deployment(failed.id);
    expect(runs).toMatchObject([{ state: "timed_out" }]);
    expect(failed.reason).toBe("hook_timed_out");
    const child = await world().nomad<{ Stop: boolean }>("GET", `/v1/job/${encodeURIComponent(runs[0]?.dispatched_job ?? "")}`);
    expect(child.Stop).toBe(true);
  });
}

function postHookCases(world: () => SuiteWorld): void {
  it("a failing post-hook fails the deployment but the new version stays; a retry only verifies", async () => {
    await world().commit({
      "smoke.hcl": hookJob("smoke", "exit 1"),
      "live.hcl": serviceJob({ id: "live", meta: { nops_post_hook: "smoke" } }),
    });
    const failed = await world().untilDeployment("live", (row) => row.state === "failed");
    expect(failed.applied_index).not.toBeNull();
    const before = await world().nomad<{ Version: number }>("GET", "/v1/job/live");
    const successor = await world().nops.post<{ id: string; mode: string }>(`/api/v1/deployments/${failed.id}/retry`);
    expect(successor.mode).toBe("verify");
    await world().untilDeployment("live", (row) => row.id === successor.id && row.state === "failed");
    expect(await world().nomad("GET", "/v1/job/live")).toMatchObject({ Version: before.Version });
    expect(await runsOf(world(), "smoke")).toBe(2);
  });
}

function slowPostHookCase(world: () => SuiteWorld): void {
  it("a post-hook that runs too long is stopped and fails the deployment, and the new version stays", async () => {
    await world().commit({
      "endless.hcl": hookJob("endless", "sleep 600", "1s"),
      "kept.hcl": serviceJob({ id: "kept", meta: { nops_post_hook: "endless" } }),
    });
    const failed = await world().untilDeployment("kept", (row) => row.state === "failed");
    expect(failed).toMatchObject({ reason: "hook_timed_out", applied_index: expect.any(Number) });
    const { hook_runs: runs } = await world().deployment(failed.id);
    expect(runs).toMatchObject([{ phase: "post", state: "timed_out" }]);
    const child = await world().nomad<{ Stop: boolean }>("GET", `/v1/job/${encodeURIComponent(runs[0]?.dispatched_job ?? "")}`);
    expect(child.Stop).toBe(true);
    expect(await world().nomad("GET", "/v1/job/kept")).toMatchObject({ Stop: false, Version: 0 });
    await world().untilJob("kept", (job) => job.blocked_by === failed.id || job.sync === "sync");
  });
}

function declaredHookCases(world: () => SuiteWorld): void {
  it("a changed hook needs a new approval", async () => {
    const meta = { nops_policy: "approval", nops_pre_hook: "gate" };
    await world().commit({ "gate.hcl": hookJob("gate", "true"), "gated.hcl": serviceJob({ id: "gated", meta }) });
    const seen = await world().untilDeployment("gated", (row) => row.state === "pending_approval");
    await world().commit({ "gate.hcl": hookJob("gate", "true && true") });
    const fresh = await world().untilDeployment("gated", (row) => row.id !== seen.id && row.state === "pending_approval");
    expect(fresh.spec_hash).not.toBe(seen.spec_hash);
    expect((await world().refusal(`/api/v1/deployments/${fresh.id}/approve`, { spec_hash: seen.spec_hash })).code).toBe(
      "stale_approval",
    );
    await world().nops.post(`/api/v1/deployments/${fresh.id}/approve`, { spec_hash: fresh.spec_hash });
    await world().untilDeployment("gated", (row) => row.id === fresh.id && row.state === "completed");
  });

  it("a declared hook that is not in git makes a deployment that is born failed", async () => {
    await world().commit({ "missing.hcl": serviceJob({ id: "missing", meta: { nops_pre_hook: "nowhere" } }) });
    expect(await world().untilDeployment("missing", (row) => row.state === "failed")).toMatchObject({ reason: "hook_missing" });
  });
}
