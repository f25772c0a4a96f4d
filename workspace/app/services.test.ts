import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TestWorkspace, testWorkspace } from "../../testkit/workspace.ts";
import { fakeNomad } from "../../testkit/workspace-nomad.ts";
import { pipeline, ran, shellStep } from "../../testkit/workspace-steps.ts";
import { restartProject, runProject, stopProject } from "./lifecycle.ts";
import { toggleService } from "./services.ts";
import { pendingBanner } from "./status.ts";

const job = (id: string): string => JSON.stringify({ ID: id, Type: "service" });
const files = {
  "workspace/deploy.yml": "phases:\n  - {name: services, deploy_services: true}\n",
  "workspace/services/a/deploy.yml": pipeline("go", shellStep("a1")),
  "workspace/services/mailer/service.yml": "enabled: false\n",
  "workspace/services/mailer/deploy.yml": pipeline("go", shellStep("m1")),
};
const plain = { apply: false, skipHooks: false };
const options = { skipPreflight: false };

function workspaceWith(more: Readonly<Record<string, string>> = {}): TestWorkspace {
  return testWorkspace({ ...files, ...more }, { nomad: fakeNomad() });
}

describe("switching services", () => {
  it("case 100: before any deploy nothing is noted; after one it is", async () => {
    const workspace = workspaceWith();
    const first = await toggleService(workspace.session(), "mailer", true, plain);
    expect(first).toMatchObject({ changed: true, noted: false, requires: "deploy" });
    expect(existsSync(join(workspace.root, ".nops/deploy/state.yml"))).toBe(false);
    expect(workspace.session().workspace.services.get("mailer")?.enabled).toBe(true);
    await toggleService(workspace.session(), "mailer", false, plain);
    await workspace.deploy();
    expect(await toggleService(workspace.session(), "mailer", true, plain)).toMatchObject({ noted: true });
    expect(workspace.journal().pending?.operations).toEqual([{ kind: "deploy", services: ["mailer"] }]);
    await toggleService(workspace.session(), "mailer", false, plain);
    expect(workspace.journal().pending?.operations).toContainEqual({ kind: "restart" });
  });
  it("case 102: the banner names what is pending and goes when it is done", async () => {
    const workspace = workspaceWith();
    await workspace.deploy();
    await toggleService(workspace.session(), "mailer", true, plain);
    expect(pendingBanner(workspace.journal())).toEqual(["! deploy required for: mailer / Run: nops deploy run"]);
    await workspace.deploy({ service: "mailer" });
    expect(pendingBanner(workspace.journal())).toEqual([]);
    await toggleService(workspace.session(), "mailer", false, plain);
    expect(pendingBanner(workspace.journal())).toEqual(["! restart required / Run: nops restart"]);
  });
  it("case 101: --apply deploys at once and clears only what it did", async () => {
    const workspace = workspaceWith();
    await workspace.deploy();
    ran(workspace);
    workspace.session().store.mutate((journal) => {
      journal.pending = { created_at: "t", operations: [{ kind: "restart" }, { kind: "deploy", services: ["a", "mailer"] }] };
      return true;
    });
    await toggleService(workspace.session(), "mailer", true, { ...plain, apply: true });
    expect(ran(workspace)).toEqual(["m1"]);
    expect(workspace.journal().pending?.operations).toEqual([{ kind: "restart" }, { kind: "deploy", services: ["a"] }]);
  });
  it("runs a service's hooks around --apply", async () => {
    const workspace = workspaceWith({
      "workspace/services/mailer/service.yml": "enabled: false\non_enable: {before: [first], after: [last]}\n",
      "workspace/commands/hooks.yml":
        "commands:\n  first: {type: shell, cmd: 'echo first >> ran.txt'}\n  last: {type: shell, cmd: 'echo last >> ran.txt'}\n",
    });
    await workspace.deploy();
    ran(workspace);
    await toggleService(workspace.session(), "mailer", true, { ...plain, apply: true });
    expect(ran(workspace)).toEqual(["first", "m1", "last"]);
  });
  it("keeps the comments of local.yml and refuses required and unknown services", async () => {
    const workspace = workspaceWith({
      "workspace/local.yml": "# mine\nvars: {x: 1} # stays\n",
      "workspace/services/db/service.yml": "required: true\n",
    });
    await toggleService(workspace.session(), "mailer", true, plain);
    expect(workspace.read("workspace/local.yml")).toMatch(
      /# mine\nvars: \{ ?x: 1 ?\} # stays\nservices:\n {2}mailer:\n {4}enabled: true\n/,
    );
    await expect(toggleService(workspace.session(), "db", false, plain)).rejects.toMatchObject({ code: "service_required" });
    await expect(toggleService(workspace.session(), "maile", true, plain)).rejects.toThrow('did you mean "mailer"');
  });
});

describe("run, stop and restart", () => {
  const jobs = {
    "workspace/services/db/service.yml": "required: true\n",
    "workspace/services/db/job.nomad.hcl": job("db"),
    "workspace/services/api/service.yml": "depends_on: [db]\n",
    "workspace/services/api/job.nomad.hcl": job("api"),
  };
  it("case 110: run refuses while a tracked service was never deployed, and starts nothing", async () => {
    const nomad = fakeNomad();
    const workspace = testWorkspace(jobs, { nomad });
    await expect(runProject(workspace.session(), options)).rejects.toMatchObject({
      code: "not_deployed",
      message: "deploy first: db, api are not deployed",
    });
    expect(nomad.writes).toEqual([]);
  });
  it("case 103: run, stop and restart clear the pending restart and keep a pending deploy", async () => {
    const nomad = fakeNomad();
    const workspace = testWorkspace(jobs, { nomad });
    await workspace.deploy();
    for (const operation of [runProject, stopProject, restartProject]) {
      workspace.session().store.mutate((journal) => {
        journal.pending = { created_at: "t", operations: [{ kind: "restart" }, { kind: "deploy", services: ["x"] }] };
        return true;
      });
      await operation(workspace.session(), options);
      expect(workspace.journal().pending?.operations).toEqual([{ kind: "deploy", services: ["x"] }]);
    }
  });
  it("stops the project's jobs and starts them in order of what they depend on", async () => {
    const nomad = fakeNomad();
    const workspace = testWorkspace(jobs, { nomad });
    await workspace.deploy();
    nomad.writes.length = 0;
    await runProject(workspace.session(), options);
    expect(nomad.writes).toEqual([]);
    await stopProject(workspace.session(), options);
    expect([...nomad.writes].sort()).toEqual(["stop default/api", "stop default/db"]);
    nomad.writes.length = 0;
    await runProject(workspace.session(), options);
    expect(nomad.writes).toEqual(["register default/db", "register default/api"]);
  });
  it("run a pipeline of the project's own, every time", async () => {
    const workspace = workspaceWith({
      "workspace/lifecycle.yml": `run:\n  ${pipeline("up", shellStep("up")).replaceAll("\n", "\n  ")}`,
    });
    await workspace.deploy();
    ran(workspace);
    await runProject(workspace.session(), options);
    await runProject(workspace.session(), options);
    expect(ran(workspace)).toEqual(["up", "up"]);
  });
});
