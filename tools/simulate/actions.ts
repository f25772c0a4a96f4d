import type { HookId, HookShape, JobId, JobShape } from "./job-pool.ts";

/** What becomes of one file in a commit. */
export type FileChange =
  | { readonly file: JobId; readonly job: JobShape }
  | { readonly file: HookId; readonly hook: HookShape }
  | { readonly file: JobId | HookId; readonly text: "broken" | "gone" }
  /** A second file that declares the same job. */
  | { readonly file: JobId; readonly text: "twice" };

export type PersonAct =
  | "look"
  | "approve"
  | "approve_seen"
  | "reject"
  | "pause"
  | "resume"
  | "pause_all"
  | "resume_all"
  | "deploy_now"
  | "retry"
  | "reschedule"
  | "promote"
  | "fail"
  | "resolve_ran"
  | "resolve_not"
  | "accept";

export type WorldAct =
  | "edit"
  | "scale"
  | "stop"
  | "purge"
  | "collect"
  | "collect_children"
  | "stop_child"
  | "promote"
  | "fail"
  | "snapshot"
  | "restore"
  | "gap"
  | "disturb_plans"
  | "lose_node"
  | "return_node";

/** What a call to a port may suffer. `late`: the answer is lost and the effect comes some seconds later. */
export const faultKinds = ["not_sent", "overloaded", "lost_request", "lost_answer", "late", "slow", "not_permitted"] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface Faults {
  /** Chance that a call suffers. */
  readonly rate: number;
  readonly kinds: readonly FaultKind[];
  /** Chance that a repeated dispatch is answered with a child that never was. */
  readonly phantom: number;
  /** Chance that the event stream swallows a frame. */
  readonly skip: number;
}

/**
 * One thing that happens in a history. What it is about is settled when it happens, from what is there then. `salt` seeds the chance of
 * what follows it, so that leaving out one action of a history leaves the chance of the others as it was.
 */
export type Action = Happening & { readonly salt?: number };

type Happening =
  | { readonly do: "commit"; readonly changes: readonly FileChange[] }
  /** Lets so many calls happen, and time pass up to `ms` while none is waiting. */
  | { readonly do: "run"; readonly calls: number; readonly ms: number }
  /** Lets calls happen until one of this name waits for its turn. `working`: and a deployment is under way. */
  | { readonly do: "until"; readonly call: string; readonly ms: number; readonly working?: boolean }
  /**
   * Lets so many calls happen; with the next the process dies, before or after its effect. `working`: only if a deployment is under way.
   * `atWrite`: sooner, with the first that moves something on, if one comes.
   */
  | {
      readonly do: "crash";
      readonly calls: number;
      readonly when: "before" | "after";
      readonly downMs: number;
      readonly working?: boolean;
      readonly atWrite?: boolean;
    }
  /** Ends the process as SIGTERM does, and starts a new one. */
  | { readonly do: "restart" }
  /** Ends the process and opens its database anew from its bytes. */
  | { readonly do: "reopen" }
  | { readonly do: "person"; readonly act: PersonAct; readonly job: JobId; readonly who: "ann" | "bob" }
  | { readonly do: "world"; readonly act: WorldAct; readonly job: JobId; readonly n: number }
  | { readonly do: "faults"; readonly faults: Faults | undefined };

export interface HistorySettings {
  readonly required: 1 | 2;
  readonly mostStarts: 0 | 1;
  readonly minPolicy: "approval" | undefined;
  readonly concurrency: 1 | 4;
  readonly replanMs: number;
}

/** A whole history: the same one gives the same run, always. */
export interface History {
  readonly seed: number;
  readonly settings: HistorySettings;
  readonly actions: readonly Action[];
}

/** An action in a few words, for people. */
export function describeAction(action: Action): string {
  switch (action.do) {
    case "commit":
      return `commit ${action.changes.map(describeChange).join(", ")}`;
    case "run":
      return `run ${action.calls} calls, at most ${action.ms / 1_000} s`;
    case "until":
      return `run until ${action.call} waits, at most ${action.ms / 1_000} s`;
    case "crash":
      return `crash ${action.working === true ? "what works " : ""}${action.when} ${action.atWrite === true ? "a write, at the latest " : ""}call ${action.calls + 1}${action.downMs > 0 ? `, down for ${action.downMs / 1_000} s` : ""}`;
    case "restart":
    case "reopen":
      return action.do;
    case "person":
      return `${action.who}: ${action.act} ${action.job}`;
    case "world":
      return `world: ${action.act} ${action.job} ${action.n}`;
    case "faults":
      return action.faults === undefined ? "faults end" : `faults ${JSON.stringify(action.faults)}`;
  }
}

function describeChange(change: FileChange): string {
  if ("text" in change) return `${change.file}: ${change.text}`;
  if ("hook" in change) return `${change.file}: hook ${change.hook.version} ${change.hook.fate}`;
  const { job } = change;
  const extras = [
    job.kind,
    `${job.image}-${job.fate}`,
    job.policy,
    ...job.pre.map((id) => `pre ${id}`),
    ...job.post.map((id) => `post ${id}`),
    ...(job.window === "none" ? [] : [`window ${job.window}`]),
    ...(job.dependsOn === undefined ? [] : [`after ${job.dependsOn}`]),
    ...(["canary", "autoRevert", "scaled"] as const).filter((name) => job[name]),
    `count ${job.count}`,
  ];
  return `${change.file}: ${extras.join(" ")}`;
}
