import { rmSync } from "node:fs";
import { join } from "node:path";
import { toInstant } from "../../model/clock.ts";
import { InvalidRequestError, NopsError } from "../../model/errors.ts";
import { insidePath } from "../builtins/params.ts";
import { suggestion } from "../config/parse.ts";
import type { Service } from "../config/workspace.ts";
import { dropService } from "../journal/journal.ts";
import { addPending } from "../journal/pending.ts";
import { defaultReset } from "../pipeline/defaults.ts";
import { engine, planDeploy, sourcePhase } from "../pipeline/deploy.ts";
import { hasPipeline } from "../pipeline/order.ts";
import { resolvePipeline } from "../pipeline/resolve.ts";
import type { ResolvedPlan } from "../pipeline/types.ts";
import { bothLocks, withLocks } from "./locks.ts";
import { perform, pipelineError, preflight } from "./perform.ts";
import type { Session } from "./session.ts";

/** `nops reset`: tears down what a deploy made, and forgets that it was made (workspace §14). */

export interface ResetOptions {
  readonly service?: string;
  readonly skipPreflight: boolean;
}

/** The pipeline that a reset would run. @throws InvalidRequestError `unknown_service`. */
export function planReset(session: Session, service: string | undefined): ResolvedPlan {
  const { workspace } = session;
  if (service === undefined) {
    const phases = workspace.reset?.phases ?? defaultReset;
    const sources = phases.map((phase) => sourcePhase(undefined, phase, workspace.reset));
    return resolvePipeline(session.resolve, { name: "reset", log: workspace.reset?.log ?? false, phases: sources });
  }
  const target = resettable(session, service);
  const base = {
    name: "remove",
    steps: [{ name: "job", type: "builtin" as const, cmd: "service_remove", with: { service } }],
  };
  const own = (target.reset?.phases ?? []).map((phase) => sourcePhase(service, phase, target.reset));
  const before = target.jobFile === undefined ? [] : [{ ...engine(base), scope: service }];
  return resolvePipeline(session.resolve, { name: "reset", log: target.reset?.log ?? false, phases: [...before, ...own] });
}

function resettable(session: Session, name: string): Service {
  const service = session.workspace.services.get(name);
  if (service === undefined) {
    throw new InvalidRequestError(`there is no service "${name}"${suggestion(name, session.workspace.services.keys())}`, {
      code: "unknown_service",
    });
  }
  if (!hasPipeline(service)) {
    throw new InvalidRequestError(`service "${name}" is not deployed by nops: it has neither deploy.yml nor a job file`, {
      code: "no_pipeline",
    });
  }
  return service;
}

/**
 * Runs the reset. The journal goes only when all went well; of one service its record goes and a deploy becomes pending
 * in the same write. @throws NopsError `cancelled` when a person said no.
 */
export async function resetRun(session: Session, options: ResetOptions): Promise<void> {
  const plan = planReset(session, options.service);
  const { prompt, assumeYes } = session.host;
  if (options.service !== undefined && !assumeYes && prompt.interactive) {
    const sure = await prompt.confirm(`Remove the job of "${options.service}" and run its reset pipeline?`);
    if (!sure) throw new NopsError("cancelled", { code: "cancelled" });
  }
  if (!options.skipPreflight) await preflight(session, plan);
  await withLocks(session.host, bothLocks, async () => {
    const result = await perform(session, { plan });
    if (!result.ok) throw pipelineError(result);
    if (options.service === undefined) session.store.remove();
    else forgetService(session, options.service);
  });
}

function forgetService(session: Session, name: string): void {
  const service = session.workspace.services.get(name);
  const dir = service?.definition.dir;
  if (dir !== undefined && insidePath.safeParse(dir).success) {
    rmSync(join(session.workspace.root, dir), { recursive: true, force: true });
  }
  const deploy = planDeploy(session.resolve);
  session.store.mutate((journal) => {
    dropService(journal, name, new Set(deploy.tracked));
    const stamp = { now: toInstant(session.host.clock.now()), configHash: deploy.project.hash };
    addPending(journal, [{ kind: "deploy", services: [name] }], stamp);
    return true;
  });
}
