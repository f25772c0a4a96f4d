/** How much is asked of Nomad, counted by a proxy (design D5): the promises of "detection by change". */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { createSimulator, type Simulator } from "../simulator/server.ts";
import { type CountingProxy, startCountingProxy } from "../testkit/counting-proxy.ts";
import { type LiveOperator, startLiveOperator } from "../testkit/live-operator.ts";

const jobCount = 1_000;
const idleMs = 60_000;

let simulator: Simulator;
let listening: Awaited<ReturnType<Simulator["listen"]>>;
let proxy: CountingProxy;
let nops: LiveOperator;

function jobFile(index: number, text = "one"): string {
  return `job "job-${index}" {
  type = "service"
  meta {
    nops_managed = "true"
    nops_policy  = "auto"
  }
  group "g" {
    count = 0
    task "t" {
      driver = "raw_exec"
      config { command = "/bin/${text}" }
    }
  }
}
`;
}

function fileName(index: number): string {
  return `jobs/job-${index}.nomad.hcl`;
}

interface Jobs {
  readonly jobs: readonly { readonly job: string; readonly sync: string; readonly commit: string }[];
}

const allInSync = ({ jobs }: Jobs): boolean => jobs.length === jobCount && jobs.every((job) => job.sync === "sync");

beforeAll(async () => {
  simulator = createSimulator({ clock: systemClock });
  listening = await simulator.listen(0);
  proxy = await startCountingProxy(listening.address);
  const files = Object.fromEntries(Array.from({ length: jobCount }, (_, index) => [fileName(index), jobFile(index)]));
  nops = await startLiveOperator({ nomad: proxy.address, files });
  await nops.until<Jobs>("/api/v1/jobs", allInSync, 400_000);
}, 450_000);

afterAll(async () => {
  await nops.stop();
  await proxy.close();
  await listening.close();
});

describe(`${jobCount} jobs`, () => {
  it("idle: no plan, no parse, no read of a job for a minute, and at most one list", async () => {
    await systemClock.sleep(3_000);
    proxy.reset();
    await systemClock.sleep(idleMs);
    const counts = proxy.counts();
    console.log(`idle for ${idleMs / 1000} s: ${JSON.stringify(counts)}`);
    expect(counts).toMatchObject({ plan: 0, parse: 0, read_job: 0, register: 0, health: 0 });
    expect(counts.list).toBeLessThanOrEqual(1);
  }, 90_000);

  it("one job edited outside: at most seven calls until it is as git says again", async () => {
    proxy.reset();
    const live = (await (await fetch(`${listening.address}/v1/job/job-7`)).json()) as Record<string, unknown>;
    await fetch(`${listening.address}/v1/jobs`, { method: "POST", body: JSON.stringify({ Job: { ...live, Priority: 70 } }) });
    await expectPriority("job-7", 50);
    await nops.until<{ sync: string }>("/api/v1/jobs/default/job-7", (job) => job.sync === "sync");
    const { health, event_stream: _stream, ...rest } = proxy.counts();
    const total = Object.values(rest).reduce((sum, count) => sum + count, 0);
    console.log(`one job edited outside: ${total} calls, ${health} health reads beside them: ${JSON.stringify(rest)}`);
    expect(total, proxy.calls().join("\n")).toBeLessThanOrEqual(7);
  });

  it("a commit that changes k files: at most 5 k + 2 calls beside health reads", async () => {
    const changed = [11, 12, 13, 14, 15];
    proxy.reset();
    const sha = await nops.repository.commit({
      files: Object.fromEntries(changed.map((index) => [fileName(index), jobFile(index, "two")])),
    });
    await nops.post("/api/v1/fetch");
    await nops.until<Jobs>("/api/v1/jobs", (answer) => allInSync(answer) && answer.jobs.every((job) => job.commit === sha));
    await nops.until<{ deployments: { commit_sha: string; state: string }[] }>(
      "/api/v1/deployments?limit=20",
      ({ deployments }) =>
        deployments.filter((row) => row.commit_sha === sha && row.state === "completed").length === changed.length,
    );
    const { list, parse, plan, register, read_job } = proxy.counts();
    const total = list + parse + plan + register + read_job;
    console.log(`${changed.length} files changed: ${total} calls: ${JSON.stringify({ list, parse, plan, register, read_job })}`);
    expect(total, proxy.calls().join("\n")).toBeLessThanOrEqual(5 * changed.length + 2);
    expect(parse).toBe(changed.length);
    expect(register).toBe(changed.length);
  });
});

async function expectPriority(job: string, priority: number): Promise<void> {
  const deadline = systemClock.now() + 20_000;
  for (;;) {
    const live = (await (await fetch(`${listening.address}/v1/job/${job}`)).json()) as { Priority: number };
    if (live.Priority === priority) return;
    if (systemClock.now() > deadline) expect(live.Priority).toBe(priority);
    await systemClock.sleep(25);
  }
}
