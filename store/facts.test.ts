import { describe, expect, it } from "vitest";
import type { NewDeployment } from "../model/deployment.ts";
import { jobKey } from "../model/job-key.ts";
import { aFrozenHook, aMove, aNewDeployment, aPerson, aVerdict } from "../testkit/builders.ts";
import { memoryStore } from "../testkit/memory-store.ts";
import type { Store } from "./open.ts";

const key = jobKey("default", "web");

/** Creates a deployment and moves it on. */
async function lived(
  store: Store,
  over: Partial<NewDeployment>,
  ...by: readonly ("start" | "step_ok" | "fail" | "supersede" | "reject" | "in_sync")[]
) {
  let deployment = await store.create(aNewDeployment(over));
  for (const trigger of by) deployment = await store.move(deployment.id, deployment.version, aMove({ trigger }));
  return deployment;
}

async function approved(store: Store, over: Partial<NewDeployment>, ...by: readonly ("step_ok" | "fail")[]) {
  const pending = await store.create(aNewDeployment({ ...over, state: "pending_approval" }));
  const input = { id: pending.id, version: 1, specHash: pending.specHash, actor: aPerson(), comment: undefined, required: 1 };
  let deployment = (await store.approve(input)).deployment;
  for (const trigger of by) deployment = await store.move(deployment.id, deployment.version, aMove({ trigger }));
  return deployment;
}

describe("jobFacts", () => {
  it("knows nothing of an unknown job", async () => {
    expect(await memoryStore().jobFacts(key)).toEqual({
      active: undefined,
      latest: undefined,
      latestCompleted: undefined,
      jobPause: undefined,
      globalPause: undefined,
      lift: undefined,
      verdict: undefined,
      policyFloor: undefined,
      unknownRegistered: undefined,
    });
  });

  it("tells active, latest and latest completed apart, and jobs and namespaces too", async () => {
    const store = memoryStore();
    const completed = await lived(store, {}, "in_sync");
    const failed = await lived(store, {}, "fail");
    await lived(store, { jobId: "api" }, "in_sync");
    await lived(store, { namespace: "prod" });
    expect(await store.jobFacts(key)).toMatchObject({ active: undefined, latest: failed, latestCompleted: completed });
    const active = await lived(store, {});
    expect(await store.jobFacts(key)).toMatchObject({ active, latest: active, latestCompleted: completed });
    const again = await store.move(active.id, 1, aMove({ trigger: "in_sync" }));
    expect(await store.jobFacts(key)).toMatchObject({ active: undefined, latest: again, latestCompleted: again });
  });

  it("gives pauses, lift, verdict and the newest unknown difference", async () => {
    const store = memoryStore();
    await store.pauseJob(key, aPerson(), "night shift");
    await store.pauseAll(aPerson("grace"), "");
    const lift = await store.requestLift(key, "a".repeat(64), aPerson());
    const verdict = aVerdict({ failedPlacements: { web: { NodesEvaluated: 3 } }, warnings: "careful" });
    await store.saveVerdict(key, aVerdict({ drift: "none", diff: undefined }));
    await store.saveVerdict(key, verdict);
    await store.saveVerdict(jobKey("default", "api"), aVerdict({ drift: "none" }));
    for (const hash of ["1", "2", "1"]) await store.markUnknownRegistered(key, hash.repeat(64));
    const facts = await store.jobFacts(key);
    expect(facts.jobPause).toMatchObject({ pausedBy: "ada", reason: "night shift", resumedAt: undefined });
    expect(facts.globalPause).toMatchObject({ pausedBy: "grace", reason: "" });
    expect(facts).toMatchObject({ lift, verdict, unknownRegistered: "1".repeat(64) });
    expect(await store.wasUnknownRegistered(key, "2".repeat(64))).toBe(true);
    expect(await store.wasUnknownRegistered(key, "3".repeat(64))).toBe(false);
  });
});

describe("policyFloor (D31)", () => {
  const lowered = { policy: "approval", declaredPolicy: "auto" } as const;
  const strict = { policy: "approval" } as const;

  it("is none for a job that never completed under approval", async () => {
    const store = memoryStore();
    await lived(store, {}, "in_sync");
    await lived(store, { ...strict, state: "pending_approval" }, "reject");
    expect((await store.jobFacts(key)).policyFloor).toBeUndefined();
  });

  it("holds from the completion under approval until a person approved under the new policy", async () => {
    const store = memoryStore();
    await approved(store, strict, "step_ok");
    expect((await store.jobFacts(key)).policyFloor).toBe("approval");
    await lived(store, { ...lowered, state: "pending_approval" }, "reject");
    await lived(store, { ...lowered, state: "pending_approval" }, "supersede");
    await lived(store, { ...lowered, state: "pending_approval" }, "in_sync");
    expect((await store.jobFacts(key)).policyFloor).toBe("approval");
    await approved(store, lowered, "fail");
    expect((await store.jobFacts(key)).policyFloor).toBeUndefined();
  });

  it("takes the birth reason when nobody told what git declares", async () => {
    const store = memoryStore();
    await approved(store, strict, "step_ok");
    await approved(store, { ...strict, reason: "policy_lowered" }, "step_ok");
    expect((await store.jobFacts(key)).policyFloor).toBeUndefined();
  });

  it("comes back with the next completion under approval", async () => {
    const store = memoryStore();
    await approved(store, strict, "step_ok");
    await approved(store, lowered, "step_ok");
    await lived(store, {}, "in_sync");
    await approved(store, strict, "step_ok");
    expect((await store.jobFacts(key)).policyFloor).toBe("approval");
  });
});

describe("reads over all jobs", () => {
  it("lists active deployments oldest first and completed jobs once", async () => {
    const store = memoryStore();
    await lived(store, {}, "in_sync");
    await lived(store, {}, "in_sync");
    const first = await lived(store, {});
    const second = await lived(store, { jobId: "api", state: "pending_approval" });
    await lived(store, { jobId: "old" }, "supersede");
    expect(await store.activeDeployments()).toEqual([first, second]);
    expect(await store.completedJobs()).toEqual([key]);
  });

  it("names the hook revisions of active deployments only", async () => {
    const store = memoryStore();
    await lived(store, { hooks: [aFrozenHook({ hash: "1".repeat(64) })] }, "fail");
    await lived(store, { hooks: [aFrozenHook({ hash: "2".repeat(64) }), aFrozenHook({ phase: "post", hash: "2".repeat(64) })] });
    await lived(store, { namespace: "prod", hooks: [aFrozenHook({ hash: "2".repeat(64) })] });
    expect([...(await store.revisionsInUse())].sort()).toEqual(["default/migrate-22222222", "prod/migrate-22222222"]);
  });

  it("finds the newest deployment of a job at a commit", async () => {
    const store = memoryStore();
    const commitSha = "1".repeat(40);
    await lived(store, { commitSha }, "fail");
    const newer = await lived(store, { commitSha }, "in_sync");
    await lived(store, { commitSha: "2".repeat(40) });
    expect(await store.deploymentAtCommit(key, commitSha)).toEqual(newer);
    expect(await store.deploymentAtCommit(key, "3".repeat(40))).toBeUndefined();
  });

  it("counts the automatic starts of a commit: no retries, no replaced ones, no mass change", async () => {
    const store = memoryStore();
    const { commitSha } = aNewDeployment();
    const failed = await lived(store, {}, "start", "fail");
    await lived(store, { retryOf: failed.id, reason: "retry" });
    await lived(store, { jobId: "b" }, "supersede");
    await lived(store, { jobId: "c", state: "pending_approval", reason: "mass_change" });
    await lived(store, { jobId: "d", policy: "approval", state: "pending_approval" });
    await lived(store, { jobId: "e" });
    await lived(store, { jobId: "f", commitSha: "1".repeat(40) });
    await lived(store, { jobId: "g", repository: "other" });
    expect(await store.countAutomaticStarts("main", commitSha)).toBe(2);
  });
});

describe("S54: a spec changed from outside", () => {
  it.each(["job_spec", "submission", "stored_hash"])("is refused when %s was edited", async (column) => {
    const store = memoryStore();
    const created = await store.create(aNewDeployment());
    const edited = await editedCopy(store, `UPDATE deployments SET ${column} = replace(${column}, 'e', 'f')`);
    await expect(edited.deploymentSpec(created.id)).rejects.toMatchObject({ name: "TerminalError", code: "integrity" });
  });

  it.each(["spec", "hash", "revision_id"])("is refused when the %s of a frozen hook was edited", async (column) => {
    const store = memoryStore();
    const created = await store.create(aNewDeployment({ hooks: [aFrozenHook()] }));
    const edited = await editedCopy(store, `UPDATE deployment_hooks SET ${column} = replace(${column}, 'c', 'd')`);
    await expect(edited.frozenHooks(created.id)).rejects.toMatchObject({ name: "TerminalError", code: "integrity" });
  });
});

/** The same database after somebody worked on it with another program. */
async function editedCopy(store: Store, sql: string): Promise<Store> {
  const { default: Database } = await import("better-sqlite3");
  const other = new Database(Buffer.from(store.serialize()));
  expect(other.prepare(sql).run().changes).toBeGreaterThan(0);
  return memoryStore({ contents: other.serialize() });
}
