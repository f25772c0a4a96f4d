import type { Json } from "../../model/nomad.ts";
import type { ConditionYaml, StepType } from "../config/schema.ts";
import type { Fingerprint } from "./hashes.ts";

/** A pipeline after templates, service inlining and checks: what a run executes and a plan shows. */

export interface ResolvedBody {
  readonly type: StepType;
  readonly cmd: string;
  readonly with: Readonly<Record<string, Json>>;
  /** What a body of type `command` comes down to. */
  readonly command?: ResolvedCommand;
}

/** A named command with its parameters put in. */
export type ResolvedCommand = { readonly id: string; readonly confirm: string | undefined } & (
  | { readonly kind: "shell"; readonly cmd: string }
  | { readonly kind: "nops"; readonly cmd: string }
  | { readonly kind: "script"; readonly path: string; readonly args: readonly string[] }
  | { readonly kind: "builtin"; readonly cmd: string; readonly with: Readonly<Record<string, Json>> }
  | { readonly kind: "workflow"; readonly steps: readonly ResolvedCommand[] }
  | { readonly kind: "daemon"; readonly action: DaemonAction; readonly daemon: ResolvedDaemon }
);

export type DaemonAction = "start" | "stop" | "restart" | "logs";

/** A daemon with its parameters put in (workspace §M6). */
export interface ResolvedDaemon {
  readonly id: string;
  /** Job ID: project, hyphen, rendered name. */
  readonly jobId: string;
  readonly params: Readonly<Record<string, Json>>;
  /** Job file from the root; otherwise `task` says what runs. */
  readonly jobFile: string | undefined;
  readonly task:
    | {
        readonly driver: string;
        readonly config: Readonly<Record<string, Json>>;
        readonly env: Readonly<Record<string, string>>;
        readonly resources: Readonly<Record<string, Json>>;
      }
    | undefined;
  readonly dispatch: boolean;
  readonly onAlreadyRunning: "error" | "noop";
  readonly autoRemove: boolean;
  readonly stopTimeoutMs: number;
}

/** A step's precondition on files that a command declares (workspace §5). */
export interface ResolvedGate {
  readonly state: "readable" | "missing";
  readonly require: "required" | "all" | readonly string[];
  readonly command: string;
  readonly with: Readonly<Record<string, Json>>;
}

export interface ResolvedStep {
  readonly kind: "step";
  /** Service the step belongs to; `undefined` for the project. */
  readonly scope: string | undefined;
  readonly phase: string;
  readonly name: string;
  /** `phase/step` or `service/phase/step`. */
  readonly address: string;
  readonly description: string | undefined;
  readonly body: ResolvedBody;
  /** The body as it may be shown: secrets hidden. */
  readonly shown: string;
  readonly when: ConditionYaml | undefined;
  readonly gate: ResolvedGate | undefined;
  readonly check: ResolvedBody | undefined;
  readonly checkShown: string | undefined;
  readonly continueOnError: boolean;
  readonly skipConfirm: boolean;
  readonly untracked: boolean;
  /** Milliseconds for the body; 0 is unbounded. */
  readonly timeoutMs: number;
  readonly fingerprint: Fingerprint;
  /** Runs on every deploy: it has a check, or its body is a predicate. */
  readonly revalidates: boolean;
  readonly needsNomad: boolean;
  /** References that were left as they are, as written. */
  readonly unresolved: readonly string[];
}

export interface ResolvedGroup {
  readonly kind: "group";
  readonly name: string;
  readonly description: string | undefined;
  readonly when: ConditionYaml | undefined;
  readonly maxConcurrent: number;
  readonly failFast: boolean;
  readonly steps: readonly ResolvedStep[];
}

export interface ResolvedPhase {
  readonly scope: string | undefined;
  readonly name: string;
  readonly description: string | undefined;
  readonly when: ConditionYaml | undefined;
  readonly items: readonly (ResolvedStep | ResolvedGroup)[];
}

export interface ResolvedPlan {
  readonly pipeline: string;
  /** Whether progress and output are copied to a log file. */
  readonly log: boolean;
  readonly phases: readonly ResolvedPhase[];
}

/** All leaf steps in order, sub-steps of groups included. */
export function stepsOf(plan: { readonly phases: readonly ResolvedPhase[] }): ResolvedStep[] {
  return plan.phases.flatMap((phase) => phase.items.flatMap((item) => (item.kind === "step" ? [item] : item.steps)));
}
