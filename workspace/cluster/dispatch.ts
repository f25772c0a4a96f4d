import { formatDuration } from "../../model/duration.ts";
import { sha256 } from "../../model/hash.ts";
import { type JobKey, jobKey, splitJobKey } from "../../model/job-key.ts";
import type { AllocationStub, LiveJob } from "../../model/nomad.ts";
import { explainAllocation } from "../../plan/health-words.ts";
import { stepFailed } from "../builtins/params.ts";
import type { StepIdentity } from "../builtins/types.ts";
import type { WaitContext } from "./wait.ts";

/**
 * Token of a dispatch: the same after a crash between dispatch and record, so that Nomad names the child it already has;
 * another one after every recorded outcome, because Nomad honours tokens of dead children too (workspace §M3).
 */
export function dispatchToken(identity: StepIdentity): string {
  const parts = [
    identity.actionHash,
    identity.configHash,
    identity.recordedAt ?? "none",
    ...(identity.forcedAt === undefined ? [] : [identity.forcedAt]),
  ];
  return sha256(parts.join("\0"));
}

/** How long a child that Nomad named but does not have is looked for, ms (design D9). */
const searchMs = 30_000;

/** Dispatches once and returns the child that really exists. @throws NopsError `step_failed` when none can be found. */
export async function dispatchChild(
  { nomad, clock, signal }: WaitContext,
  parent: JobKey,
  request: { readonly token: string; readonly meta: Readonly<Record<string, string>>; readonly payload: Uint8Array | undefined },
): Promise<JobKey> {
  const { namespace } = splitJobKey(parent);
  const named = await nomad.dispatch(parent, request).catch((error: unknown) => {
    if (error instanceof Error && "kind" in error && error.kind === "unknown_outcome") return undefined;
    throw error;
  });
  if (named !== undefined && (await nomad.readJob(jobKey(namespace, named.childId))) !== undefined)
    return jobKey(namespace, named.childId);
  for (const deadline = clock.now() + searchMs; clock.now() < deadline; ) {
    const found = await nomad.findDispatched(parent, request.token);
    if (found !== undefined) return jobKey(namespace, found.ID);
    await clock.sleep(1_000, signal);
  }
  throw stepFailed(
    `${parent} was dispatched, but which child runs cannot be told`,
    "look at the job's children in Nomad before running it again",
  );
}

/** Waits until a batch child has ended. @throws NopsError `step_failed` with the end of its log when it failed. */
export async function waitEnded(context: WaitContext, key: JobKey, timeoutMs: number): Promise<void> {
  const deadline = timeoutMs === 0 ? undefined : context.clock.now() + timeoutMs;
  for (let pause = 200; ; pause = Math.min(pause * 2, 2_000)) {
    const job = await context.nomad.readJob(key);
    if (job === undefined) throw stepFailed(`job ${splitJobKey(key).jobId} is gone`);
    if (job.Status === "dead") return judgeEnd(context, key, job, await context.nomad.listAllocations(key));
    if (deadline !== undefined && context.clock.now() >= deadline) {
      throw stepFailed(`job ${splitJobKey(key).jobId} did not end within ${formatDuration(timeoutMs)}; it goes on in Nomad`);
    }
    await context.clock.sleep(pause, context.signal);
  }
}

async function judgeEnd(context: WaitContext, key: JobKey, job: LiveJob, allocations: readonly AllocationStub[]): Promise<void> {
  if (job.Stop === true) throw stepFailed(`job ${job.ID} was stopped`);
  const wanted = (job.TaskGroups ?? []).map((group) => ({ name: group.Name ?? "", count: group.Count ?? 1 }));
  const done = wanted.every(({ name, count }) => {
    const complete = allocations.filter((one) => one.TaskGroup === name && one.ClientStatus === "complete");
    return complete.length >= count;
  });
  if (done) return;
  const failed = allocations.filter((one) => one.ClientStatus !== "complete").sort((a, b) => b.CreateIndex - a.CreateIndex)[0];
  if (failed === undefined) throw stepFailed(`job ${job.ID} ended and nothing of it ran`);
  await printLogs(context, splitJobKey(key).namespace, failed);
  throw stepFailed(`job ${job.ID}: ${explainAllocation(failed)}`);
}

const tailBytes = 4_000;

async function printLogs({ nomad, print }: WaitContext, namespace: string, allocation: AllocationStub): Promise<void> {
  for (const task of Object.keys(allocation.TaskStates ?? {})) {
    for (const stream of ["stdout", "stderr"] as const) {
      // Logs help; that they cannot be read must not hide why the job failed.
      const tail = await nomad.readLogTail(namespace, allocation.ID, task, stream, tailBytes).catch(() => "");
      for (const line of tail.split("\n")) if (line !== "") print(`${task} ${stream} | ${line}`);
    }
  }
}
