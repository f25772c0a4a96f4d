import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testWorkspace } from "../../testkit/workspace.ts";
import { failure, pipeline, ran, shellStep, twoServices, withServices } from "../../testkit/workspace-steps.ts";

describe("runs of one service", () => {
  it("case 57: stamps the service, never the project", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    const before = workspace.journal();
    workspace.write({ "nops.workspace.yml": "project: shop\nvars: {x: 1}\n" });
    await workspace.deploy({ service: "a" });
    const after = workspace.journal();
    expect(after.project.config_hash).toBe(before.project.config_hash);
    expect(after.project.last_run).toEqual(before.project.last_run);
    expect(after.project.deployed_at).toBe(before.project.deployed_at);
    expect(after.services.a?.config_hash).not.toBe(before.services.a?.config_hash);
    expect(after.services.b).toEqual(before.services.b);
  });
  it("case 58: leave a failed project run failed", async () => {
    const workspace = testWorkspace({
      ...twoServices,
      "workspace/deploy.yml": withServices(pipeline("verify", "      - {name: smoke, type: shell, cmd: 'false'}\n")),
    });
    await failure(workspace.deploy());
    await workspace.deploy({ service: "a", force: true });
    expect(workspace.journal().project.last_run?.status).toBe("failed");
  });
  it("case 82: one that was never deployed goes ahead after a failed project run", async () => {
    const workspace = testWorkspace({
      ...twoServices,
      "workspace/services/a/deploy.yml": pipeline("go", "      - {name: x, type: shell, cmd: 'false'}\n"),
    });
    await failure(workspace.deploy());
    expect((await workspace.deploy({ service: "b" })).kind).toBe("deployed");
    expect(workspace.questions).toEqual([]);
  });
  it("case 83: a full run after it deploys the others", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy({ service: "a" });
    expect(ran(workspace)).toEqual(["a1", "a2"]);
    expect((await workspace.deploy()).kind).toBe("deployed");
    expect(ran(workspace)).toEqual(["b1", "smoke"]);
  });
  it("case 84: --force runs everything, but conditions still count", async () => {
    const workspace = testWorkspace({
      "workspace/deploy.yml": pipeline("p", shellStep("x"), shellStep("seed", ", when: {type: builtin, cmd: dir-empty data}")),
    });
    await workspace.deploy();
    workspace.write({ "data/row": "" });
    ran(workspace);
    await workspace.deploy({ force: true });
    expect(ran(workspace)).toEqual(["x"]);
    expect(workspace.outcomes()).toEqual({ "p/x": "executed", "p/seed": "skipped" });
  });
  it("case 85: --force of one service leaves the other's record and what is pending", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    workspace.session().store.mutate((journal) => {
      journal.pending = { created_at: "t", operations: [{ kind: "restart" }] };
      return true;
    });
    const before = workspace.journal();
    await workspace.deploy({ service: "a", force: true });
    expect(workspace.journal().services.b).toEqual(before.services.b);
    expect(workspace.journal().pending).toEqual(before.pending);
  });
  it("case 86: what it comes after is said, or asked", async () => {
    const files = { ...twoServices, "workspace/services/a/deploy.yml": `after: [b]\n${pipeline("go", shellStep("a1"))}` };
    const workspace = testWorkspace(files);
    await workspace.deploy({ service: "a" });
    expect(workspace.notices()).toContain('"a" comes after b, not deployed yet; going on');
    const asked = testWorkspace(files);
    expect(await asked.deploy({ service: "a", answers: ["no"] })).toEqual({ kind: "cancelled" });
    expect(asked.questions).toEqual(["Proceed anyway? (missing: b)"]);
    expect(existsSync(join(asked.root, "ran.txt"))).toBe(false);
  });
  it("case 87: an unknown service is named (exit code 2)", async () => {
    const workspace = testWorkspace(twoServices);
    await expect(workspace.deploy({ service: "aa" })).rejects.toMatchObject({
      code: "unknown_service",
      message: expect.stringContaining('"aa"'),
    });
  });
  it("refuse --force together with --resume", async () => {
    await expect(testWorkspace(twoServices).deploy({ force: true, resume: true })).rejects.toMatchObject({
      code: "contradicting_flags",
    });
  });
});
