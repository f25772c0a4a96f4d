import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import { textHash } from "../state/facts.ts";
import type { Allocation, Service as JobService } from "../state/types.ts";
import { redirection } from "./answer.ts";
import { allow, inThisRegion, readOptions } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { paginate } from "./page.ts";
import type { Service } from "./service.ts";

interface Registration {
  readonly ID: string;
  readonly ServiceName: string;
  readonly Namespace: string;
  readonly Tags: readonly string[];
  readonly [field: string]: unknown;
}

/** Services of the `nomad` provider that an allocation has registered: those of its group, and of its running tasks. */
export function registrationsOf(service: Service, alloc: Allocation): Registration[] {
  if (alloc.ClientStatus !== "running" || alloc.DesiredStatus !== "run") return [];
  const group = alloc.Job.TaskGroups.find((one) => one.Name === alloc.TaskGroup);
  if (group === undefined) return [];
  const entry = (one: JobService, owner: string): Registration => {
    const port = alloc.AllocatedResources?.Shared.Ports?.find((other) => other.Label === one.PortLabel);
    return {
      ID: `_nomad-${owner === "" ? "group" : "task"}-${alloc.ID}-${owner === "" ? `group-${group.Name}` : owner}-${one.Name}-${one.PortLabel ?? ""}`,
      ServiceName: one.Name,
      Namespace: alloc.Namespace,
      NodeID: alloc.NodeID,
      Datacenter: service.datacenter,
      JobID: alloc.JobID,
      AllocID: alloc.ID,
      Tags: one.Tags ?? [],
      Address: port?.HostIP ?? "",
      Port: port?.Value ?? 0,
      CreateIndex: alloc.ModifyIndex,
      ModifyIndex: alloc.ModifyIndex,
    };
  };
  const own = (list: readonly JobService[] | null | undefined) => (list ?? []).filter((one) => one.Provider === "nomad");
  const running = group.Tasks.filter((task) => alloc.TaskStates?.[task.Name]?.State === "running");
  return [
    ...own(group.Services).map((one) => entry(one, "")),
    ...running.flatMap((task) => own(task.Services).map((one) => entry(one, task.Name))),
  ];
}

function visible(service: Service, call: Call): Registration[] {
  const all = call.namespace === "*";
  if (!all && !call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  return service.state.allocs
    .sorted()
    .filter((one) => (all ? call.access.ns(one.Namespace, "read-job") : one.Namespace === call.namespace))
    .flatMap((one) => registrationsOf(service, one));
}

/** `GET /v1/services`: names with their tags, by namespace. */
export function services(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  const found = new Map<string, Map<string, Set<string>>>();
  for (const one of visible(service, call)) {
    const names = found.get(one.Namespace) ?? new Map<string, Set<string>>();
    names.set(one.ServiceName, new Set([...(names.get(one.ServiceName) ?? []), ...one.Tags]));
    found.set(one.Namespace, names);
  }
  const list = [...found].map(([Namespace, names]) => ({
    Namespace,
    Services: [...names].map(([ServiceName, tags]) => ({ ServiceName, Tags: [...tags] })),
  }));
  return { json: list, index: service.state.allocs.index, read: true };
}

/** `GET /v1/service/:name`. */
export function serviceByName(service: Service, call: Call, [name = ""]: readonly string[]): Reply {
  const parts = name.split("/").length;
  if (parts > 2) throw new Refusal(400, "invalid URI");
  if (parts === 2) throw new Refusal(405, "Invalid method");
  allow(call, "GET");
  if (name === "") throw new Refusal(400, "missing service name");
  readOptions(call.request);
  const rows = visible(service, call).filter((one) => one.ServiceName === name);
  const page = paginate(call.request, rows, {
    type: "ServiceRegistration",
    tokenOf: (one) => `${one.Namespace}.${one.ID}`,
    fixed: true,
  });
  const choose = call.request.query.get("choose") ?? "";
  const json = choose === "" ? page.rows : chosen(page.rows, choose);
  return { json, index: service.state.allocs.index, read: true, nextToken: page.nextToken };
}

/** So many of the services, by which the same key always gets the same ones. Throws Refusal (400). */
function chosen(rows: readonly Registration[], choose: string): Registration[] {
  const [count = "", key, ...more] = choose.split("|");
  const refuse = (why: string) => new Refusal(400, `failed to choose services: ${why}`);
  if (key === undefined || more.length > 0 || !/^[+-]?\d+$/.test(count)) {
    throw refuse("Parameter for choose must be in form '<number>|<key>'");
  }
  const rank = (one: Registration) => textHash(key, one.ID);
  return [...rows].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, Math.max(0, Number(count)));
}

interface Policy {
  readonly ID: string;
  readonly Type: string;
  readonly Target: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Policies of scaling, also those of stopped jobs, which are switched off. */
function policiesOf(service: Service): Policy[] {
  return service.state.jobs
    .sorted()
    .flatMap((job) =>
      job.TaskGroups.flatMap(({ Scaling }) =>
        Scaling ? [{ ...Scaling, CreateIndex: job.CreateIndex, ModifyIndex: job.JobModifyIndex } as unknown as Policy] : [],
      ),
    );
}

function mayScale(call: Call, namespace: string, capability: string): boolean {
  const { access } = call;
  return access.ns(namespace, capability) || (access.ns(namespace, "list-jobs") && access.ns(namespace, "read-job"));
}

/** `GET /v1/scaling/policies`. */
export async function scalingPolicies(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  const { query } = call.request;
  const [job, type, prefix] = ["job", "type", "prefix"].map((name) => query.get(name) ?? "") as [string, string, string];
  const all = call.namespace === "*";
  if (!all && !mayScale(call, call.namespace, "list-scaling-policies")) throw permissionDenied();
  const found = await service.blocking.run(call.request, ["jobs"], () => {
    const rows = policiesOf(service).filter(({ ID, Type, Target }) => {
      const namespace = Target["Namespace"] ?? "";
      if (all) return mayScale(call, namespace, "list-scaling-policies") && ID.startsWith(prefix) && Type.startsWith(type);
      if (namespace !== call.namespace) return false;
      if (prefix !== "") return ID.startsWith(prefix);
      return (job === "" || Target["Job"] === job) && (type === "" || Type === type);
    });
    return { index: Math.max(1, service.state.jobs.index), value: rows };
  });
  const json = found.value.map(({ ID, Enabled, Type, Target, CreateIndex, ModifyIndex }) => {
    return { ID, Enabled, Type, Target, CreateIndex, ModifyIndex };
  });
  return { json, index: found.index, read: true };
}

/** `GET /v1/scaling/policy/:id`, of whatever namespace. */
export async function scalingPolicy(service: Service, call: Call, [id = ""]: readonly string[]): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  if (!mayScale(call, call.namespace, "read-scaling-policy")) throw permissionDenied();
  const found = await service.blocking.run(call.request, ["jobs"], () => {
    const row = policiesOf(service).find((policy) => policy.ID === id);
    return { index: (row?.["ModifyIndex"] as number | undefined) ?? Math.max(1, service.state.jobs.index), value: row };
  });
  if (found.value === undefined) throw notFound("policy not found", found.index);
  return { json: found.value, index: found.index, read: true };
}

/** `GET /v1/volumes`: none. */
export function volumes(service: Service, call: Call): Reply {
  allow(call, "GET", "HEAD");
  const type = call.request.query.get("type");
  if (type === null) return { json: [] };
  if (type !== "csi" && type !== "host") throw new Refusal(404, "resource not found");
  readOptions(call.request);
  inThisRegion(call, service.region);
  if (type === "csi") allow(call, "GET");
  // Nothing to filter, but a filter must be one.
  paginate(call.request, [], { type: "Job", tokenOf: String });
  return { json: [], index: type === "csi" ? 0 : 1, read: true };
}

/** `GET /v1/plugins`: none. */
export function plugins(service: Service, call: Call): Reply {
  allow(call, "GET");
  const type = call.request.query.get("type");
  if (type === null) return { json: [] };
  if (type !== "csi") return {};
  readOptions(call.request);
  inThisRegion(call, service.region);
  return { json: [], index: 1, read: true };
}

export function enterprise(): Reply {
  throw new Refusal(501, "Nomad Enterprise only endpoint");
}

/** A path without its slash, and the root: 307 to where the answer is. */
export function redirect(to: string): (service: Service, call: Call) => Reply {
  return (_service, { request }) => {
    const query = request.search ?? request.query.toString();
    return redirection(request.method, query === "" ? to : `${to}?${query}`);
  };
}
