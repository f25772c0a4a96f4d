/** Backup and restore with real processes (design D34): an older database only looks until a person accepts it, wherever it came from. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { DeploymentJson, ExplanationJson, StatusJson } from "../api/contract.ts";
import { runNops } from "../testkit/nops-process.ts";
import { type ServedNops, type ServingPlace, servingPlace } from "../testkit/served-nops.ts";
import { serviceJob } from "./suites/job-text.ts";
import { nomadCaller } from "./suites/nomad-caller.ts";

let place: ServingPlace;

beforeEach(async () => {
  place = await servingPlace();
});

afterEach(() => place.close());

const commit = (version: string): Promise<string> =>
  place.repository.commit({ files: { "web.nomad.hcl": serviceJob({ id: "web", env: { VERSION: version } }) } });

const deployed = (nops: ServedNops, sha: string): Promise<DeploymentJson> =>
  nops.untilDeployment("web", (newest) => newest.commit_sha === sha && newest.state === "completed");

async function liveVersion(): Promise<string | undefined> {
  const live = await nomadCaller(place.nomad)<{ TaskGroups: { Tasks: { Env: Record<string, string> }[] }[] }>(
    "GET",
    "/v1/job/web",
  );
  return live.TaskGroups[0]?.Tasks[0]?.Env["VERSION"];
}

/** One life: a backup after the first version, and then a second one that the backup does not know. */
async function backupBetweenTwoVersions(): Promise<{ readonly file: string; readonly dataDir: string; readonly lost: string }> {
  const dataDir = join(place.folder, "data");
  const file = join(place.folder, "nops.backup");
  const nops = await place.serve(dataDir);
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
  const nops = await place.serve(dataDir);
  await nops.until<StatusJson>(
    "/api/v1/status",
    ({ mode, repositories }) => mode === "restored" && repositories[0]?.commit === third,
  );
  await nops.until<ExplanationJson>("/api/v1/jobs/default/web/explain", ({ blocking_gate }) => blocking_gate === "mode");
  const config = {
    data_dir: dataDir,
    nomad: { address: place.nomad },
    repositories: [{ name: "main", url: place.repository.dir }],
  };
  writeFileSync(join(place.folder, "nops.yml"), JSON.stringify(config));
  const doctor = await runNops(["doctor", "--config", join(place.folder, "nops.yml")]);
  expect(doctor.stdout).toMatch(why);
  expect(await liveVersion()).toBe("2");
  await nops.stop();
  const accepted = await runNops(["restore", "--accept", "--data-dir", dataDir]);
  expect(accepted.stdout).toContain("accepted");
  for (let start = 0; start < 2; start++) {
    const again = await place.serve(dataDir);
    if (start === 0) await deployed(again, third);
    const { mode } = await again.until<StatusJson>("/api/v1/status", ({ repositories }) => repositories[0]?.commit === third);
    expect(mode).toBe("active");
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
  const dataDir = join(place.folder, "elsewhere");
  mkdirSync(dataDir, { mode: 0o700 });
  copyFileSync(file, join(dataDir, "nops.db"));
  await looksUntilAccepted(dataDir, new RegExp(`registered as version 1 by deployment ${lost}`));
});
