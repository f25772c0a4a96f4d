import { permissionDenied, Refusal } from "../refusal.ts";
import type { Allocation, Service as JobService } from "../state/types.ts";
import { allow } from "./input.ts";
import type { Call, Reply } from "./message.ts";
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
  allow(call, "GET");
  const list = visible(service, call).filter((one) => one.ServiceName === name);
  return { json: list, index: service.state.allocs.index, read: true };
}

/** `GET /v1/scaling/policies` and `/v1/scaling/policy/:id`: also those of stopped jobs, which are switched off. */
export function scaling(service: Service, call: Call, [path = ""]: readonly string[]): Reply {
  allow(call, "GET");
  const { query } = call.request;
  const [job, type] = [query.get("job") ?? "", query.get("type") ?? ""];
  if (!call.access.ns(call.namespace, "list-scaling-policies", "list-jobs", "read-job")) throw permissionDenied();
  const found = service.state.jobs
    .sorted()
    .filter((one) => call.namespace === "*" || one.Namespace === call.namespace)
    .flatMap((one) => one.TaskGroups.map((group) => ({ job: one, policy: group.Scaling })))
    .flatMap(({ job: owner, policy }) =>
      policy ? [{ ...policy, CreateIndex: owner.CreateIndex, ModifyIndex: owner.JobModifyIndex }] : [],
    );
  const index = service.state.jobs.index;
  if (path.startsWith("policy/")) {
    const one = found.find((policy) => policy.ID === path.slice("policy/".length));
    if (one === undefined) throw new Refusal(404, "policy not found");
    return { json: one, index, read: true };
  }
  if (path !== "policies") throw new Refusal(404, "");
  const list = found
    .filter(({ Target, Type }) => (job === "" || Target?.["Job"] === job) && (type === "" || Type === type))
    .map(({ ID, Enabled, Type, Target, CreateIndex, ModifyIndex }) => ({ ID, Enabled, Type, Target, CreateIndex, ModifyIndex }));
  return { json: list, index, read: true };
}

/** Lists of what this server has none of: volumes and plugins. */
export function nothing(_service: Service, call: Call): Reply {
  allow(call, "GET");
  const type = call.request.query.get("type") ?? "";
  if (type !== "" && type !== "csi" && type !== "host") throw new Refusal(404, "resource not found");
  return { json: [], index: 0, read: true };
}

export function enterprise(): Reply {
  throw new Refusal(501, "Nomad Enterprise only endpoint");
}

/** A path without its slash, and the root: 307 to where the answer is. */
export function redirect(to: string): () => Reply {
  return () => ({
    status: 307,
    text: `<a href="${to}">Temporary Redirect</a>.\n\n`,
    type: "text/html; charset=utf-8",
    location: to,
  });
}
