import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testWorkspace } from "../../testkit/workspace.ts";
import { pipeline, ran, shellStep, twoServices } from "../../testkit/workspace-steps.ts";

describe("first and second run", () => {
  it("case 77: all steps run; again nothing does, and the file is not written", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    expect(ran(workspace)).toEqual(["a1", "a2", "b1", "smoke"]);
    const before = statSync(join(workspace.root, ".nops/deploy/state.yml"), { bigint: true }).mtimeNs;
    expect(await workspace.deploy()).toEqual({ kind: "up_to_date" });
    expect(ran(workspace)).toEqual([]);
    expect(statSync(join(workspace.root, ".nops/deploy/state.yml"), { bigint: true }).mtimeNs).toBe(before);
  });
  it("case 40: a skip by state leaves the record, so that runs do not alternate", async () => {
    const workspace = testWorkspace({
      ...twoServices,
      "workspace/services/b/deploy.yml": pipeline("go", shellStep("b1", ", check: {type: shell, cmd: 'true'}")),
    });
    await workspace.deploy();
    const record = workspace.journal().services.a;
    for (const _ of [1, 2]) {
      ran(workspace);
      await workspace.deploy();
      expect(ran(workspace)).toEqual(["b1"]);
      expect(workspace.journal().services.a).toEqual(record);
    }
    expect(workspace.outcomes()).toMatchObject({ "a/go/a1": "skipped", "b/go/b1": "revalidated" });
  });
  it("case 41: a predicate as a body is asked again, and there is no early end", async () => {
    const workspace = testWorkspace({
      "workspace/deploy.yml":
        "phases:\n  - name: p\n    steps:\n      - {name: f, type: builtin, cmd: file_exists, with: {path: here}}\n",
      here: "",
    });
    await workspace.deploy();
    expect((await workspace.deploy()).kind).toBe("deployed");
    expect(workspace.outcomes()).toEqual({ "p/f": "revalidated" });
  });
  it("case 42: of a group only the checked sub-step runs again", async () => {
    const workspace = testWorkspace({
      "workspace/deploy.yml": `phases:\n  - name: p\n    steps:\n      - name: g\n        parallel:\n          steps:\n    ${shellStep("x")}    ${shellStep("y", ", check: {type: shell, cmd: 'true'}")}`,
    });
    await workspace.deploy();
    expect(ran(workspace).sort()).toEqual(["x", "y"]);
    expect((await workspace.deploy()).kind).toBe("deployed");
    expect(ran(workspace)).toEqual(["y"]);
    expect(workspace.outcomes()).toEqual({ "p/x": "skipped", "p/y": "revalidated" });
  });
  it("case 43: a shell step whose text is a builtin's name is skipped like any other", async () => {
    const workspace = testWorkspace({
      "workspace/deploy.yml": pipeline("p", "      - {name: s, type: shell, cmd: 'file_exists() { :; }; file_exists'}\n"),
    });
    await workspace.deploy();
    expect((await workspace.deploy()).kind).toBe("up_to_date");
  });
  it("case 50: how steps were decided is said only when asked for", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    await workspace.deploy();
    expect(workspace.notices()).toEqual([]);
    await workspace.deploy({ verbose: true });
    expect(workspace.notices()).toContain("a/go/a1: already deployed");
  });
  it("case 52: a project without services is deployed when its pipeline was good", async () => {
    const workspace = testWorkspace({ "workspace/deploy.yml": pipeline("p", shellStep("x")) });
    await workspace.deploy();
    expect(workspace.journal().project.status).toBe("deployed");
  });
});
