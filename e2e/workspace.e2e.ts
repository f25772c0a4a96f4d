/** The workspace from outside: the acceptance scenario on the simulator and, where there is one, on a real Nomad. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { createSimulator } from "../simulator/server.ts";
import { findNomad, startRealNomad } from "../testkit/real-nomad.ts";
import { type WorkspaceFolder, workspaceFolder } from "../testkit/workspace-process.ts";
import { parseJournal } from "../workspace/journal/read.ts";

interface Cluster {
  readonly address: string;
  stop(): Promise<void>;
}

const binary = await findNomad();
const clusters: readonly (readonly [string, () => Promise<Cluster>])[] = [
  ["the simulator", startSimulator],
  ...(binary === undefined ? [] : [["a real Nomad", () => startRealNomad(binary)] as const]),
];

async function startSimulator(): Promise<Cluster> {
  const simulator = createSimulator({ clock: systemClock });
  const listening = await simulator.listen();
  return { address: listening.address, stop: () => listening.close() };
}

const stateFile = ".nops/deploy/state.yml";

describe.each(clusters)("the acceptance scenario on %s", (_, start) => {
  let cluster: Cluster;
  let shop: WorkspaceFolder;

  beforeAll(async () => {
    cluster = await start();
    shop = workspaceFolder("examples/workspace", { NOMAD_ADDR: cluster.address });
  });
  afterAll(async () => {
    shop.remove();
    await cluster.stop();
  });

  const jobs = async (): Promise<Record<string, { Status: string; Stop: boolean; Version: number }>> => {
    const answer = await fetch(`${cluster.address}/v1/jobs`);
    const list = (await answer.json()) as { ID: string; Status: string; Stop: boolean; Version: number }[];
    return Object.fromEntries(list.map((job) => [job.ID, job]));
  };
  const deploy = async (...flags: readonly string[]) => {
    const run = await shop.run(["deploy", "run", "-y", "--json", ...flags]);
    const events = run.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { event: string; address?: string; outcome?: string });
    const outcomes = events.flatMap(({ event, address, outcome }) =>
      event === "step_finished" ? [[address ?? "", outcome] as const] : [],
    );
    return { ...run, outcomes: Object.fromEntries(outcomes) };
  };

  it("1. deploys everything: both jobs run, the journal is complete", async () => {
    const run = await deploy();
    expect(run.code, run.stderr).toBe(0);
    expect(new Set(Object.values(run.outcomes))).toEqual(new Set(["executed"]));
    expect(await jobs()).toMatchObject({ "shop-db": { Status: "running" }, "shop-api": { Status: "running" } });
    const journal = parseJournal(shop.read(stateFile));
    expect(journal.project).toMatchObject({ status: "deployed", last_run: { status: "ok" } });
    expect(journal.services).toMatchObject({ db: { status: "deployed" }, api: { status: "deployed" } });
  });

  const versions = async (): Promise<readonly number[]> => Object.values(await jobs()).map(({ Version }) => Version);

  it("2. the second run asks only the checks again, and registers nothing", async () => {
    const before = await versions();
    const run = await deploy();
    expect(run.code, run.stderr).toBe(0);
    expect(run.outcomes).toEqual({
      "db/release/register": "revalidated",
      "api/configure/settings": "skipped",
      "api/release/register": "revalidated",
      "verify/api": "revalidated",
    });
    expect(await versions()).toEqual(before);
  });

  it("a job that was stopped by hand is put right by the next run", async () => {
    for (const job of ["shop-db", "shop-api"]) await fetch(`${cluster.address}/v1/job/${job}`, { method: "DELETE" });
    expect((await shop.run(["status"])).stdout).toMatch(/api .*stopped\n.*db .*stopped/);
    const run = await deploy();
    expect(run.code, run.stderr).toBe(0);
    expect(await jobs()).toMatchObject({ "shop-db": { Stop: false }, "shop-api": { Stop: false } });
  });

  it("3. another count runs the api's scope and the check", async () => {
    shop.write({
      "workspace/services/api/service.yml": shop.read("workspace/services/api/service.yml").replace("replicas: 1", "replicas: 2"),
    });
    const run = await deploy();
    expect(run.code, run.stderr).toBe(0);
    expect(run.outcomes).toMatchObject({
      "db/release/register": "revalidated",
      "api/release/register": "executed",
      "verify/api": "executed",
    });
  });

  it("4. a broken check fails, stays refused without a word, and is resumed after the cure", async () => {
    const good = shop.read("workspace/deploy.yml");
    shop.write({
      "workspace/deploy.yml": good.replace(/nomad_jobs_running[\s\S]*$/, "file_exists\n        with:\n          path: nowhere\n"),
    });
    expect((await deploy()).code).toBe(1);
    const refused = await deploy();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/--resume.*--force/);
    shop.write({ "workspace/deploy.yml": good });
    const resumed = await deploy("--resume");
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.outcomes).toMatchObject({
      "db/release/register": "revalidated",
      "api/release/register": "revalidated",
      "verify/api": "executed",
    });
  });

  it("5. a kill in the middle of the api's wait is resumed; the db does not run again", async () => {
    shop.write({
      "workspace/services/api/service.yml": shop.read("workspace/services/api/service.yml").replace("replicas: 2", "replicas: 3"),
    });
    const running = shop.start(["deploy", "run", "-y"]);
    await running.printed(/shop-api: registered/);
    running.kill("SIGKILL");
    await running.finished;
    const resumed = await deploy("--resume");
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.outcomes).toMatchObject({ "db/release/register": "revalidated", "api/release/register": "executed" });
  });

  it("6. of two at once the second ends with 2 and names the first", async () => {
    const file = "workspace/services/api/deploy.yml";
    const hold = "      - {name: hold, type: shell, cmd: 'until test -e go; do sleep 0.1; done'}\n";
    shop.write({ [file]: shop.read(file).replace("  - name: release\n    steps:\n", `  - name: release\n    steps:\n${hold}`) });
    const first = shop.start(["deploy", "run", "-y"]);
    await first.printed(/api\/release\/hold/);
    const second = await shop.run(["deploy", "run", "-y"]);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`pid ${first.pid}`);
    shop.write({ go: "" });
    const { code, stderr } = await first.finished;
    expect(code, stderr).toBe(0);
  });

  it("7. a daemon that was stopped in Nomad is gone from the next status", async () => {
    const started = await shop.run(["command", "run", "worker.start"]);
    expect(started.code, started.stderr).toBe(0);
    expect((await shop.run(["status", "daemons"])).stdout).toContain("shop-worker-orders");
    await fetch(`${cluster.address}/v1/job/shop-worker-orders`, { method: "DELETE" });
    expect((await shop.run(["status", "daemons"])).stdout).not.toContain("shop-worker-orders");
  });

  it("8. a service that is enabled is pending until it is deployed", async () => {
    expect((await shop.run(["services", "enable", "mailer"])).code).toBe(0);
    expect((await shop.run(["status"])).stdout).toContain("deploy required for: mailer");
    const run = await deploy("--service", "mailer");
    expect(run.code, run.stderr).toBe(0);
    expect((await shop.run(["status"])).stdout).not.toContain("deploy required");
  });

  it("9. a restored snapshot is the journal as it was", async () => {
    const before = shop.read(stateFile);
    expect((await shop.run(["snapshot", "create", "before"])).code).toBe(0);
    expect((await deploy()).code).toBe(0);
    expect(shop.read(stateFile)).not.toBe(before);
    const restored = await shop.run(["snapshot", "restore", "before"]);
    expect(restored.code, restored.stderr).toBe(0);
    expect(shop.read(stateFile)).toBe(before);
  });

  it("10. a reset leaves no job of the project and no journal", async () => {
    const reset = await shop.run(["reset", "run", "-y"]);
    expect(reset.code, reset.stderr).toBe(0);
    expect(Object.keys(await jobs())).toEqual([]);
    expect(shop.has(stateFile)).toBe(false);
  });
});
