import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import { wish } from "../state/alloc-writes.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { omitEmpty } from "../state/omit-empty.ts";
import { newEval } from "../state/records.ts";
import type { Allocation } from "../state/types.ts";
import { registrationsOf } from "./catalog.ts";
import { allow, inThisRegion, queryFlag, readOptions } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { byCreation, checkId, checkPrefix, paginate, tokensOf } from "./page.ts";
import type { Service } from "./service.ts";
import { allocStub } from "./views.ts";

/** `GET /v1/allocations`. */
export async function allocations(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  const resources = queryFlag(call.request, "resources");
  const taskStates = call.request.query.get("task_states") ? queryFlag(call.request, "task_states") : true;
  const all = call.namespace === "*";
  if (all ? !call.access.anyNs("read-job") : !call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  const prefix = call.request.query.get("prefix") ?? "";
  checkPrefix(prefix, "alloc lookup failed");
  const found = await service.blocking.run(call.request, ["allocs"], () => {
    const rows = byCreation(service.state.allocs.rows.values(), prefix, call.namespace);
    const page = paginate(call.request, rows, {
      type: "Allocation",
      ...tokensOf(prefix),
      visible: (one) => call.access.ns(one.Namespace, "read-job"),
    });
    return { index: service.state.allocs.index, value: page };
  });
  const json = found.value.rows.map((alloc) => allocStub(alloc, { resources, taskStates }));
  return { json, index: found.index, read: true, nextToken: found.value.nextToken };
}

/** `GET /v1/allocation/:id`, what belongs to it, and `PUT …/stop`. */
export async function allocation(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  const [id = "", what, ...more] = path.split("/");
  if (more.length > 0) throw new Refusal(404, "resource not found");
  if (what === undefined) return read(service, call, id);
  if (what === "stop") return stop(service, call, id);
  if (what === "services") return services(service, call, id);
  throw new Refusal(404, "resource not found");
}

async function read(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  inThisRegion(call, service.region);
  checkId(id, "alloc lookup failed");
  const found = await service.blocking.run(call.request, ["allocs"], () => {
    const row = service.state.allocs.get(id);
    return { index: row?.ModifyIndex ?? service.state.allocs.index, value: row };
  });
  if (!call.access.ns(found.value?.Namespace ?? call.namespace, "read-job")) throw permissionDenied();
  if (found.value === undefined) throw notFound("alloc not found", found.index);
  return { json: wholeAllocation(found.value, service.signingKeyId), index: found.index, read: true };
}

async function services(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  if (!call.access.ns(call.namespace, "read-job")) throw permissionDenied();
  checkId(id, "alloc lookup failed");
  const found = await service.blocking.run(call.request, ["allocs"], () => ({
    index: service.state.allocs.index,
    value: service.state.allocs.get(id),
  }));
  const row = found.value;
  if (row === undefined || row.Namespace !== call.namespace) throw notFound("allocation not found", 0);
  return { json: registrationsOf(service, row), index: found.index, read: true };
}

/** An allocation with its job, and the legacy fields that clients still read. */
export function wholeAllocation(alloc: Allocation, signingKey: string): unknown {
  const group = alloc.Job.TaskGroups.find((one) => one.Name === alloc.TaskGroup);
  const disk = group?.EphemeralDisk?.SizeMB ?? 0;
  const tasks = group?.Tasks ?? [];
  const sum = (pick: (task: (typeof tasks)[number]) => number) => tasks.reduce((total, task) => total + pick(task), 0);
  const none = {
    CPU: 0,
    Cores: 0,
    MemoryMB: 0,
    MemoryMaxMB: 0,
    DiskMB: 0,
    IOPS: 0,
    SecretsMB: 0,
    Networks: null,
    Devices: null,
    NUMA: null,
  };
  const memory = sum((task) => task.Resources.MemoryMB);
  const network = { InterfaceName: "", Address: "", AddressIPv6: "", DNS: null };
  return {
    ...omitEmpty(alloc),
    Job: alloc.Job,
    Resources: {
      ...none,
      CPU: sum((task) => task.Resources.CPU),
      MemoryMB: memory,
      MemoryMaxMB: sum((task) => task.Resources.MemoryMaxMB || task.Resources.MemoryMB),
      DiskMB: disk,
    },
    SharedResources: { ...none, DiskMB: disk },
    TaskResources: Object.fromEntries(
      tasks.map((task) => [
        task.Name,
        { ...none, CPU: task.Resources.CPU, MemoryMB: task.Resources.MemoryMB, MemoryMaxMB: task.Resources.MemoryMaxMB ?? 0 },
      ]),
    ),
    ...(alloc.TaskStates === null ? {} : { NetworkStatus: network }),
    SigningKeyID: signingKey,
  };
}

/** Moves an allocation elsewhere. */
function stop(service: Service, call: Call, id: string): Reply {
  allow(call, "PUT", "POST");
  queryFlag(call.request, "no_shutdown_delay");
  queryFlag(call.request, "reschedule");
  inThisRegion(call, service.region);
  checkId(id, "alloc lookup failed");
  const alloc = service.state.allocs.get(id);
  if (alloc === undefined) throw new Refusal(404, "allocation not found");
  if (!call.access.ns(alloc.Namespace, "alloc-lifecycle")) throw permissionDenied();
  const { Job: job } = alloc;
  const evaluation = { ...newEval(service.newId(), job, "alloc-stop", service.now()), JobModifyIndex: job.ModifyIndex };
  const wished = {
    Migrate: true,
    NoShutdownDelay: queryFlag(call.request, "no_shutdown_delay"),
    Reschedule: queryFlag(call.request, "reschedule"),
  };
  const index = service.state.write("AllocationUpdateDesiredStatus", (tx) => {
    wish(tx, alloc, wished);
    upsertEvals(tx, [evaluation]);
    return tx.index;
  });
  return { json: { EvalID: evaluation.ID, Index: index }, index };
}
