import { describe, expect, it } from "vitest";
import { type TestWorkspace, testWorkspace } from "../../testkit/workspace.ts";
import { pipeline, ran, shellStep, twoServices } from "../../testkit/workspace-steps.ts";
import { writeAtomic } from "../journal/file.ts";

describe("writing as it goes", () => {
  it("case 12, 13, 15: what is on disk grows with the run", async () => {
    const seen: string[] = [];
    const workspace: TestWorkspace = testWorkspace(twoServices, {
      write: (path, text) => {
        writeAtomic(path, text);
        const { project, services } = workspace.journal();
        const steps = Object.values(services).flatMap((one) =>
          Object.values(one.phases).flatMap((phase) => Object.keys(phase.steps)),
        );
        seen.push(`${project.last_run?.status} ${services.a?.last_run?.status ?? "-"} ${steps.join("+")}`);
      },
    });
    await workspace.deploy();
    expect(seen).toEqual([
      "in_progress - ",
      "in_progress - ",
      "in_progress in_progress ",
      "in_progress in_progress a1",
      "in_progress in_progress a1+a2",
      "in_progress in_progress a1+a2",
      "in_progress in_progress a1+a2+b1",
      "in_progress in_progress a1+a2+b1",
      "ok ok a1+a2+b1",
    ]);
  });
  it("the stamp of a scope goes with its first write", async () => {
    const stamps: (string | undefined)[] = [];
    const workspace: TestWorkspace = testWorkspace(twoServices, {
      write: (path, text) => {
        writeAtomic(path, text);
        stamps.push(workspace.journal().project.config_hash);
      },
    });
    await workspace.deploy();
    expect(new Set(stamps)).toEqual(new Set([workspace.journal().project.config_hash]));
  });
  it("case 16: sub-steps that end together are all recorded", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const step = (name: string): string =>
      `            - {name: ${name}, type: builtin, cmd: message, with: {level: info, text: hi}}\n`;
    const group = "      - name: g\n        parallel:\n          max_concurrent: 12\n          steps:\n";
    const workspace = testWorkspace({
      "workspace/deploy.yml": `phases:\n  - name: p\n    steps:\n${group}${names.map(step).join("")}`,
    });
    await workspace.deploy();
    expect(Object.keys(workspace.journal().project.phases.p?.steps ?? {}).sort()).toEqual([...names].sort());
  });
  it("case 17: a journal that cannot be written does not stop the steps, but is said at the end", async () => {
    const workspace = testWorkspace(twoServices, {
      write: () => {
        throw new Error("EROFS");
      },
    });
    await expect(workspace.deploy()).rejects.toMatchObject({
      code: "state_not_saved",
      message: expect.stringContaining("state could not be saved"),
    });
    expect(ran(workspace)).toEqual(["a1", "a2", "b1", "smoke"]);
  });
  it("case 18: --force sets an unreadable journal aside", async () => {
    const workspace = testWorkspace({ ...twoServices, ".nops/deploy/state.yml": "a: [" });
    expect((await workspace.deploy({ force: true })).kind).toBe("deployed");
    expect(workspace.notices().join()).toContain("state.yml.corrupt-");
    expect(workspace.journal().project.status).toBe("deployed");
  });
  it("case 19: without --force nothing runs and the file stays", async () => {
    const workspace = testWorkspace({ ...twoServices, ".nops/deploy/state.yml": "a: [" });
    await expect(workspace.deploy()).rejects.toMatchObject({ code: "state_corrupt" });
    expect(ran(workspace)).toEqual([]);
    expect(workspace.read(".nops/deploy/state.yml")).toBe("a: [");
  });
  it("case 99: a full run clears the services it deployed; without service steps it clears nothing", async () => {
    const workspace = testWorkspace({ ...twoServices, "workspace/services/b/service.yml": "enabled: false\n" });
    const pend = (): boolean =>
      workspace.session().store.mutate((journal) => {
        journal.pending = { created_at: "t", operations: [{ kind: "restart" }, { kind: "deploy", services: ["a", "b"] }] };
        return true;
      });
    pend();
    await workspace.deploy();
    expect(workspace.journal().pending?.operations).toEqual([{ kind: "restart" }, { kind: "deploy", services: ["b"] }]);
    pend();
    workspace.write({ "workspace/deploy.yml": pipeline("only", shellStep("x")) });
    await workspace.deploy();
    expect(workspace.journal().pending?.operations).toHaveLength(2);
  });
});
