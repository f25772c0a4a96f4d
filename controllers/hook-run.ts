import { toInstant } from "../model/clock.ts";
import type { Deployment, FrozenHook, HookRun } from "../model/deployment.ts";
import { messageOf, NomadError } from "../model/errors.ts";
import { type JobKey, jobKey } from "../model/job-key.ts";
import type { AllocationStub, LiveJob } from "../model/nomad.ts";
import { hookMeta } from "../plan/hook-meta.ts";
import { judgeHookRun } from "../plan/hook-verdict.ts";
import type { Pass } from "../queue/reconciler.ts";
import type { HooksDeps } from "./hook-deps.ts";
import type { HookRunChange } from "./ports.ts";

/** What to do next about a run: look again. Its state is in the store. */
export interface RunOutcome {
  readonly message: string;
  readonly afterMs: number;
}

/** How long a lost dispatch is looked for before its outcome counts as unknown (design D9). */
const searchMs = 30_000;
const searchPauseMs = 2_000;
const pollMs = 2_000;
const retryMs = 1_000;
const logTailBytes = 2_000;

/** One bounded step of one run (operator §13.5). Safe to repeat after a crash at any point. */
export async function advanceRun(
  deployment: Deployment,
  hook: FrozenHook,
  run: HookRun,
  deps: HooksDeps,
  pass: Pass,
): Promise<RunOutcome> {
  if (run.state === "dispatching")
    return (await skipIfItRan(deployment, run, deps)) ?? dispatchOnce(deployment, hook, run, deps, pass);
  if (run.dispatchedJobId === undefined) return search(deployment, run, deps);
  return look(deployment, run, run.dispatchedJobId, deps);
}

const now = (message: string): RunOutcome => ({ message, afterMs: 0 });

async function end(run: HookRun, change: HookRunChange, deps: HooksDeps): Promise<RunOutcome> {
  await deps.store.updateHookRun(run.id, run.state, change);
  return now(`it is ${change.state}`);
}

function isOver(run: HookRun, deps: HooksDeps): boolean {
  return deps.clock.now() >= Date.parse(run.startedAt) + run.timeoutMs;
}

/** A person said that the retried deployment's run of this very hook did its work (design D33). */
async function skipIfItRan(deployment: Deployment, run: HookRun, deps: HooksDeps): Promise<RunOutcome | undefined> {
  if (deployment.retryOf === undefined) return undefined;
  const before = await deps.store.hookRuns(deployment.retryOf);
  const same = before.find(
    (each) => each.phase === run.phase && each.position === run.position && each.revisionId === run.revisionId,
  );
  if (same?.resolution !== "ran") return undefined;
  return end(
    run,
    {
      state: "succeeded",
      error: `not run again: ${same.resolvedBy ?? "a person"} said that it ran in deployment ${deployment.retryOf}`,
    },
    deps,
  );
}

async function dispatchOnce(
  deployment: Deployment,
  hook: FrozenHook,
  run: HookRun,
  deps: HooksDeps,
  pass: Pass,
): Promise<RunOutcome> {
  if (isOver(run, deps)) return end(run, { state: "timed_out", error: "it could not be dispatched in time" }, deps);
  const { spec } = await deps.store.deploymentSpec(deployment.id);
  const meta = hookMeta(hook, deployment, spec, run.token);
  if (!meta.ok) return end(run, { state: "failed", error: meta.message }, deps);
  const parent = jobKey(deployment.namespace, run.revisionId);
  const sent = await deps.store.updateHookRun(run.id, "dispatching", { state: "running" });
  try {
    const child = await deps.nomad.dispatch(parent, run.token, meta.meta);
    if (!child.exists) return beginSearch(sent, deps, `Nomad named a run that does not exist (${child.childId})`);
    return await adopt(deployment, sent, child.childId, deps);
  } catch (error) {
    if (!(error instanceof NomadError)) throw error;
    pass.log.warn("a hook could not be dispatched", { hook: run.revisionId, error: messageOf(error), kind: error.kind });
    return afterDispatchError(parent, sent, error, deps);
  }
}

/** Only a request that provably had no effect returns the run to `dispatching`; everything else is looked for (design D9). */
async function afterDispatchError(parent: JobKey, run: HookRun, error: NomadError, deps: HooksDeps): Promise<RunOutcome> {
  if (error.kind === "unknown_outcome") return beginSearch(run, deps, error.message);
  if (error.kind === "refused" && (await isUsable(parent, deps)))
    return end(run, { state: "failed", error: `Nomad refused the dispatch: ${error.message}` }, deps);
  await deps.store.updateHookRun(run.id, "running", { state: "dispatching" });
  return { message: `not dispatched yet: ${error.message}`, afterMs: retryMs };
}

/** Whether the refusal cannot be about a revision that was stopped or purged meanwhile. When that cannot be read it is not known. */
async function isUsable(parent: JobKey, deps: HooksDeps): Promise<boolean> {
  try {
    const job = await deps.nomad.readJob(parent);
    return job !== undefined && job.Stop !== true;
  } catch {
    return false;
  }
}

async function adopt(deployment: Deployment, run: HookRun, childId: string, deps: HooksDeps): Promise<RunOutcome> {
  deps.wakes.watch(jobKey(deployment.namespace, childId), "hooks", deployment.id);
  await deps.store.updateHookRun(run.id, "running", { state: "running", dispatchedJobId: childId, searchingSince: null });
  return { message: `dispatched as ${childId}`, afterMs: pollMs / 4 };
}

async function beginSearch(run: HookRun, deps: HooksDeps, why: string): Promise<RunOutcome> {
  if (run.searchingSince === undefined)
    await deps.store.updateHookRun(run.id, "running", { state: "running", searchingSince: toInstant(deps.clock.now()) });
  return { message: `looking for the run: ${why}`, afterMs: searchPauseMs };
}

/** The dispatch may have happened. A run with our token is ours; after the search nobody can tell, and it is never sent again. */
async function search(deployment: Deployment, run: HookRun, deps: HooksDeps): Promise<RunOutcome> {
  const parent = jobKey(deployment.namespace, run.revisionId);
  const found = await deps.nomad.findDispatched(parent, run.token);
  if (found !== undefined) return adopt(deployment, run, found.ID, deps);
  if (run.searchingSince === undefined) return beginSearch(run, deps, "the answer to its dispatch is not known");
  if (deps.clock.now() - Date.parse(run.searchingSince) < searchMs)
    return { message: "looking for the run", afterMs: searchPauseMs };
  const error =
    `nobody can tell whether it ran: its dispatch may have reached Nomad, but no run carries its token; look at the children of job ${run.revisionId}. ` +
    `It is not sent again by itself; settle it with: nops hook resolve ${run.id} ran|did-not-run`;
  return end(run, { state: "unknown", error }, deps);
}

async function look(deployment: Deployment, run: HookRun, childId: string, deps: HooksDeps): Promise<RunOutcome> {
  const key = jobKey(deployment.namespace, childId);
  deps.wakes.watch(key, "hooks", deployment.id);
  const child = await deps.nomad.readJob(key);
  if (child === undefined) {
    const error = `its run ${childId} is gone from Nomad before its outcome was read, so nobody can tell whether it did its work; settle it with: nops hook resolve ${run.id} ran|did-not-run`;
    return end(run, { state: "unknown", error }, deps);
  }
  const verdict = judgeHookRun(child, await deps.nomad.listAllocations(key));
  switch (verdict.state) {
    case "succeeded":
      return end(run, { state: "succeeded" }, deps);
    case "failed":
      return fail(deployment, run, child, verdict.message, verdict.allocation, deps);
    case "stopped":
      if (isOver(run, deps)) return timeOut(run, child, key, deps);
      return end(run, { state: "failed", error: verdict.message }, deps);
    case "running":
      if (isOver(run, deps)) return timeOut(run, child, key, deps);
      return {
        message: `${childId} is ${verdict.message}`,
        afterMs: Math.max(1, Math.min(pollMs, Date.parse(run.startedAt) + run.timeoutMs - deps.clock.now())),
      };
  }
}

/** A run that still lives is stopped before it is given up, since Nomad would let it go on (design D9). */
async function timeOut(run: HookRun, child: LiveJob, key: JobKey, deps: HooksDeps): Promise<RunOutcome> {
  if (child.Stop !== true && child.Status !== "dead") await deps.nomad.stopJob(key);
  return end(run, { state: "timed_out", error: `its run ${child.ID} was stopped` }, deps);
}

async function fail(
  deployment: Deployment,
  run: HookRun,
  child: LiveJob,
  error: string,
  allocation: AllocationStub | undefined,
  deps: HooksDeps,
): Promise<RunOutcome> {
  const logTail = allocation === undefined ? "" : await tailOf(deployment.namespace, allocation, deps);
  if (child.Stop !== true && child.Status !== "dead") await deps.nomad.stopJob(jobKey(deployment.namespace, child.ID));
  return end(run, { state: "failed", error, ...(logTail === "" ? {} : { logTail }) }, deps);
}

/** The end of what the failed task wrote, errors first. A log that cannot be read is no reason to keep the deployment waiting. */
async function tailOf(namespace: string, allocation: AllocationStub, deps: HooksDeps): Promise<string> {
  const tasks = Object.entries(allocation.TaskStates ?? {});
  const task = (tasks.find(([, state]) => state.Failed) ?? tasks[0])?.[0];
  if (task === undefined) return "";
  for (const stream of ["stderr", "stdout"] as const) {
    try {
      const text = await deps.nomad.readLogTail(namespace, allocation.ID, task, stream, logTailBytes);
      if (text.trim() !== "") return text;
    } catch {
      return "";
    }
  }
  return "";
}
