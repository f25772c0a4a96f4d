import { formatDuration } from "../../model/duration.ts";
import { type JobKey, splitJobKey } from "../../model/job-key.ts";
import type { Clock } from "../../model/clock.ts";
import { stepFailed } from "../builtins/params.ts";
import type { HealthJudge, HealthVerdict, WorkspaceNomad } from "../ports.ts";

export interface WaitContext {
  readonly nomad: WorkspaceNomad;
  readonly judge: HealthJudge;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

export interface WaitOptions {
  /** 0 waits without end. */
  readonly timeoutMs: number;
  /** Longest time between looks; the first ones come sooner. */
  readonly intervalMs: number;
  /** Nomad had the job already and nothing was registered: one that failed before is placed again first (design D12). */
  readonly unchanged?: boolean;
}

const firstLookMs = 200;

/**
 * Waits until the live version of a job is healthy. Health is read first, the clock second.
 * @throws NopsError `step_failed` when Nomad's rollout failed, twice in a row nothing could be placed, or the time is over.
 */
export async function waitHealthy(context: WaitContext, key: JobKey, options: WaitOptions): Promise<void> {
  const { clock, signal } = context;
  const deadline = options.timeoutMs === 0 ? undefined : clock.now() + options.timeoutMs;
  const ignored = new Set<string>();
  let unplaced = 0;
  let shown = "";
  for (let pause = firstLookMs, look = 0; ; pause = Math.min(pause * 2, options.intervalMs), look++) {
    const { verdict, deployments } = await lookAt(context, key, ignored);
    if (verdict.kind === "healthy") return;
    if (verdict.kind === "failed") {
      if (look > 0 || options.unchanged !== true) throw stepFailed(`job ${key}: ${verdict.detail}`);
      // The failure is older than this run: what counts is what Nomad makes of a new attempt.
      for (const id of deployments) ignored.add(id);
      context.print(`${key} had failed before; asking Nomad to place it again`);
      await context.nomad.reschedule(key);
    }
    unplaced = verdict.kind === "unplaced" ? unplaced + 1 : 0;
    if (unplaced > 1) throw stepFailed(`job ${key}: ${verdict.detail}`);
    if (verdict.detail !== shown) context.print(`${key}: ${verdict.detail}`);
    shown = verdict.detail;
    if (deadline !== undefined && clock.now() >= deadline) {
      throw stepFailed(`job ${key} was not healthy after ${formatDuration(options.timeoutMs)}: ${verdict.detail}`);
    }
    await clock.sleep(pause, signal);
  }
}

async function lookAt(
  { nomad, judge }: WaitContext,
  key: JobKey,
  ignored: ReadonlySet<string>,
): Promise<{ readonly verdict: HealthVerdict; readonly deployments: readonly string[] }> {
  const job = await nomad.readJob(key);
  if (job === undefined) throw stepFailed(`job ${splitJobKey(key).jobId} is gone`);
  const [deployments, allocations, evaluations] = await Promise.all([
    nomad.listNomadDeployments(key),
    nomad.listAllocations(key),
    nomad.listEvaluations(key),
  ]);
  const counted = deployments.filter((deployment) => !ignored.has(deployment.ID));
  return {
    verdict: judge({ job, deployments: counted, allocations: forgetOldFailures(allocations, ignored), evaluations }),
    deployments: deployments.map((deployment) => deployment.ID),
  };
}

/** Allocations that failed in a rollout that does not count any more are no failure of this one. */
function forgetOldFailures<T extends { readonly DeploymentID?: string; readonly ClientStatus: string }>(
  allocations: readonly T[],
  ignored: ReadonlySet<string>,
): readonly T[] {
  if (ignored.size === 0) return allocations;
  return allocations.filter((one) => !(ignored.has(one.DeploymentID ?? "") && one.ClientStatus === "failed"));
}
