/**
 * Words for how a job stands, first that applies (operator §19.3); `frozen` for a job whose file cannot be judged (contract §4),
 * `unknown` for one that was not compared with git yet, or about which Nomad cannot answer.
 */
export const syncStates = [
  "frozen",
  "invalid",
  "paused",
  "blocked",
  "orphan",
  "pending",
  "deploying",
  "held",
  "drift",
  "sync",
  "unknown",
] as const;
export type SyncState = (typeof syncStates)[number];
