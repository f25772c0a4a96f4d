import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jobKey } from "../../model/job-key.ts";
import { testWorkspace } from "../../testkit/workspace.ts";
import { fakeNomad } from "../../testkit/workspace-nomad.ts";
import { pipeline, ran, shellStep } from "../../testkit/workspace-steps.ts";
import { writeAtomic } from "../journal/file.ts";
import { resetRun } from "./reset.ts";
import { clearState, repairState } from "./state.ts";

const job = (id: string): string => JSON.stringify({ ID: id, Type: "service" });
const files = { "workspace/services/a/job.nomad.hcl": job("a"), "workspace/services/b/job.nomad.hcl": job("b") };
const options = { skipPreflight: false };
const stateFile = ".nops/deploy/state.yml";

describe("reset", () => {
  it("case 105: removes the project's jobs and then the journal", async () => {
    const nomad = fakeNomad();
    const workspace = testWorkspace(files, { nomad });
    await workspace.deploy();
    await nomad.register({ ID: "stranger" }, 0);
    await resetRun(workspace.session(), options);
    expect([...nomad.jobs.keys()]).toEqual(["default/stranger"]);
    expect(existsSync(join(workspace.root, stateFile))).toBe(false);
  });
  it("case 105: keeps the journal when its pipeline fails", async () => {
    const workspace = testWorkspace(
      { ...files, "workspace/reset.yml": pipeline("p", "      - {name: x, type: shell, cmd: 'false'}\n") },
      { nomad: fakeNomad() },
    );
    await workspace.deploy();
    await expect(resetRun(workspace.session(), options)).rejects.toMatchObject({ code: "pipeline_failed" });
    expect(existsSync(join(workspace.root, stateFile))).toBe(true);
  });
  it("passes over a job that cannot be removed and says so", async () => {
    const nomad = fakeNomad();
    const workspace = testWorkspace(files, { nomad });
    await workspace.deploy();
    nomad.stubborn.add(jobKey("default", "a"));
    await resetRun(workspace.session(), options);
    expect([...nomad.jobs.keys()]).toEqual(["default/a"]);
    expect(workspace.output().join("\n")).toContain("! default/a could not be removed");
  });
  it("case 104: of one service, the record goes and a deploy is pending, in one write", async () => {
    const nomad = fakeNomad();
    const writes: string[] = [];
    const workspace = testWorkspace(
      { ...files, "workspace/services/a/reset.yml": pipeline("own", shellStep("own")) },
      {
        nomad,
        write: (path, text) => {
          writes.push(text);
          writeAtomic(path, text);
        },
      },
    );
    await workspace.deploy();
    writes.length = 0;
    await resetRun(workspace.session(), { ...options, service: "a" });
    expect([...nomad.jobs.keys()]).toEqual(["default/b"]);
    expect(ran(workspace)).toEqual(["own"]);
    expect(writes).toHaveLength(1);
    expect(workspace.journal().services.a).toBeUndefined();
    expect(workspace.journal().pending?.operations).toEqual([{ kind: "deploy", services: ["a"] }]);
  });
  it("case 104: when that write fails, neither happens", async () => {
    const workspace = testWorkspace(files, { nomad: fakeNomad() });
    await workspace.deploy();
    const before = workspace.read(stateFile);
    const broken = workspace.session({
      write: () => {
        throw new Error("full");
      },
    });
    await expect(resetRun(broken, { ...options, service: "a" })).rejects.toThrow("full");
    expect(workspace.read(stateFile)).toBe(before);
  });
  it("asks before it removes a service, and a no is an error", async () => {
    const nomad = fakeNomad();
    const workspace = testWorkspace(files, { nomad });
    await workspace.deploy();
    await expect(resetRun(workspace.session({ answers: ["no"] }), { ...options, service: "a" })).rejects.toThrow("cancelled");
    expect(nomad.jobs.size).toBe(2);
  });
});

describe("case 95: the journal's own commands", () => {
  it("are friendly without a file", async () => {
    const session = testWorkspace({}).session();
    expect(session.store.text()).toBeUndefined();
    expect(await clearState(session)).toBe(false);
    expect(await repairState(session)).toBe("absent");
    expect(existsSync(join(session.host.root, stateFile))).toBe(false);
  });
  it("delete it, pending operations included, after a yes", async () => {
    const workspace = testWorkspace({ "workspace/deploy.yml": pipeline("p", shellStep("x")) });
    await workspace.deploy();
    await expect(clearState(workspace.session({ answers: ["no"] }))).rejects.toThrow("cancelled");
    expect(await clearState(workspace.session({ answers: ["yes"] }))).toBe(true);
    expect(existsSync(join(workspace.root, stateFile))).toBe(false);
  });
  it("delete an unreadable one without reading it", async () => {
    const workspace = testWorkspace({ [stateFile]: "a: [" });
    expect(await clearState(workspace.session())).toBe(true);
  });
  it("repair what a crash left", async () => {
    const workspace = testWorkspace({ "workspace/deploy.yml": pipeline("p", shellStep("x")) });
    await workspace.deploy();
    const session = workspace.session();
    expect(await repairState(session)).toBe("sound");
    session.store.mutate((journal) => {
      journal.project.status = "failed";
      journal.project.last_run = { status: "in_progress" };
      return true;
    });
    expect(await repairState(session)).toBe("repaired");
    expect(workspace.journal().project.last_run?.status).toBe("failed");
  });
});
