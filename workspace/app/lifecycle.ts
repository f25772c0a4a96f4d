import { NopsError } from "../../model/errors.ts";
import type { PhaseYaml } from "../config/schema.ts";
import type { LifecycleStage } from "../config/workspace.ts";
import { clearPending } from "../journal/pending.ts";
import { defaultRun, defaultStop, reapDaemons } from "../pipeline/defaults.ts";
import { engine, planDeploy } from "../pipeline/deploy.ts";
import { resolvePipeline, type SourcePhase } from "../pipeline/resolve.ts";
import type { ResolvedPlan } from "../pipeline/types.ts";
import type { Counts } from "../run/events.ts";
import { notDeployed } from "../run/gates.ts";
import { bothLocks, withLocks } from "./locks.ts";
import { perform, pipelineError, preflight } from "./perform.ts";
import type { Session } from "./session.ts";

/** `nops run`, `stop` and `restart`: pipelines without a journal; every step runs every time (workspace §1, §12). */

export interface LifecycleOptions {
  readonly skipPreflight: boolean;
  /** The caller holds the locks and clears what is pending itself. */
  readonly inner?: boolean;
}

/** Starts the project. @throws NopsError `not_deployed` (exit 1) while a tracked service was never deployed. */
export async function runProject(session: Session, options: LifecycleOptions): Promise<Counts> {
  refuseUndeployed(session);
  return stages(session, [startPlan(session)], options);
}

/** Stops the project; its daemons first. */
export async function stopProject(session: Session, options: LifecycleOptions): Promise<Counts> {
  return stages(session, [stopPlan(session)], options);
}

/** Stops and starts again; jobs of services that were disabled meanwhile stay stopped (workspace §M7). */
export async function restartProject(session: Session, options: LifecycleOptions): Promise<Counts> {
  refuseUndeployed(session);
  return stages(session, [stopPlan(session), startPlan(session)], options);
}

function refuseUndeployed(session: Session): void {
  const missing = notDeployed(planDeploy(session.resolve).tracked, session.store.load());
  if (missing.length === 0) return;
  throw new NopsError(`deploy first: ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not deployed`, {
    code: "not_deployed",
    hint: "`nops deploy run`",
  });
}

/** Both pipelines, resolved: for `validate`. */
export function planLifecycle(session: Session): readonly ResolvedPlan[] {
  return [startPlan(session), stopPlan(session)];
}

function startPlan(session: Session): ResolvedPlan {
  return lifecyclePlan(session, "run", session.workspace.run, defaultRun, []);
}

function stopPlan(session: Session): ResolvedPlan {
  return lifecyclePlan(session, "stop", session.workspace.stop, defaultStop, [engine(reapDaemons)]);
}

function lifecyclePlan(
  session: Session,
  name: string,
  stage: LifecycleStage | undefined,
  byDefault: readonly PhaseYaml[],
  before: readonly SourcePhase[],
): ResolvedPlan {
  const phases =
    stage === undefined
      ? byDefault.map(engine)
      : stage.phases.map((phase) => ({ scope: undefined, phase, file: stage.file, lineOf: () => undefined }));
  return resolvePipeline(session.resolve, { name, log: stage?.log ?? false, phases: [...before, ...phases] });
}

async function stages(session: Session, plans: readonly ResolvedPlan[], options: LifecycleOptions): Promise<Counts> {
  if (!options.skipPreflight) for (const plan of plans) await preflight(session, plan);
  const work = async (): Promise<Counts> => {
    const total: Counts = { executed: 0, revalidated: 0, skipped: 0, failed: 0 };
    for (const plan of plans) {
      const result = await perform(session, { plan });
      for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += result.counts[key];
      if (!result.ok) throw pipelineError(result);
    }
    if (options.inner !== true) session.store.mutate((journal) => clearPending(journal, { kind: "restart" }));
    return total;
  };
  return options.inner === true ? work() : withLocks(session.host, bothLocks, work);
}
