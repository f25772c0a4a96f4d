import { expect, it } from "vitest";
import { serviceJob } from "./job-text.ts";
import type { SuiteWorld } from "./suite-world.ts";

const asked = { nops_policy: "approval" };

/** Approval: bound to what was seen, stale when git or Nomad moved, blocked after a rejection. */
export function approvalCases(world: () => SuiteWorld): void {
  it("approval: waits, is approved by its hash, completes", async () => {
    await world().commit({ "asked.hcl": serviceJob({ id: "asked", meta: asked }) });
    const pending = await world().untilDeployment("asked", (row) => row.state === "pending_approval");
    await expect(world().nomad("GET", "/v1/job/asked")).rejects.toThrow("404");
    expect(await world().refusal(`/api/v1/deployments/${pending.id}/approve`, { spec_hash: "wrong" })).toEqual({
      status: 409,
      code: "stale_approval",
    });
    await world().nops.post(`/api/v1/deployments/${pending.id}/approve`, { spec_hash: pending.spec_hash, comment: "go" });
    await world().untilDeployment("asked", (row) => row.id === pending.id && row.state === "completed");
    expect((await world().deployment(pending.id)).approvals).toMatchObject([{ spec_hash: pending.spec_hash, comment: "go" }]);
  });

  it("stale approval: a newer commit supersedes what was seen", async () => {
    await world().commit({ "stale.hcl": serviceJob({ id: "stale", meta: asked }) });
    const seen = await world().untilDeployment("stale", (row) => row.state === "pending_approval");
    await world().commit({ "stale.hcl": serviceJob({ id: "stale", meta: asked, count: 2 }) });
    const newer = await world().untilDeployment("stale", (row) => row.id !== seen.id && row.state === "pending_approval");
    expect(await world().deployment(seen.id)).toMatchObject({ state: "superseded", reason: "superseded_newer_spec" });
    expect((await world().refusal(`/api/v1/deployments/${seen.id}/approve`, { spec_hash: seen.spec_hash })).status).toBe(409);
    expect((await world().refusal(`/api/v1/deployments/${newer.id}/approve`, { spec_hash: seen.spec_hash })).code).toBe(
      "stale_approval",
    );
  });

  it("outside edit while pending: superseded, and a fresh one waits over the new base", async () => {
    await world().commit({ "pending.hcl": serviceJob({ id: "pending" }) });
    await world().untilDeployment("pending", (row) => row.state === "completed");
    await world().commit({ "pending.hcl": serviceJob({ id: "pending", count: 2, meta: asked }) });
    const seen = await world().untilDeployment("pending", (row) => row.state === "pending_approval");
    const live = await world().nomad<Record<string, unknown>>("GET", "/v1/job/pending");
    await world().nomad("POST", "/v1/jobs", { Job: { ...live, Priority: 64 } });
    const fresh = await world().untilDeployment("pending", (row) => row.id !== seen.id && row.state === "pending_approval");
    expect(fresh.base_index).toBeGreaterThan(seen.base_index);
    expect(await world().deployment(seen.id)).toMatchObject({ state: "superseded", reason: "superseded_live_changed" });
  });

  it("rejected: blocked until a person retries, and the retry waits again", async () => {
    await world().commit({ "refused.hcl": serviceJob({ id: "refused", meta: asked }) });
    const seen = await world().untilDeployment("refused", (row) => row.state === "pending_approval");
    await world().nops.post(`/api/v1/deployments/${seen.id}/reject`, { comment: "not today" });
    await world().untilJob("refused", (job) => job.sync === "blocked" && job.blocked_by === seen.id);
    const successor = await world().nops.post<{ id: string; retry_of: string; state: string }>(
      `/api/v1/deployments/${seen.id}/retry`,
    );
    expect(successor).toMatchObject({ retry_of: seen.id, state: "pending_approval" });
    expect((await world().refusal(`/api/v1/deployments/${seen.id}/retry`)).status).toBe(409);
  });
}
