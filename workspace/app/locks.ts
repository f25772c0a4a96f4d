import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NopsError } from "../../model/errors.ts";
import type { HeldLock, LockOutcome } from "../../model/lock.ts";
import { paths } from "../config/workspace.ts";
import type { Host } from "./host.ts";

/** Locks of a project (workspace §10.3). Whoever needs both takes deploy before snapshot and gives them back in reverse. */

type LockHost = Pick<Host, "root" | "lock" | "clock">;

const files = { deploy: paths.deployLock, snapshot: paths.snapshotLock } as const;
export type LockName = keyof typeof files;

/**
 * Takes locks in the given order, runs `work`, and releases them however it ends.
 * @param words names the operation in the error, for example `clear state`; default the lock's own name.
 * @throws NopsError `lock_held` naming the holder's process, exit code 2; nothing is held then.
 */
export async function withLocks<T>(host: LockHost, names: readonly LockName[], work: () => Promise<T>): Promise<T> {
  const held: HeldLock[] = [];
  try {
    for (const name of names) held.push(await take(host, name));
    return await work();
  } finally {
    for (const lock of held.reverse()) lock.release();
  }
}

/** Both locks of everything that changes what runs. */
export const bothLocks: readonly LockName[] = ["deploy", "snapshot"];

async function take(host: LockHost, name: LockName): Promise<HeldLock> {
  const path = join(host.root, files[name]);
  const outcome = host.lock.acquire(path);
  if (outcome.held) return outcome.lock;
  const pid = outcome.holder.pid ?? (await waitForPid(host, path));
  throw lockHeld(name, pid);
}

const pidWaitMs = 1_000;

/** The holder writes its PID right after it got the lock; between the two the file is empty. */
async function waitForPid(host: LockHost, path: string): Promise<number | undefined> {
  for (const deadline = host.clock.now() + pidWaitMs; host.clock.now() < deadline; ) {
    await host.clock.sleep(50);
    const pid = readPid(path);
    if (pid !== undefined) return pid;
  }
  return undefined;
}

function readPid(path: string): number | undefined {
  try {
    const text = readFileSync(path, "utf8").trim();
    return /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

function lockHeld(name: LockName, pid: number | undefined): NopsError {
  const holder = pid === undefined ? "holder unknown" : `pid ${pid}`;
  return new NopsError(`${name} operation in progress: ${holder} (wait for it to finish or kill it and retry)`, { code: "lock_held" });
}

export type { LockOutcome };
