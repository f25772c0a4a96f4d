/** Whether one more automatic deployment for this commit would be more than may start by themselves (design D32). `limit` 0: no brake. */
export function isMassChange(limit: number, startedForCommit: number): boolean {
  return limit > 0 && startedForCommit >= limit;
}

/** Whether a new state of a repository loses more than half of the jobs it had (design D32). */
export function isMassRemoval(before: ReadonlySet<string>, after: ReadonlySet<string>): boolean {
  const lost = [...before].filter((key) => !after.has(key)).length;
  return lost * 2 > before.size;
}
