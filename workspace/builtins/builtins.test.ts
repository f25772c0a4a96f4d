import { existsSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { jobKey } from "../../model/job-key.ts";
import { type TestWorkspace, testWorkspace, type WorkspaceOptions } from "../../testkit/workspace.ts";
import { fakeNomad } from "../../testkit/workspace-nomad.ts";
import { failure, pipeline } from "../../testkit/workspace-steps.ts";
import { writeAtomic } from "../journal/file.ts";

const step = (cmd: string, params: object, extra = ""): string =>
  `      - {name: s, type: builtin, cmd: ${cmd}, with: ${JSON.stringify(params)}${extra}}\n`;
const withStep = (
  cmd: string,
  params: object,
  files: Readonly<Record<string, string>> = {},
  options: WorkspaceOptions = {},
  extra = "",
): TestWorkspace => testWorkspace({ "workspace/deploy.yml": pipeline("p", step(cmd, params, extra)), ...files }, options);
const job = (id: string, more: object = {}): string => JSON.stringify({ ID: id, Type: "service", ...more });

describe("nomad_job_run", () => {
  const files = { "a.json": job("a") };
  it("registers once, labels the job, and leaves an unchanged one alone", async () => {
    const nomad = fakeNomad();
    const workspace = withStep("nomad_job_run", { file: "a.json" }, files, { nomad }, ", check: {type: shell, cmd: 'true'}");
    await workspace.deploy();
    await workspace.deploy();
    expect(nomad.writes).toEqual(["register default/a"]);
    expect(workspace.output()).toContain("default/a: unchanged");
    expect(nomad.jobs.get(jobKey("default", "a"))?.Meta).toEqual({ "nops.project": "shop" });
  });
  it("registers again after the job was stopped by hand", async () => {
    const nomad = fakeNomad();
    const workspace = withStep("nomad_job_run", { file: "a.json" }, files, { nomad }, ", check: {type: shell, cmd: 'true'}");
    await workspace.deploy();
    await nomad.stopJob(jobKey("default", "a"), { purge: false });
    await workspace.deploy();
    expect(nomad.writes).toEqual(["register default/a", "stop default/a", "register default/a"]);
  });
  it("fails when somebody changes the job between plan and register", async () => {
    const nomad = fakeNomad();
    const workspace = withStep("nomad_job_run", { file: "a.json" }, files, { nomad });
    nomad.beforeRegister = () => {
      nomad.beforeRegister = undefined;
      void nomad.register({ ID: "a", Type: "batch" }, 0);
    };
    expect(await failure(workspace.deploy())).toContain("changed by somebody else since it was planned");
  });
  it("refuses a job that the operator manages", async () => {
    const nomad = fakeNomad();
    const managed = { "a.json": job("a", { Meta: { nops_managed: "true" } }) };
    await expect(withStep("nomad_job_run", { file: "a.json" }, managed, { nomad }).deploy()).rejects.toMatchObject({
      name: "RefusedError",
      code: "operator_owned",
      message: expect.stringContaining("managed by the operator"),
    });
    expect(nomad.writes).toEqual([]);
  });
  it("leaves a job alone that the operator deployed, and takes its name once that was stopped", async () => {
    const nomad = fakeNomad();
    await nomad.register({ ID: "a", Type: "service", Meta: { nops_managed: "true" } }, 0);
    const workspace = withStep("nomad_job_run", { file: "a.json" }, files, { nomad });
    await expect(workspace.deploy()).rejects.toMatchObject({ name: "RefusedError", code: "operator_owned" });
    expect(nomad.writes).toEqual(["register default/a"]);
    await nomad.stopJob(jobKey("default", "a"), { purge: false });
    await workspace.deploy({ resume: true });
    expect(nomad.jobs.get(jobKey("default", "a"))?.Meta).toEqual({ "nops.project": "shop" });
  });
  it("puts the job into the namespace of step, file, service or project, in this order", async () => {
    const nomad = fakeNomad();
    const place = async (params: object, text: string): Promise<void> => {
      await withStep(
        "nomad_job_run",
        { file: "a.json", ...params },
        { "a.json": text, "nops.workspace.yml": "project: shop\nnamespace: own\n" },
        { nomad },
      ).deploy();
    };
    await place({ namespace: "step" }, job("a", { Namespace: "file" }));
    await place({}, job("a", { Namespace: "file" }));
    await place({}, job("a"));
    expect([...nomad.jobs.keys()]).toEqual(["step/a", "file/a", "own/a"]);
  });
  it("runs again when the job file changes, and only then", async () => {
    const nomad = fakeNomad();
    const workspace = withStep("nomad_job_run", { file: "a.json" }, files, { nomad });
    await workspace.deploy();
    expect((await workspace.deploy()).kind).toBe("up_to_date");
    workspace.write({ "a.json": job("a", { Priority: 70 }) });
    await workspace.deploy();
    expect(nomad.writes).toEqual(["register default/a", "register default/a"]);
  });
  it.each([
    [{}, "either service or file"],
    [{ service: "x", file: "a" }, "either service or file"],
    [{ service: "x" }, 'there is no service "x"'],
    [{ file: "../a" }, "inside the project"],
  ])("refuses %j", async (params, expected) => {
    expect(await failure(withStep("nomad_job_run", params).deploy())).toContain(expected);
  });
});

describe("jobs by label", () => {
  it("nomad_jobs_running says which services do not run", async () => {
    const nomad = fakeNomad();
    const services = { "workspace/services/a/job.nomad.hcl": job("a"), "workspace/services/b/job.nomad.hcl": job("b") };
    const workspace = withStep("nomad_jobs_running", { services: ["a", "b"] }, services, { nomad });
    expect(await failure(workspace.deploy())).toContain("not running: a has no job, b has no job");
    workspace.write({
      "workspace/deploy.yml": `phases:\n  - {name: services, deploy_services: true}\n${pipeline("p", step("nomad_jobs_running", { services: ["a", "b"] })).replace("phases:\n", "")}`,
    });
    await workspace.deploy({ resume: true });
    await nomad.stopJob(jobKey("default", "b"), { purge: false });
    expect(await failure(workspace.deploy())).toContain("not running: b is stopped");
  });
  it("nomad_wait_healthy without names is content with nothing, with a missing one it is not", async () => {
    const nomad = fakeNomad();
    const workspace = withStep("nomad_wait_healthy", {}, {}, { nomad });
    await workspace.deploy();
    expect(workspace.output().join()).toContain("nothing to wait for");
    expect(await failure(withStep("nomad_wait_healthy", { jobs: ["none"] }, {}, { nomad }).deploy())).toContain(
      "there is no job default/none",
    );
  });
  it("nomad_job_stop takes a missing job for stopped", async () => {
    const nomad = fakeNomad();
    await withStep("nomad_job_stop", { job: "none" }, {}, { nomad }).deploy();
    expect(nomad.writes).toEqual([]);
    await nomad.register({ ID: "a" }, 0);
    await withStep("nomad_job_stop", { job: "a", purge: true }, {}, { nomad }).deploy();
    expect(nomad.jobs.size).toBe(0);
  });
});

describe("nomad_job_dispatch", () => {
  const parent = { ID: "migrate", Type: "batch", ParameterizedJob: {}, TaskGroups: [{ Name: "main", Count: 1 }] };
  async function withParent(
    extra = "",
  ): Promise<{ readonly workspace: TestWorkspace; readonly nomad: ReturnType<typeof fakeNomad> }> {
    const nomad = fakeNomad();
    await nomad.register(parent, 0);
    nomad.writes.length = 0;
    return { nomad, workspace: withStep("nomad_job_dispatch", { job: "migrate", meta: { v: 1 } }, {}, { nomad }, extra) };
  }
  it("runs the job once and waits for its end", async () => {
    const { workspace, nomad } = await withParent();
    await workspace.deploy();
    expect((await workspace.deploy()).kind).toBe("up_to_date");
    expect(nomad.writes).toEqual(["dispatch default/migrate"]);
  });
  it("fails with the task's own words, and runs anew on the next try", async () => {
    const { workspace, nomad } = await withParent();
    nomad.childStatus = "failed";
    expect(await failure(workspace.deploy())).toContain("failed");
    expect(workspace.output().join("\n")).toContain("main stdout | the task's own words");
    nomad.childStatus = "complete";
    await workspace.deploy({ resume: true });
    expect(nomad.writes).toEqual(["dispatch default/migrate", "dispatch default/migrate"]);
  });
  it("finds the child again when the run died before its record was written", async () => {
    const { workspace, nomad } = await withParent();
    // What is on disk when the process dies between Nomad's answer and the record.
    await workspace.deploy({
      write: (path, text) => {
        if (!text.includes("with.job")) writeAtomic(path, text);
      },
    });
    expect(workspace.journal().project.phases.p).toBeUndefined();
    expect(workspace.journal().project.last_run?.status).toBe("in_progress");
    await workspace.deploy({ resume: true });
    expect(nomad.writes).toEqual(["dispatch default/migrate"]);
  });
  it("runs again under --force", async () => {
    const { workspace, nomad } = await withParent();
    await workspace.deploy();
    await workspace.deploy({ force: true });
    expect(nomad.writes).toHaveLength(2);
  });
});

describe("variables and namespaces", () => {
  it("nomad_var_put writes what differs, keeps other items, and hides the values", async () => {
    const nomad = fakeNomad();
    await nomad.putVariable("default", "shop/db", { old: "1" }, 0);
    nomad.writes.length = 0;
    const workspace = withStep(
      "nomad_var_put",
      { path: "shop/db", items: { user: "ann" }, from_env: { password: "PW" } },
      {},
      { nomad, env: { PW: "hunter2!" } },
      ", check: {type: shell, cmd: 'echo hunter2!'}",
    );
    await workspace.deploy();
    await workspace.deploy();
    expect(nomad.writes).toEqual(["put shop/db"]);
    expect(nomad.variables.get("default:shop/db")?.items).toEqual({ old: "1", user: "ann", password: "hunter2!" });
    expect(JSON.stringify(workspace.events)).not.toContain("hunter2!");
    await workspace.deploy({ env: { PW: "changed!" } });
    expect(nomad.writes).toHaveLength(2);
  });
  it.each([
    ["replace", { user: "ann" }],
    ["if_absent", { old: "1" }],
  ])("nomad_var_put in mode %s leaves %j", async (mode, expected) => {
    const nomad = fakeNomad();
    await nomad.putVariable("default", "shop/db", { old: "1" }, 0);
    await withStep("nomad_var_put", { path: "shop/db", items: { user: "ann" }, mode }, {}, { nomad }).deploy();
    expect(nomad.variables.get("default:shop/db")?.items).toEqual(expected);
  });
  it("nomad_var_check names what is missing", async () => {
    const nomad = fakeNomad();
    await nomad.putVariable("default", "shop/db", { user: "ann" }, 0);
    expect(
      await failure(withStep("nomad_var_check", { path: "shop/db", keys: ["user", "pw"] }, {}, { nomad }).deploy()),
    ).toContain("has no pw");
    expect(await failure(withStep("nomad_var_check", { path: "none" }, {}, { nomad }).deploy())).toContain("no variable none");
  });
  it("nomad_namespace_apply writes once", async () => {
    const nomad = fakeNomad();
    const workspace = withStep(
      "nomad_namespace_apply",
      { name: "shop", description: "d" },
      {},
      { nomad },
      ", check: {type: shell, cmd: 'true'}",
    );
    await workspace.deploy();
    await workspace.deploy();
    expect(nomad.writes).toEqual(["namespace shop"]);
  });
  it("nomad_remove_project_vars does not reach a neighbour whose name begins alike", async () => {
    const nomad = fakeNomad();
    for (const path of ["shop", "shop/a", "shopping/b"]) await nomad.putVariable("default", path, { x: "1" }, 0);
    await withStep("nomad_remove_project_vars", {}, {}, { nomad }).deploy();
    expect([...nomad.variables.keys()]).toEqual(["default:shopping/b"]);
  });
});

describe("predicates", () => {
  it("http_check says what it wanted, what it got and how often it asked", async () => {
    let asked = 0;
    const http = { get: async () => ({ status: ++asked < 3 ? 503 : 200, body: "ready" }) };
    const params = { url: "http://x/", retries: 2, interval: "1ms", contains: "ready" };
    await withStep("http_check", params, {}, { http }).deploy();
    expect(asked).toBe(3);
    const down = { get: async () => ({ status: 503, body: "" }) };
    expect(await failure(withStep("http_check", { ...params, retries: 1 }, {}, { http: down }).deploy())).toContain(
      'expected status 200 and the text "ready", got status 503 (2 attempts)',
    );
  });
  it("tcp_reachable, file_exists, env_keys_present, config_keys_present, executable_in_path, shell", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const files = { "nops.workspace.yml": "project: shop\nvars: {a: {b: 1}}\n", here: "" };
    const good: readonly (readonly [string, object])[] = [
      ["tcp_reachable", { port }],
      ["file_exists", { path: "here" }],
      ["env_keys_present", { keys: ["NOPS_PROJECT", "MINE"] }],
      ["config_keys_present", { keys: ["a.b"] }],
      ["executable_in_path", { name: "sh" }],
      ["shell", { cmd: "test -e here" }],
    ];
    for (const [cmd, params] of good) await withStep(cmd, params, files, { env: { MINE: "1" } }).deploy();
    const bad: readonly (readonly [string, object, string])[] = [
      ["tcp_reachable", { port: 1 }, "cannot be reached"],
      ["file_exists", { path: "none" }, "no file none"],
      ["env_keys_present", { keys: ["NONE"] }, "NONE"],
      ["config_keys_present", { keys: ["a.c"] }, "a.c"],
      ["executable_in_path", { name: "no-such-program" }, "not on PATH"],
      ["shell", { cmd: "exit 4" }, "exit status 4"],
      ["shell", { cmd: "sleep 20", timeout: "50ms" }, "timed out after 0.05s"],
    ];
    for (const [cmd, params, expected] of bad) expect(await failure(withStep(cmd, params, files).deploy())).toContain(expected);
  });
});

describe("local actions", () => {
  it("confirm is a yes under -y, and a no fails the step", async () => {
    await withStep("confirm", { message: "Sure?" }).deploy();
    const asked = withStep("confirm", { message: "Sure?", stop_msg: "stopped" });
    expect(await failure(asked.deploy({ answers: ["no"] }))).toContain("stopped");
    expect(asked.questions).toEqual(["Sure?"]);
  });
  it("dirs_ensure and remove_paths work inside the project and only there", async () => {
    const workspace = withStep("dirs_ensure", { paths: ["a/b"] });
    await workspace.deploy();
    expect(existsSync(join(workspace.root, "a/b"))).toBe(true);
    const removing = withStep("remove_paths", { paths: ["x", "none"] }, { "x/y": "" });
    await removing.deploy();
    expect(existsSync(join(removing.root, "x"))).toBe(false);
    const outside = testWorkspace({ keep: "" });
    const linked = withStep("remove_paths", { paths: ["link/keep"] });
    symlinkSync(outside.root, join(linked.root, "link"));
    expect(await failure(linked.deploy())).toContain("leads out of the project");
    expect(existsSync(join(outside.root, "keep"))).toBe(true);
    for (const path of ["/etc", "../x", "a/../../x"]) {
      expect(await failure(withStep("remove_paths", { paths: [path] }).deploy())).toContain("inside the project");
    }
  });
  it("render_env puts what is no secret into .nops/env", async () => {
    const workspace = testWorkspace({
      "nops.workspace.yml": 'project: shop\nvars: {port: 80, motto: "it\'s", list: [1]}\n',
      "workspace/deploy.yml": pipeline(
        "p",
        "      - {name: s, type: shell, cmd: 'test \"$NOPS_VAR_PORT$NOPS_PROJECT\" = 80shop'}\n",
      ),
    });
    await workspace.deploy();
    expect(workspace.read(".nops/env").split("\n").slice(1, -1)).toEqual([
      "NOMAD_NAMESPACE=default",
      "NOPS_PROJECT=shop",
      "NOPS_VAR_MOTTO='it'\\''s'",
      "NOPS_VAR_PORT=80",
    ]);
  });
});
