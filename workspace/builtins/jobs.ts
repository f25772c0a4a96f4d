import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { InvalidRequestError } from "../../model/errors.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import { dispatchChild, dispatchToken, waitEnded } from "../cluster/dispatch.ts";
import { labels, projectJobs } from "../cluster/labels.ts";
import { parseJobFile, readyJob, registerJob } from "../cluster/run-job.ts";
import { type WaitContext, waitHealthy } from "../cluster/wait.ts";
import { referencedFiles } from "../config/job-inputs.ts";
import type { Service, Workspace } from "../config/workspace.ts";
import { duration, insidePath, jsonMap, stepFailed, text, textMap } from "./params.ts";
import { builtin, type StepContext } from "./types.ts";

/** Builtins around Nomad jobs (workspace §M3). */

const runParams = z
  .strictObject({
    service: z.string().optional(),
    file: insidePath.optional(),
    vars: jsonMap.default({}),
    var_files: z.array(insidePath).default([]),
    namespace: z.string().min(1).optional(),
    wait: z.boolean().default(true),
    timeout: duration("5m"),
    policy_override: z.boolean().default(false),
  })
  .refine((params) => (params.service === undefined) !== (params.file === undefined), "either service or file");

type RunParams = z.output<typeof runParams>;

/** The service of a parameter. @throws InvalidRequestError when there is none, or none with a job file where one is needed. */
export function serviceOf(workspace: Workspace, name: string): Service {
  const service = workspace.services.get(name);
  if (service === undefined) throw new InvalidRequestError(`there is no service "${name}"`, { code: "unknown_service" });
  return service;
}

function jobFileOf(workspace: Workspace, params: RunParams): { readonly file: string; readonly service: Service | undefined } {
  if (params.file !== undefined) return { file: params.file, service: undefined };
  const service = serviceOf(workspace, params.service ?? "");
  if (service.jobFile === undefined) {
    throw new InvalidRequestError(`service "${service.name}" has no job file`, { code: "no_job_file" });
  }
  return { file: service.jobFile, service };
}

/** Registers a job file when Nomad has not exactly that already, and waits until it is healthy. */
export const nomadJobRun = builtin({
  kind: "action",
  params: runParams,
  needsNomad: true,
  inputs: (params, workspace) => {
    const { file, service } = jobFileOf(workspace, params);
    return { files: [file, ...referencedFiles(workspace.root, file), ...(service?.varFiles ?? []), ...params.var_files] };
  },
  async run(params, context) {
    const { workspace } = context;
    const { file, service } = jobFileOf(workspace, params);
    const nomad = await context.nomad();
    const prepared = await context.jobFiles.prepare({
      root: workspace.root,
      file,
      varFiles: [...(service?.varFiles ?? []), ...params.var_files],
      vars: { ...(service === undefined ? {} : context.values.serviceVars(service.name)), ...params.vars },
    });
    const fallback = service?.namespace ?? workspace.namespace;
    const parsed = await parseJobFile(nomad, file, prepared, params.namespace ?? fallback);
    const own = { [labels.project]: workspace.project, ...(service === undefined ? {} : { [labels.service]: service.name }) };
    const place = { namespace: params.namespace, fallback, region: workspace.region };
    const ready = readyJob(parsed, place, own, prepared.submission);
    const outcome = await registerJob(nomad, ready, {
      inputUnchanged: context.identity.unchanged,
      policyOverride: params.policy_override,
    });
    context.print(`${ready.key}: ${outcome}`);
    if (params.wait) {
      const options = { timeoutMs: params.timeout, intervalMs: 2_000, unchanged: outcome === "unchanged" };
      await waitOrSay(context, ready.key, () => waitHealthy(waitContext(nomad, context), ready.key, options));
    }
  },
});

function waitContext(nomad: WaitContext["nomad"], context: StepContext): WaitContext {
  const { clock, signal, print } = context;
  return { nomad, clock, signal, print };
}

/** On an abort the rollout goes on in Nomad; the next run sees no difference and waits for it again (workspace §M5). */
async function waitOrSay(context: StepContext, key: JobKey, wait: () => Promise<void>): Promise<void> {
  try {
    await wait();
  } catch (error) {
    if (context.signal.aborted) context.print(`${key}: no longer waited for; its rollout goes on in Nomad`);
    throw error;
  }
}

/** Waits until jobs are healthy; without names, all of the project's that run. */
export const nomadWaitHealthy = builtin({
  kind: "action",
  params: z.strictObject({
    services: z.array(z.string()).optional(),
    jobs: z.array(z.string()).optional(),
    timeout: duration("5m"),
    interval: duration("2s"),
  }),
  needsNomad: true,
  inputs: (params, workspace) => {
    for (const name of params.services ?? []) serviceOf(workspace, name);
    return {};
  },
  async run(params, context) {
    const nomad = await context.nomad();
    const keys = await wantedJobs(params, context);
    if (keys.length === 0) {
      context.print("! no job of the project runs in Nomad; nothing to wait for");
      return;
    }
    const wait = waitContext(nomad, context);
    const options = { timeoutMs: params.timeout, intervalMs: Math.max(params.interval, 1) };
    await Promise.all(keys.map((key) => waitHealthy(wait, key, options)));
  },
});

async function wantedJobs(
  params: { readonly services?: readonly string[] | undefined; readonly jobs?: readonly string[] | undefined },
  context: StepContext,
): Promise<readonly JobKey[]> {
  const { workspace } = context;
  const nomad = await context.nomad();
  const found = await projectJobs(nomad, workspace.project);
  if (params.services === undefined && params.jobs === undefined) {
    return found.filter((job) => !job.stub.Stop && job.daemonId === undefined && job.stub.ParentID === "").map((job) => job.key);
  }
  const ofServices = (params.services ?? []).map((name) => {
    const job = found.find((one) => one.service === name && one.stub.ParentID === "");
    if (job === undefined) throw stepFailed(`service "${name}" has no job in Nomad`);
    return job.key;
  });
  const named = (params.jobs ?? []).map((id) => jobKey(workspace.namespace, id));
  for (const key of named) if ((await nomad.readJob(key)) === undefined) throw stepFailed(`there is no job ${key} in Nomad`);
  return [...ofServices, ...named];
}

/** Whether the jobs of services run and are healthy now; one look. */
export const nomadJobsRunning = builtin({
  kind: "predicate",
  params: z.strictObject({ services: z.array(z.string()).min(1) }),
  needsNomad: true,
  inputs: (params, workspace) => {
    for (const name of params.services) serviceOf(workspace, name);
    return {};
  },
  async run({ services }, context) {
    const nomad = await context.nomad();
    const found = await projectJobs(nomad, context.workspace.project);
    const problems: string[] = [];
    for (const name of services) {
      const job = found.find((one) => one.service === name && one.stub.ParentID === "");
      if (job === undefined) problems.push(`${name} has no job`);
      else if (job.stub.Stop) problems.push(`${name} is stopped`);
      else if (job.stub.Status !== "running") problems.push(`${name} is ${job.stub.Status}`);
    }
    if (problems.length > 0) throw stepFailed(`not running: ${problems.join(", ")}`);
  },
});

/** Stops a job, or removes it; one that is not there is no error. */
export const nomadJobStop = builtin({
  kind: "action",
  params: z
    .strictObject({
      service: z.string().optional(),
      job: z.string().optional(),
      namespace: z.string().optional(),
      purge: z.boolean().default(false),
      wait: z.boolean().default(true),
      timeout: duration("5m"),
    })
    .refine((params) => (params.service === undefined) !== (params.job === undefined), "either service or job"),
  needsNomad: true,
  async run(params, context) {
    const nomad = await context.nomad();
    const { workspace } = context;
    const keys =
      params.job !== undefined
        ? [jobKey(params.namespace ?? workspace.namespace, params.job)]
        : (await projectJobs(nomad, workspace.project)).filter((job) => job.service === params.service).map((job) => job.key);
    for (const key of keys) {
      const live = await nomad.readJob(key);
      if (live === undefined || (live.Stop === true && !params.purge)) continue;
      await nomad.stopJob(key, { purge: params.purge });
      context.print(`${key}: ${params.purge ? "removed" : "stopped"}`);
      if (params.wait && !params.purge) await waitStopped(context, key, params.timeout);
    }
  },
});

async function waitStopped(context: StepContext, key: JobKey, timeoutMs: number): Promise<void> {
  const nomad = await context.nomad();
  const deadline = context.clock.now() + timeoutMs;
  for (;;) {
    const running = (await nomad.listAllocations(key)).filter((one) => ["pending", "running"].includes(one.ClientStatus));
    if (running.length === 0) return;
    if (timeoutMs > 0 && context.clock.now() >= deadline) throw stepFailed(`job ${key} still has ${running.length} allocations`);
    await context.clock.sleep(500, context.signal);
  }
}

const dispatchParams = z
  .strictObject({
    job: z.string(),
    namespace: z.string().optional(),
    meta: textMap.default({}),
    payload: text.optional(),
    payload_file: insidePath.optional(),
    wait: z.boolean().default(true),
    timeout: duration("10m"),
    idempotency_token: text.optional(),
  })
  .refine((params) => params.payload === undefined || params.payload_file === undefined, "either payload or payload_file");

/** Runs a parameterized job once and waits for its end. */
export const nomadJobDispatch = builtin({
  kind: "action",
  params: dispatchParams,
  needsNomad: true,
  inputs: (params) => (params.payload_file === undefined ? {} : { files: [params.payload_file] }),
  async run(params, context) {
    const nomad = await context.nomad();
    const wait = waitContext(nomad, context);
    const parent = jobKey(params.namespace ?? context.workspace.namespace, params.job);
    const payload =
      params.payload_file === undefined
        ? params.payload === undefined
          ? undefined
          : Buffer.from(params.payload)
        : readFileSync(join(context.workspace.root, params.payload_file));
    const token = params.idempotency_token ?? dispatchToken(context.identity);
    const child = await dispatchChild(wait, parent, { token, meta: params.meta, payload });
    context.print(`${child}: dispatched`);
    if (params.wait) await waitEnded(wait, child, params.timeout);
  },
});

/** Starts a run of a periodic job now. Every call starts one: not idempotent. */
export const nomadPeriodicForce = builtin({
  kind: "action",
  params: z.strictObject({ job: z.string(), namespace: z.string().optional() }),
  needsNomad: true,
  async run({ job, namespace }, context) {
    const nomad = await context.nomad();
    await nomad.forcePeriodic(jobKey(namespace ?? context.workspace.namespace, job));
  },
});

/** Stops and removes every job with the project's label. One that cannot be removed is reported and passed over. */
export const nomadRemoveProjectJobs = builtin({
  kind: "action",
  params: z.strictObject({ purge: z.boolean().default(true) }),
  needsNomad: true,
  async run({ purge }, context) {
    const nomad = await context.nomad();
    // Children first: purging a parent leaves its children running (nomad-api §17).
    const jobs = [...(await projectJobs(nomad, context.workspace.project))].sort((a, b) => depth(b) - depth(a));
    for (const { key } of jobs) {
      try {
        await nomad.stopJob(key, { purge });
        context.print(`${key}: ${purge ? "removed" : "stopped"}`);
      } catch (error) {
        context.signal.throwIfAborted();
        context.print(`! ${key} could not be removed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  },
});

function depth(job: { readonly stub: { readonly ParentID: string } }): number {
  return job.stub.ParentID === "" ? 0 : 1;
}
