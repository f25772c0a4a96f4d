import type { Clock } from "../../model/clock.ts";
import { formatDuration } from "../../model/duration.ts";
import { type JobKey, splitJobKey } from "../../model/job-key.ts";
import { judgeHealth } from "../../plan/health.ts";
import { type Health, placementWords } from "../../plan/health-words.ts";
import { stepFailed } from "../builtins/params.ts";
import type { WorkspaceNomad } from "../ports.ts";

export interface WaitContext {
  readonly nomad: WorkspaceNomad;
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
/** How long something may be without a place before it counts as failed: while old allocations leave, it passes. */
const unplacedMs = 5_000;

/**
 * Waits until the live version of a job is healthy. Health is read first, the clock second (design D8).
 * @throws NopsError `step_failed` when Nomad's rollout failed, something cannot be placed, or the time is over.
 */
export async function waitHealthy(context: WaitContext, key: JobKey, options: WaitOptions): Promise<void> {
  const { clock, signal } = context;
  const began = clock.now();
  let mode: "apply" | "verify" = "apply";
  let unplacedSince: number | undefined;
  let shown = "";
  for (let pause = firstLookMs, look = 0; ; pause = Math.min(pause * 2, options.intervalMs), look++) {
    const { health, unplaced } = await lookAt(context.nomad, key, mode);
    if (health.state === "healthy") return;
    if (health.state === "failed") {
      if (look > 0 || options.unchanged !== true) throw stepFailed(`job ${key}: ${health.message}`);
      // The failure is older than this run: what counts is what Nomad makes of a new attempt.
      context.print(`${key} had failed before; asking Nomad to place it again`);
      await context.nomad.reschedule(key);
      mode = "verify";
    }
    unplacedSince = unplaced ? (unplacedSince ?? clock.now()) : undefined;
    if (unplacedSince !== undefined && clock.now() - unplacedSince >= unplacedMs) {
      throw stepFailed(`job ${key} cannot be placed: ${health.message}`);
    }
    if (health.message !== shown) context.print(`${key}: ${health.message}`);
    shown = health.message;
    if (options.timeoutMs > 0 && clock.now() - began >= options.timeoutMs) {
      throw stepFailed(`job ${key} was not healthy after ${formatDuration(options.timeoutMs)}: ${health.message}`);
    }
    await clock.sleep(pause, signal);
  }
}

async function lookAt(
  nomad: WorkspaceNomad,
  key: JobKey,
  mode: "apply" | "verify",
): Promise<{ readonly health: Health; readonly unplaced: boolean }> {
  const live = await nomad.readJob(key);
  if (live === undefined) throw stepFailed(`job ${splitJobKey(key).jobId} is gone`);
  if (live.Stop === true) throw stepFailed(`job ${key} is stopped`);
  const [nomadDeployments, allocations, evaluations] = await Promise.all([
    nomad.listNomadDeployments(key),
    nomad.listAllocations(key),
    nomad.listEvaluations(key),
  ]);
  // The live version is what is judged: an autoscaler that moves the index meanwhile is no stranger here.
  const appliedIndex = live.JobModifyIndex;
  const health = judgeHealth({ appliedIndex, mode, live, nomadDeployments, allocations, evaluations });
  return { health, unplaced: health.state === "waiting" && placementWords({ evaluations, appliedIndex }) !== "" };
}
