import type { Clock } from "../model/clock.ts";
import { type Deployment, engineActor } from "../model/deployment.ts";
import { ConflictError, NotFoundError, RefusedError } from "../model/errors.ts";
import { type JobKey, jobKey } from "../model/job-key.ts";
import { type ReasonCode, reasons } from "../model/reasons.ts";
import type { OperatorMode } from "../plan/gates.ts";
import type { DesiredIndex } from "./desired-index.ts";
import type { DriftController } from "./drift.ts";
import type { Gathered, Gatherer } from "./gather.ts";
import type { LiveIndex } from "./live-index.ts";
import type { ApplyPort, DecisionsPort, DriftPort, FactsPort, MovePort, NomadPort } from "./ports.ts";
import type { OperatorSettings } from "./settings.ts";
import type { Wakes } from "./wakes.ts";

/** What people's decisions need of the world. */
export interface DecisionDeps {
  readonly store: FactsPort & DecisionsPort & MovePort & Pick<DriftPort, "refreshBase"> & Pick<ApplyPort, "recordPromoted">;
  readonly nomad: Pick<NomadPort, "promote" | "failDeployment" | "listNomadDeployments" | "readJob">;
  readonly gatherer: Gatherer;
  readonly drift: DriftController;
  readonly desired: DesiredIndex;
  readonly live: LiveIndex;
  readonly wakes: Wakes;
  readonly clock: Clock;
  readonly settings: OperatorSettings;
  readonly mode: () => OperatorMode;
}

/** The deployment. @throws NotFoundError */
export async function requireDeployment(id: string, deps: Pick<DecisionDeps, "store">): Promise<Deployment> {
  const deployment = await deps.store.deployment(id);
  if (deployment === undefined) throw new NotFoundError(`there is no deployment ${id}`, { code: "unknown_deployment" });
  return deployment;
}

/** @throws RefusedError while nops only looks on. */
export function requireNormalMode(deps: Pick<DecisionDeps, "mode">): void {
  const mode = deps.mode();
  if (mode !== "normal") throw new RefusedError(reasons[mode], { code: mode });
}

/** A look at exactly this job at this moment, independent of any earlier one (operator §31.29). @throws what Nomad threw. */
export async function lookNow(key: JobKey, deps: Pick<DecisionDeps, "gatherer">): Promise<Gathered> {
  const gathered = await deps.gatherer.gather(key, "fresh");
  if (gathered.failure !== undefined) throw gathered.failure;
  return gathered;
}

/** Engine and person may write at the same moment; then the person's request looks again instead of failing over nothing. */
export async function insist<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ConflictError) || tries >= mostAttempts) throw error;
    }
  }
}

const mostAttempts = 5;

export function keyOfDeployment(deployment: Deployment): JobKey {
  return jobKey(deployment.namespace, deployment.jobId);
}

/** Supersedes or completes a deployment that a person's request found out of date. */
export async function settleStale(
  deployment: Deployment,
  trigger: "supersede" | "in_sync",
  reason: ReasonCode,
  message: string,
  deps: DecisionDeps,
): Promise<void> {
  deps.wakes.moved(await deps.store.move(deployment.id, deployment.version, { trigger, reason, message, actor: engineActor }));
}

/** What a person typed beside a decision, made fit to be stored. */
export function tidy(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === undefined || trimmed === "" ? undefined : trimmed;
}
