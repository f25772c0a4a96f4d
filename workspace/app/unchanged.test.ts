import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TestWorkspace, testWorkspace } from "../../testkit/workspace.ts";
import { pipeline, shellStep } from "../../testkit/workspace-steps.ts";
import { type Around, planDigest, recallUnchanged } from "./unchanged.ts";

const files = {
  "nops.workspace.yml": "project: shop\nsecrets: {KEY: {file: outside.txt}}\n",
  "outside.txt": "abcd",
  "script.sh": "true\n",
  "workspace/commands/c.yml": "commands:\n  it: {type: script, path: script.sh}\n",
  "workspace/deploy.yml": pipeline(
    "p",
    shellStep("x"),
    "      - {name: c, type: command, cmd: it}\n",
    `      - {name: e, type: shell, cmd: 'echo \${env.TAG} \${secrets.KEY} > /dev/null'}\n`,
  ),
};

const env = { TAG: "1" };
const around = (workspace: TestWorkspace, more: Partial<Around> = {}): Around => ({
  root: workspace.root,
  env,
  facts: { uid: 1000, name: "test" },
  version: "test",
  ...more,
});

/** A workspace whose files are older than the run, as they are when a person comes back to it. */
async function settled(): Promise<TestWorkspace> {
  const workspace = testWorkspace(files, { env });
  await workspace.deploy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await workspace.deploy();
  expect(recallUnchanged(around(workspace))).toEqual([]);
  return workspace;
}

describe("the short way of a run with nothing to do", () => {
  it.each([
    [
      "a file of the workspace",
      (one: TestWorkspace) => one.write({ "workspace/deploy.yml": `${one.read("workspace/deploy.yml")}# x\n` }),
    ],
    ["a new file of the workspace", (one: TestWorkspace) => one.write({ "workspace/local.yml": "vars: {a: 1}\n" })],
    ["a new service", (one: TestWorkspace) => one.write({ "workspace/services/n/service.yml": "" })],
    [
      "the project's file",
      (one: TestWorkspace) => one.write({ "nops.workspace.yml": `${one.read("nops.workspace.yml")}vars: {a: 1}\n` }),
    ],
    ["a file that a step reads", (one: TestWorkspace) => one.write({ "script.sh": "false\n" })],
    ["a secret's file", (one: TestWorkspace) => one.write({ "outside.txt": "efgh" })],
    [
      "the journal",
      (one: TestWorkspace) => one.write({ ".nops/deploy/state.yml": `${one.read(".nops/deploy/state.yml")}x: 1\n` }),
    ],
  ])("is closed after a change of %s", async (_, change) => {
    const workspace = await settled();
    change(workspace);
    expect(recallUnchanged(around(workspace))).toBeUndefined();
  });
  it("is closed for another environment, host or version", async () => {
    const workspace = await settled();
    expect(recallUnchanged(around(workspace, { env: { TAG: "2" } }))).toBeUndefined();
    expect(recallUnchanged(around(workspace, { env: {} }))).toBeUndefined();
    expect(recallUnchanged(around(workspace, { facts: { uid: 0 } }))).toBeUndefined();
    expect(recallUnchanged(around(workspace, { version: "next" }))).toBeUndefined();
    expect(recallUnchanged(around(workspace, { env: { ...env, UNRELATED: "1" } }))).toEqual([]);
  });
  it("is open although a file was written anew with the same content", async () => {
    const workspace = await settled();
    writeFileSync(join(workspace.root, "script.sh"), "true\n");
    utimesSync(join(workspace.root, "script.sh"), 1, 1);
    expect(recallUnchanged(around(workspace))).toEqual([]);
  });
  it("is not opened when a file changed while the plan was made", () => {
    const workspace = testWorkspace(files, { env });
    const inputs = { files: ["script.sh"], env: [] };
    expect(planDigest(around(workspace), inputs, Date.now() + 1_000)).toMatch(/^[0-9a-f]{64}$/);
    const readAt = Date.now();
    workspace.write({ "script.sh": "later\n" });
    expect(planDigest(around(workspace), inputs, readAt)).toBeUndefined();
  });
  it("is not opened by a run after which something is left to do", async () => {
    const checked = files["workspace/deploy.yml"].replace(
      "echo x >> ran.txt'",
      "echo x >> ran.txt', check: {type: shell, cmd: 'true'}",
    );
    const workspace = testWorkspace({ ...files, "workspace/deploy.yml": checked }, { env });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await workspace.deploy();
    expect(recallUnchanged(around(workspace))).toBeUndefined();
  });
});
