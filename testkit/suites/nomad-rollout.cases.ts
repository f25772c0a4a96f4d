import { describe, expect, it } from "vitest";
import type { NomadDeployment } from "../../model/nomad.ts";
import { type Bench, eventually, failure, PATIENCE_MS, parsed, registered, script, sleeper } from "./nomad-server.ts";

const TEST_MS = PATIENCE_MS + 10_000;

export function rolloutCases(use: () => Bench): void {
  describe("what follows a register", () => {
    placingCases(use);
    canaryCases(use);
    laterCases(use);
  });
  describe("a batch job", () => batchCases(use));
}

function placingCases(use: () => Bench): void {
  it("is an evaluation, an allocation of that version, and a deployment that succeeds", { timeout: TEST_MS }, async () => {
    const bench = use();
    const id = bench.id("roll");
    const key = bench.key(id);
    await registered(bench, sleeper(id));
    const live = await bench.client.readJob(key);
    const deployment = await deploymentWith(bench, id, (found) => found.Status === "successful");
    expect(deployment).toMatchObject({
      JobID: id,
      Namespace: "default",
      JobVersion: 0,
      JobCreateIndex: live?.CreateIndex,
      JobSpecModifyIndex: live?.JobModifyIndex,
      TaskGroups: { main: { DesiredTotal: 1, PlacedAllocs: 1, HealthyAllocs: 1, UnhealthyAllocs: 0, DesiredCanaries: 0 } },
    });
    expect(await bench.client.readNomadDeployment(deployment.ID)).toMatchObject({ ID: deployment.ID });
    const evaluations = await bench.client.listEvaluations(key);
    const registering = evaluations.find(({ TriggeredBy }) => TriggeredBy === "job-register");
    expect(registering).toMatchObject({ Status: "complete", Type: "service", JobID: id, JobModifyIndex: live?.JobModifyIndex });
    expect(await bench.client.readEvaluation(registering?.ID ?? "")).toMatchObject({ DeploymentID: deployment.ID });
    const [allocation] = await bench.client.listAllocations(key);
    expect(allocation).toMatchObject({
      JobID: id,
      JobVersion: 0,
      TaskGroup: "main",
      DesiredStatus: "run",
      ClientStatus: "running",
      DeploymentStatus: { Healthy: true },
      TaskStates: { sleep: { State: "running", Failed: false } },
    });
    expect(await bench.client.readJob(key)).toMatchObject({
      Status: "running",
      Stable: true,
      JobModifyIndex: live?.JobModifyIndex,
    });
  });

  it("is a blocked evaluation when no node fits", async () => {
    const bench = use();
    const id = bench.id("blocked");
    await registered(
      bench,
      sleeper(id, { extra: `constraint {\n    attribute = "\${node.class}"\n    value     = "none"\n  }` }),
    );
    const complete = await eventually("the evaluation", async () => {
      const found = await bench.client.listEvaluations(bench.key(id));
      return found.find(({ Status, TriggeredBy }) => Status === "complete" && TriggeredBy === "job-register");
    });
    expect(complete.BlockedEval).toMatch(/^[0-9a-f-]{36}$/);
    expect(complete.FailedTGAllocs?.["main"]).toMatchObject({ NodesEvaluated: 1, NodesFiltered: 1 });
  });
}

function canaryCases(use: () => Bench): void {
  it("waits for a promotion where there are canaries, and knows its own end", { timeout: TEST_MS }, async () => {
    const bench = use();
    const id = bench.id("canary");
    const canary = (args: string) => sleeper(id, { args }).replace("update {", "update {\n    canary = 1");
    await registered(bench, canary("3600"));
    await deploymentWith(bench, id, ({ Status }) => Status === "successful");
    for (const [args, version] of [
      ["3601", 1],
      ["3602", 2],
    ] as const) {
      const live = await bench.client.readJob(bench.key(id));
      const source = { source: canary(args), format: "hcl2", variables: "" } as const;
      await bench.client.register(await parsed(bench, canary(args)), live?.JobModifyIndex ?? 0, source);
      const waiting = await deploymentWith(
        bench,
        id,
        (found) => found.JobVersion === version && (found.TaskGroups?.["main"]?.HealthyAllocs ?? 0) === 1,
      );
      expect(waiting).toMatchObject({ Status: "running", TaskGroups: { main: { Promoted: false, DesiredCanaries: 1 } } });
      expect(waiting.StatusDescription).toBe("Deployment is running but requires manual promotion");
      if (version === 1) {
        await bench.client.promote(waiting.ID);
        await deploymentWith(bench, id, ({ ID, Status }) => ID === waiting.ID && Status === "successful");
        await failure("refused", bench.client.promote(waiting.ID));
      } else {
        await bench.client.failDeployment(waiting.ID);
        const failed = await deploymentWith(bench, id, ({ ID, Status }) => ID === waiting.ID && Status === "failed");
        expect(failed.StatusDescription).toMatch(/^Deployment marked as failed/);
      }
    }
    const ids = (await bench.client.listNomadDeployments(bench.key(id))).map(({ JobVersion }) => JobVersion);
    expect(ids).toEqual([2, 1, 0]);
  });
}

function laterCases(use: () => Bench): void {
  it("can be scaled and evaluated again", { timeout: TEST_MS }, async () => {
    const bench = use();
    const id = bench.id("scale");
    const key = bench.key(id);
    await registered(
      bench,
      sleeper(id, {}).replace("count = 1", "count = 1\n    scaling {\n      min = 0\n      max = 4\n    }"),
    );
    await deploymentWith(bench, id, ({ Status }) => Status === "successful");
    const before = await bench.client.readJob(key);
    await bench.client.scaleGroup(key, "main", 2);
    const after = await bench.client.readJob(key);
    expect(after?.TaskGroups?.[0]?.Count).toBe(2);
    expect(after?.JobModifyIndex).toBeGreaterThan(before?.JobModifyIndex ?? 0);
    await bench.client.reschedule(key);
    await failure("not_found", bench.client.reschedule(bench.key("nothing-here")));
  });

  it("is nothing for a deployment that does not exist", async () => {
    const { client } = use();
    const nobody = "11111111-2222-3333-4444-555555555555";
    expect(await client.readNomadDeployment(nobody)).toBeUndefined();
    expect(await client.readEvaluation(nobody)).toBeUndefined();
    await failure("not_found", client.promote(nobody));
    await failure("not_found", client.failDeployment(nobody));
  });
}

function batchCases(use: () => Bench): void {
  it("runs to its end, and the tail of its log can be read", { timeout: TEST_MS }, async () => {
    const bench = use();
    const id = bench.id("batch");
    const key = bench.key(id);
    await registered(bench, script(id, "echo first; echo second >&2; echo äöü"));
    await eventually("the end of the job", async () => ((await bench.client.readJob(key))?.Status === "dead" ? true : undefined));
    const [allocation] = await bench.client.listAllocations(key);
    expect(allocation).toMatchObject({ ClientStatus: "complete", TaskStates: { run: { State: "dead", Failed: false } } });
    const tail = (stream: "stdout" | "stderr", bytes: number) =>
      bench.client.readLogTail("default", allocation?.ID ?? "", "run", stream, bytes);
    expect(await tail("stdout", 2_000)).toBe("first\näöü\n");
    expect(await tail("stderr", 2_000)).toBe("second\n");
    expect(await tail("stdout", 4)).toBe("ü\n");
    await failure("refused", bench.client.readLogTail("default", allocation?.ID ?? "", "nobody", "stdout", 10));
  });

  it("that fails says so on its allocation", { timeout: TEST_MS }, async () => {
    const bench = use();
    const id = bench.id("bad");
    await registered(bench, script(id, "exit 3"));
    const failed = await eventually("the failed allocation", async () =>
      (await bench.client.listAllocations(bench.key(id))).find(({ ClientStatus }) => ClientStatus === "failed"),
    );
    expect(failed.TaskStates?.["run"]).toMatchObject({ State: "dead", Failed: true });
    const ended = failed.TaskStates?.["run"]?.Events?.find(({ Type }) => Type === "Terminated");
    expect(ended?.Details).toMatchObject({ exit_code: "3" });
  });
}

function deploymentWith(bench: Bench, id: string, wanted: (deployment: NomadDeployment) => boolean): Promise<NomadDeployment> {
  return eventually("the deployment", async () => (await bench.client.listNomadDeployments(bench.key(id))).find(wanted));
}
