/** The demo as a person meets it: an address, jobs, a commit that changes a job, and what became of it. Simulated and, where there is one, real Nomad. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../cmd/system-clock.ts";
import { type NopsProcess, runNops, startNopsProcess } from "../testkit/nops-process.ts";
import { findNomad, startRealNomad } from "../testkit/real-nomad.ts";

interface World {
  /** What the demo finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const binary = await findNomad();
const worlds: [string, () => Promise<World>][] = [["a simulated Nomad", async () => ({ env: {}, stop: async () => undefined })]];
if (binary === undefined) console.warn("demo: no `nomad` on PATH; tried on the simulator only");
else {
  worlds.push([
    "the Nomad of NOMAD_ADDR",
    async () => {
      const nomad = await startRealNomad(binary);
      return { env: { NOMAD_ADDR: nomad.address }, stop: () => nomad.stop() };
    },
  ]);
}

/** From the poll or the fetch to the changed job in Nomad. */
const changeWithinMs = 3_000;
const pollMs = 1_000;

describe.each(worlds)("nops demo with %s", (kind, start) => {
  let world: World;
  let demo: NopsProcess;
  let addressAfterMs: number;
  let nomad: string;
  let repository: string;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    world = await start();
    const begun = systemClock.now();
    demo = startNopsProcess(["demo", "--port", "0"], { env: world.env });
    const [, address = "", token = ""] = await demo.printed(/export NOPS_ADDR=(\S+) NOPS_TOKEN_FILE=(\S+)/);
    addressAfterMs = systemClock.now() - begun;
    env = { NOPS_ADDR: address, NOPS_TOKEN_FILE: token };
    nomad = (await demo.printed(/Nomad\s+(\S+)/))[1] ?? "";
    repository = (await demo.printed(/Repository\s+(\S+)/))[1] ?? "";
  }, 120_000);

  afterAll(async () => {
    demo.kill("SIGTERM");
    await demo.finished;
    await world.stop();
  }, 60_000);

  async function nops(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runNops(args, { env });
    expect(code, stderr).toBe(0);
    return stdout;
  }

  function commit(change: (text: string) => string): number {
    const file = join(repository, "apps/web.nomad.hcl");
    writeFileSync(file, change(readFileSync(file, "utf8")));
    execFileSync("git", ["commit", "-qam", "Another web"], { cwd: repository });
    return systemClock.now();
  }

  async function untilCount(count: number): Promise<number> {
    const deadline = systemClock.now() + 60_000;
    for (;;) {
      const live = (await (await fetch(`${nomad}/v1/job/web`)).json()) as { TaskGroups: readonly { Count: number }[] };
      if (live.TaskGroups[0]?.Count === count) return systemClock.now();
      if (systemClock.now() > deadline)
        throw new Error(`web has ${live.TaskGroups[0]?.Count} allocations, not ${count}\n${demo.stderr()}`);
      await systemClock.sleep(20);
    }
  }

  it("prints an address within a minute, and says which Nomad it uses", () => {
    console.log(`${kind}: the address after ${addressAfterMs} ms`);
    expect(addressAfterMs).toBeLessThan(60_000);
    if (world.env["NOMAD_ADDR"] !== undefined) expect(nomad).toBe(world.env["NOMAD_ADDR"]);
  });

  it("lists its jobs: one deployed, one that waits for a person, one periodic, and the broken file among the issues", async () => {
    // No wait before it: whoever follows the greeting at once finds the jobs.
    expect(await nops("jobs")).toMatch(/web /);
    await nops("wait", "web", "--timeout", "60s");
    await nops("wait", "nightly", "--timeout", "60s");
    const { jobs } = JSON.parse(await nops("jobs", "--json")) as { jobs: readonly { job: string; sync: string }[] };
    expect(Object.fromEntries(jobs.map(({ job, sync }) => [job, sync]))).toEqual({
      web: "sync",
      nightly: "sync",
      shop: "pending",
    });
    const issues = JSON.stringify(await (await fetch(`${env["NOPS_ADDR"]}/api/v1/status`)).json());
    expect(issues).toContain("apps/broken.nomad.hcl");
  });

  it("changes a job within three seconds of the poll after a commit", async () => {
    const committed = commit((text) => text.replace("count = 2", "count = 3"));
    const tookMs = (await untilCount(3)) - committed;
    console.log(`${kind}: changed ${tookMs} ms after the commit, polls every ${pollMs} ms`);
    expect(tookMs).toBeLessThan(pollMs + changeWithinMs);
  });

  it("changes a job within three seconds of a fetch", async () => {
    await nops("wait", "web", "--timeout", "60s");
    const secret = (text: string): string => text.replace("not-a-real-secret", "another-canary-9f2c");
    commit((text) => secret(text).replace("count = 3", "count = 1"));
    const asked = systemClock.now();
    await fetch(`${env["NOPS_ADDR"]}/api/v1/fetch`, {
      method: "POST",
      headers: { authorization: `Bearer ${readFileSync(env["NOPS_TOKEN_FILE"] ?? "", "utf8").trim()}` },
    });
    const tookMs = (await untilCount(1)) - asked;
    console.log(`${kind}: changed ${tookMs} ms after the fetch`);
    expect(tookMs).toBeLessThan(changeWithinMs);
  });

  it("shows what a deployment changed without its secrets, and its events", async () => {
    await nops("wait", "web", "--timeout", "60s");
    await expect(nops("wait", "wbe", "--timeout", "60s")).rejects.toThrow('no job "wbe"');
    const { deployments } = JSON.parse(await nops("deployments", "--job", "web", "--json")) as {
      deployments: readonly { id: string; state: string; commit_subject: string }[];
    };
    expect(deployments[0]).toMatchObject({ state: "completed", commit_subject: "Another web" });
    const shown = await nops("deployment", deployments[0]?.id ?? "");
    expect(shown).toMatch(/Count: "3" => "1"/);
    expect(shown).toMatch(/Env\[API_TOKEN\]: "<redacted>" => "<redacted>"/);
    expect(shown).not.toMatch(/not-a-real-secret|another-canary/);
    for (const event of ["detected", "registered at index", "applying → completed"]) expect(shown).toContain(event);
  });

  it("leaves nothing of its own behind", async () => {
    demo.kill("SIGTERM");
    expect((await demo.finished).code).toBe(0);
    expect(existsSync(repository)).toBe(false);
  });
});
