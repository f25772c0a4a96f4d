import { decideStep, type SkipDecision } from "../../plan/skip.ts";
import { type Journal, type StepRecord, scopeRecord, stepRecord } from "../journal/types.ts";
import type { DeployPlan } from "../pipeline/deploy.ts";
import type { Fingerprint } from "../pipeline/hashes.ts";
import { type ResolvedStep, stepsOf } from "../pipeline/types.ts";
import { describeReason } from "./events.ts";

/** What the journal makes of one step, before anything runs. */
export interface Decision extends SkipDecision {
  /** For the brackets behind the step's name. */
  readonly words: string;
  /** The record that counts: absent when its scope changed. */
  readonly prior: StepRecord | undefined;
  /** Last record whatever its worth. */
  readonly recorded: StepRecord | undefined;
}

/** Decisions for every step of a deploy, by address (workspace §8). */
export function decideAll(deploy: DeployPlan, journal: Journal, force: boolean): ReadonlyMap<string, Decision> {
  return new Map(stepsOf(deploy.plan).map((step) => [step.address, decide(deploy, journal, force, step)]));
}

function decide(deploy: DeployPlan, journal: Journal, force: boolean, step: ResolvedStep): Decision {
  const recordedHash = scopeRecord(journal, step.scope)?.config_hash;
  const recorded = stepRecord(journal, step);
  // Without a stamp nobody knows under which configuration the records were made.
  const prior = recordedHash === undefined ? undefined : recorded;
  const decision = decideStep({
    prior: prior === undefined ? undefined : { status: prior.status, hash: prior.action_hash },
    hash: step.fingerprint.hash,
    revalidates: step.revalidates,
    scopeMatches: recordedHash === undefined || recordedHash === scopeFingerprintOf(deploy, step.scope).hash,
    force,
    gate: step.gate?.state,
  });
  const words = describeReason(decision.reason, { scope: step.scope, before: recorded?.action_hash, now: step.fingerprint.hash });
  return { ...decision, words, prior, recorded };
}

/** Config fingerprint of a service, or of the project. */
export function scopeFingerprintOf(deploy: DeployPlan, scope: string | undefined): Fingerprint {
  return scope === undefined ? deploy.project : (deploy.services.get(scope) ?? deploy.project);
}
