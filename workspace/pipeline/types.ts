import type { Json } from "../../model/nomad.ts";
import type { ConditionYaml, StepType } from "../config/schema.ts";
import type { Fingerprint } from "./hashes.ts";

/** A pipeline after templates, service inlining and checks: what a run executes and a plan shows. */

export interface ResolvedBody {
  readonly type: StepType;
  readonly cmd: string;
  readonly with: Readonly<Record<string, Json>>;
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
