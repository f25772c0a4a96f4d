/** Who holds a lock, as far as its file tells. */
export interface LockHolder {
  /** Process id, when the file held a readable one. */
  readonly pid: number | undefined;
}

/** A lock that is held until released or until this process ends, however it ends (design D17). */
export interface HeldLock {
  release(): void;
}

export type LockOutcome =
  | { readonly held: true; readonly lock: HeldLock; readonly stalePid: number | undefined }
  | { readonly held: false; readonly holder: LockHolder };

/** Takes an exclusive, non-blocking advisory lock (flock) on a file. Operator and workspace share one implementation. */
export interface FileLock {
  /**
   * Tries once. `stalePid` names a former holder that is gone.
   * @throws NopsError `lock_unavailable` when this system offers no flock; never falls back to a weaker lock.
   */
  acquire(path: string): LockOutcome;
  /** PID that stands in the lock file, when that process lives. Takes nothing, so nobody who wants the lock is disturbed. */
  holder(path: string): number | undefined;
}
