import { describe, expect, it } from "vitest";
import { type TestWorkspace, testWorkspace } from "../../testkit/workspace.ts";
import { failure, pipeline, ran, shellStep } from "../../testkit/workspace-steps.ts";

const group = (options: string, ...steps: readonly string[]): string =>
  `phases:\n  - name: p\n    steps:\n      - name: g\n        parallel:\n${options}          steps:\n${steps.map((step) => `      ${step}`).join("")}`;
const command = (name: string, cmd: string, extra = ""): string =>
  `      - {name: ${name}, type: shell, cmd: '${cmd}'${extra}}\n`;
const deployFile = (text: string, more: Readonly<Record<string, string>> = {}): TestWorkspace =>
  testWorkspace({ "workspace/deploy.yml": text, ...more });

describe("timeouts", () => {
  it("case 89: a body that takes too long fails in time, and its processes are gone", async () => {
    const step = command("slow", "echo $$ > pid; exec sleep 30", ", timeout: 300ms");
    const workspace = deployFile(pipeline("p", step));
    const began = performance.now();
    expect(await failure(workspace.deploy())).toBe("step p/slow: timed out after 0.3s");
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(() => process.kill(Number(workspace.read("pid")), 0)).toThrow("ESRCH");
    expect(workspace.journal().project.phases.p?.steps.slow?.status).toBe("failed");
  });
  it("case 89: 0 is no limit", async () => {
    const workspace = deployFile(pipeline("p", command("quick", "true", ", timeout: 0")));
    expect((await workspace.deploy()).kind).toBe("deployed");
  });
});

describe("parallel groups", () => {
  it("case 90: with fail_fast the siblings are ended and the rest does not start", async () => {
    const workspace = deployFile(
      group(
        "          max_concurrent: 2\n",
        command("bad", "sleep 0.1; exit 3"),
        command("long", 'trap "echo term >> ran.txt; exit 1" TERM; sleep 30 & wait'),
        command("late", "echo late >> ran.txt"),
      ),
    );
    expect(await failure(workspace.deploy())).toBe("step p/bad: exit status 3");
    expect(ran(workspace)).toEqual(["term"]);
    const { steps } = workspace.journal().project.phases.p ?? { steps: {} };
    expect(steps).toMatchObject({ bad: { status: "failed" }, long: { status: "failed" } });
    expect(steps.late).toBeUndefined();
  });
  it("case 90: without it all run and every error is shown with its address", async () => {
    const workspace = deployFile(
      group(
        "          fail_fast: false\n",
        command("one", "exit 1"),
        command("two", "echo two >> ran.txt"),
        command("three", "exit 3"),
      ),
    );
    const error = await failure(workspace.deploy());
    expect(error).toContain("step p/one: exit status 1");
    expect(error).toContain("step p/three: exit status 3");
    expect(ran(workspace)).toEqual(["two"]);
  });
  it("runs no more at a time than allowed", async () => {
    const step = "echo in >> ran.txt; sleep 0.05; echo out >> ran.txt";
    const workspace = deployFile(
      group("          max_concurrent: 1\n", command("a", step), command("b", step), command("c", step)),
    );
    await workspace.deploy();
    expect(ran(workspace)).toEqual(["in", "out", "in", "out", "in", "out"]);
  });
  it("a condition of the group that does not hold skips each sub-step once", async () => {
    const text = group("", shellStep("a").trim().concat("\n").padStart(0), shellStep("b"));
    const workspace = deployFile(
      text
        .replace("        parallel:", "        when: {type: builtin, cmd: file-exists none}\n        parallel:")
        .replace("      - {name: a", "            - {name: a"),
    );
    await workspace.deploy();
    expect(workspace.outcomes()).toEqual({ "p/a": "skipped", "p/b": "skipped" });
    expect(workspace.journal().project.phases.p?.status).toBe("skipped");
  });
});

describe("conditions", () => {
  it.each([
    ["dir-exists here", true],
    ["dir-exists file", false],
    ["dir-missing none", true],
    ["dir-empty none", true],
    ["dir-empty here", false],
    ["dir-not-empty here", true],
    ["file-exists file", true],
    ["file-exists here", false],
    ["file-missing none", true],
  ])("%s is %s", async (condition, holds) => {
    const workspace = deployFile(pipeline("p", shellStep("x", `, when: {type: builtin, cmd: ${condition}}`)), {
      "here/f": "",
      file: "",
    });
    await workspace.deploy();
    expect(ran(workspace)).toEqual(holds ? ["x"] : []);
  });
  it("of a phase are evaluated once, and a false one skips and records every step", async () => {
    const text = pipeline("p", shellStep("a"), shellStep("b")).replace(
      "    steps:",
      "    when: {type: shell, cmd: 'echo asked >> ran.txt; false'}\n    steps:",
    );
    const workspace = deployFile(text);
    await workspace.deploy();
    expect(ran(workspace)).toEqual(["asked"]);
    expect(workspace.journal().project.phases.p?.steps).toMatchObject({ a: { status: "skipped" }, b: { status: "skipped" } });
  });
  it("that cannot be evaluated end the run", async () => {
    const workspace = deployFile(pipeline("p", shellStep("x", ", when: {type: builtin, cmd: file-there x}"), shellStep("y")));
    expect(await failure(workspace.deploy())).toContain('the condition "file-there x" is none of');
    expect(ran(workspace)).toEqual([]);
  });
  it("check: auto looks whether the condition still holds", async () => {
    const step = (cmd: string): string =>
      shellStep("x", `, when: {type: shell, cmd: 'test ! -e done # comment'}, check: auto`).replace("echo x", cmd);
    const good = deployFile(pipeline("p", step("touch done; echo x")));
    await good.deploy();
    expect(good.outcomes()).toEqual({ "p/x": "executed" });
    const bad = deployFile(pipeline("p", step("echo x")));
    expect(await failure(bad.deploy())).toBe("step p/x: exit status 1");
    expect(bad.output()).toContain("the condition still holds");
  });
});

describe("files gates", () => {
  const commands =
    "commands:\n  dump: {type: shell, cmd: 'echo dump >> ran.txt', files: {out: {path: data.sql}, extra: {path: x.sql, required: false}, log: {path: l, mode: write}}}\n";
  const gated = (gate: string): TestWorkspace =>
    deployFile(pipeline("p", `      - {name: s, type: command, cmd: dump, files_gate: ${gate}}\n`), {
      "workspace/commands/c.yml": commands,
    });
  it("case 44: `missing` decides alone, whatever the journal says", async () => {
    const workspace = gated("missing");
    await workspace.deploy();
    await workspace.deploy();
    expect(ran(workspace)).toEqual(["dump", "dump"]);
    workspace.write({ "data.sql": "" });
    await workspace.deploy();
    expect(ran(workspace)).toEqual([]);
    expect(workspace.outcomes()).toEqual({ "p/s": "skipped" });
  });
  it("case 45: `readable` is not even looked at when the journal says skip", async () => {
    const workspace = gated("readable");
    workspace.write({ "data.sql": "" });
    await workspace.deploy();
    workspace.write({
      "workspace/deploy.yml": `${workspace.read("workspace/deploy.yml")}      - {name: always, type: builtin, cmd: file_exists, with: {path: data.sql}}\n`,
    });
    await workspace.deploy();
    ran(workspace);
    await workspace.deploy();
    expect(ran(workspace)).toEqual([]);
    const finished = workspace.events.find((event) => event.event === "step_finished" && event.address === "p/s");
    expect(finished).toMatchObject({ outcome: "skipped", reason: "skipped by state" });
  });
  it("`readable` skips while a file is missing, and says which", async () => {
    const workspace = gated("{state: readable, require: all}");
    workspace.write({ "data.sql": "" });
    await workspace.deploy();
    const finished = workspace.events.find((event) => event.event === "step_finished");
    expect(finished).toMatchObject({ outcome: "skipped", reason: "files_gate: missing [extra]" });
  });
  it.each([
    ["{state: readable, require: [none]}", "declares no file"],
    ["{state: readable, require: [log]}", "only written"],
    ["{state: readable, require: all, command: other}", 'no command "other"'],
  ])("a gate that makes no sense fails its step: %s", async (gate, expected) => {
    const workspace = gated(gate);
    expect(await failure(workspace.deploy())).toContain(expected);
    expect(workspace.journal().project.phases.p?.steps.s?.status).toBe("failed");
  });
});

describe("interruption", () => {
  it("case 72: the running step ends, what was done is recorded, nothing is left running, the lock is free", async () => {
    const stop = new AbortController();
    const steps = ["a", "b"].map((name) => shellStep(name));
    const running = command("c", "echo $$ > pid; echo c >> ran.txt; sleep 30 & wait");
    const workspace = testWorkspace(
      { "workspace/deploy.yml": pipeline("p", ...steps, running, shellStep("d"), shellStep("e")) },
      {
        signal: stop.signal,
        onEvent: (event) =>
          event.event === "step_started" &&
          event.address === "p/c" &&
          setTimeout(() => stop.abort(new Error("stopped by SIGINT")), 300),
      },
    );
    await expect(workspace.deploy()).rejects.toThrow("interrupted");
    expect(ran(workspace)).toEqual(["a", "b", "c"]);
    const { project } = workspace.journal();
    expect(project.phases.p?.steps).toMatchObject({ a: { status: "ok" }, b: { status: "ok" }, c: { status: "failed" } });
    expect(project.last_run?.status).toBe("failed");
    expect(() => process.kill(Number(workspace.read("pid")), 0)).toThrow("ESRCH");
    await workspace.deploy({ resume: true, signal: new AbortController().signal, onEvent: () => {} }).catch(() => {});
    expect(workspace.outcomes()).toMatchObject({ "p/a": "skipped", "p/b": "skipped" });
  }, 60_000);
});
