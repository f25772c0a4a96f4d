import { join } from "node:path";
import { NopsError } from "../../model/errors.ts";
import type { HeldLock } from "../../model/lock.ts";
import { paths } from "../config/paths.ts";
import type { Host } from "./host.ts";

/** Locks of a project (workspace §10.3). Whoever needs both takes deploy before snapshot and gives them back in reverse. */

type LockHost = Pick<Host, "root" | "lock">;

const files = { deploy: paths.deployLock, snapshot: paths.snapshotLock } as const;
export type LockName = keyof typeof files;

/**
 * Takes locks in the given order, runs `work`, and releases them however it ends.
 * @throws NopsError `lock_held` naming the holder's process, exit code 2; nothing is held then.
 */
export async function withLocks<T>(host: LockHost, names: readonly LockName[], work: () => Promise<T>): Promise<T> {
  const held: HeldLock[] = [];
  try {
    for (const name of names) held.push(take(host, name));
    return await work();
  } finally {
    for (const lock of held.reverse()) lock.release();
  }
}

/** Both locks of everything that changes what runs. */
export const bothLocks: readonly LockName[] = ["deploy", "snapshot"];

function take(host: LockHost, name: LockName): HeldLock {
  const outcome = host.lock.acquire(join(host.root, files[name]));
  if (outcome.held) return outcome.lock;
  throw lockHeld(name, outcome.holder.pid);
}

function lockHeld(name: LockName, pid: number | undefined): NopsError {
  const holder = pid === undefined ? "holder unknown" : `pid ${pid}`;
  return new NopsError(`${name} operation in progress: ${holder} (wait for it to finish or kill it and retry)`, {
    code: "lock_held",
  });
}
