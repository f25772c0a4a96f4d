import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLine, type Ran } from "../../testkit/command-line.ts";
import { testWorkspace } from "../../testkit/workspace.ts";
import { pipeline, shellStep, twoServices } from "../../testkit/workspace-steps.ts";

/** One command line in a folder, as the program runs it. */
const nops = (folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  commandLine(args, { folder, env });

describe("deploy run", () => {
  it("ends with 0, says what it did, and says so when there is nothing to do", async () => {
    const { root } = testWorkspace(twoServices);
    const first = await nops(root, ["deploy", "run", "-y"]);
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining("4 executed, 0 re-validated, 0 skipped, 0 failed") });
    expect(first.err).toMatch(/✓ \[1\/4\] a\/go\/a1 \(new\)/);
    for (const _ of [1, 2]) {
      const again = await nops(root, ["deploy", "run", "-y"]);
      expect(again).toMatchObject({ code: 0, out: "all steps already deployed, skipped: already up-to-date\n" });
    }
  });
  it("with --json prints one event a line", async () => {
    const { root } = testWorkspace(twoServices);
    const { code, out } = await nops(root, ["deploy", "run", "-y", "--json"]);
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(events[0]).toMatchObject({ event: "run_started", pipeline: "deploy", total: 4 });
    expect(events.at(-1)).toMatchObject({ event: "run_finished", ok: true, counts: { executed: 4, failed: 0 } });
    const again = await nops(root, ["deploy", "run", "-y", "--json"]);
    expect(JSON.parse(again.out)).toMatchObject({ event: "run_finished", up_to_date: true });
  });
  it.each([
    ["case 87: an unknown service", ["deploy", "run", "--service", "none"], 2, 'there is no service "none"'],
    ["contradicting flags", ["deploy", "run", "--force", "--resume"], 2, "exclude each other"],
    ["an unknown format", ["deploy", "plan", "--format", "xml"], 2, "table or shell"],
    ["an unknown flag", ["deploy", "run", "--frce"], 2, ""],
    ["an unknown step", ["deploy", "why", "a/go/none"], 4, "there is no step"],
    ["an unknown section", ["status", "nothing"], 2, "status takes"],
  ])("%s ends with its code", async (_, args, code, message) => {
    const ran = await nops(testWorkspace(twoServices).root, args);
    expect(ran.code).toBe(code);
    expect(ran.err).toContain(message);
  });
  it("a failed step and a refused gate end with 1, an unreachable Nomad with 5", async () => {
    const { root } = testWorkspace({ "workspace/deploy.yml": pipeline("p", "      - {name: x, type: shell, cmd: 'false'}\n") });
    expect((await nops(root, ["deploy", "run", "-y"])).code).toBe(1);
    const refused = await nops(root, ["deploy", "run", "-y", "--json"]);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.err)).toMatchObject({
      error: { code: "previous_incomplete", hint: expect.stringContaining("--resume") },
    });
    const jobs = testWorkspace({ "workspace/services/a/job.nomad.hcl": 'job "a" {}' });
    expect((await nops(jobs.root, ["deploy", "run", "-y"])).code).toBe(5);
    expect(existsSync(join(jobs.root, ".nops/deploy/deploy.lock"))).toBe(false);
  });
  it("configuration that is wrong ends with 2 and names file and line", async () => {
    const { root } = testWorkspace({ "workspace/deploy.yml": "phases:\n  - nam: p\n" });
    const ran = await nops(root, ["validate"]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('workspace/deploy.yml:2: phases.0.nam: unknown key (did you mean "name"?)');
  });
  it("outside of a workspace says how to make one", async () => {
    const ran = await nops("/", ["deploy", "plan"]);
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("nops.workspace.yml") });
  });
});

describe("secrets", () => {
  it("do not appear in the error of a failed step either", async () => {
    const step = `      - {name: x, type: builtin, cmd: http_check, with: {url: 'http://127.0.0.1:1/\${secrets.KEY}'}}\n`;
    const { root } = testWorkspace({
      "nops.workspace.yml": "project: shop\nsecrets: {KEY: {env: KEY}}\n",
      "workspace/deploy.yml": pipeline("p", step),
    });
    const ran = await nops(root, ["deploy", "run", "-y"], { KEY: "hunter2again" });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("http://127.0.0.1:1/***");
    expect(ran.out + ran.err).not.toContain("hunter2again");
  });
});

describe("the journal's commands", () => {
  it("case 95: are friendly without a file", async () => {
    const { root } = testWorkspace({});
    for (const command of ["show", "clear", "repair"]) {
      const ran = await nops(root, ["deploy", "state", command, ...(command === "clear" ? ["-y"] : [])]);
      expect(ran).toMatchObject({ code: 0, out: "", err: expect.stringContaining("no deploy state yet") });
    }
  });
  it("show it as it is, or as JSON", async () => {
    const { root } = testWorkspace(twoServices);
    await nops(root, ["deploy", "run", "-y"]);
    expect((await nops(root, ["deploy", "state", "show"])).out).toBe(readFileSync(join(root, ".nops/deploy/state.yml"), "utf8"));
    expect(JSON.parse((await nops(root, ["deploy", "state", "show", "--json"])).out)).toMatchObject({
      schema_version: "1",
      project: { status: "deployed" },
    });
  });
});

describe("other commands", () => {
  it("eject prints the built-in pipeline and writes it only where nothing is", async () => {
    const { root } = testWorkspace({ "workspace/mine.yml": "x" });
    expect((await nops(root, ["deploy", "eject"])).out).toContain("deploy_services: true");
    expect((await nops(root, ["deploy", "eject", "--out", "workspace/mine.yml"])).code).toBe(3);
    expect((await nops(root, ["deploy", "eject", "--out", "workspace/mine.yml", "--force"])).code).toBe(0);
    expect(readFileSync(join(root, "workspace/mine.yml"), "utf8")).toContain("deploy_services: true");
    const inert = testWorkspace({ "workspace/deploy.yml": "# nothing yet\n" });
    const refused = await nops(inert.root, ["deploy", "eject", "--out", "workspace/deploy.yml"]);
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining("inert") });
  });
  it("workspace init makes one that validates and plans, and keeps .nops/ out of git", async () => {
    const { root } = testWorkspace({ "new/.gitignore": "dist/" });
    const folder = join(root, "new");
    expect((await nops(folder, ["workspace", "init"])).code).toBe(0);
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("dist/\n.nops/\nworkspace/local.yml\n");
    expect(await nops(folder, ["validate"])).toMatchObject({ code: 0, out: expect.stringContaining("no mistakes") });
    expect((await nops(folder, ["deploy", "plan", "--json"])).code).toBe(0);
    expect((await nops(folder, ["workspace", "init"])).code).toBe(3);
  });
  it("command run passes parameters, and refuses wrong ones", async () => {
    const commands = `commands:\n  greet: {type: shell, params: {name: {}, mark: {default: '!'}}, cmd: 'echo hello \${param.name}\${param.mark}'}\n`;
    const { root } = testWorkspace({ "workspace/commands/c.yml": commands });
    expect((await nops(root, ["command", "run", "greet", "--with", "name=you"])).err).toContain("hello you!");
    expect(await nops(root, ["command", "run", "greet"])).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs the parameter "name"'),
    });
    expect((await nops(root, ["command", "run", "greet", "--with", "nam=you"])).err).toContain('did you mean "name"');
    expect((await nops(root, ["command", "run", "gret"])).err).toContain('did you mean "greet"');
    expect(JSON.parse((await nops(root, ["command", "list", "--json"])).out)).toEqual({
      commands: [{ id: "greet", type: "shell", description: "" }],
    });
  });
  it("deploy step runs one step without the journal, and shows it with --dry-run", async () => {
    const { root } = testWorkspace({ "workspace/deploy.yml": pipeline("p", shellStep("x"), shellStep("y")) });
    expect((await nops(root, ["deploy", "step", "p/y", "--dry-run"])).out).toContain("echo y >> ran.txt");
    expect((await nops(root, ["deploy", "step", "p/y"])).code).toBe(0);
    expect(readFileSync(join(root, "ran.txt"), "utf8")).toBe("y\n");
    expect(existsSync(join(root, ".nops/deploy/state.yml"))).toBe(false);
  });
  it("services list, enable and status speak of the same services", async () => {
    const { root } = testWorkspace({ ...twoServices, "workspace/services/b/service.yml": "enabled: false\n" });
    expect(JSON.parse((await nops(root, ["services", "list", "--json"])).out).services[1]).toMatchObject({
      name: "b",
      enabled: false,
    });
    await nops(root, ["deploy", "run", "-y"]);
    expect((await nops(root, ["services", "enable", "b"])).err).toContain("deploy is now pending");
    expect((await nops(root, ["status"])).out).toContain("! deploy required for: b / Run: nops deploy run");
    expect(JSON.parse((await nops(root, ["status", "deploy", "--json"])).out)).toMatchObject({
      pending: { operations: [{ kind: "deploy", services: ["b"] }] },
    });
    expect((await nops(root, ["services", "enable"])).code).toBe(2);
  });
  it("status says how the deploy stands, which step failed and what to do, as text and as JSON", async () => {
    const gate = pipeline("p", "      - {name: gate, type: shell, cmd: 'test -e open'}\n");
    const { root, write } = testWorkspace({ "workspace/deploy.yml": gate });
    expect((await nops(root, ["status"])).out).toContain("! deploy: never run / Run: nops deploy run\n");
    await nops(root, ["deploy", "run", "-y"]);
    for (const section of [[], ["apps"], ["deploy"]]) {
      const { out } = await nops(root, ["status", ...section]);
      expect(out).toMatch(/^! deploy: failed \S+Z in p\/gate \/ Run: nops deploy run --resume\n/);
    }
    const { deploy } = JSON.parse((await nops(root, ["status", "--json"])).out);
    expect(deploy).toMatchObject({ status: "failed", failed_steps: ["p/gate"], run: "nops deploy run --resume", pid: null });
    write({ open: "" });
    await nops(root, ["deploy", "run", "-y", "--resume"]);
    expect((await nops(root, ["status"])).out).toMatch(/^deploy: complete \S+Z\n/);
    expect(JSON.parse((await nops(root, ["status", "deploy", "--json"])).out).deploy).toMatchObject({
      status: "complete",
      run: null,
    });
  });
  it("snapshots are made, listed, restored and removed", async () => {
    const { root } = testWorkspace(twoServices);
    await nops(root, ["deploy", "run", "-y"]);
    expect((await nops(root, ["snapshot", "create", "one"])).code).toBe(0);
    expect((await nops(root, ["snapshot", "list"])).out).toContain("one");
    expect((await nops(root, ["snapshot", "restore", "one"])).code).toBe(0);
    expect((await nops(root, ["snapshot", "rollback"])).code).toBe(0);
    expect((await nops(root, ["snapshot", "restore", "none"])).code).toBe(4);
    expect((await nops(root, ["snapshot", "remove", "one"])).code).toBe(0);
  });
  it("run is refused before a deploy, with 1", async () => {
    expect(await nops(testWorkspace(twoServices).root, ["run"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("deploy first: a, b"),
    });
  });
});
