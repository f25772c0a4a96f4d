import { describe, expect, it } from "vitest";
import { type TestWorkspace, testWorkspace } from "../../testkit/workspace.ts";
import { pipeline, shellStep, twoServices } from "../../testkit/workspace-steps.ts";
import { planJson, planShell, planTable, viewPlan } from "./deploy-plan.ts";
import { explainStep, formatWhy } from "./why.ts";

const secret = {
  "nops.workspace.yml": `project: shop\nsecrets: {PASSWORD: {env: PW}}\nvars: {login: 'admin:\${secrets.PASSWORD}'}\n`,
  "workspace/deploy.yml": pipeline(
    "p",
    `      - {name: s, type: shell, cmd: 'echo \${secrets.PASSWORD} \${HOME} > out; echo \${vars.login}', description: 'log in'}\n`,
    `      - {name: v, type: builtin, cmd: nomad_var_put, with: {path: shop/db, items: {password: '\${secrets.PASSWORD}', user: 'open-name'}}}\n`,
  ),
};

function views(workspace: TestWorkspace): { readonly table: string; readonly shell: string; readonly json: string } {
  const session = workspace.session();
  const view = viewPlan(session, undefined);
  return { table: planTable(session, view), shell: planShell(session, view), json: JSON.stringify(planJson(session, view)) };
}

describe("the plan", () => {
  it("case 92: hides secrets on every surface, while what runs has them", async () => {
    const { "workspace/deploy.yml": text } = secret;
    const shellOnly = text.slice(0, text.indexOf("      - {name: v"));
    const workspace = testWorkspace({ ...secret, "workspace/deploy.yml": shellOnly }, { env: { PW: "hunter2!" } });
    for (const surface of Object.values(views(workspace))) {
      expect(surface).not.toContain("hunter2!");
      expect(surface).toContain("***");
    }
    await workspace.deploy();
    expect(workspace.read("out")).toContain("hunter2!");
    expect(workspace.output().join()).toContain("admin:***");
    expect(JSON.stringify(workspace.events)).not.toContain("hunter2!");
    expect(workspace.read(".nops/logs/deploy.log")).not.toContain("hunter2!");
    expect(workspace.read(".nops/env")).not.toContain("hunter2!");
    expect(workspace.read(".nops/deploy/state.yml")).not.toContain("hunter2!");
  });
  it("shows of the items of a variable only their names", () => {
    const workspace = testWorkspace(secret, { env: { PW: "hunter2!" } });
    const { table } = views(workspace);
    expect(table).toMatch(/items=\{"password":"?\*\*\*"?,"user":"\*\*\*"\}/);
    expect(table).not.toContain("open-name");
  });
  it("case 93: marks references it leaves alone, but not in the shell form", () => {
    const workspace = testWorkspace(secret, { env: { PW: "hunter2!" } });
    const { table, shell } = views(workspace);
    expect(table).toContain(`[unresolved: \${HOME}]`);
    expect(shell).toContain(`\${HOME}`);
    expect(shell).not.toContain("unresolved");
  });
  it("case 94: is one JSON document with a decision for every step", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    workspace.write({ "workspace/services/a/service.yml": "type: tool\n" });
    const { json } = views(workspace);
    expect(JSON.parse(json)).toMatchObject({
      phases: [
        { name: "env" },
        { name: "go", service: "a", steps: [{ name: "a1", decision: "run", reason: "config_changed" }, { name: "a2" }] },
        { name: "go", service: "b", steps: [{ name: "b1", decision: "skip", reason: "already_done" }] },
        { name: "verify", steps: [{ name: "smoke", type: "shell", cmd: "echo smoke >> ran.txt", decision: "run" }] },
      ],
    });
  });
  it("numbers the steps of a group and names its limits", () => {
    const workspace = testWorkspace({
      "workspace/deploy.yml": `phases:\n  - name: p\n    steps:\n      - name: g\n        parallel:\n          steps:\n      ${shellStep("a")}      ${shellStep("b", ", check: {type: shell, cmd: 'true'}")}`,
    });
    const { table } = views(workspace);
    expect(table).toContain("[1-2/2] [parallel group: g (2 steps, max_concurrent=2, fail_fast=true)]");
    expect(table).toContain("[check: shell: true]");
  });
});

describe("deploy why", () => {
  it("names the input that changed, by digest", async () => {
    const workspace = testWorkspace({ ...twoServices, "nops.workspace.yml": "project: shop\nvars: {x: 1}\n" });
    await workspace.deploy();
    expect(explainStep(workspace.session(), "a/go/a1")).toMatchObject({
      run: false,
      reason: "already_done",
      step: [],
      config: [],
    });
    workspace.write({
      "nops.workspace.yml": "project: shop\nvars: {x: sesame}\n",
      "workspace/services/a/deploy.yml": pipeline("go", shellStep("a1").replace("echo", "printf"), shellStep("a2")),
    });
    const why = explainStep(workspace.session(), "a/go/a1");
    expect(why.step.map(({ input }) => input)).toEqual(["cmd"]);
    expect(why.config.map(({ input }) => input)).toEqual(["deploy.yml", "vars.x"]);
    const text = formatWhy(why);
    expect(text).toMatch(/cmd: [0-9a-f]{12} → [0-9a-f]{12}/);
    expect(text).not.toContain("sesame");
  });
  it("names a file that changed", async () => {
    const workspace = testWorkspace({
      "workspace/deploy.yml": pipeline("p", "      - {name: s, type: command, cmd: it}\n"),
      "workspace/commands/c.yml": "commands:\n  it: {type: script, path: it.sh}\n",
      "it.sh": "true\n",
    });
    await workspace.deploy();
    workspace.write({ "it.sh": "true # again\n" });
    expect(explainStep(workspace.session(), "p/s")).toMatchObject({ reason: "changed", step: [{ input: "file it.sh" }] });
  });
  it("knows no other steps", () => {
    expect(() => explainStep(testWorkspace(twoServices).session(), "a/go/a9")).toThrow('there is no step "a/go/a9"');
  });
});
