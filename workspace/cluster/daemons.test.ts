import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jobKey } from "../../model/job-key.ts";
import { type TestWorkspace, testWorkspace } from "../../testkit/workspace.ts";
import { type FakeNomad, fakeNomad } from "../../testkit/workspace-nomad.ts";
import { stopProject } from "../app/lifecycle.ts";
import { runCommand } from "../app/single.ts";
import { daemonStatus } from "../app/status.ts";
import { afterOverlap } from "./daemons.ts";

const daemon = (extra = ""): string =>
  `commands:\n  worker:\n    type: daemon\n    name: worker-\${param.queue}\n    params: {queue: {default: mail}}\n    task: {driver: raw_exec, config: {command: /bin/sleep, args: ["60"]}}\n${extra}`;

function withDaemon(extra = ""): { readonly workspace: TestWorkspace; readonly nomad: FakeNomad } {
  const nomad = fakeNomad();
  return { nomad, workspace: testWorkspace({ "workspace/commands/daemons.yml": daemon(extra) }, { nomad }) };
}
const call = (workspace: TestWorkspace, id: string, params = {}): Promise<void> => runCommand(workspace.session(), id, params);

describe("daemons", () => {
  it("case 108: one that was stopped elsewhere is gone from the next status, and no file is written", async () => {
    const { workspace, nomad } = withDaemon();
    await call(workspace, "worker.start");
    expect(await daemonStatus(workspace.session())).toEqual([
      { daemon: "worker", job: "shop-worker-mail", namespace: "default", params: { queue: "mail" }, status: "running" },
    ]);
    await nomad.stopJob(jobKey("default", "shop-worker-mail"), { purge: false });
    expect(await daemonStatus(workspace.session())).toEqual([]);
    expect(existsSync(join(workspace.root, ".nops"))).toBe(false);
  });
  it("case 109: starting one that runs is an error, or nothing where that is wished", async () => {
    const { workspace } = withDaemon();
    await call(workspace, "worker.start");
    await expect(call(workspace, "worker.start")).rejects.toThrow("already running");
    const relaxed = withDaemon("    on_already_running: noop\n");
    await call(relaxed.workspace, "worker.start");
    await call(relaxed.workspace, "worker.start");
    expect(relaxed.nomad.writes).toEqual(["register default/shop-worker-mail"]);
  });
  it("case 109: stopping twice is no error", async () => {
    const { workspace, nomad } = withDaemon();
    await call(workspace, "worker.start");
    await call(workspace, "worker.stop");
    await call(workspace, "worker.stop");
    expect(nomad.writes).toEqual(["register default/shop-worker-mail", "purge default/shop-worker-mail"]);
  });
  it("are told apart by their parameters, and carry no more labels than they need", async () => {
    const { workspace, nomad } = withDaemon();
    await call(workspace, "worker.start", { queue: "a" });
    await call(workspace, "worker.start", { queue: "b" });
    await call(workspace, "worker.stop", { queue: "a" });
    expect([...nomad.jobs.keys()]).toEqual(["default/shop-worker-b"]);
    expect(nomad.jobs.get(jobKey("default", "shop-worker-b"))?.Meta).toEqual({
      "nops.project": "shop",
      "nops.daemon.id": "worker",
      "nops.daemon.params": '{"queue":"b"}',
      "nops.daemon.auto_remove": "true",
    });
  });
  it("take the place of a dead leftover, and restart", async () => {
    const { workspace, nomad } = withDaemon("    auto_remove: false\n");
    await call(workspace, "worker.start");
    await call(workspace, "worker.stop");
    await call(workspace, "worker.restart");
    expect(nomad.jobs.get(jobKey("default", "shop-worker-mail"))).toMatchObject({ Status: "running", Version: 0 });
  });
  it("end first when the project is stopped", async () => {
    const { workspace, nomad } = withDaemon();
    await call(workspace, "worker.start");
    await stopProject(workspace.session(), { skipPreflight: false });
    expect(nomad.jobs.size).toBe(0);
  });
  it("start as children of a parameterized job that carry the daemon's labels", async () => {
    const nomad = fakeNomad();
    const workspace = testWorkspace(
      {
        "workspace/commands/d.yml": "commands:\n  w: {type: daemon, name: w, job: w.json, dispatch: true}\n",
        "w.json": JSON.stringify({ ID: "w", Type: "service", ParameterizedJob: { MetaOptional: ["x"] } }),
      },
      { nomad },
    );
    await call(workspace, "w.start");
    const [row] = await daemonStatus(workspace.session());
    expect(row).toMatchObject({ daemon: "w", status: "running" });
    expect(row?.job).toMatch(/^shop-w\/dispatch-/);
    expect(nomad.jobs.get(jobKey("default", "shop-w"))?.ParameterizedJob?.MetaOptional).toContain("nops.daemon.id");
    await call(workspace, "w.stop");
    expect(await daemonStatus(workspace.session())).toEqual([]);
  });
  it("refuse a name that is none for a job", async () => {
    const { workspace } = withDaemon();
    await expect(call(workspace, "worker.start", { queue: "a b" })).rejects.toMatchObject({ code: "bad_daemon_name" });
  });
  it.each([
    ["abc", "abcdef", "def"],
    ["abc", "bcd", "d"],
    ["abc", "abc", ""],
    ["abc", "xyz", "xyz"],
    ["", "a", "a"],
  ])("show only what is new in a log: %j then %j", (before, now, expected) => {
    expect(afterOverlap(before, now)).toBe(expected);
  });
});
