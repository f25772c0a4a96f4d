import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../testkit/temp-folder.ts";
import { flockFileLock, isAlive } from "./lock.ts";

const lock = flockFileLock();

function acquired(path: string) {
  const outcome = lock.acquire(path);
  if (!outcome.held) throw new Error("the lock is held by somebody else");
  onTestFinished(() => outcome.lock.release());
  return outcome;
}

/** A process that takes the lock by flock(1), writes `pid` into the file, and keeps it until it is killed. */
async function foreignHolder(path: string, pid: string): Promise<ChildProcess> {
  const script = `exec 9<>"$1"; flock -xn 9 || exit 3; printf '%s' "$2" >&9; echo ready; exec sleep 60 9<&9`;
  const child = spawn("sh", ["-c", script, "sh", path, pid], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child.stdout, "data");
  return child;
}

/** A PID that was in use and is not any more. */
function gonePid(): number {
  return spawnSync("true").pid;
}

describe("flockFileLock", () => {
  it("makes folder and file, writes the PID as text, and keeps the file after the release", () => {
    const path = join(tempFolder(), "deep", ".nops", "deploy.lock");
    const { lock: held, stalePid } = acquired(path);
    expect(stalePid).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe(String(process.pid));
    const { ino } = statSync(path);
    held.release();
    held.release();
    expect(existsSync(path)).toBe(true);
    acquired(path);
    expect(statSync(path).ino).toBe(ino);
  });

  it("tells who holds it without taking it, and nobody once it is free or its holder is gone", () => {
    const path = join(tempFolder(), "lock");
    expect(lock.holder(path)).toBeUndefined();
    const { lock: held } = acquired(path);
    expect(lock.holder(path)).toBe(process.pid);
    held.release();
    expect(lock.holder(path)).toBeUndefined();
    writeFileSync(path, String(gonePid()));
    expect(lock.holder(path)).toBeUndefined();
  });

  it("refuses a second holder of the same process and names it", () => {
    const path = join(tempFolder(), "lock");
    acquired(path);
    expect(lock.acquire(path)).toEqual({ held: false, holder: { pid: process.pid } });
    expect(readFileSync(path, "utf8")).toBe(String(process.pid));
  });

  it("is the kernel's lock: flock(1) sees it, and we see flock(1)'s", async () => {
    const path = join(tempFolder(), "lock");
    const { lock: held } = acquired(path);
    expect(spawnSync("flock", ["-xn", path, "true"]).status).toBe(1);
    held.release();
    const child = await foreignHolder(path, "");
    writeFileSync(path, String(child.pid));
    expect(lock.acquire(path)).toEqual({ held: false, holder: { pid: child.pid } });
  });

  it("is free the moment its holder is killed, and names the one that is gone", async () => {
    const path = join(tempFolder(), "lock");
    const child = await foreignHolder(path, "");
    writeFileSync(path, String(child.pid));
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    expect(acquired(path).stalePid).toBe(child.pid);
  });

  it("takes over a file with the PID of a process that is gone, with nonsense, or with nothing", () => {
    const gone = gonePid();
    for (const [content, stalePid] of [
      [String(gone), gone],
      [`${gone}\n`, gone],
      ["not a pid", undefined],
      ["-5", undefined],
      ["", undefined],
    ] as const) {
      const path = join(tempFolder(), "lock");
      writeFileSync(path, content);
      expect(acquired(path).stalePid).toBe(stalePid);
    }
  });

  it("says holder unknown when a descriptor outlived the process whose PID the file holds, and touches nothing", async () => {
    const path = join(tempFolder(), "lock");
    const gone = gonePid();
    await foreignHolder(path, String(gone));
    expect(lock.acquire(path)).toEqual({ held: false, holder: { pid: undefined } });
    expect(readFileSync(path, "utf8")).toBe(String(gone));
  });

  it("waits a while for a holder that has not written its PID yet, no longer", async () => {
    const path = join(tempFolder(), "lock");
    await foreignHolder(path, "");
    const begun = performance.now();
    expect(flockFileLock({ pidPatienceMs: 100 }).acquire(path)).toEqual({ held: false, holder: { pid: undefined } });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(100);
  });

  it("reads the PID again when a holder writes it late", async () => {
    const path = join(tempFolder(), "lock");
    const script = `exec 9<>"$1"; flock -xn 9 || exit 3; echo ready; sleep 0.3; printf '%s' "$$" >&9; exec sleep 60 9<&9`;
    const child = spawn("sh", ["-c", script, "sh", path], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    await once(child.stdout, "data");
    expect(lock.acquire(path)).toEqual({ held: false, holder: { pid: child.pid } });
  });

  it("lets exactly one of many processes in", async () => {
    const path = join(tempFolder(), "lock");
    const contender = `exec 9<>"$1"; if flock -xn 9; then echo in; exec sleep 60 9<&9; else echo out; fi`;
    const children = Array.from({ length: 12 }, () =>
      spawn("sh", ["-c", contender, "sh", path], { stdio: ["ignore", "pipe", "inherit"] }),
    );
    onTestFinished(() => {
      for (const child of children) child.kill("SIGKILL");
    });
    const answers = await Promise.all(children.map(async (child) => String((await once(child.stdout, "data"))[0]).trim()));
    expect(answers.filter((answer) => answer === "in")).toHaveLength(1);
    expect(flockFileLock({ pidPatienceMs: 0 }).acquire(path).held).toBe(false);
  });

  it("says what is missing instead of taking a weaker lock", () => {
    const path = join(tempFolder(), "lock");
    const without = flockFileLock({ command: "no-such-flock" });
    expect(() => without.acquire(path)).toThrow(
      expect.objectContaining({ code: "lock_unavailable", hint: "install util-linux or BusyBox, which bring flock" }),
    );
    // A flock that fails for another reason than a holder is no answer either way.
    const odd = flockFileLock({ command: "cat" });
    expect(() => odd.acquire(path)).toThrow(
      expect.objectContaining({ code: "lock_unavailable", message: `the lock file ${path} cannot be locked` }),
    );
    writeFileSync(path, "");
    expect(() => lock.acquire(join(path, "below", "a", "file"))).toThrow(expect.objectContaining({ code: "lock_unavailable" }));
  });
});

describe("isAlive", () => {
  it("knows itself, the init process although it may not be signalled, and one that is gone", () => {
    expect(isAlive(process.pid)).toBe(true);
    expect(isAlive(1)).toBe(true);
    expect(isAlive(gonePid())).toBe(false);
  });
});
