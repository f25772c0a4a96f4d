import { permissionDenied, Refusal } from "../refusal.ts";
import { deploymentActive, isParameterized, isPeriodic, requiresPromotion } from "../state/facts.ts";
import { scoped } from "../state/table.ts";
import type { Deployment, Job } from "../state/types.ts";
import { allow, bodyOf, field, flag, list, queryFlag, readOptions, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { paginate } from "./page.ts";
import type { Service } from "./service.ts";
import { jsonKind } from "./shapes.ts";

/** The jobs that a request names, and what else it wants of the list. Throws Refusal (400). */
function wishesOf(call: Call): {
  readonly wanted: readonly string[] | undefined;
  readonly children: boolean;
  readonly namespace: string;
} {
  const children = asBadRequest(() => queryFlag(call.request, "include_children"));
  if (!call.request.body) return { wanted: undefined, children, namespace: call.namespace };
  const body = asBadRequest(() => bodyOf(call.request, "api.JobStatusesRequest"), "error decoding request: ");
  const sent = field(body, "Jobs");
  if (sent !== undefined && !Array.isArray(sent)) {
    const place = "Go struct field JobStatusesRequest.Jobs of type []api.NamespacedID";
    throw new Refusal(400, `error decoding request: json: cannot unmarshal ${jsonKind(sent)} into ${place}`);
  }
  const jobs = list(body, "Jobs").filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null);
  if (jobs.length === 0) throw new Refusal(400, "no jobs in request");
  const spaces = new Set(jobs.map((one) => text(one, "Namespace") || "default"));
  const several = call.namespace === "default" ? "*" : call.namespace;
  const [only = several] = spaces.size === 1 ? spaces : [];
  const wanted = jobs.map((one) => scoped(text(one, "Namespace") || "default", text(one, "ID")));
  return { wanted, children: children || flag(body, "IncludeChildren"), namespace: only };
}

function asBadRequest<T>(fn: () => T, before = ""): T {
  try {
    return fn();
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(400, `${before}${error.message}`) : error;
  }
}

/** `GET|POST /v1/jobs/statuses`, the list behind the UI (nomad-api §7.3). Its index is the highest of what it shows. */
export async function statuses(service: Service, call: Call): Promise<Reply> {
  readOptions(call.request);
  allow(call, "GET", "POST");
  const { wanted, children, namespace } = wishesOf(call);
  const all = namespace === "*";
  if (all ? !call.access.anyNs("read-job") : !call.access.ns(namespace, "read-job")) throw permissionDenied();
  const { state } = service;
  const { query } = call.request;
  // Latest changes come first, unless the reverse is wished for.
  const newestFirst = query.get("reverse") !== "true";
  const turned = new URLSearchParams(query);
  turned.set("reverse", String(newestFirst));
  if (wanted !== undefined) turned.set("per_page", String(wanted.length));
  const found = await service.blocking.run(call.request, ["jobs", "allocs", "deployment"], () => {
    const rows = [...state.jobs.rows.values()].sort((a, b) => a.ModifyIndex - b.ModifyIndex);
    const page = paginate({ ...call.request, query: turned }, rows, {
      type: "Job",
      refusal: 500,
      tokenOf: (job) => String(job.ModifyIndex),
      compare: (token, from) => Number(token) - (/^\d+$/.test(from) ? Number(from) : 0),
      visible: (job) => {
        if (!(all ? call.access.ns(job.Namespace, "read-job") : job.Namespace === namespace)) return false;
        return (children || job.ParentID === "") && (wanted?.includes(scoped(job.Namespace, job.ID)) ?? true);
      },
    });
    // The row that begins the next page was looked at too.
    const seen = [...page.rows, ...rows.filter((job) => String(job.ModifyIndex) === page.nextToken)];
    return { index: Math.max(0, ...seen.flatMap((job) => indexesOf(service, job))), value: page };
  });
  const json = found.value.rows.map((job) => status(service, job));
  return { json, index: found.index, read: true, nextToken: found.value.nextToken };
}

function indexesOf(service: Service, job: Job): number[] {
  const { state } = service;
  const key = scoped(job.Namespace, job.ID);
  const own = [...state.allocs.by("job", key), ...state.deployment.by("job", key), ...state.jobs.by("parent", key)];
  return [job.ModifyIndex, ...own.map(({ ModifyIndex }) => ModifyIndex)];
}

/** Whether no canaries wait for a person, in the words of this list: also where there are none. */
function autoPromotes({ Status, TaskGroups }: Deployment): boolean {
  const groups = Object.values(TaskGroups);
  return Status === "running" && groups.length > 0 && groups.every((one) => one.DesiredCanaries === 0 || one.AutoPromote);
}

function status(service: Service, job: Job): unknown {
  const { state } = service;
  const key = scoped(job.Namespace, job.ID);
  const deployment = state.deployment.by("job", key).sort((a, b) => b.CreateIndex - a.CreateIndex)[0];
  const childStatuses = state.jobs.by("parent", key).map((child) => child.Status);
  const parent = isPeriodic(job) || isParameterized(job);
  return {
    ID: job.ID,
    Namespace: job.Namespace,
    Name: job.Name,
    Type: job.Type,
    NodePool: job.NodePool,
    Datacenters: job.Datacenters ?? null,
    Priority: job.Priority,
    Version: job.Version,
    SubmitTime: job.SubmitTime,
    ModifyIndex: job.ModifyIndex,
    Allocs: (parent ? [] : state.allocs.by("job", key)).map((alloc) => ({
      ID: alloc.ID,
      Group: alloc.TaskGroup,
      ClientStatus: alloc.ClientStatus,
      NodeID: alloc.NodeID,
      DeploymentStatus: { Canary: alloc.DeploymentStatus?.Canary ?? false, Healthy: alloc.DeploymentStatus?.Healthy ?? null },
      JobVersion: alloc.Job.Version,
      FollowupEvalID: alloc.FollowupEvalID,
      HasPausedTask: false,
    })),
    GroupCountSum: job.TaskGroups.reduce((sum, group) => sum + group.Count, 0),
    ChildStatuses: parent ? childStatuses : null,
    ParentID: job.ParentID,
    LatestDeployment:
      deployment === undefined
        ? null
        : {
            ID: deployment.ID,
            IsActive: deploymentActive(deployment),
            JobVersion: deployment.JobVersion,
            Status: deployment.Status,
            StatusDescription: deployment.StatusDescription,
            AllAutoPromote: autoPromotes(deployment),
            RequiresPromotion: requiresPromotion(deployment),
          },
    Stop: job.Stop,
    IsPack: job.Meta?.["pack.name"] !== undefined,
    Status: job.Status,
  };
}
