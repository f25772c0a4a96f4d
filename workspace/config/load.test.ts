import { describe, expect, it } from "vitest";
import { testWorkspace } from "../../testkit/workspace.ts";
import { failure, pipeline, shellStep } from "../../testkit/workspace-steps.ts";
import { findRoot } from "./root.ts";

const mistakes = async (files: Readonly<Record<string, string>>): Promise<string[]> =>
  (await failure((async () => testWorkspace(files).session())())).split("\n").filter((line) => line !== "");

const inGroup = (...lines: readonly string[]): string =>
  `phases:\n  - name: p\n    steps:\n      - name: g\n${lines.map((line) => `        ${line}\n`).join("")}`;

describe("loading a workspace", () => {
  it("names every mistake of every file at once, with its line", async () => {
    const found = await mistakes({
      "nops.workspace.yml": "project: Shop\nnamspace: x\n",
      "workspace/deploy.yml":
        "phases:\n  - name: p\n    steps:\n      - {name: s, type: shel, cmd: x}\n      - {name: t, type: shell, comand: x}\n",
      "workspace/services/a/service.yml": "typ: app\n",
      "workspace/services/b/deploy.yml": "after: [a\n",
    });
    expect(found).toEqual([
      expect.stringMatching(/^nops\.workspace\.yml:1: project: lower-case/),
      expect.stringMatching(/^nops\.workspace\.yml:2: namspace: unknown key \(did you mean "namespace"\?\)/),
      expect.stringMatching(/^workspace\/deploy\.yml:4: phases\.0\.steps\.0\.type/),
      expect.stringMatching(/^workspace\/deploy\.yml:5: phases\.0\.steps\.1\.cmd/),
      expect.stringMatching(/^workspace\/deploy\.yml:5: phases\.0\.steps\.1\.comand: unknown key/),
      expect.stringMatching(/^workspace\/services\/a\/service\.yml:1: typ: unknown key \(did you mean "type"\?\)/),
      expect.stringMatching(/^workspace\/services\/b\/deploy\.yml:\d: /),
    ]);
  });
  it.each([
    ["a field of leaves on a group", inGroup("cmd: x", "parallel: {steps: []}"), "steps.0.cmd: unknown key"],
    [
      "a group in a group",
      inGroup("parallel: {steps: [{name: a, parallel: {steps: []}}, {name: b, type: shell, cmd: x}]}"),
      "cannot hold another one",
    ],
    ["one sub-step", inGroup("parallel: {steps: [{name: a, type: shell, cmd: x}]}"), "at least two steps"],
    [
      "a sub-step without a name",
      inGroup("parallel: {steps: [{type: shell, cmd: x}, {name: b, type: shell, cmd: x}]}"),
      "a name is needed",
    ],
    ["one name twice in a phase", pipeline("p", shellStep("a"), shellStep("a")), 'step "a" occurs twice'],
    [
      "a sub-step with the name of another step",
      inGroup("parallel: {steps: [{name: g, type: shell, cmd: x}, {name: b, type: shell, cmd: x}]}"),
      'step "g" occurs twice',
    ],
  ])("case 91: refuses %s", async (_, text, expected) => {
    expect((await mistakes({ "workspace/deploy.yml": text })).join()).toContain(expected);
  });
  it("case 91: refuses a sub-step that could ask, unless it may not", async () => {
    const ask = (extra: string): string =>
      inGroup(`parallel: {steps: [{name: a, type: builtin, cmd: confirm${extra}}, {name: b, type: shell, cmd: x}]}`);
    const workspace = testWorkspace({ "workspace/deploy.yml": ask("") });
    expect(await failure(workspace.deploy())).toContain("set skip_confirm");
    workspace.write({ "workspace/deploy.yml": ask(", skip_confirm: true").replace("cmd: x", "cmd: 'true'") });
    expect((await workspace.deploy()).kind).toBe("deployed");
  });
  it.each([
    ["an engine's phase name", pipeline("_mine", shellStep("a")), "kept for nops itself"],
    ["a phase twice", `${pipeline("p", shellStep("a"))}  - {name: p, steps: []}\n`, 'phase "p" occurs twice'],
    ["steps beside deploy_services", "phases: [{name: s, deploy_services: true, steps: []}]\n", "no steps of its own"],
    [
      "a condition on deploy_services",
      "phases: [{name: s, deploy_services: true, when: {type: shell, cmd: x}}]\n",
      "takes no condition",
    ],
    ["after in the project's file", `after: [x]\n${pipeline("p", shellStep("a"))}`, "after belongs into"],
    ["check: auto without a shell condition", pipeline("p", shellStep("a", ", check: auto")), "check: auto negates"],
    ["a slash in a name", pipeline("p", shellStep("a/b")), "no slash"],
    [
      "a number that would lose digits",
      "phases: [{name: p, steps: [{name: s, type: builtin, cmd: message, with: {n: 12345678901234567890}}]}]\n",
      "write it in quotes",
    ],
    ["a key twice", "log: true\nlog: false\n", "unique"],
  ])("refuses %s", async (_, text, expected) => {
    expect((await mistakes({ "workspace/deploy.yml": text })).join()).toContain(expected);
  });
  it("refuses deploy_services in a service's file", async () => {
    expect(
      (await mistakes({ "workspace/services/a/deploy.yml": "phases: [{name: s, deploy_services: true}]\n" })).join(),
    ).toContain("only workspace/deploy.yml");
  });
  it.each(["", "# only a comment\n", "phases: []\n", "log: true\n"])(
    "a file that says nothing (%j) leaves the built-in pipeline",
    (text) => {
      const { workspace } = testWorkspace({ "workspace/deploy.yml": text }).session();
      expect(workspace.deploy).toBeUndefined();
      expect(workspace.inert).toEqual([{ file: "workspace/deploy.yml" }]);
    },
  );
  it("lays local.yml over the project", () => {
    const { workspace } = testWorkspace({
      "nops.workspace.yml": "project: shop\nnamespace: prod\nvars: {a: 1, b: 2}\n",
      "workspace/local.yml": "namespace: dev\nvars: {b: 3}\nservices: {x: {enabled: false}}\n",
      "workspace/services/x/service.yml": "type: tool\n",
    }).session();
    expect(workspace).toMatchObject({ namespace: "dev", vars: { a: 1, b: 3 } });
    expect(workspace.services.get("x")).toMatchObject({ enabled: false, namespace: "dev", type: "tool" });
  });
  it("finds the root from below", () => {
    const workspace = testWorkspace({ "deep/er/file": "" });
    expect(findRoot(`${workspace.root}/deep/er`)).toBe(workspace.root);
    expect(() => findRoot("/")).toThrow("nops.workspace.yml");
  });
});
