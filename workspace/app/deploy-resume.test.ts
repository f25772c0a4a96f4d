import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testWorkspace } from "../../testkit/workspace.ts";
import { failure, pipeline, ran, say, shellStep, twoServices, withServices } from "../../testkit/workspace-steps.ts";

describe("failures and resuming", () => {
  const flaky = {
    "workspace/deploy.yml": withServices(pipeline("verify", shellStep("smoke"))),
    "workspace/services/a/deploy.yml": pipeline(
      "go",
      shellStep("a1"),
      "      - {name: gate, type: shell, cmd: 'test -e open'}\n",
      shellStep("a3"),
    ),
  };
  it("case 54: the first step stays ok, the second is failed, so are service and run", async () => {
    const workspace = testWorkspace(flaky);
    expect(await failure(workspace.deploy())).toBe("step a/go/gate: exit status 1");
    const { services, project } = workspace.journal();
    expect(services.a).toMatchObject({ status: "failed", last_run: { status: "failed" } });
    expect(services.a?.phases.go?.steps).toMatchObject({ a1: { status: "ok" }, gate: { status: "failed" } });
    expect(services.a?.phases.go?.steps.a3).toBeUndefined();
    expect(project.last_run?.status).toBe("failed");
    expect(project.last_run?.finished_at).toBeDefined();
  });
  it("a killed run whose services were done already ends well, though their steps are only skipped", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    // What a kill in the last step leaves: records of all services, none of them finished.
    workspace.session().store.mutate((journal) => {
      for (const service of Object.values(journal.services)) {
        service.status = "not_deployed";
        service.last_run = { status: "in_progress", started_at: "t" };
      }
      journal.project.status = "not_deployed";
      journal.project.last_run = { status: "in_progress", started_at: "t" };
      delete journal.project.phases.verify;
      return true;
    });
    expect(await failure(workspace.deploy())).toContain("did not complete");
    ran(workspace);
    await workspace.deploy({ resume: true });
    expect(ran(workspace)).toEqual(["smoke"]);
    const { project, services } = workspace.journal();
    expect(project).toMatchObject({ status: "deployed", last_run: { status: "ok" } });
    expect(services).toMatchObject({ a: { status: "deployed", last_run: { status: "ok" } }, b: { status: "deployed" } });
  });
  it("a leftover run counts as incomplete, whatever the status says", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    workspace.session().store.mutate((journal) => {
      journal.project.last_run = { status: "in_progress", started_at: "t" };
      return true;
    });
    expect(await failure(workspace.deploy())).toContain("did not complete");
  });
  it("after a change of configuration a resumed run trusts no record from before it", async () => {
    const gate = "      - {name: gate, type: shell, cmd: 'test ! -e shut'}\n";
    const workspace = testWorkspace({ "workspace/services/a/deploy.yml": pipeline("go", gate, shellStep("a2")) });
    await workspace.deploy();
    ran(workspace);
    workspace.write({ shut: "", "workspace/services/a/service.yml": "type: tool\n" });
    await failure(workspace.deploy());
    rmSync(join(workspace.root, "shut"));
    await workspace.deploy({ resume: true });
    expect(ran(workspace)).toEqual(["a2"]);
  });
  it("records without a stamp are worth nothing", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    ran(workspace);
    workspace.session().store.mutate((journal) => {
      delete journal.services.a?.config_hash;
      return true;
    });
    await workspace.deploy();
    expect(ran(workspace)).toEqual(["a1", "a2"]);
  });
  it("a failed step that left the plan without a change of configuration does not haunt its phase", async () => {
    const bad = `      - {name: bad, type: shell, cmd: 'false', when: {type: template, expr: '\${env.BAD} == 1'}}\n`;
    const workspace = testWorkspace({ "workspace/services/a/deploy.yml": pipeline("go", bad, shellStep("a2")) });
    await failure(workspace.deploy({ env: { BAD: "1" } }));
    await workspace.deploy({ resume: true, env: { BAD: "0" } });
    expect(workspace.journal().services.a).toMatchObject({ status: "deployed", phases: { go: { status: "ok" } } });
  });
  it("case 78: the next run without a word refuses and names both ways", async () => {
    const workspace = testWorkspace(flaky);
    await failure(workspace.deploy());
    ran(workspace);
    const error = await workspace.deploy().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "previous_incomplete", hint: expect.stringMatching(/--resume.*--force/) });
    expect(ran(workspace)).toEqual([]);
  });
  it("case 79: --resume skips what is done and goes on at the failed step", async () => {
    const workspace = testWorkspace(flaky);
    await failure(workspace.deploy());
    ran(workspace);
    workspace.write({ open: "" });
    await workspace.deploy({ resume: true });
    expect(ran(workspace)).toEqual(["a3", "smoke"]);
    expect(workspace.outcomes()).toMatchObject({ "a/go/a1": "skipped", "a/go/gate": "executed" });
    expect(workspace.journal().project).toMatchObject({ status: "deployed", last_run: { status: "ok" } });
  });
  it("case 80: cancelling on a terminal runs nothing and is no error", async () => {
    const workspace = testWorkspace(flaky);
    await failure(workspace.deploy());
    ran(workspace);
    expect(await workspace.deploy({ answers: ["Cancel"] })).toEqual({ kind: "cancelled" });
    expect(workspace.questions).toHaveLength(1);
    expect(ran(workspace)).toEqual([]);
    workspace.write({ open: "" });
    await workspace.deploy({ answers: ["Resume"] });
    expect(ran(workspace)).toEqual(["a3", "smoke"]);
  });
  it("case 81: with a changed configuration a person applies it or runs everything", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    ran(workspace);
    workspace.write({ "workspace/deploy.yml": withServices(pipeline("verify", shellStep("smoke", ", description: x"))) });
    expect(await workspace.deploy({ answers: ["Cancel"] })).toEqual({ kind: "cancelled" });
    await workspace.deploy({ answers: ["Apply changes"] });
    expect(ran(workspace)).toEqual(["smoke"]);
    workspace.write({ "workspace/deploy.yml": withServices(pipeline("verify", shellStep("smoke", ", description: y"))) });
    await workspace.deploy({ answers: ["Re-run all"] });
    expect(ran(workspace)).toEqual(["a1", "a2", "b1", "smoke"]);
  });
  it("case 53: services that are done stay deployed when the project fails later", async () => {
    const workspace = testWorkspace({
      ...flaky,
      "workspace/services/a/deploy.yml": pipeline("go", shellStep("a1")),
      "workspace/deploy.yml": withServices(pipeline("verify", "      - {name: smoke, type: shell, cmd: 'false'}\n")),
    });
    await failure(workspace.deploy());
    const { project, services } = workspace.journal();
    expect(services.a?.status).toBe("deployed");
    expect(project).toMatchObject({ status: "deployed", last_run: { status: "failed" } });
    expect(await failure(workspace.deploy())).toContain("did not complete");
  });
  it("case 55: a failed step that its condition now skips clears its phase", async () => {
    const step = "      - {name: s, type: shell, cmd: 'false', when: {type: builtin, cmd: file-missing done}}\n";
    const workspace = testWorkspace({ "workspace/services/a/deploy.yml": pipeline("go", step) });
    await failure(workspace.deploy());
    workspace.write({ done: "" });
    await workspace.deploy({ resume: true });
    expect(workspace.journal().services.a).toMatchObject({ status: "deployed", phases: { go: { status: "skipped" } } });
  });
  it("case 56: a service whose steps are all skipped by state stays deployed", async () => {
    const workspace = testWorkspace({
      ...twoServices,
      "workspace/services/b/deploy.yml": pipeline("go", shellStep("b1", ", check: {type: shell, cmd: 'true'}")),
    });
    await workspace.deploy();
    const before = workspace.journal().services.a;
    await workspace.deploy();
    expect(workspace.journal().services.a).toEqual(before);
  });
  it("case 59, 61: a tolerated failure lets the run go on; the next one is not refused and tries it again", async () => {
    const step =
      "      - {name: s, type: shell, cmd: 'echo s >> ran.txt; exit 3', check: {type: shell, cmd: 'echo check >> ran.txt'}, continue_on_error: true}\n";
    const workspace = testWorkspace({ "workspace/services/a/deploy.yml": pipeline("go", step, shellStep("a2")) });
    expect(await workspace.deploy()).toMatchObject({ kind: "deployed", counts: { executed: 1, failed: 1 } });
    expect(ran(workspace)).toEqual(["s", "a2"]);
    expect(workspace.journal().services.a).toMatchObject({
      status: "deployed",
      phases: { go: { status: "ok", steps: { s: { status: "failed" }, a2: { status: "ok" } } } },
    });
    await workspace.deploy();
    expect(ran(workspace)).toEqual(["s"]);
  });
  it("case 60: a failed check fails its step and ends the run, unless it is tolerated", async () => {
    const step = (extra: string): string =>
      `      - {name: s, type: shell, cmd: '${say("s")}', check: {type: shell, cmd: 'false'}${extra}}\n`;
    const workspace = testWorkspace({ "workspace/deploy.yml": pipeline("p", step(""), shellStep("after")) });
    expect(await failure(workspace.deploy())).toBe("step p/s: exit status 1");
    expect(ran(workspace)).toEqual(["s"]);
    expect(workspace.journal().project.phases.p?.steps.s?.status).toBe("failed");
    workspace.write({ "workspace/deploy.yml": pipeline("p", step(", continue_on_error: true"), shellStep("after")) });
    await workspace.deploy({ resume: true });
    expect(ran(workspace)).toEqual(["s", "after"]);
  });
  it("case 62, 107: a failed record of a removed service stands in nobody's way and goes after a good full run", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    const store = workspace.session().store;
    store.mutate((journal) => {
      journal.services.gone = { status: "failed", last_run: { status: "failed" }, phases: {} };
      return true;
    });
    workspace.write({ "workspace/deploy.yml": withServices(pipeline("verify", shellStep("smoke", ", description: x"))) });
    await workspace.deploy();
    expect(workspace.journal().project.status).toBe("deployed");
    expect(workspace.journal().services.gone).toBeUndefined();
  });
});
