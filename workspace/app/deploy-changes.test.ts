import { describe, expect, it } from "vitest";
import { testWorkspace } from "../../testkit/workspace.ts";
import { failure, pipeline, ran, say, shellStep, twoServices, withServices } from "../../testkit/workspace-steps.ts";

describe("what a change re-runs", () => {
  const edit = async (files: Readonly<Record<string, string>>): Promise<string[]> => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    ran(workspace);
    workspace.write(files);
    await workspace.deploy();
    return ran(workspace);
  };
  it("case 46: an edited service.yml runs all of that service, and what depends on all of them", async () => {
    expect(await edit({ "workspace/services/a/service.yml": "type: tool\n" })).toEqual(["a1", "a2", "smoke"]);
  });
  it("case 47: an edited deploy.yml of a service does the same", async () => {
    const changed = pipeline("go", shellStep("a1"), shellStep("a2", ", description: changed"));
    expect(await edit({ "workspace/services/a/deploy.yml": changed })).toEqual(["a1", "a2", "smoke"]);
  });
  it("case 48: an edited project deploy.yml runs the project's steps only", async () => {
    const changed = withServices(pipeline("verify", shellStep("smoke", ", description: changed")));
    expect(await edit({ "workspace/deploy.yml": changed })).toEqual(["smoke"]);
  });
  it("case 23: comments, blanks and quotes change nothing; a value does", async () => {
    const same = `# a comment\n${pipeline("go", `      - name:   "a1"\n        type: shell\n        cmd: "${say("a1")}"\n`, shellStep("a2"))}`;
    expect(await edit({ "workspace/services/a/deploy.yml": same })).toEqual([]);
    expect(await edit({ "workspace/services/a/deploy.yml": same.replace("echo a1", "echo a9") })).toEqual(["a9", "a2", "smoke"]);
  });
  it("case 31: a variable that a step uses runs it again, with --service too", async () => {
    const workspace = testWorkspace({
      "nops.workspace.yml": "project: shop\nvars: {word: one}\n",
      "workspace/services/a/deploy.yml": pipeline("go", "      - {name: s, type: shell, cmd: 'echo ${vars.word} >> ran.txt'}\n"),
    });
    await workspace.deploy();
    workspace.write({ "nops.workspace.yml": "project: shop\nvars: {word: two}\n" });
    await workspace.deploy();
    workspace.write({ "nops.workspace.yml": "project: shop\nvars: {word: three}\n" });
    await workspace.deploy({ service: "a" });
    expect(ran(workspace)).toEqual(["one", "two", "three"]);
  });
  it("case 32: a variable that no step uses runs them again as well", async () => {
    expect(await edit({ "nops.workspace.yml": "project: shop\nvars: {unrelated: 1}\n" })).toEqual(["a1", "a2", "b1", "smoke"]);
  });
  it("case 33: the same secret from elsewhere changes nothing, another value does", async () => {
    const files = {
      "nops.workspace.yml": "project: shop\nsecrets: {KEY: {env: ONE}}\n",
      "workspace/deploy.yml": pipeline("p", "      - {name: s, type: shell, cmd: 'echo ran-${secrets.KEY} >> ran.txt'}\n"),
    };
    const workspace = testWorkspace(files);
    await workspace.deploy({ env: { ONE: "abcd" } });
    workspace.write({ "nops.workspace.yml": "project: shop\nsecrets: {KEY: {file: key.txt}}\n", "key.txt": "abcd\n" });
    expect((await workspace.deploy()).kind).toBe("up_to_date");
    workspace.write({ "key.txt": "efgh\n" });
    await workspace.deploy();
    expect(ran(workspace)).toEqual(["ran-abcd", "ran-efgh"]);
    expect(workspace.read(".nops/deploy/state.yml")).not.toMatch(/abcd\b|efgh/);
  });
  it("case 49: a failed step that was renamed away does not haunt its phase", async () => {
    const workspace = testWorkspace({
      "workspace/services/a/deploy.yml": pipeline("go", "      - {name: old, type: shell, cmd: 'false'}\n"),
    });
    expect(await failure(workspace.deploy())).toContain("a/go/old");
    workspace.write({ "workspace/services/a/deploy.yml": pipeline("go", "      - {name: new, type: shell, cmd: 'true'}\n") });
    await workspace.deploy({ resume: true });
    expect(workspace.journal().services.a).toMatchObject({ status: "deployed", phases: { go: { status: "ok" } } });
    expect(Object.keys(workspace.journal().services.a?.phases.go?.steps ?? {})).toEqual(["new"]);
  });
});
