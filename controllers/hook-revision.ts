import type { Deployment, FrozenHook, HookRun } from "../model/deployment.ts";
import { formatDuration } from "../model/duration.ts";
import { messageOf, NomadError } from "../model/errors.ts";
import type { JobSpec } from "../model/nomad.ts";
import { judgeDrift } from "../plan/drift.ts";
import type { Pass } from "../queue/reconciler.ts";
import type { HooksDeps } from "./hook-deps.ts";

export type RevisionOutcome =
  | { readonly kind: "ready" }
  | { readonly kind: "again"; readonly message: string; readonly afterMs: number }
  | { readonly kind: "failed"; readonly message: string };

const retryMs = 1_000;

/**
 * Makes sure that exactly the frozen hook is registered under its revision's ID, right before its dispatch (operator §13.4). The
 * same content costs no write. An error is tried again until the hook's own time is over, counted from the end of the hook before.
 */
export async function ensureRevision(
  deployment: Deployment,
  hook: FrozenHook,
  run: HookRun | undefined,
  deps: HooksDeps,
  pass: Pass,
): Promise<RevisionOutcome> {
  const spec: JobSpec = { ...hook.spec, ID: hook.revisionId, Name: hook.revisionId, Namespace: deployment.namespace };
  try {
    const plan = await deps.nomad.plan(spec);
    const drift = judgeDrift(plan.diff, false);
    if (drift === "none" || drift === "unknown") return { kind: "ready" };
    await deps.nomad.register(spec, plan.jobModifyIndex, { source: JSON.stringify(spec), format: "json", variables: "" });
    return { kind: "ready" };
  } catch (error) {
    if (!(error instanceof NomadError)) throw error;
    pass.log.warn("a hook revision could not be registered", { hook: hook.revisionId, error: messageOf(error) });
    return afterError(deployment, hook, run, error, deps);
  }
}

async function afterError(
  deployment: Deployment,
  hook: FrozenHook,
  run: HookRun | undefined,
  error: NomadError,
  deps: HooksDeps,
): Promise<RevisionOutcome> {
  const since = Date.parse(run?.startedAt ?? (await deps.store.phaseStepStartedAt(deployment.id, hook.phase, hook.position)));
  const over = deps.clock.now() >= since + hook.timeoutMs;
  // Once there is a run, it is the run's own deadline that ends it.
  if (run !== undefined && over) return { kind: "ready" };
  if (run === undefined && over)
    return { kind: "failed", message: `not within ${formatDuration(hook.timeoutMs)}: ${error.message}` };
  if (run === undefined && error.kind === "refused") return { kind: "failed", message: `Nomad refused it: ${error.message}` };
  return retry(error.message, error.kind === "conflict" ? 0 : retryMs);
}

function retry(message: string, afterMs = retryMs): RevisionOutcome {
  return { kind: "again", message, afterMs };
}
