/** Which process may act: one on a database, the others wait for it; one that only looks never writes. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { JobJson, StatusJson } from "../api/contract.ts";
import { systemClock } from "../cmd/system-clock.ts";
import { startNopsProcess } from "../testkit/nops-process.ts";
import { type ServingPlace, servingPlace } from "../testkit/served-nops.ts";
import { serviceJob } from "./suites/job-text.ts";

let place: ServingPlace;

beforeEach(async () => {
  place = await servingPlace();
});

afterEach(() => place.close());

async function answer(address: string, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${address}${path}`);
  return { status: response.status, text: await response.text() };
}

it("a second process stands by, says so, and takes over when the first dies (design D17)", async () => {
  const dataDir = join(place.folder, "data");
  const first = await place.serve(dataDir);
  await place.repository.commit({ files: { "web.nomad.hcl": serviceJob({ id: "web" }) } });
  await first.untilDeployment("web", (deployment) => deployment.state === "completed");
  const port = 20_000 + (first.process.pid % 20_000);
  const address = `http://127.0.0.1:${port}`;
  const second = startNopsProcess(
    [
      "serve",
      `--data-dir=${dataDir}`,
      `--nomad-address=${place.nomad}`,
      `--git-url=${place.repository.dir}`,
      "--git-poll-interval=1s",
      `--http-listen=127.0.0.1:${port}`,
      "--auth-anonymous-read",
    ],
    { cwd: place.folder },
  );
  try {
    await second.printed(/another nops holds the database/);
    const until = async (path: string, status: number): Promise<string> => {
      const deadline = systemClock.now() + 60_000;
      for (;;) {
        const seen = await answer(address, path).catch(() => ({ status: 0, text: "" }));
        if (seen.status === status) return seen.text;
        if (systemClock.now() > deadline) throw new Error(`${path} stayed ${seen.status}: ${seen.text}${second.stderr()}`);
        await systemClock.sleep(50);
      }
    };
    expect(await until("/healthz", 200)).toContain("standby");
    expect(JSON.parse(await until("/readyz", 503))).toMatchObject({
      ready: false,
      reasons: { standby: `process ${first.process.pid} holds the database` },
    });
    expect(await until("/api/v1/jobs", 503)).toContain('"code":"standby"');
    first.process.kill("SIGKILL");
    await second.printed(/this nops takes over/);
    await until("/readyz", 200);
    await place.repository.commit({ files: { "web.nomad.hcl": serviceJob({ id: "web", count: 2 }) } });
    const deadline = systemClock.now() + 60_000;
    for (;;) {
      const { jobs } = JSON.parse(await until("/api/v1/jobs", 200)) as { jobs: JobJson[] };
      if (jobs[0]?.sync === "sync" && jobs[0].last_deployment?.base_index !== 0) break;
      if (systemClock.now() > deadline) throw new Error(`it did not go on: ${JSON.stringify(jobs)}`);
      await systemClock.sleep(50);
    }
  } finally {
    second.kill("SIGKILL");
    await second.finished;
  }
});

it("serve --read-only detects and shows, refuses decisions, and writes nothing to Nomad", async () => {
  await place.repository.commit({ files: { "web.nomad.hcl": serviceJob({ id: "web" }) } });
  const nops = await place.serve(join(place.folder, "data"), "--read-only");
  const { jobs } = await nops.until<{ jobs: JobJson[] }>("/api/v1/jobs", (page) => page.jobs[0]?.drift === true);
  expect(jobs[0]).toMatchObject({ sync: "drift", reason: "read_only", last_deployment: null });
  expect((await nops.get<StatusJson>("/api/v1/status")).mode).toBe("read_only");
  expect((await nops.cli("deploy-now", "web", "--yes")).code).toBe(3);
  expect(await nops.status("GET", "/readyz")).toBe(200);
  const live = await fetch(`${place.nomad}/v1/jobs`);
  expect(await live.json()).toEqual([]);
  await nops.stop();
});
