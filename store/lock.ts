import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { NopsError } from "../model/errors.ts";
import { makeFolders } from "../model/folders.ts";
import type { FileLock, HeldLock, LockOutcome } from "../model/lock.ts";

export interface FlockOptions {
  /** Program that calls flock(2) on a descriptor it is handed: util-linux or BusyBox. */
  readonly command?: string;
  /** Longest wait for a holder that has not written its PID yet, ms. */
  readonly pidPatienceMs?: number;
}

/** Exit status by which flock(1) says that somebody else holds the lock. */
const statusBusy = 1;
const defaultPatienceMs = 1000;
const patienceStepMs = 20;
const longestPidText = 32;

/**
 * The kernel's flock on a file, taken by flock(1) on our own descriptor: it is ours until released or until this process ends,
 * however it ends, and children do not inherit it (design D17, workspace §10, libraries §2.8). The file holds the PID of the holder
 * and is never deleted, because a second file of the same name would be a second lock.
 */
export function flockFileLock(options: FlockOptions = {}): FileLock {
  const command = options.command ?? "flock";
  const patience = options.pidPatienceMs ?? defaultPatienceMs;
  return { acquire: (path) => acquire(path, command, patience), holder };
}

function acquire(path: string, command: string, patienceMs: number): LockOutcome {
  const file = openLockFile(path);
  try {
    if (tryLock(file, command, path)) return held(file);
    const holder = readHolder(file, patienceMs);
    if (holder.alive) return notHeld(file, holder.pid);
    // The PID is of a process that is gone, or none was ever written: somebody else keeps the descriptor, or just let go of it.
    if (tryLock(file, command, path)) return held(file);
    return notHeld(file, undefined);
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function holder(path: string): number | undefined {
  if (!fs.existsSync(path)) return undefined;
  const file = openSync(path, "r");
  try {
    const pid = readPid(file);
    return pid !== undefined && isAlive(pid) ? pid : undefined;
  } finally {
    closeSync(file);
  }
}

function openLockFile(path: string): number {
  try {
    makeFolders(fs, dirname(path), 0o755);
    // Never truncated by opening: the PID in it belongs to whoever holds the lock.
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `: ${String(error.code)}` : "";
    throw new NopsError(`cannot open the lock file ${path}${code}`, {
      code: "lock_unavailable",
      hint: "its folder must be writable for the user nops runs as",
      cause: error,
    });
  }
}

function tryLock(file: number, command: string, path: string): boolean {
  const result = spawnSync(command, ["-xn", "3"], { stdio: ["ignore", "ignore", "pipe", file] });
  if (result.error === undefined && result.status === 0) return true;
  if (result.error === undefined && result.status === statusBusy && result.stderr.length === 0) return false;
  const missing = result.error !== undefined && "code" in result.error && result.error.code === "ENOENT";
  throw new NopsError(
    missing
      ? "this system has no flock program, so nops cannot make sure that it runs once"
      : `the lock file ${path} cannot be locked`,
    {
      code: "lock_unavailable",
      hint: missing
        ? "install util-linux or BusyBox, which bring flock"
        : "keep data on a local file system; network file systems often have no locks",
      cause: result.error ?? new Error(`flock ended with status ${String(result.status)}: ${result.stderr.toString().trim()}`),
    },
  );
}

function held(file: number): LockOutcome {
  const before = readPid(file);
  ftruncateSync(file, 0);
  writeSync(file, String(process.pid), 0);
  fsyncSync(file);
  const stalePid = before === undefined || before === process.pid ? undefined : before;
  return { held: true, lock: heldLock(file), stalePid };
}

function heldLock(file: number): HeldLock {
  let open = true;
  return {
    release() {
      if (!open) return;
      open = false;
      // An empty file tells the next holder that nobody died; closing the only descriptor lets go of the lock.
      ftruncateSync(file, 0);
      closeSync(file);
    },
  };
}

function notHeld(file: number, pid: number | undefined): LockOutcome {
  closeSync(file);
  return { held: false, holder: { pid } };
}

/** Reads the holder's PID, again and again for a while when there is none: a new holder locks first and writes after. */
function readHolder(file: number, patienceMs: number): { readonly pid: number | undefined; readonly alive: boolean } {
  for (let waited = 0; ; waited += patienceStepMs) {
    const pid = readPid(file);
    if (pid !== undefined) return { pid, alive: isAlive(pid) };
    if (waited >= patienceMs) return { pid: undefined, alive: false };
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patienceStepMs);
  }
}

function readPid(file: number): number | undefined {
  const buffer = Buffer.alloc(longestPidText);
  const length = readSync(file, buffer, 0, longestPidText, 0);
  const text = buffer.toString("latin1", 0, length).trim();
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined;
}

/** Whether a process exists. A refusal to signal it (EPERM) proves that it does. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
