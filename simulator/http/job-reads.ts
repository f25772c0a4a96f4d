import { jobDiff } from "../diff/job-diff.ts";
import { goQuote } from "../jobspec/go-text.ts";
import type { ServerJob } from "../jobspec/types.ts";
import { unsnappy } from "../operations/payload.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import { latestDeployment } from "../scheduler/tainted.ts";
import { clientTerminal } from "../state/facts.ts";
import { omitEmpty } from "../state/omit-empty.ts";
import { scoped } from "../state/table.ts";
import type { Job } from "../state/types.ts";
import { versionsOf } from "../state/versions.ts";
import { registrationsOf } from "./catalog.ts";
import { allow, isUint64, laxFlag, queryFlag, readOptions } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";
import { allocStub } from "./views.ts";

/** Refuses with 403 unless the sender has any of the capabilities in the namespace of the query. */
export function need(call: Call, ...capabilities: readonly string[]): void {
  if (!call.access.ns(call.namespace, ...capabilities)) throw permissionDenied();
}

/** `GET /v1/job/:id`. */
export async function readJob(service: Service, call: Call, id: string): Promise<Reply> {
  readOptions(call.request);
  need(call, "read-job");
  const found = await service.blocking.run(call.request, ["jobs"], () => {
    const row = service.state.jobs.get(scoped(call.namespace, id));
    return { index: row?.ModifyIndex ?? service.state.jobs.index, value: row };
  });
  if (found.value === undefined) throw notFound("job not found", found.index);
  const { Payload } = found.value;
  const json = Payload ? { ...found.value, Payload: unsnappy(Payload) } : found.value;
  return { json, index: found.index, read: true };
}

export async function scaleStatus(service: Service, call: Call, id: string): Promise<Reply> {
  readOptions(call.request);
  need(call, "read-job", "read-job-scaling");
  const { state } = service;
  const key = scoped(call.namespace, id);
  const found = await service.blocking.run(call.request, ["jobs", "allocs", "scaling_event"], () => {
    const row = state.jobs.get(key);
    if (row === undefined) return { index: state.index, value: undefined };
    const allocs = state.allocs
      .by("job", key)
      .filter((alloc) => !alloc.DeploymentStatus?.Canary && alloc.DesiredStatus === "run" && !clientTerminal(alloc));
    const events = state.scaling_event.get(key);
    const groups = row.TaskGroups.map((group) => {
      const own = allocs.filter((alloc) => alloc.TaskGroup === group.Name);
      return [
        group.Name,
        {
          Desired: group.Count,
          Placed: own.length,
          Running: own.filter((alloc) => alloc.ClientStatus === "running").length,
          Healthy: own.filter((alloc) => alloc.DeploymentStatus?.Healthy === true).length,
          Unhealthy: own.filter((alloc) => alloc.DeploymentStatus?.Healthy === false).length,
          Events: events?.ScalingEvents[group.Name] ?? null,
        },
      ];
    });
    const index = Math.max(row.ModifyIndex, events?.ModifyIndex ?? 0, ...allocs.map((alloc) => alloc.ModifyIndex));
    const value = {
      JobID: id,
      Namespace: row.Namespace,
      JobCreateIndex: row.CreateIndex,
      JobModifyIndex: row.ModifyIndex,
      JobStopped: row.Stop,
      TaskGroups: Object.fromEntries(groups),
    };
    return { index, value };
  });
  if (found.value === undefined) throw notFound("job not found", found.index);
  return { json: found.value, index: found.index, read: true };
}

/** Whatever the method. */
export async function summary(service: Service, call: Call, id: string): Promise<Reply> {
  readOptions(call.request);
  need(call, "read-job");
  const found = await service.blocking.run(call.request, ["job_summary"], () => {
    const row = service.state.job_summary.get(scoped(call.namespace, id));
    return { index: row?.ModifyIndex ?? service.state.job_summary.index, value: row };
  });
  if (found.value === undefined) throw notFound("job not found", found.index);
  return { json: found.value, index: found.index, read: true };
}

export async function versions(service: Service, call: Call, id: string): Promise<Reply> {
  const diffs = queryFlag(call.request, "diffs");
  const tag = call.request.query.get("diff_tag") ?? "";
  const wanted = call.request.query.get("diff_version") ?? "";
  if (wanted !== "" && !isUint64(wanted)) throw noUint64("diff_version", wanted);
  readOptions(call.request);
  need(call, "read-job");
  const found = await service.blocking.run(call.request, ["job_version"], () => {
    const rows = versionsOf(service.state, call.namespace, id);
    const index = rows.length > 0 ? Math.max(...rows.map((row) => row.ModifyIndex)) : service.state.job_version.index;
    return { index, value: rows };
  });
  const rows = found.value;
  if (rows.length === 0) throw notFound("job versions not found", found.index);
  const base = diffs ? baseOf(rows, tag, wanted) : undefined;
  const pairs = rows.flatMap((row, i) => {
    const old = base ?? rows[i + 1];
    return old === undefined ? [] : [jobDiff(old as ServerJob, row as ServerJob, true)];
  });
  const more = { Index: found.index, LastContact: 0, KnownLeader: true, NextToken: "" };
  return { json: { Versions: rows, Diffs: diffs ? pairs : null, ...more }, index: found.index, read: true };
}

/** The version that all others are compared with, where one is wished for. Throws Refusal (500). */
function baseOf(rows: readonly Job[], tag: string, version: string): Job | undefined {
  if (tag === "" && version === "") return undefined;
  const found = rows.find((row) => (tag === "" ? row.Version === Number(version) : row.VersionTag?.Name === tag));
  if (found === undefined)
    throw new Refusal(500, tag === "" ? `version ${BigInt(version)} not found` : `tag ${goQuote(tag)} not found`);
  return found;
}

function noUint64(name: string, value: string): Refusal {
  const why = /^\d+$/.test(value) ? "value out of range" : "invalid syntax";
  return new Refusal(
    500,
    `Failed to parse value of "${name}" (${value}) as a uint64: strconv.ParseUint: parsing ${goQuote(value)}: ${why}`,
  );
}

export async function submission(service: Service, call: Call, id: string): Promise<Reply> {
  const version = call.request.query.get("version") ?? "";
  if (!isUint64(version)) throw new Refusal(400, "Unable to parse job submission version parameter");
  allow(call, "GET");
  optionsOrNothing(call);
  need(call, "read-job");
  const found = await service.blocking.run(call.request, ["job_submission"], () => {
    const row = service.state.job_submission.get(`${scoped(call.namespace, id)}\u0000${version}`);
    return { index: row?.JobModifyIndex ?? 0, value: row };
  });
  if (found.value === undefined) throw notFound("job source not found", found.index);
  const flags = Object.entries(found.value.VariableFlags ?? {}).map(([name, value]) => [name, unescapeFlag(value)]);
  const VariableFlags = found.value.VariableFlags === null ? null : Object.fromEntries(flags);
  return { json: { ...found.value, VariableFlags }, index: found.index, read: true };
}

/** What is wrong with the query is told here together with the submission that is not there. */
function optionsOrNothing(call: Call): void {
  try {
    readOptions(call.request);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(error.status, `${error.message}null`) : error;
  }
}

/** Flags are stored escaped for a query and shown plain. */
function unescapeFlag(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value;
  }
}

export async function allocations(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  const all = laxFlag(call.request, "all");
  need(call, "read-job");
  const { state } = service;
  const found = await service.blocking.run(call.request, ["allocs"], () => {
    const current = state.jobs.get(scoped(call.namespace, id));
    const rows = state.allocs
      .by("job", scoped(call.namespace, id))
      .filter((alloc) => all || current === undefined || alloc.Job.CreateIndex === current.CreateIndex)
      .sort((a, b) => (a.ID < b.ID ? -1 : 1));
    return { index: state.allocs.index, value: rows };
  });
  return { json: found.value.map((alloc) => allocStub(alloc)), index: found.index, read: true };
}

export async function evaluations(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  need(call, "read-job");
  const found = await service.blocking.run(call.request, ["evals"], () => ({
    index: service.state.evals.index,
    value: service.state.evals.by("job", scoped(call.namespace, id)),
  }));
  const sorted = [...found.value].sort((a, b) => (a.ID < b.ID ? -1 : 1));
  return { json: sorted.map(omitEmpty), index: found.index, read: true };
}

export async function deployments(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  const all = laxFlag(call.request, "all");
  need(call, "read-job");
  const { state } = service;
  const found = await service.blocking.run(call.request, ["deployment"], () => {
    const current = state.jobs.get(scoped(call.namespace, id));
    const rows = state.deployment
      .by("job", scoped(call.namespace, id))
      .filter((one) => all || current === undefined || one.JobCreateIndex === current.CreateIndex);
    return { index: state.deployment.index, value: rows };
  });
  return { json: found.value, index: found.index, read: true };
}

export async function deployment(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  need(call, "read-job");
  const { state } = service;
  const found = await service.blocking.run(call.request, ["deployment"], () => {
    const row = latestDeployment(state, call.namespace, id);
    return { index: row?.ModifyIndex ?? state.deployment.index, value: row ?? null };
  });
  return { json: found.value, index: found.index, read: true };
}

export function services(service: Service, call: Call, id: string): Reply {
  allow(call, "GET");
  readOptions(call.request);
  need(call, "read-job");
  const { state } = service;
  const key = scoped(call.namespace, id);
  if (!state.jobs.rows.has(key)) throw notFound("job not found", 0);
  const list = state.allocs.by("job", key).flatMap((alloc) => registrationsOf(service, alloc));
  return { json: list, index: list.length === 0 ? 1 : state.allocs.index, read: true };
}

export function actions(service: Service, call: Call, id: string): Reply {
  allow(call, "GET");
  readOptions(call.request);
  need(call, "read-job");
  const row = service.state.jobs.get(scoped(call.namespace, id));
  if (row === undefined) throw new Refusal(500, `Unknown job "${id}"`);
  const list = row.TaskGroups.flatMap((group) =>
    group.Tasks.flatMap((task) =>
      ((task["Actions"] as { Name: string; Command: string; Args: unknown }[] | null) ?? []).map((action) => ({
        Name: action.Name,
        Command: action.Command,
        Args: action.Args,
        TaskGroupName: group.Name,
        TaskName: task.Name,
      })),
    ),
  );
  return { json: list, index: 0, leader: false };
}
