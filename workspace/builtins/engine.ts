import { z } from "zod";
import { labels, projectJobs } from "../cluster/labels.ts";
import { parseJobFile, readyJob, registerJob } from "../cluster/run-job.ts";
import { waitHealthy } from "../cluster/wait.ts";
import type { Service, Workspace } from "../config/workspace.ts";
import { stepFailed } from "./params.ts";
import { builtin, type StepContext } from "./types.ts";

/** Builtins that only nops itself places: in the default pipelines of run and stop. */

const none = z.strictObject({});

/** Enabled services with a job, each after those it depends on. A cycle is cut where it closes: starting has no other order. */
export function startOrder(workspace: Workspace): readonly Service[] {
  const ordered: Service[] = [];
  const seen = new Set<string>();
  const visit = (name: string): void => {
    const service = workspace.services.get(name);
    if (seen.has(name) || service === undefined || !service.enabled) return;
    seen.add(name);
    for (const before of [...(service.definition.depends_on ?? [])].sort()) visit(before);
    if (service.jobFile !== undefined) ordered.push(service);
  };
  for (const name of workspace.services.keys()) visit(name);
  return ordered;
}

/** Registers the jobs of all enabled services and waits for each. */
export const servicesStart = builtin({
  kind: "action",
  params: none,
  needsNomad: true,
  engineOnly: true,
  async run(_params, context) {
    for (const service of startOrder(context.workspace)) await startService(context, service);
  },
});

/** Registers the job of one service, unchanged or not, and waits until it is healthy. */
export async function startService(context: StepContext, service: Service): Promise<void> {
  const { workspace, clock, signal, print } = context;
  const nomad = await context.nomad();
  const prepared = await context.jobFiles.prepare({
    root: workspace.root,
    file: service.jobFile ?? "",
    varFiles: service.varFiles,
    vars: context.values.serviceVars(service.name),
  });
  const parsed = await parseJobFile(nomad, service.jobFile ?? "", prepared, service.namespace);
  const own = { [labels.project]: workspace.project, [labels.service]: service.name };
  const place = { namespace: undefined, fallback: service.namespace, region: workspace.region };
  const ready = readyJob(parsed, place, own, prepared.submission);
  const outcome = await registerJob(nomad, ready, { inputUnchanged: true, policyOverride: false });
  print(`${ready.key}: ${outcome}`);
  const options = { timeoutMs: 5 * 60_000, intervalMs: 2_000, unchanged: outcome === "unchanged" };
  await waitHealthy({ nomad, clock, signal, print }, ready.key, options);
}

/** Stops every active job of the project; parents of dispatched jobs too. */
export const projectJobsStop = builtin({
  kind: "action",
  params: none,
  needsNomad: true,
  engineOnly: true,
  async run(_params, context) {
    await stopAll(context, () => true);
  },
});

/** Stops every daemon of the project (workspace §17). */
export const daemonsReap = builtin({
  kind: "action",
  params: none,
  needsNomad: true,
  engineOnly: true,
  async run(_params, context) {
    await stopAll(context, (job) => job.daemonId !== undefined);
  },
});

type Found = Awaited<ReturnType<typeof projectJobs>>[number];

async function stopAll(context: StepContext, wanted: (job: Found) => boolean): Promise<void> {
  const nomad = await context.nomad();
  const jobs = (await projectJobs(nomad, context.workspace.project)).filter((job) => !job.stub.Stop && wanted(job));
  await Promise.all(
    jobs.map(async (job) => {
      await nomad.stopJob(job.key, { purge: job.daemonId !== undefined && job.stub.Meta?.[labels.daemonRemove] === "true" });
      context.print(`${job.key}: stopped`);
    }),
  );
}

/** Stops the jobs of one service and removes them: the baseline of `reset run --service` (workspace §14). */
export const serviceRemove = builtin({
  kind: "action",
  params: z.strictObject({ service: z.string() }),
  needsNomad: true,
  engineOnly: true,
  async run({ service: name }, context) {
    const nomad = await context.nomad();
    const jobs = (await projectJobs(nomad, context.workspace.project)).filter((job) => job.service === name);
    for (const { key } of jobs) {
      await nomad.stopJob(key, { purge: true });
      if ((await nomad.readJob(key)) !== undefined) throw stepFailed(`job ${key} is still there`);
      context.print(`${key}: removed`);
    }
  },
});
