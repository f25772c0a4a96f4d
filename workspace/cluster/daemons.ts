import { NomadError } from "../../model/errors.ts";
import { type JobKey, jobKey, splitJobKey } from "../../model/job-key.ts";
import type { JobSpec, Json } from "../../model/nomad.ts";
import { stepFailed } from "../builtins/params.ts";
import type { StepContext } from "../builtins/types.ts";
import { canonicalJson } from "../pipeline/hashes.ts";
import type { ResolvedDaemon } from "../pipeline/types.ts";
import { dispatchChild, dispatchToken } from "./dispatch.ts";
import { type LabelledJob, labels, projectJobs, withLabels } from "./labels.ts";
import { parseJobFile } from "./run-job.ts";
import { waitHealthy } from "./wait.ts";

/** Daemons: long-running jobs that a command starts. Nomad is the only registry; nothing is stored here (workspace §17, §M6). */

/** Executes one action of a daemon. @throws NopsError `step_failed`. */
export async function runDaemon(context: StepContext, daemon: ResolvedDaemon, action: string): Promise<void> {
  switch (action) {
    case "start":
      return startDaemon(context, daemon);
    case "stop":
      return stopDaemon(context, daemon);
    case "restart":
      await stopDaemon(context, daemon);
      return startDaemon(context, daemon);
    default:
      return followLogs(context, daemon);
  }
}

function keyOf(context: StepContext, daemon: ResolvedDaemon): JobKey {
  return jobKey(context.workspace.namespace, daemon.jobId);
}

function daemonLabels(context: StepContext, daemon: ResolvedDaemon): Record<string, string> {
  return {
    [labels.project]: context.workspace.project,
    [labels.daemonId]: daemon.id,
    [labels.daemonParams]: canonicalJson(daemon.params),
    [labels.daemonRemove]: String(daemon.autoRemove),
  };
}

async function startDaemon(context: StepContext, daemon: ResolvedDaemon): Promise<void> {
  const nomad = await context.nomad();
  const key = keyOf(context, daemon);
  if (daemon.dispatch) return startDispatched(context, daemon, key);
  const live = await nomad.readJob(key);
  if (live !== undefined && live.Stop !== true && live.Status !== "dead") return alreadyRunning(context, daemon, key);
  // A dead leftover would make "only when there is none" fail.
  if (live !== undefined) await nomad.stopJob(key, { purge: true });
  const spec = withLabels(await daemonSpec(context, daemon), daemonLabels(context, daemon));
  try {
    await nomad.register(spec, 0, undefined);
  } catch (error) {
    // Index 0 is Nomad's own answer to two starts at once.
    if (error instanceof NomadError && error.kind === "conflict") return alreadyRunning(context, daemon, key);
    throw error;
  }
  context.print(`${key}: started`);
  const { clock, signal, print } = context;
  await waitHealthy({ nomad, clock, signal, print }, key, { timeoutMs: 5 * 60_000, intervalMs: 2_000 });
}

function alreadyRunning(context: StepContext, daemon: ResolvedDaemon, key: JobKey): void {
  if (daemon.onAlreadyRunning === "error") throw stepFailed(`daemon ${daemon.id} is already running as ${key}`);
  context.print(`${key}: already running`);
}

/** The parent is the workspace's own job and takes the labels as dispatch meta, so that each child names its daemon. */
async function startDispatched(context: StepContext, daemon: ResolvedDaemon, parent: JobKey): Promise<void> {
  const nomad = await context.nomad();
  const running = (await daemonJobs(context, daemon)).filter((job) => job.active);
  if (running[0] !== undefined) return alreadyRunning(context, daemon, running[0].key);
  const spec = await daemonSpec(context, daemon);
  if (spec.ParameterizedJob === null || spec.ParameterizedJob === undefined) {
    throw stepFailed(`daemon ${daemon.id}: the job file has no parameterized block, so it cannot be dispatched`);
  }
  const own = daemonLabels(context, daemon);
  const optional = new Set([...(spec.ParameterizedJob.MetaOptional ?? []), ...Object.keys(own)]);
  const labelled = withLabels(spec, { [labels.project]: context.workspace.project });
  const ready: JobSpec = { ...labelled, ParameterizedJob: { ...spec.ParameterizedJob, MetaOptional: [...optional] } };
  const plan = await nomad.plan(ready);
  if (plan.diff.Type !== "None") await nomad.register(ready, plan.jobModifyIndex, undefined);
  const { clock, signal, print } = context;
  const token = dispatchToken({ ...context.identity, forcedAt: String(clock.now()) });
  const child = await dispatchChild({ nomad, clock, signal, print }, parent, { token, meta: own, payload: undefined });
  context.print(`${child}: started`);
}

async function stopDaemon(context: StepContext, daemon: ResolvedDaemon): Promise<void> {
  const nomad = await context.nomad();
  const running = (await daemonJobs(context, daemon)).filter((job) => job.active);
  for (const job of running) {
    await nomad.stopJob(job.key, { purge: daemon.autoRemove });
    context.print(`${job.key}: stopped`);
  }
  if (running.length === 0) context.print(`${keyOf(context, daemon)}: not running`);
}

async function daemonJobs(context: StepContext, daemon: ResolvedDaemon): Promise<readonly LabelledJob[]> {
  const params = canonicalJson(daemon.params);
  const jobs = await projectJobs(await context.nomad(), context.workspace.project);
  return jobs.filter((job) => job.daemonId === daemon.id && job.stub.Meta?.[labels.daemonParams] === params);
}

async function daemonSpec(context: StepContext, daemon: ResolvedDaemon): Promise<JobSpec> {
  const { workspace } = context;
  const common = { ID: daemon.jobId, Name: daemon.jobId, Namespace: workspace.namespace };
  const timeout = { KillTimeout: daemon.stopTimeoutMs * 1e6 };
  if (daemon.jobFile === undefined) {
    const { task } = daemon;
    const job = {
      ...common,
      Type: "service",
      ...(workspace.region === undefined ? {} : { Region: workspace.region }),
      Datacenters: ["*"],
      TaskGroups: [
        {
          Name: "daemon",
          Count: 1,
          // A person waits for the answer: a second of life is proof enough.
          Update: { MinHealthyTime: 1e9, HealthyDeadline: 60e9, ProgressDeadline: 120e9 },
          Tasks: [
            {
              Name: "daemon",
              Driver: task?.driver ?? "",
              Config: { ...task?.config },
              Env: { ...task?.env },
              ...(task === undefined || Object.keys(task.resources).length === 0 ? {} : { Resources: apiNames(task.resources) }),
              ...timeout,
            },
          ],
        },
      ],
    };
    return job as JobSpec;
  }
  const prepared = await context.jobFiles.prepare({
    root: workspace.root,
    file: daemon.jobFile,
    varFiles: [],
    vars: daemon.params,
  });
  const parsed = await parseJobFile(await context.nomad(), daemon.jobFile, prepared, workspace.namespace);
  const groups = (parsed.TaskGroups ?? []).map((group) => ({
    ...group,
    Tasks: (group.Tasks ?? []).map((task) => ({ ...task, ...timeout })),
  }));
  return { ...parsed, ...common, TaskGroups: groups };
}

const resourceNames: Readonly<Record<string, string>> = {
  cpu: "CPU",
  cores: "Cores",
  memory: "MemoryMB",
  memory_max: "MemoryMaxMB",
};

function apiNames(resources: Readonly<Record<string, Json>>): Record<string, Json> {
  return Object.fromEntries(Object.entries(resources).map(([name, value]) => [resourceNames[name] ?? name, value]));
}

/** Shows the end of a daemon's output and goes on until interrupted; leaving does not stop the daemon. */
async function followLogs(context: StepContext, daemon: ResolvedDaemon): Promise<void> {
  const nomad = await context.nomad();
  const job = (await daemonJobs(context, daemon)).find((one) => one.active);
  if (job === undefined) throw stepFailed(`daemon ${daemon.id} is not running`);
  const { namespace } = splitJobKey(job.key);
  const seen = new Map<string, string>();
  while (!context.signal.aborted) {
    const allocations = (await nomad.listAllocations(job.key)).filter((one) => one.ClientStatus === "running");
    for (const allocation of allocations) {
      for (const task of Object.keys(allocation.TaskStates ?? {})) {
        for (const stream of ["stdout", "stderr"] as const) {
          const tail = await nomad.readLogTail(namespace, allocation.ID, task, stream, 16_384).catch(() => "");
          const id = `${allocation.ID}/${task}/${stream}`;
          printNew(context, seen.get(id), tail);
          seen.set(id, tail);
        }
      }
    }
    if (allocations.length === 0) return;
    await context.clock.sleep(1_000, context.signal).catch(() => {});
  }
}

const firstLines = 100;

function printNew(context: StepContext, before: string | undefined, now: string): void {
  const lines = (before === undefined ? now : afterOverlap(before, now)).split("\n").filter((line) => line !== "");
  for (const line of before === undefined ? lines.slice(-firstLines) : lines) context.print(line);
}

/** What `now` has beyond `before`, both being ends of one growing text. */
export function afterOverlap(before: string, now: string): string {
  if (before === now || now === "") return "";
  for (let start = Math.max(0, before.length - now.length); start <= before.length; start++) {
    if (now.startsWith(before.slice(start))) return now.slice(before.length - start);
  }
  return now;
}
