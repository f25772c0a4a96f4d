/** A deploy that is killed at any write of its journal goes on where it stood (workspace §9.3, case 11). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type WorkspaceFolder, workspaceFolder } from "../testkit/workspace-process.ts";
import { parseJournal } from "../workspace/journal/read.ts";

const names = ["one", "two", "three", "four", "five"];
const files = {
  "nops.workspace.yml": "project: shop\n",
  "workspace/deploy.yml":
    "phases:\n  - {name: services, deploy_services: true}\n  - name: last\n    steps:\n      - {name: five, type: shell, cmd: 'echo five >> ran.txt'}\n",
  "workspace/services/a/deploy.yml": steps("one", "two"),
  "workspace/services/b/deploy.yml": steps("three", "four"),
};

function steps(...list: readonly string[]): string {
  const lines = list.map((name) => `      - {name: ${name}, type: shell, cmd: 'echo ${name} >> ran.txt'}\n`);
  return `phases:\n  - name: go\n    steps:\n${lines.join("")}`;
}

/** Counts the file operations on the journal and kills the process at the one that the environment names. */
const preload = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const at = Number(process.env.KILL_AT);
let count = 0;
const ours = new Set();
const hit = () => { if (++count === at) process.kill(process.pid, "SIGKILL"); };
const { openSync, writeSync, fsyncSync, renameSync } = fs;
fs.openSync = (path, ...rest) => {
  const journal = typeof path === "string" && path.includes(".nops/deploy/.state-");
  if (journal) hit();
  const file = openSync(path, ...rest);
  if (journal) ours.add(file);
  return file;
};
fs.writeSync = (file, ...rest) => { if (ours.has(file)) hit(); return writeSync(file, ...rest); };
fs.fsyncSync = (file) => { fsyncSync(file); if (ours.delete(file)) hit(); };
fs.renameSync = (from, to) => { renameSync(from, to); if (String(to).endsWith("deploy/state.yml")) hit(); };
syncBuiltinESMExports();
`;

const folders: WorkspaceFolder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function recorded(folder: WorkspaceFolder): string[] {
  if (!folder.has(".nops/deploy/state.yml")) return [];
  const { project, services } = parseJournal(folder.read(".nops/deploy/state.yml"));
  const scopes = [project, ...Object.values(services)];
  return scopes.flatMap((scope) =>
    Object.values(scope.phases).flatMap((phase) =>
      Object.entries(phase.steps).flatMap(([name, step]) => (step.status === "ok" && names.includes(name) ? [name] : [])),
    ),
  );
}

const ran = (folder: WorkspaceFolder): string[] => (folder.has("ran.txt") ? folder.read("ran.txt").trim().split("\n") : []);

describe("SIGKILL at every write of a run of five steps", () => {
  it("the next --resume repeats no recorded step and ends well", async () => {
    let points = 0;
    for (let at = 1; ; at++) {
      const folder = workspaceFolder({ ...files, "kill.mjs": preload });
      folders.push(folder);
      const options = `--import=${pathToFileURL(join(folder.root, "kill.mjs")).href}`;
      const killed = await folder.run(["deploy", "run", "-y"], { NODE_OPTIONS: options, KILL_AT: String(at) });
      if (killed.signal === null) {
        // Past the last write: the run was not disturbed.
        expect(killed.code, killed.stderr).toBe(0);
        break;
      }
      points = at;
      expect(killed.signal).toBe("SIGKILL");
      const before = recorded(folder);
      const firstRun = ran(folder);
      const resumed = await folder.run(["deploy", "run", "-y", "--resume"]);
      expect(resumed.code, `killed at ${at}: ${resumed.stderr}`).toBe(0);
      const again = ran(folder).slice(firstRun.length);
      expect(
        again.filter((name) => before.includes(name)),
        `killed at ${at}`,
      ).toEqual([]);
      expect([...before, ...again].sort(), `killed at ${at}`).toEqual([...names].sort());
      expect(parseJournal(folder.read(".nops/deploy/state.yml")).project).toMatchObject({
        status: "deployed",
        last_run: { status: "ok" },
      });
      expect(readdirSync(join(folder.root, ".nops/deploy")).filter((name) => name.startsWith("."))).toEqual([]);
    }
    // Begin, the environment file, two first steps of services, five steps and the end: four operations each.
    // Then three of the note for the next run that nothing is left to do.
    expect(points).toBe(4 * 10 + 3);
  }, 600_000);
});

const five = {
  "nops.workspace.yml": "project: shop\n",
  "workspace/deploy.yml": `phases:\n  - name: p\n    steps:\n${["a", "b"].map((name) => `      - {name: ${name}, type: shell, cmd: 'echo ${name} >> ran.txt'}\n`).join("")}      - {name: c, type: shell, cmd: 'echo $$ > pid; echo c >> ran.txt; test -e go || sleep 60'}\n${["d", "e"].map((name) => `      - {name: ${name}, type: shell, cmd: 'echo ${name} >> ran.txt'}\n`).join("")}`,
};

function interrupted(): WorkspaceFolder {
  const folder = workspaceFolder(five);
  folders.push(folder);
  return folder;
}

/** Whether a process still runs; one that only waits to be reaped does not. */
function runs(pid: string): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid.trim()}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe("signals", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "case 72: %s during step 3 of 5 leaves a consistent journal, a free lock and no child",
    async (signal) => {
      const folder = interrupted();
      const running = folder.start(["deploy", "run", "-y"]);
      await running.printed(/\[3\/5\] p\/c/);
      while (!folder.has("pid") || folder.read("pid").trim() === "") await new Promise((resolve) => setTimeout(resolve, 20));
      running.kill(signal);
      const { code, stderr } = await running.finished;
      expect(code, stderr).toBe(130);
      expect(runs(folder.read("pid"))).toBe(false);
      const { project } = parseJournal(folder.read(".nops/deploy/state.yml"));
      expect(project.phases.p?.steps).toMatchObject({ a: { status: "ok" }, b: { status: "ok" }, c: { status: "failed" } });
      expect(project.last_run?.status).toBe("failed");
      folder.write({ go: "" });
      const resumed = await folder.run(["deploy", "run", "-y", "--resume"]);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(ran(folder)).toEqual(["a", "b", "c", "c", "d", "e"]);
    },
  );

  it("case 11, 71: after a kill -9 what was done is on disk, and nothing has to be cleaned up by hand", async () => {
    const folder = interrupted();
    const running = folder.start(["deploy", "run", "-y"]);
    await running.printed(/✓ \[2\/5\] p\/b/);
    running.kill("SIGKILL");
    await running.finished;
    const { project } = parseJournal(folder.read(".nops/deploy/state.yml"));
    expect(project.phases.p?.steps).toMatchObject({ a: { status: "ok" }, b: { status: "ok" } });
    expect(project.last_run?.status).toBe("in_progress");
    const refused = await folder.run(["deploy", "run", "-y"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("--resume");
    folder.write({ go: "" });
    const resumed = await folder.run(["deploy", "run", "-y", "--resume"]);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(ran(folder).filter((name) => name === "a" || name === "b")).toEqual(["a", "b"]);
  });

  it("a second Ctrl-C ends at once, and takes a child that does not listen with it", async () => {
    const folder = workspaceFolder({
      ...five,
      "workspace/deploy.yml":
        "phases:\n  - name: p\n    steps:\n      - {name: deaf, type: shell, cmd: 'trap \"\" TERM INT; echo $$ > pid; while :; do sleep 0.1; done'}\n",
    });
    folders.push(folder);
    const running = folder.start(["deploy", "run", "-y"]);
    while (!folder.has("pid") || folder.read("pid").trim() === "") await new Promise((resolve) => setTimeout(resolve, 20));
    running.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 300));
    running.kill("SIGINT");
    expect((await running.finished).code).toBe(130);
    for (let tries = 0; runs(folder.read("pid")) && tries < 50; tries++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs(folder.read("pid"))).toBe(false);
  });
});

describe("two hundred starts at once", () => {
  it("exactly one runs; the others end with 2 and name it", async () => {
    const folder = workspaceFolder({
      "nops.workspace.yml": "project: shop\n",
      "workspace/deploy.yml":
        "phases:\n  - name: p\n    steps:\n      - {name: hold, type: shell, cmd: 'echo ran >> ran.txt; until test -e go; do sleep 0.1; done'}\n",
    });
    folders.push(folder);
    const begun = Array.from({ length: 4 }, () => folder.start(["deploy", "run", "-y"]));
    // Whoever wins first holds until all others have ended.
    const holder = await Promise.any(begun.map((one) => one.printed(/p\/hold/).then(() => one)));
    const losers = begun.filter((one) => one !== holder).map((one) => one.finished);
    let left = 196;
    const worker = async (): Promise<void> => {
      while (left-- > 0) losers.push(Promise.resolve(await folder.run(["deploy", "run", "-y"])));
    };
    await Promise.all(Array.from({ length: 6 }, worker));
    const ended = await Promise.all(losers);
    expect(ended).toHaveLength(199);
    for (const { code, stderr } of ended) {
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(`pid ${holder.pid}`);
    }
    folder.write({ go: "" });
    const { code, stderr } = await holder.finished;
    expect(code, stderr).toBe(0);
    expect(ran(folder)).toEqual(["ran"]);
  }, 600_000);
});
