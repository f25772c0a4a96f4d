/** Rules of hooks, dependencies, windows, blocks and retries that no other end-to-end test shows, with the real process. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeploymentDetailJson, DeploymentJson, JobDetailJson, JobJson } from "../api/contract.ts";
import { runNops } from "../testkit/nops-process.ts";
import { DoorWorld, hookCall } from "./suites/door-world.ts";
import { hookJob, serviceJob } from "./suites/job-text.ts";

let world: DoorWorld;

beforeAll(async () => {
  world = await DoorWorld.open();
  await world.begin();
});

afterAll(() => world.close());

const ended = (job: string, state: string, id?: string): Promise<DeploymentJson> =>
  world.deployment(job, (row) => row.state === state && (id === undefined || row.id === id));
const hooked = (job: string, meta: Readonly<Record<string, string>>, more: Partial<Parameters<typeof serviceJob>[0]> = {}) => ({
  [`${job}.hcl`]: serviceJob({ id: job, meta, ...more }),
});

interface Child {
  readonly Meta: Readonly<Record<string, string>>;
  readonly ParentID: string;
}

const childOf = async (hook: string): Promise<Child> => {
  const [id = ""] = await world.children(hook);
  return world.nomad<Child>("GET", `/v1/job/${encodeURIComponent(id)}`);
};

describe("hooks", () => {
  it("dispatch meta: a hook is told the deployment, the job, the commit, the phase, and only what it declares", async () => {
    const sha = await world.commit({ "told.hcl": hookJob("told", "true"), ...hooked("teller", { nops_pre_hook: "told" }) });
    const { id } = await ended("teller", "completed");
    const { Meta } = await childOf("told");
    expect(Meta).toMatchObject({ nops_deployment_id: id, nops_job_id: "teller", nops_phase: "pre" });
    // The hook declares no key for it.
    expect(Object.values(Meta)).not.toContain(sha);
  });

  it("freezing: what runs is the hook as it was when the deployment was made, whatever git has by then", async () => {
    await world.commit({
      "opening.hcl": hookJob("opening", "true"),
      "closing.hcl": hookJob("closing", "true"),
      ...hooked("frozen", { nops_pre_hook: "opening,closing" }),
    });
    const first = await ended("frozen", "completed");
    const before = (await world.detail("frozen")).hooks.map(({ revision }) => revision);
    const stop = world.door.stop("request", hookCall("opening", "dispatch"));
    await world.commit(hooked("frozen", { nops_pre_hook: "opening,closing" }, { count: 2 }));
    await stop.reached;
    const seen = await world.deployment("frozen", ({ id }) => id !== first.id);
    await world.commit({ "closing.hcl": hookJob("closing", "true && true") });
    await world.nops.until<JobJson>("/api/v1/jobs/default/frozen", ({ spec_hash }) => spec_hash !== seen.spec_hash);
    stop.letGo();
    const { hook_runs: runs } = await world.nops.until<DeploymentDetailJson>(
      `/api/v1/deployments/${seen.id}`,
      ({ state }) => state === "completed",
    );
    expect(runs.map(({ revision }) => revision)).toEqual(before);
  });

  it("phantom children (N§17): a child that Nomad named and that never was is looked for by its token, and none runs twice", async () => {
    const { faults } = world.place.simulator;
    // The first request takes effect and a proxy refuses it; the repeated one is answered with a child that does not exist.
    faults.add({ kind: "status_after", method: "PUT", path: "/v1/job/ghostly-*/dispatch", status: 429, times: 1 });
    faults.phantomDispatch = 1;
    await world.commit({ "ghostly.hcl": hookJob("ghostly", "true"), ...hooked("haunted", { nops_pre_hook: "ghostly" }) });
    const { id } = await ended("haunted", "completed");
    faults.phantomDispatch = 0;
    expect(world.door.count(hookCall("ghostly", "dispatch"))).toBe(2);
    const { hook_runs: runs } = await world.nops.get<DeploymentDetailJson>(`/api/v1/deployments/${id}`);
    expect(await world.children("ghostly")).toEqual([runs[0]?.dispatched_job]);
  });

  it("a hook that failed in part is stopped: what of it still runs does not go on behind the failed deployment", async () => {
    const text = hookJob("split", "exit 1");
    const group = text.slice(text.indexOf('  group "main" {'), text.lastIndexOf("}"));
    const other = group.replace('group "main"', 'group "other"').replace("exit 1", "sleep 86400");
    await world.commit({
      "split.hcl": `${text.slice(0, text.lastIndexOf("}"))}${other}}\n`,
      ...hooked("splitter", { nops_pre_hook: "split" }),
    });
    expect(await ended("splitter", "failed")).toMatchObject({ reason: "hook_failed" });
    const [child = ""] = await world.children("split");
    const live = await world.nomad<{ Stop: boolean }>("GET", `/v1/job/${encodeURIComponent(child)}`);
    expect(live.Stop).toBe(true);
  });

  it("the tail of the hook's log is redacted", async () => {
    await world.commit({
      "chatty.hcl": hookJob("chatty", "echo connecting with password=hunter2hunter2 >&2; exit 1"),
      ...hooked("chatted", { nops_pre_hook: "chatty" }),
    });
    await ended("chatted", "failed");
    const { hook_runs: runs } = await world.detail("chatted");
    expect(runs[0]?.log_tail).toContain("connecting with password=");
    expect(runs[0]?.log_tail).not.toContain("hunter2");
    expect(world.nops.process.stdout() + world.nops.process.stderr()).not.toContain("hunter2hunter2");
  });
});

describe("dependencies", () => {
  it("nops_depends_on waits while a dependency's deployment of the same commit is unfinished", async () => {
    await world.commit({
      ...hooked("below", { nops_policy: "approval" }),
      ...hooked("above", { nops_depends_on: "below" }),
    });
    const { id, spec_hash } = await ended("below", "pending_approval");
    const { jobs } = await world.nops.until<{ jobs: JobJson[] }>("/api/v1/jobs", (page) =>
      page.jobs.some(({ job, reason }) => job === "above" && reason === "waiting_for_dependency"),
    );
    expect(jobs.find(({ job }) => job === "above")?.last_deployment).toBeNull();
    await world.nops.post(`/api/v1/deployments/${id}/approve`, { spec_hash });
    const [first, second] = [await ended("below", "completed"), await ended("above", "completed")];
    expect(Date.parse(second.created_at)).toBeGreaterThanOrEqual(Date.parse(first.updated_at));
  });

  it("cycles are errors at check, each with its file and line", async () => {
    const files = { ...hooked("hen", { nops_depends_on: "egg" }), ...hooked("egg", { nops_depends_on: "hen" }) };
    await world.commit(files);
    const checked = await runNops(["check", world.place.repository.dir, "--offline"]);
    expect(checked.code).toBe(1);
    const said = checked.stdout + checked.stderr;
    expect(said).toMatch(/egg\.hcl:\d+: error: .*default\/egg → default\/hen → default\/egg/);
    expect(said).toMatch(/hen\.hcl:\d+: error: .*default\/hen → default\/egg → default\/hen/);
  });

  it("cycles are errors at detection, and nothing of them starts", async () => {
    const { jobs } = await world.nops.until<{ jobs: JobJson[] }>(
      "/api/v1/jobs",
      (page) => page.jobs.filter(({ reason }) => reason === "dependency_cycle").length === 2,
    );
    const round = jobs.filter(({ reason }) => reason === "dependency_cycle");
    expect(round.map(({ job, last_deployment }) => [job, last_deployment]).toSorted()).toEqual([
      ["egg", null],
      ["hen", null],
    ]);
    await world.commit({ ...hooked("egg", {}) });
    await ended("egg", "completed");
    await ended("hen", "completed");
  });
});

describe("block and retry", () => {
  it("block: a failure before the register ends when the live job changes, without anybody's word", async () => {
    await world.commit({ "gate.hcl": hookJob("gate", "exit 1"), ...hooked("blocked", { nops_pre_hook: "gate" }) });
    const failed = await ended("blocked", "failed");
    await world.nops.until<JobDetailJson>(
      "/api/v1/jobs/default/blocked",
      ({ sync, blocked_by }) => sync === "blocked" && blocked_by === failed.id,
    );
    const task = { Name: "main", Driver: "raw_exec", Config: { command: "/bin/sleep", args: ["86400"] } };
    const Job = { ID: "blocked", Type: "service", Datacenters: ["*"], TaskGroups: [{ Name: "main", Tasks: [task] }] };
    await world.nomad("POST", "/v1/jobs", { Job });
    const next = await world.deployment("blocked", ({ id, state }) => id !== failed.id && state === "failed");
    expect(next).toMatchObject({ retry_of: null });
    expect(next.base_index).toBeGreaterThan(failed.base_index);
  });

  it("verify mode: a retry with --reschedule asks Nomad to place again, registers nothing, and runs the post-hooks", async () => {
    await world.commit({ "smoke.hcl": hookJob("smoke", "exit 1"), ...hooked("verified", { nops_post_hook: "smoke" }) });
    const failed = await ended("verified", "failed");
    const version = await world.nomad<{ Version: number }>("GET", "/v1/job/verified");
    const said = await world.nops.cli("retry", failed.id, "--reschedule", "--json");
    expect(said.code, said.stderr).toBe(0);
    const successor = JSON.parse(said.stdout) as DeploymentJson;
    expect(successor).toMatchObject({ mode: "verify", retry_of: failed.id });
    await ended("verified", "failed", successor.id);
    const detail = await world.nops.get<DeploymentDetailJson>(`/api/v1/deployments/${successor.id}`);
    expect(detail.events.map(({ reason }) => reason)).toContain("reschedule_requested");
    expect(detail.hook_runs.map(({ phase, state }) => [phase, state])).toEqual([["post", "failed"]]);
    expect(world.door.count(({ method, path }) => method === "PUT" && path === "/v1/job/verified/evaluate")).toBe(1);
    expect(await world.nomad("GET", "/v1/job/verified")).toMatchObject({ Version: version.Version });
    expect(world.registers("verified")).toBe(1);
  });
});

describe("windows", () => {
  const openings = async (cron: string, duration: string, zone: string, from: string, to: string): Promise<unknown> => {
    const range = ["--from", from, "--to", to, "--json"];
    const said = await runNops(["windows", "--cron", cron, "--duration", duration, "--time-zone", zone, ...range]);
    expect(said.code, said.stderr).toBe(0);
    return (JSON.parse(said.stdout) as { openings: unknown }).openings;
  };

  it("zone and DST: a window is read in its zone, and a night with a change neither shortens nor lengthens it", async () => {
    expect(await openings("30 1 * * *", "2h", "Europe/Rome", "2026-03-28T00:00:00Z", "2026-03-30T12:00:00Z")).toEqual([
      { from: "2026-03-28T00:30:00.000Z", to: "2026-03-28T02:30:00.000Z" },
      { from: "2026-03-29T00:30:00.000Z", to: "2026-03-29T02:30:00.000Z" },
      { from: "2026-03-29T23:30:00.000Z", to: "2026-03-30T01:30:00.000Z" },
    ]);
  });

  it("merged: windows that touch or overlap are one", async () => {
    expect(await openings("0 1,2,5 * * *", "1h", "UTC", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z")).toEqual([
      { from: "2026-05-01T01:00:00.000Z", to: "2026-05-01T03:00:00.000Z" },
      { from: "2026-05-01T05:00:00.000Z", to: "2026-05-01T06:00:00.000Z" },
    ]);
  });

  it("allow and deny: an open deny window beats an open allow window, and Deploy now lifts it", async () => {
    const always = { nops_sync_window: "* * * * *", nops_sync_window_duration: "5m" };
    await world.commit(hooked("denied", { ...always, nops_deny_window: "* * * * *", nops_deny_window_duration: "5m" }));
    const held = await world.nops.until<{ jobs: JobJson[] }>("/api/v1/jobs", ({ jobs }) =>
      jobs.some(({ job, reason }) => job === "denied" && reason === "window_denied"),
    );
    const job = held.jobs.find((each) => each.job === "denied");
    expect(job).toMatchObject({ sync: "held", window: { open: false }, last_deployment: null });
    await world.nops.post("/api/v1/jobs/default/denied/deploy-now", { spec_hash: job?.spec_hash });
    expect(await ended("denied", "completed")).toMatchObject({ window_lifted_by: "bootstrap token" });
  });
});
