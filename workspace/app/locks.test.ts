import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { NomadError } from "../../model/errors.ts";
import type { FileLock } from "../../model/lock.ts";
import { flockFileLock } from "../../store/lock.ts";
import { type TestWorkspace, testWorkspace } from "../../testkit/workspace.ts";
import { fakeNomad } from "../../testkit/workspace-nomad.ts";
import { pipeline, ran, shellStep, twoServices } from "../../testkit/workspace-steps.ts";
import { viewPlan } from "./deploy-plan.ts";
import { bothLocks, withLocks } from "./locks.ts";
import { resetRun } from "./reset.ts";
import { createSnapshot } from "./snapshot.ts";
import { clearState, repairState } from "./state.ts";
import { deployStatus } from "./status.ts";
import { explainStep } from "./why.ts";

const deployLock = ".nops/deploy/deploy.lock";
const snapshotLock = ".nops/snapshots/snapshot.lock";

/** Another process that holds a lock with its PID in the file, as a running deploy does. */
async function holder(workspace: TestWorkspace, file: string): Promise<number> {
  const path = join(workspace.root, file);
  mkdirSync(dirname(path), { recursive: true });
  const script = 'exec 9<>"$1"; flock -xn 9 && printf %s $$ >&9 && echo ready && exec sleep 60';
  const child = spawn("sh", ["-c", script, "sh", path], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return child.pid ?? 0;
}

const host = (workspace: TestWorkspace): { root: string; lock: FileLock } => ({ root: workspace.root, lock: flockFileLock() });
const nothing = async (): Promise<string> => "done";

describe("project locks", () => {
  it("case 65: a free lock is taken: own PID, 0644, folders made", async () => {
    const workspace = testWorkspace({});
    await withLocks(host(workspace), bothLocks, async () => {
      for (const file of [deployLock, snapshotLock]) {
        expect(workspace.read(file)).toBe(String(process.pid));
        expect(statSync(join(workspace.root, file)).mode & 0o777).toBe(0o644);
      }
    });
  });
  it("case 66, 69: a held lock is refused at once with its PID, and the second one is not touched", async () => {
    const workspace = testWorkspace({});
    const pid = await holder(workspace, deployLock);
    const began = performance.now();
    await expect(withLocks(host(workspace), bothLocks, nothing)).rejects.toMatchObject({
      code: "lock_held",
      message: `deploy operation in progress: pid ${pid} (wait for it to finish or kill it and retry)`,
    });
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(existsSync(join(workspace.root, snapshotLock))).toBe(false);
  });
  it("case 67: a PID of nobody is no obstacle", async () => {
    const workspace = testWorkspace({ [deployLock]: "4194303" });
    await withLocks(host(workspace), ["deploy"], async () => {
      expect(workspace.read(deployLock)).toBe(String(process.pid));
    });
  });
  it("case 68: released, taken again, released twice; the file stays", async () => {
    const workspace = testWorkspace({});
    expect(await withLocks(host(workspace), bothLocks, nothing)).toBe("done");
    expect(await withLocks(host(workspace), bothLocks, nothing)).toBe("done");
    expect(existsSync(join(workspace.root, deployLock))).toBe(true);
    const outcome = flockFileLock().acquire(join(workspace.root, deployLock));
    if (!outcome.held) throw new Error("the lock is free");
    outcome.lock.release();
    outcome.lock.release();
    expect(await withLocks(host(workspace), bothLocks, nothing)).toBe("done");
  });
  it("are taken deploy first and given back in reverse", async () => {
    const order: string[] = [];
    const lock: FileLock = {
      acquire(path) {
        const name = path.endsWith("deploy.lock") ? "deploy" : "snapshot";
        order.push(`take ${name}`);
        return { held: true, lock: { release: () => void order.push(`release ${name}`) }, stalePid: undefined };
      },
      holder: () => undefined,
    };
    await withLocks({ root: "/nowhere", lock }, bothLocks, nothing);
    expect(order).toEqual(["take deploy", "take snapshot", "release snapshot", "release deploy"]);
  });
  it("are given back when the work fails", async () => {
    const workspace = testWorkspace({});
    await expect(withLocks(host(workspace), bothLocks, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await withLocks(host(workspace), bothLocks, nothing)).toBe("done");
  });
  it("case 70: a held snapshot lock is named, and the deploy lock is free afterwards", async () => {
    const workspace = testWorkspace({});
    const pid = await holder(workspace, snapshotLock);
    await expect(withLocks(host(workspace), bothLocks, nothing)).rejects.toMatchObject({
      message: expect.stringContaining(`snapshot operation in progress: pid ${pid}`),
    });
    expect(await withLocks(host(workspace), ["deploy"], nothing)).toBe("done");
  });
  it("case 73: a live holder of another user is a holder", async () => {
    const workspace = testWorkspace({});
    // PID 1 is alive and, for everybody but root, not ours to signal.
    const pid = await holder(workspace, deployLock);
    writeFileSync(join(workspace.root, deployLock), "1");
    expect(pid).toBeGreaterThan(1);
    await expect(withLocks(host(workspace), ["deploy"], nothing)).rejects.toMatchObject({
      message: expect.stringContaining("pid 1 "),
    });
  });
  it("case 74: while a deploy runs, what only reads works", async () => {
    const workspace = testWorkspace(twoServices, { lock: flockFileLock() });
    await workspace.deploy();
    await holder(workspace, deployLock);
    const session = workspace.session();
    expect(deployStatus(session)[0]).toMatchObject({ status: "deployed" });
    expect(viewPlan(session, undefined).decisions.size).toBe(5);
    expect(session.store.load().project.status).toBe("deployed");
    expect(explainStep(session, "a/go/a1").run).toBe(false);
  });
  it("case 75: while a deploy runs, what writes is refused", async () => {
    const workspace = testWorkspace(twoServices, { lock: flockFileLock() });
    await workspace.deploy();
    const pid = await holder(workspace, deployLock);
    const session = workspace.session();
    for (const operation of [
      () => clearState(session),
      () => repairState(session),
      () => createSnapshot(session, "one"),
      () => resetRun(session, { skipPreflight: true }),
      () => workspace.deploy({ force: true }),
    ]) {
      await expect(operation()).rejects.toMatchObject({ code: "lock_held", message: expect.stringContaining(`pid ${pid}`) });
    }
    expect(workspace.journal().project.status).toBe("deployed");
  });
  it("case 76: when Nomad cannot be reached, no lock file comes to be", async () => {
    const nomad = fakeNomad();
    nomad.ping = async () => {
      throw new NomadError("connection refused", { kind: "not_sent" });
    };
    const workspace = testWorkspace({ "workspace/services/a/job.nomad.hcl": "{}" }, { nomad, lock: flockFileLock() });
    await expect(workspace.deploy()).rejects.toMatchObject({ kind: "not_sent" });
    expect(existsSync(join(workspace.root, ".nops/deploy/deploy.lock"))).toBe(false);
  });
  it("case 71: after a kill the lock file stands in nobody's way", async () => {
    const workspace = testWorkspace(
      { "workspace/deploy.yml": pipeline("p", shellStep("x"), shellStep("y")) },
      { lock: flockFileLock() },
    );
    workspace.write({ [deployLock]: "4194303" });
    const session = workspace.session();
    session.store.mutate((journal) => {
      journal.project.last_run = { status: "in_progress", started_at: "t" };
      return true;
    });
    await workspace.deploy({ resume: true });
    expect(ran(workspace)).toEqual(["x", "y"]);
    expect(readFileSync(join(workspace.root, deployLock), "utf8")).not.toBe("4194303");
  });
});
