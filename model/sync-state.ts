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

/** What each word means, for the documentation. */
export const syncMeanings: Readonly<Record<SyncState, string>> = {
  frozen: "its file is broken or declared twice; the job stays as it is until the file is mended",
  invalid: "a `nops_*` key has an invalid value; nothing is deployed until it is mended",
  paused: "a person paused it, or every job",
  blocked: "its last deployment failed or was rejected, and nothing changed since; `nops retry` or a new commit goes on",
  orphan: "it was deployed by nops and left git; it goes on running until a person stops it",
  pending: "a deployment waits for a person",
  deploying: "a deployment is under way",
  held: "its sync window is closed",
  drift: "it differs from git; the policy `none` leaves it so, `explain` says what else does",
  sync: "the live job equals git",
  unknown: "it was not compared yet, or Nomad cannot answer",
};
