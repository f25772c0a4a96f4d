/** People's commands against a running nops (contract §1): what they show, what they ask, how they end. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DeploymentDetailJson, DeploymentJson, ExplanationJson, StatusJson } from "../api/contract.ts";
import { systemClock } from "../cmd/system-clock.ts";
import { type Finished, runNops } from "../testkit/nops-process.ts";
import { type ServedNops, type ServingPlace, servingPlace } from "../testkit/served-nops.ts";
import { hookJob, serviceJob } from "./suites/job-text.ts";

let place: ServingPlace;
let nops: ServedNops;

beforeAll(async () => {
  place = await servingPlace();
  nops = await place.serve(join(place.folder, "data"));
});

afterAll(() => place.close());

const asked = { nops_policy: "approval" };
const commit = async (files: Readonly<Record<string, string | null>>): Promise<string> => {
  const sha = await place.repository.commit({ files });
  const { code, stderr } = await nops.cli("fetch");
  expect(code, stderr).toBe(0);
  return sha;
};

/** Fails with what the command said. */
async function ends(code: number, ...args: readonly string[]): Promise<Finished> {
  const finished = await nops.cli(...args);
  expect(finished.code, `nops ${args.join(" ")}\n${finished.stdout}${finished.stderr}`).toBe(code);
  return finished;
}

async function json<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse((await ends(0, ...args, "--json")).stdout) as T;
}

const pending = (job: string): Promise<DeploymentJson> =>
  nops.untilDeployment(job, (deployment) => deployment.state === "pending_approval");

describe("approve, reject, retry, wait", () => {
  it("approve shows the diff, asks, and approves exactly what it showed", async () => {
    const sha = await commit({
      "gate.hcl": hookJob("gate", "true"),
      "asked.hcl": serviceJob({ id: "asked", meta: { ...asked, nops_pre_hook: "gate" } }),
    });
    const { id } = await pending("asked");
    expect((await json<DeploymentDetailJson>("deployment", "asked")).id).toBe(id);
    expect((await json<DeploymentDetailJson>("deployment", id.slice(0, -1))).id).toBe(id);
    expect((await ends(4, "deployment", "01ZZZZZZ")).stderr).toContain("begins with 01ZZZZZZ");
    expect((await ends(1, "wait", "asked", "--timeout", "1s")).stderr).toContain(`(nops approve ${id})`);
    const unasked = await ends(2, "approve", "asked");
    expect(unasked.stderr).toContain('+ job "asked"');
    expect(unasked.stderr).toContain("run pre-hook gate");
    expect(unasked.stderr).toContain("--yes");
    expect(unasked.stdout).toBe("");
    const approved = await json<DeploymentJson>("approve", id, "--yes", "--comment", "go");
    expect(approved).toMatchObject({ id, state: "pre_hook" });
    await ends(0, "wait", "asked", "--commit", sha, "--timeout", "60s");
    const detail = await json<DeploymentDetailJson>("deployment", id);
    expect(detail).toMatchObject({ state: "completed", approvals: [{ comment: "go" }] });
    expect((await ends(3, "approve", id, "--yes")).stderr).toContain("does not wait for approval: it is completed");
    await ends(4, "approve", "01J0000000000000000000000A", "--yes");
    expect((await ends(5, "approve", id, "--yes", "--addr", "http://127.0.0.1:1")).stderr).toContain("127.0.0.1:1");
  });

  it("reject blocks; wait tells; retry makes one successor and no second", async () => {
    await commit({ "refused.hcl": serviceJob({ id: "refused", meta: asked }) });
    const { id } = await pending("refused");
    await ends(0, "reject", id, "--comment", "not today");
    await nops.until<ExplanationJson>("/api/v1/jobs/default/refused/explain", ({ blocking_gate }) => blocking_gate === "blocked");
    expect((await ends(0, "explain", "refused")).stdout).toMatch(/was rejected by/);
    expect((await ends(1, "wait", "refused", "--timeout", "5s")).stderr).toContain("rejected");
    const successor = await json<DeploymentJson>("retry", id);
    expect(successor).toMatchObject({ retry_of: id, state: "pending_approval" });
    await ends(3, "retry", id);
    await ends(0, "approve", successor.id, "--yes");
    await ends(0, "wait", "default/refused", "--timeout", "60s");
  });
});

describe("a rollout that fails", () => {
  it("is told as a block by jobs, explain and wait, although the live job equals git", async () => {
    const sha = await commit({ "falls.hcl": serviceJob({ id: "falls", fails: true }) });
    await nops.untilDeployment("falls", (deployment) => deployment.state === "failed");
    const waited = await ends(1, "wait", "falls", "--commit", sha, "--timeout", "30s");
    expect(waited.stderr).toMatch(/default\/falls: deployment \w{26} failed: .*unhealthy/);
    expect((await ends(0, "jobs", "--state", "blocked")).stdout).toContain("falls");
    expect((await ends(0, "explain", "falls")).stdout).toMatch(/failed after it was registered .*blocked_applied/);
    expect((await ends(2, "jobs", "--state", "bad")).stderr).toContain("blocked");
    await commit({ "falls.hcl": serviceJob({ id: "falls" }) });
    await ends(0, "wait", "falls", "--timeout", "60s");
  });
});

describe("an edit outside of nops", () => {
  it("is named as the cause of the deployment that undoes it", async () => {
    await commit({ "edited.hcl": serviceJob({ id: "edited" }) });
    const first = await nops.untilDeployment("edited", (deployment) => deployment.state === "completed");
    const live = (await (await fetch(`${place.nomad}/v1/job/edited`)).json()) as Readonly<Record<string, unknown>>;
    const body = JSON.stringify({ Job: { ...live, Priority: 77 } });
    expect((await fetch(`${place.nomad}/v1/jobs`, { method: "POST", body })).status).toBe(200);
    const second = await nops.untilDeployment(
      "edited",
      (deployment) => deployment.id !== first.id && deployment.state === "completed",
    );
    const { events } = await json<DeploymentDetailJson>("deployment", second.id);
    expect(events.map((event) => event.reason)).toContain("changed_outside");
    expect((await ends(0, "events", "--job", "edited")).stdout).toContain("changed outside of nops");
  });
});

describe("pause, resume, windows, deploy-now", () => {
  it("a pause needs a reason, holds, is told beside what stands before it, and ends once", async () => {
    await commit({ "held.hcl": serviceJob({ id: "held" }) });
    await ends(0, "wait", "held", "--timeout", "60s");
    await ends(2, "pause", "held");
    await ends(2, "pause");
    await ends(0, "pause", "held", "--reason", "freeze for the fair");
    await ends(3, "pause", "held", "--reason", "again");
    const { stdout } = await ends(0, "explain", "held");
    expect(stdout).toContain("the live job equals git");
    expect(stdout).toContain("freeze for the fair");
    await ends(0, "resume", "held");
    await ends(3, "resume", "held");
    await ends(4, "pause", "nowhere", "--reason", "x");
  });

  it("a pause of everything refuses approvals until it ends", async () => {
    await commit({ "waits.hcl": serviceJob({ id: "waits", meta: asked }) });
    const { id } = await pending("waits");
    await ends(0, "pause", "--all", "--reason", "incident");
    expect((await ends(3, "approve", id, "--yes")).stderr).toContain("incident");
    await ends(0, "resume", "--all");
    await ends(3, "resume", "--all");
    await ends(0, "approve", id, "--yes");
    await ends(0, "wait", "waits", "--timeout", "60s");
  });

  it("windows tells when; deploy-now shows the diff, asks, and lifts the window once", async () => {
    const at = new Date(systemClock.now() + 3_600_000);
    const meta = { nops_sync_window: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`, nops_sync_window_duration: "10m" };
    await commit({ "later.hcl": serviceJob({ id: "later", meta }) });
    await nops.until<ExplanationJson>("/api/v1/jobs/default/later/explain", ({ blocking_gate }) => blocking_gate === "window");
    expect((await ends(0, "windows", "later")).stdout).toContain(at.toISOString().slice(11, 16));
    const unasked = await ends(2, "deploy-now", "later");
    expect(unasked.stderr).toContain("later");
    await ends(0, "deploy-now", "later", "--yes");
    await ends(0, "wait", "later", "--timeout", "60s");
    await ends(3, "deploy-now", "later", "--yes");
  });
});

describe("promote and fail", () => {
  it("let canaries go on, or end the rollout", async () => {
    const update = "      canary = 1";
    const files = (version: string) => ({
      "good.hcl": serviceJob({ id: "good", update, env: { V: version } }),
      "bad.hcl": serviceJob({ id: "bad", update, env: { V: version } }),
    });
    await commit(files("1"));
    await ends(0, "wait", "good", "--timeout", "60s");
    await ends(0, "wait", "bad", "--timeout", "60s");
    await commit(files("2"));
    const waiting = (job: string) => nops.untilDeployment(job, (deployment) => deployment.awaiting_promotion_since !== null);
    const [good, bad] = [await waiting("good"), await waiting("bad")];
    await ends(0, "promote", good.id);
    await ends(0, "fail", bad.id);
    await nops.untilDeployment("good", ({ id, state }) => id === good.id && state === "completed");
    await nops.untilDeployment("bad", ({ id, state }) => id === bad.id && state === "failed");
    await ends(3, "promote", good.id);
    await ends(3, "fail", bad.id);
  });
});

describe("a hook whose outcome nobody knows (design D33)", () => {
  it("is settled by a person, and only then tried again", async () => {
    place.simulator.faults.add({ kind: "drop_before", path: "*/dispatch*", times: 1 });
    await commit({
      "lost.hcl": hookJob("lost", "true"),
      "behind.hcl": serviceJob({ id: "behind", meta: { nops_pre_hook: "lost" } }),
    });
    const failed = await nops.untilDeployment("behind", ({ state }) => state === "failed");
    expect(failed.reason).toBe("hook_unknown");
    const { hook_runs: runs } = await json<DeploymentDetailJson>("deployment", failed.id);
    const run = runs[0]?.id ?? "";
    expect((await ends(3, "retry", failed.id)).stderr).toContain("lost");
    await ends(2, "hook", "resolve", run, "perhaps");
    await ends(4, "hook", "resolve", "01J0000000000000000000000A", "ran");
    await ends(0, "hook", "resolve", run, "did-not-run");
    await ends(0, "retry", failed.id);
    await ends(0, "wait", "behind", "--timeout", "60s");
  });
});

describe("completion", () => {
  it("offers the names that the command takes, and none that a shell would run", async () => {
    await commit({
      "named.hcl": serviceJob({ id: "named", meta: asked }),
      "evil.hcl": serviceJob({ id: "$(touch-x)", meta: asked }),
    });
    const { id } = await pending("named");
    await nops.until<{ jobs: { job: string }[] }>("/api/v1/jobs", ({ jobs }) => jobs.some(({ job }) => job.startsWith("$(")));
    const offered = async (...words: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await ends(0, "complete", "--", ...words);
      return stdout.split("\n").map((line) => line.split("\t")[0] ?? "");
    };
    for (const words of [
      ["job", ""],
      ["explain", ""],
      ["events", "--job", ""],
      ["wait", "na"],
    ]) {
      const names = await offered(...words);
      expect(names, words.join(" ")).toContain("named");
      expect(names.join(" ")).not.toContain("touch");
    }
    expect(await offered("approve", "")).toContain(id);
    expect(await offered("retry", "")).not.toContain(id);
    expect(await offered("fetch", "")).toContain("main");
    await commit({ "named.hcl": null, "evil.hcl": null });
  });
});

describe("status operator", () => {
  it("shows what the API says, and the place of a mistake", async () => {
    await commit({ "mistake.hcl": 'job "mistake" {\n  group "g" {\n    nosuch = 1\n  }\n}\n' });
    const { repositories } = await nops.until<StatusJson>(
      "/api/v1/status",
      (status) => status.repositories[0]?.issues.some(({ file }) => file === "mistake.hcl") ?? false,
    );
    expect(repositories[0]?.issues.find(({ file }) => file === "mistake.hcl")).toMatchObject({
      line: 3,
      message: 'Unsupported argument; An argument named "nosuch" is not expected here.',
    });
    const { stdout, stderr } = await ends(0, "status", "operator");
    expect(stdout).toMatch(/^nops: +\d.*, active, at http/m);
    expect(stdout).toMatch(/^main +main +\w{8} .*1 error, 0 warnings/m);
    expect(stderr).toContain("main: mistake.hcl:3: Unsupported argument");
    const { queues, loops } = await json<StatusJson>("status", "operator");
    expect(Object.keys(queues)).toEqual(Object.keys(loops));
    await commit({ "mistake.hcl": null });
  });
});

describe("fetch --accept (design D32)", () => {
  it("lets a commit take effect that removes most jobs", async () => {
    const { jobs } = await json<{ jobs: { job: string }[] }>("jobs");
    expect(jobs.length).toBeGreaterThan(5);
    const removed = await commit(Object.fromEntries(jobs.slice(1).map(({ job }) => [`${job}.hcl`, null])));
    const { repositories } = await nops.until<StatusJson>(
      "/api/v1/status",
      (status) => status.repositories[0]?.held_commit !== null,
    );
    expect(repositories[0]?.held_commit).toBe(removed);
    await ends(0, "fetch", "main", "--accept");
    await nops.until<StatusJson>("/api/v1/status", (status) => status.repositories[0]?.commit === removed);
    expect((await ends(4, "fetch", "nowhere")).stderr).toContain("main");
  });
});

describe("without a server", () => {
  it.each(["bash", "zsh", "fish"])("completion %s prints a script", async (shell) => {
    const { code, stdout } = await runNops(["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toContain("nops");
  });

  it("completion of bash can be read twice, and completes commands", () => {
    const words = "COMP_WORDS=(nops expl); COMP_CWORD=1; __nops_complete; echo $COMPREPLY";
    const nopsAtHand = `nops() { ${process.execPath} dist/cmd/nops.js "$@"; }`;
    const script = `${nopsAtHand}; nops completion bash >"$1"; . "$1"; . "$1"; compopt() { :; }; ${words}`;
    const ran = spawnSync("bash", ["-uc", script, "bash", join(place.folder, "completion.bash")], { encoding: "utf8" });
    expect(ran).toMatchObject({ status: 0, stderr: "", stdout: "explain\n" });
  });

  it("completion offers no names without one", async () => {
    const { code, stdout, stderr } = await runNops(["complete", "--", "job", ""], { env: { NOPS_ADDR: "http://127.0.0.1:1" } });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: ":4\n", stderr: "" });
  });

  it("help, version, and a misspelt command", async () => {
    expect((await runNops(["--help"])).stdout).toContain("approve");
    expect((await runNops(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+/);
    const misspelt = await runNops(["aprove", "x"]);
    expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining("approve") });
  });
});
