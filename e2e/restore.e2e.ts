/** Backup and restore with real processes (design D34): an older database only looks until a person accepts it, wherever it came from. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { DeploymentJson, ExplanationJson, StatusJson } from "../api/contract.ts";
import { systemClock } from "../cmd/system-clock.ts";
import { createSimulator } from "../simulator/server.ts";
import { type NopsProcess, runNops, startNopsProcess } from "../testkit/nops-process.ts";
import { createTempRepository, type TempRepository } from "../testkit/temp-git.ts";
import { serviceJob } from "./suites/job-text.ts";
import { nomadCaller } from "./suites/kill-ledger.ts";

const token = "restore-token";
let folder: string;
let repository: TempRepository;
let nomad: { readonly address: string; close(): Promise<void> };
const running: NopsProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "nops-restore-"));
  writeFileSync(join(folder, "token"), token, { mode: 0o600 });
  repository = await createTempRepository();
  nomad = await createSimulator({ clock: systemClock }).listen(0);
});

afterEach(async () => {
  for (const nops of running.splice(0)) {
    nops.kill("SIGKILL");
    await nops.finished;
  }
  await nomad.close();
  await repository.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Serving {
  get<T>(path: string): Promise<T>;
  until<T>(path: string, satisfied: (answer: T) => boolean): Promise<T>;
  post(path: string): Promise<number>;
  stop(): Promise<void>;
}

async function serve(dataDir: string): Promise<Serving> {
  const flags = [
    `--data-dir=${dataDir}`,
    `--nomad-address=${nomad.address}`,
    `--git-url=${repository.dir}`,
    "--git-poll-interval=1s",
    "--http-listen=127.0.0.1:0",
    `--auth-bootstrap-token-file=${join(folder, "token")}`,
  ];
  const nops = startNopsProcess(["serve", ...flags], { cwd: folder });
  running.push(nops);
  const address = (await nops.printed(/"address":"(http:[^"]+)".*\n/))[1] ?? "";
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const get = async <T>(path: string): Promise<T> => (await (await fetch(`${address}${path}`, { headers })).json()) as T;
  return {
    get,
    until: async <T>(path: string, satisfied: (answer: T) => boolean): Promise<T> => {
      const deadline = systemClock.now() + 60_000;
      for (;;) {
        const answer = await get<T>(path);
        if (satisfied(answer)) return answer;
        if (systemClock.now() > deadline) throw new Error(`${path} stayed ${JSON.stringify(answer)}`);
        await systemClock.sleep(50);
      }
    },
    post: async (path) => (await fetch(`${address}${path}`, { method: "POST", headers, body: "{}" })).status,
    stop: async () => {
      nops.kill("SIGTERM");
      expect((await nops.finished).code).toBe(0);
    },
  };
}

const commit = (version: string): Promise<string> =>
  repository.commit({ files: { "web.nomad.hcl": serviceJob({ id: "web", env: { VERSION: version } }) } });

async function deployed(nops: Serving, sha: string): Promise<DeploymentJson> {
  const path = "/api/v1/deployments?job=web&limit=1";
  const { deployments } = await nops.until<{ deployments: DeploymentJson[] }>(
    path,
    ({ deployments: [newest] }) => newest?.commit_sha === sha && newest.state === "completed",
  );
  return deployments[0] as DeploymentJson;
}

async function liveVersion(): Promise<string | undefined> {
  const live = await nomadCaller(nomad.address)<{ TaskGroups: { Tasks: { Env: Record<string, string> }[] }[] }>(
    "GET",
    "/v1/job/web",
  );
  return live.TaskGroups[0]?.Tasks[0]?.Env["VERSION"];
}

/** One life: a backup after the first version, and then a second one that the backup does not know. */
async function backupBetweenTwoVersions(): Promise<{ readonly file: string; readonly dataDir: string; readonly lost: string }> {
  const dataDir = join(folder, "data");
  const file = join(folder, "nops.backup");
  const nops = await serve(dataDir);
  await deployed(nops, await commit("1"));
  const saved = await runNops(["backup", file, "--data-dir", dataDir]);
  expect(saved.code, saved.stderr).toBe(0);
  const { id } = await deployed(nops, await commit("2"));
  await nops.stop();
  return { file, dataDir, lost: id };
}

/** It only looks, says so everywhere, and begins again after `nops restore --accept` and a restart. */
async function looksUntilAccepted(dataDir: string, why: RegExp): Promise<void> {
  const third = await commit("3");
  const nops = await serve(dataDir);
  await nops.until<StatusJson>(
    "/api/v1/status",
    ({ mode, repositories }) => mode === "restored" && repositories[0]?.commit === third,
  );
  await nops.until<ExplanationJson>("/api/v1/jobs/default/web/explain", ({ blocking_gate }) => blocking_gate === "mode");
  expect(await nops.post("/api/v1/jobs/default/web/pause")).toBeGreaterThanOrEqual(400);
  const config = { data_dir: dataDir, nomad: { address: nomad.address }, repositories: [{ name: "main", url: repository.dir }] };
  writeFileSync(join(folder, "nops.yml"), JSON.stringify(config));
  const doctor = await runNops(["doctor", "--config", join(folder, "nops.yml")]);
  expect(doctor.stdout).toMatch(why);
  expect(await liveVersion()).toBe("2");
  await nops.stop();
  const accepted = await runNops(["restore", "--accept", "--data-dir", dataDir]);
  expect(accepted.stdout).toContain("accepted");
  for (let start = 0; start < 2; start++) {
    const again = await serve(dataDir);
    if (start === 0) await deployed(again, third);
    await again.until<StatusJson>("/api/v1/status", ({ repositories }) => repositories[0]?.commit === third);
    expect((await again.get<StatusJson>("/api/v1/status")).mode).toBe("active");
    await again.stop();
  }
  expect(await liveVersion()).toBe("3");
  const verified = await runNops(["audit", "verify", "--data-dir", dataDir]);
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
}

it("nops restore FILE: only looks until it is accepted", async () => {
  const { file, dataDir } = await backupBetweenTwoVersions();
  const restored = await runNops(["restore", file, "--data-dir", dataDir]);
  expect(restored.code, restored.stderr).toBe(0);
  await looksUntilAccepted(dataDir, /restored from a backup that ended with event \d+/);
});

it("an older copy in a new folder, where no file beside it can tell: Nomad's versions do", async () => {
  const { file, lost } = await backupBetweenTwoVersions();
  const dataDir = join(folder, "elsewhere");
  mkdirSync(dataDir, { mode: 0o700 });
  copyFileSync(file, join(dataDir, "nops.db"));
  await looksUntilAccepted(dataDir, new RegExp(`registered as version 1 by deployment ${lost}`));
});
