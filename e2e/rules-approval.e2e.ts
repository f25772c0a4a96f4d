/**
 * Who may let a deployment go, with the real process under strict settings: two approvers, no author among them, a floor for a namespace, a
 * brake on large commits; and what a later life still holds.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeploymentDetailJson, DeploymentJson, EventJson, ExplanationJson } from "../api/contract.ts";
import { runNops } from "../testkit/nops-process.ts";
import { DoorWorld } from "./suites/door-world.ts";
import { serviceJob } from "./suites/job-text.ts";

const asked = { nops_policy: "approval" };
const dayMs = 24 * 3_600_000;
const config = {
  nomad: { namespaces: ["default", "guarded"] },
  approval: { required: 2, author_may_approve: false, min_policy: { guarded: "approval" } },
  engine: { max_new_deployments_per_cycle: 2 },
};

let world: DoorWorld;
let ann: string;
let bob: string;
let author: string;

beforeAll(async () => {
  world = await DoorWorld.open();
  await fetch(`${world.place.nomad}/v1/namespace/guarded`, { method: "POST", body: JSON.stringify({ Name: "guarded" }) });
  await world.begin({ config });
  [ann, bob, author] = await Promise.all([tokenOf("ann"), tokenOf("bob"), tokenOf("Test Author")]);
});

afterAll(() => world.close());

/** The commits of the test's repository are Test Author's. */
async function tokenOf(name: string): Promise<string> {
  const grants = ["read", "approve"].flatMap((capability) => ["--capability", capability]);
  const made = await runNops(["token", "create", name, ...grants, "--data-dir", world.dataDir]);
  expect(made.code, made.stderr).toBe(0);
  return made.stdout.trim();
}

const pending = (job: string): Promise<DeploymentJson> => world.deployment(job, ({ state }) => state === "pending_approval");
const completed = (job: string): Promise<DeploymentJson> => world.deployment(job, ({ state }) => state === "completed");

const approve = ({ id, spec_hash }: DeploymentJson, secret: string): Promise<DeploymentJson> =>
  world.nops.post(`/api/v1/deployments/${id}/approve`, { spec_hash }, secret);

async function bothApprove(deployment: DeploymentJson): Promise<void> {
  await approve(deployment, ann);
  await approve(deployment, bob);
}

describe("approval controller", () => {
  it("N approvers: two different people, and the same one twice counts once", async () => {
    await world.commit({ "two.hcl": serviceJob({ id: "two", meta: asked }) });
    const seen = await pending("two");
    expect(await approve(seen, ann)).toMatchObject({ state: "pending_approval" });
    expect(await approve(seen, ann)).toMatchObject({ state: "pending_approval" });
    const detail = await world.nops.get<DeploymentDetailJson>(`/api/v1/deployments/${seen.id}`);
    expect(detail).toMatchObject({ approvals_required: 2, approvals: [{ actor: "ann" }] });
    expect(world.registers("two")).toBe(0);
    expect(await approve(seen, bob)).toMatchObject({ state: "applying", decided_by: expect.stringContaining("bob") });
    await completed("two");
  });

  it("author may be excluded: the commit's author may not approve it", async () => {
    await world.commit({ "own.hcl": serviceJob({ id: "own", meta: asked }) });
    const { id, spec_hash } = await pending("own");
    expect(await world.nops.refusal(`/api/v1/deployments/${id}/approve`, { spec_hash }, author)).toEqual({
      status: 409,
      code: "own_commit",
    });
    expect(world.registers("own")).toBe(0);
  });

  it("a policy floor per namespace: auto in git waits for a person there, and nowhere else", async () => {
    await world.commit({
      "inside.hcl": serviceJob({ id: "inside", namespace: "guarded" }),
      "outside.hcl": serviceJob({ id: "outside" }),
    });
    expect(await pending("inside")).toMatchObject({ namespace: "guarded", policy: "approval" });
    await completed("outside");
  });

  it("approve with a check of that one job at that moment: stale is 409 with what changed", async () => {
    await world.commit({ "moved.hcl": serviceJob({ id: "moved", meta: asked }) });
    const seen = await pending("moved");
    // Nobody tells nops of the edit.
    world.place.simulator.faults.skipEvents = 1;
    const task = { Name: "main", Driver: "raw_exec", Config: { command: "/bin/true" } };
    await world.nomad("POST", "/v1/jobs", {
      Job: { ID: "moved", Type: "service", Datacenters: ["*"], TaskGroups: [{ Name: "main", Tasks: [task] }] },
    });
    const words = await approve(seen, ann).catch((error: unknown) => String(error));
    world.place.simulator.faults.skipEvents = 0;
    expect(words).toMatch(/409 .*stale_approval.*somebody changed the live job/);
    expect(await world.nops.get(`/api/v1/deployments/${seen.id}`)).toMatchObject({ reason: "superseded_live_changed" });
    expect(world.registers("moved")).toBe(0);
  });

  it("a scaling move keeps the approval (D6): it goes on at the new index, with the count of the moment", async () => {
    const group = "    scaling {\n      min = 1\n      max = 5\n    }\n";
    await world.commit({ "scaled.hcl": serviceJob({ id: "scaled", group }) });
    await completed("scaled");
    await world.commit({ "scaled.hcl": serviceJob({ id: "scaled", group, meta: asked, env: { V: "2" } }) });
    const seen = await pending("scaled");
    await approve(seen, ann);
    await world.nomad("POST", "/v1/job/scaled/scale", { Count: 3, Target: { Group: "main" } });
    await world.nops.until<DeploymentDetailJson>(`/api/v1/deployments/${seen.id}`, ({ events }) =>
      events.some((event) => event.reason === "base_refreshed"),
    );
    expect(await approve(seen, bob)).toMatchObject({ id: seen.id, state: "applying" });
    await completed("scaled");
    expect(await world.nomad("GET", "/v1/job/scaled")).toMatchObject({ TaskGroups: [{ Count: 3 }] });
  });

  it("a commit that lowers its own policy is judged by the stricter of old and new (D31), until a person approved once", async () => {
    const job = (V: string, nops_policy: string) => ({
      "lower.hcl": serviceJob({ id: "lower", meta: { nops_policy }, env: { V } }),
    });
    await world.commit(job("1", "approval"));
    await bothApprove(await pending("lower"));
    const first = await completed("lower");
    await world.commit(job("2", "auto"));
    const lowered = await world.deployment("lower", ({ id, state }) => id !== first.id && state === "pending_approval");
    const { events } = await world.nops.get<DeploymentDetailJson>(`/api/v1/deployments/${lowered.id}`);
    expect(events.map((event) => event.reason)).toContain("policy_lowered");
    await bothApprove(lowered);
    await world.deployment("lower", ({ id, state }) => id === lowered.id && state === "completed");
    await world.commit(job("3", "auto"));
    const free = await world.deployment("lower", ({ id, state }) => id !== lowered.id && state === "completed");
    expect(free).toMatchObject({ policy: "auto", decided_by: null });
  });
});

describe("brake", () => {
  const jobs = ["mass-0", "mass-1", "mass-2", "mass-3"];

  it("brake (D32): a commit starts so many by itself, and the others wait for a person as a mass change", async () => {
    await world.commit(Object.fromEntries(jobs.map((id) => [`${id}.hcl`, serviceJob({ id })])));
    const { deployments } = await world.nops.until<{ deployments: DeploymentJson[] }>(
      "/api/v1/deployments?limit=50",
      (page) => page.deployments.filter(({ job, state }) => jobs.includes(job) && isSettled(state)).length === jobs.length,
    );
    const ours = deployments.filter(({ job }) => jobs.includes(job));
    expect(ours.map(({ state }) => state).toSorted()).toEqual(["completed", "completed", "pending_approval", "pending_approval"]);
    const [braked] = ours.filter(({ state }) => state === "pending_approval");
    if (braked === undefined) throw new Error("nothing waits");
    expect((await world.detail(braked.job)).events.map((event) => event.reason)).toContain("mass_change");
    const { gates } = await world.nops.get<ExplanationJson>(`/api/v1/jobs/default/${braked.job}/explain`);
    expect(gates.find(({ result }) => result === "fail")).toMatchObject({
      gate: "approval",
      fact: expect.stringMatching(/more jobs/),
    });
    await bothApprove(braked);
    await completed(braked.job);
  });

  const isSettled = (state: string): boolean => state === "completed" || state === "pending_approval";
});

describe("four hundred days later", () => {
  let waiting: DeploymentJson;
  const deploymentsOf = (job: string): readonly string[] => world.read("SELECT id FROM deployments WHERE job_id = ?", job);

  beforeAll(async () => {
    waiting = await pending("own");
    expect(deploymentsOf("lower")).toHaveLength(3);
    await world.kill();
    await world.begin({ laterMs: 400 * dayMs, config: { ...config, retention: { deployments: 30, events: 30 } } });
  });

  it("pending never expires: it is approved as it was", async () => {
    expect((await pending("own")).id).toBe(waiting.id);
    // Once git was read; before that nobody could tell whether it still wants this.
    await world.nops.until<ExplanationJson>(
      "/api/v1/jobs/default/own/explain",
      ({ blocking_gate }) => blocking_gate === "approval",
    );
    await bothApprove(waiting);
    expect(await completed("own")).toMatchObject({ id: waiting.id });
  });

  it("retention: old ended deployments and events go, what decides the next step and an unbroken audit log stay", async () => {
    await world.nops.until<{ events: EventJson[] }>("/api/v1/events?limit=200", ({ events }) =>
      events.some((event) => event.kind === "events_removed"),
    );
    expect(deploymentsOf("lower")).toHaveLength(1);
    expect(await completed("lower")).toMatchObject({ policy: "auto" });
    const { events } = await world.nops.get<{ events: EventJson[] }>("/api/v1/events?job=lower&limit=200");
    expect(events).toEqual([]);
    const verified = await runNops(["audit", "verify", "--data-dir", world.dataDir]);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  });
});
