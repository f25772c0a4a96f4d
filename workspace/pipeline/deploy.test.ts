import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { testWorkspace } from "../../testkit/workspace.ts";
import { failure, pipeline, shellStep, twoServices, withServices } from "../../testkit/workspace-steps.ts";
import { readYaml } from "../config/document.ts";
import { readPipeline } from "../config/pipeline-file.ts";
import { defaultDeploy, defaultDeployYaml, defaultReset, defaultResetYaml } from "./defaults.ts";
import { type DeployPlan, planDeploy } from "./deploy.ts";
import { stepsOf } from "./types.ts";

const plan = (files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}): DeployPlan =>
  planDeploy(testWorkspace(files).session({ env }).resolve);
const addresses = (deploy: DeployPlan): string[] => stepsOf(deploy.plan).map((step) => step.address);

describe("config hashes", () => {
  it("case 29: a deploy file changes the hash of its service", () => {
    const job = { "workspace/services/a/job.nomad.hcl": "job" };
    const without = plan(job);
    const withFile = plan({ ...job, "workspace/services/a/deploy.yml": pipeline("p", shellStep("x")) });
    expect(withFile.services.get("a")?.hash).not.toBe(without.services.get("a")?.hash);
  });
  it("case 30: a service that is not deployed does not count for the project; one more does", () => {
    const before = plan(twoServices).project.hash;
    expect(plan({ ...twoServices, "workspace/services/idle/service.yml": "type: tool\n" }).project.hash).toBe(before);
    expect(plan({ ...twoServices, "workspace/services/c/deploy.yml": pipeline("p", shellStep("x")) }).project.hash).not.toBe(
      before,
    );
  });
  it("case 27: an edited condition changes the config hash, not the step's", () => {
    const condition = (word: string): DeployPlan =>
      plan({ "workspace/deploy.yml": pipeline("p", shellStep("x", `, when: {type: shell, cmd: '${word}'}`)) });
    const [a, b] = [condition("true"), condition("false")];
    expect(stepsOf(a.plan).at(-1)?.fingerprint.hash).toBe(stepsOf(b.plan).at(-1)?.fingerprint.hash);
    expect(a.project.hash).not.toBe(b.project.hash);
  });
  it("case 34: names, descriptions and the surroundings do not enter the step's hash", () => {
    const [a, b] = [shellStep("x"), shellStep("x", ", description: other, untracked: true, timeout: 5s")].map((step) =>
      plan({ "workspace/deploy.yml": pipeline("p", step) }, { LANG: "tr_TR.UTF-8" }),
    );
    expect(stepsOf(a?.plan ?? { phases: [] }).at(-1)?.fingerprint.hash).toBe(
      stepsOf(b?.plan ?? { phases: [] }).at(-1)?.fingerprint.hash,
    );
  });
  it("the job file counts for service and step, its line ends do not; another namespace is another target", () => {
    const job = (text: string, main = "project: shop\n"): DeployPlan =>
      plan({ "nops.workspace.yml": main, "workspace/services/a/job.nomad.hcl": text });
    const [a, same, other] = [job("job\n"), job("job\r\n"), job("job # x\n")];
    const step = (deploy: DeployPlan): string | undefined =>
      stepsOf(deploy.plan).find((one) => one.address === "a/release/register")?.fingerprint.hash;
    expect(step(a)).toBe(step(same));
    expect(step(a)).not.toBe(step(other));
    expect(a.services.get("a")?.hash).not.toBe(other.services.get("a")?.hash);
    expect(a.project.hash).toBe(other.project.hash);
    const elsewhere = job("job\n", "project: shop\nnamespace: prod\n");
    expect(a.services.get("a")?.hash).not.toBe(elsewhere.services.get("a")?.hash);
    expect(a.project.hash).not.toBe(elsewhere.project.hash);
  });
  it("a file that the job file takes in counts like the job file", () => {
    const files = (text: string) => ({
      "workspace/services/a/job.nomad.hcl": 'job "a" { x = file("app.conf") }',
      "workspace/services/a/app.conf": text,
    });
    const [one, two] = [plan(files("1")), plan(files("2"))];
    expect(one.services.get("a")?.hash).not.toBe(two.services.get("a")?.hash);
    expect(stepsOf(one.plan)[1]?.fingerprint.inputs).toHaveProperty("file workspace/services/a/app.conf");
  });
  it("a sub-step's hash does not depend on its siblings", () => {
    const group = (...steps: readonly string[]): DeployPlan =>
      plan({
        "workspace/deploy.yml": `phases:\n  - name: p\n    steps:\n      - name: g\n        parallel:\n          steps:\n    ${steps.join("    ")}`,
      });
    const hash = (deploy: DeployPlan): string | undefined =>
      stepsOf(deploy.plan).find((one) => one.name === "x")?.fingerprint.hash;
    expect(hash(group(shellStep("x"), shellStep("y")))).toBe(hash(group(shellStep("z"), shellStep("y"), shellStep("x"))));
  });
});

describe("what a deploy consists of", () => {
  it("begins with the environment file and places the services where the project says", () => {
    const files = { ...twoServices, "workspace/deploy.yml": `${withServices(pipeline("late", shellStep("x")))}` };
    expect(addresses(plan(files))).toEqual(["env/render-env", "a/go/a1", "a/go/a2", "b/go/b1", "late/x"]);
  });
  it("makes a pipeline for a service that has only a job file, and waits at the end", () => {
    expect(addresses(plan({ "workspace/services/web/job.nomad.hcl": "job" }))).toEqual([
      "env/render-env",
      "web/release/register",
      "start/healthy",
      "post-deploy/done",
    ]);
  });
  it("needs no Nomad where there is no job", () => {
    const { "workspace/deploy.yml": _, ...services } = twoServices;
    expect(stepsOf(plan(services).plan).some((step) => step.needsNomad)).toBe(false);
  });
  it("prints its built-in pipelines as files that mean the same", () => {
    for (const [text, phases] of [
      [defaultDeployYaml, defaultDeploy(true)],
      [defaultResetYaml, defaultReset],
    ] as const) {
      const { document } = readYaml("deploy.yml", text);
      const read = readPipeline(document, "project_deploy");
      expect(read.issues).toEqual([]);
      const bare = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value), (key, item) => (key === "description" ? undefined : item));
      expect(bare(read.pipeline?.phases)).toEqual(bare(phases));
      expect(parseDocument(text).errors).toEqual([]);
    }
  });
  it("takes a step whose template condition does not hold out of the plan", () => {
    const step = (word: string): string => shellStep("x", `, when: {type: template, expr: '\${vars.stage} == ${word}'}`);
    const files = (word: string) => ({
      "nops.workspace.yml": "project: shop\nvars: {stage: prod}\n",
      "workspace/deploy.yml": pipeline("p", step(word)),
    });
    expect(addresses(plan(files("prod")))).toContain("p/x");
    expect(addresses(plan(files("test")))).not.toContain("p/x");
  });
});

describe("refusals name step and field", () => {
  const refusal = (step: string): Promise<string> =>
    failure((async () => plan({ "workspace/deploy.yml": pipeline("p", step) }))());
  it.each([
    ["case 89: a negative timeout", shellStep("x", ", timeout: -1s"), "workspace/deploy.yml:4: p/x: timeout"],
    ["a timeout that is none", shellStep("x", ", timeout: soon"), "p/x: timeout"],
    ["an unknown builtin", "      - {name: x, type: builtin, cmd: mesage}\n", 'did you mean "message"'],
    ["a wrong parameter", "      - {name: x, type: builtin, cmd: http_check, with: {url: nowhere}}\n", "with.url"],
    ["an engine's builtin", "      - {name: x, type: builtin, cmd: daemons_reap}\n", "placed by nops only"],
    ["a reserved parameter", "      - {name: x, type: builtin, cmd: message, with: {$files: 1}}\n", "with.$files"],
    [
      "a variable that is not there",
      `      - {name: x, type: shell, cmd: 'echo \${vars.none}'}\n`,
      `p/x: cmd: \${vars.none} is not set`,
    ],
    ["a namespace without a source", `      - {name: x, type: shell, cmd: 'echo \${param.a}'}\n`, "there is no param here"],
    ["parameters for a shell step", "      - {name: x, type: shell, cmd: ls, with: {a: 1}}\n", "takes no parameters"],
    ["an unknown command", "      - {name: x, type: command, cmd: none}\n", 'there is no command "none"'],
  ])("%s", async (_, step, expected) => {
    expect(await refusal(step)).toContain(expected);
  });
  it("all at once", async () => {
    const both = shellStep("x", ", timeout: -1s") + shellStep("y", ", timeout: -2s");
    expect((await refusal(both)).split("\n")).toHaveLength(2);
  });
});
