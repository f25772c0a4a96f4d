/**
 * The life of a deployment: states, triggers, and the one table that relates them (seed "Deployment lifecycle", operator §10.1).
 * Nothing else in the program knows which move is allowed.
 */

export const activeStates = ["detected", "pending_approval", "pre_hook", "applying", "post_hook"] as const;
export const terminalStates = ["completed", "failed", "rejected", "superseded"] as const;

export type ActiveState = (typeof activeStates)[number];
export type TerminalState = (typeof terminalStates)[number];
export type DeploymentState = ActiveState | TerminalState;

/** Waiting: not started; may still be superseded. */
export type WaitingState = "detected" | "pending_approval";
/** Running: started; nothing but its own steps ends it (operator §10.7). */
export type RunningState = Exclude<ActiveState, WaitingState>;

export const allStates: readonly DeploymentState[] = [...activeStates, ...terminalStates];

export function isTerminal(state: DeploymentState): state is TerminalState {
  return (terminalStates as readonly string[]).includes(state);
}

export function isWaiting(state: DeploymentState): state is WaitingState {
  return state === "detected" || state === "pending_approval";
}

export function isRunning(state: DeploymentState): state is RunningState {
  return state === "pre_hook" || state === "applying" || state === "post_hook";
}

/** `apply` registers the spec; `verify` only waits for health and runs post-hooks, since live already equals git (design D12). */
export type DeploymentMode = "apply" | "verify";

/** What may happen to a deployment. Who may fire which is fixed by the ports each controller is handed. */
export const triggers = ["need_approval", "start", "approve", "reject", "supersede", "in_sync", "step_ok", "fail"] as const;
export type Trigger = (typeof triggers)[number];

/** The facts of a deployment that decide where a trigger leads. */
export interface TransitionFacts {
  readonly state: DeploymentState;
  readonly mode: DeploymentMode;
  readonly hasPreHooks: boolean;
  readonly hasPostHooks: boolean;
}

type Edge = (facts: TransitionFacts) => DeploymentState | undefined;

const begin: Edge = (d) => (d.hasPreHooks && d.mode === "apply" ? "pre_hook" : "applying");
// A verify deployment exists because live equals git, so being in sync does not end it.
const completeInSync: Edge = (d) => (d.mode === "apply" ? "completed" : undefined);
const always =
  (state: DeploymentState): Edge =>
  () =>
    state;

const table: { readonly [S in DeploymentState]: { readonly [T in Trigger]?: Edge } } = {
  detected: {
    need_approval: always("pending_approval"),
    start: begin,
    supersede: always("superseded"),
    in_sync: completeInSync,
    fail: always("failed"),
  },
  pending_approval: {
    approve: begin,
    reject: always("rejected"),
    supersede: always("superseded"),
    in_sync: completeInSync,
    fail: always("failed"),
  },
  pre_hook: { step_ok: always("applying"), fail: always("failed") },
  applying: {
    step_ok: (d) => (d.hasPostHooks ? "post_hook" : "completed"),
    in_sync: completeInSync,
    fail: always("failed"),
  },
  post_hook: { step_ok: always("completed"), fail: always("failed") },
  completed: {},
  failed: {},
  rejected: {},
  superseded: {},
};

/** Where `trigger` leads from here; `undefined` when it is not allowed. */
export function transition(facts: TransitionFacts, trigger: Trigger): DeploymentState | undefined {
  return table[facts.state][trigger]?.(facts);
}

/** States a deployment may be created in (operator §8.3 i): a declared hook that cannot be used makes it `failed` at birth. */
export const birthStates = ["detected", "pending_approval", "failed"] as const;
export type BirthState = (typeof birthStates)[number];
