/** People's decisions, from the API to the operator. */

import type { Commands } from "../../api/ports.ts";
import { presentDeployment, presentHookRun, presentPause } from "../../api/present.ts";
import type { Operator } from "../../controllers/operator.ts";

export function createCommands(operator: Operator): Commands {
  return {
    approve: async (id, specHash, comment, actor) => presentDeployment(await operator.approve(id, specHash, comment, actor)),
    reject: async (id, comment, actor) => presentDeployment(await operator.reject(id, comment, actor)),
    retry: async (id, wish, actor) =>
      presentDeployment(
        await operator.retry(
          id,
          { reschedule: wish.reschedule ?? false, rerunUnknownHooks: wish.rerun_unknown_hooks ?? false },
          actor,
        ),
      ),
    promote: async (id, actor) => presentDeployment(await operator.promote(id, actor)),
    fail: async (id, actor) => presentDeployment(await operator.fail(id, actor)),
    pauseJob: async (key, reason, actor) => presentPause(await operator.pauseJob(key, reason, actor)),
    resumeJob: async (key, actor) => presentPause(await operator.resumeJob(key, actor)),
    pauseAll: async (reason, actor) => presentPause(await operator.pauseAll(reason, actor)),
    resumeAll: async (actor) => presentPause(await operator.resumeAll(actor)),
    deployNow: async (key, specHash, actor) => {
      const deployment = await operator.deployNow(key, specHash, actor);
      return deployment === undefined ? null : presentDeployment(deployment);
    },
    fetch: async (repository, accept, actor) => operator.fetch(repository, accept ? actor : undefined),
    resolveHook: async (runId, resolution, actor) => presentHookRun(await operator.resolveHook(runId, resolution, actor)),
  };
}
