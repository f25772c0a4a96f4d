import { listErrors } from "../jobspec/messages.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import { textHash } from "../state/facts.ts";
import { scoped } from "../state/table.ts";
import { allow, field, queryFlag, readOptions, text, textMap } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { nodeFields } from "./nodes.ts";
import { paginate } from "./page.ts";
import type { Service } from "./service.ts";
import { type Fields, shapedBody, shapes } from "./shapes.ts";
import { jobStub, nodeStub } from "./views.ts";

const dayNs = 86_400_000_000_000;
const builtIn = ["all", "default"];

/** `/v1/node/pools`. */
export async function pools(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET", "PUT", "POST");
  if (call.request.method !== "GET") return put(service, call, "");
  const prefix = call.request.query.get("prefix") ?? "";
  const found = await service.blocking.run(call.request, ["node_pools"], () => {
    const rows = service.state.node_pools.sorted().filter((pool) => pool.Name.startsWith(prefix));
    const page = paginate(call.request, rows, {
      type: "NodePool",
      tokenOf: (pool) => pool.Name,
      visible: (pool) => call.access.nodePool(pool.Name, "read"),
    });
    return { index: service.state.node_pools.index, value: page };
  });
  return { json: found.value.rows, index: found.index, read: true, nextToken: found.value.nextToken };
}

/** `/v1/node/pool/:name` and what is in it. */
export async function pool(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  if (path.endsWith("/nodes")) return nodesIn(service, call, path.slice(0, -"/nodes".length));
  if (path.endsWith("/jobs")) return jobsIn(service, call, path.slice(0, -"/jobs".length));
  allow(call, "GET", "PUT", "POST", "DELETE");
  if (call.request.method === "DELETE") return remove(service, call, path);
  if (call.request.method !== "GET") return put(service, call, path);
  readOptions(call.request);
  if (!call.access.nodePool(path, "read")) throw permissionDenied();
  const found = await service.blocking.run(call.request, ["node_pools"], () => {
    const row = service.state.node_pools.get(path);
    return { index: row?.ModifyIndex ?? service.state.node_pools.index, value: row };
  });
  if (found.value === undefined) throw notFound("node pool not found", found.index);
  return { json: found.value, index: found.index, read: true };
}

/** What may not be asked of what is in a pool. Throws Refusal (400). */
function noPrefix(call: Call): void {
  if (call.request.query.get("prefix")) throw new Refusal(400, "prefix argument not allowed");
}

async function nodesIn(service: Service, call: Call, name: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  const fields = nodeFields(call);
  noPrefix(call);
  if (!call.access.node("read") || !call.access.nodePool(name, "read")) throw permissionDenied();
  const { state } = service;
  const found = await service.blocking.run(call.request, ["nodes"], () => {
    if (state.node_pools.get(name) === undefined) return { index: 0, value: { rows: [], nextToken: "" } };
    const rows = state.nodes.sorted().filter((one) => name === "all" || one.NodePool === name);
    const page = paginate(call.request, rows, { type: "Node", tokenOf: (one) => one.ID, fixed: true });
    return { index: state.nodes.index, value: page };
  });
  const json = found.value.rows.map((one) => nodeStub(one, fields));
  return { json, index: found.index, read: true, nextToken: found.value.nextToken };
}

async function jobsIn(service: Service, call: Call, name: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  noPrefix(call);
  const meta = queryFlag(call.request, "meta");
  if (!call.access.nodePool(name, "read")) throw permissionDenied();
  const { state } = service;
  const found = await service.blocking.run(call.request, ["jobs", "job_summary"], () => {
    if (state.node_pools.get(name) === undefined) return { index: 0, value: { rows: [], nextToken: "" } };
    const all = call.namespace === "*";
    const rows = state.jobs.sorted().filter((one) => (all ? one.NodePool === name : one.Namespace === call.namespace));
    const page = paginate(call.request, rows, {
      type: "Job",
      tokenOf: (one) => `${one.Namespace}.${one.ID}`,
      visible: (one) => one.NodePool === name && call.access.ns(one.Namespace, "list-jobs"),
    });
    return { index: state.indexOf("jobs", "job_summary"), value: page };
  });
  const json = found.value.rows.map((one) => jobStub(one, state.job_summary.get(scoped(one.Namespace, one.ID)), meta));
  return { json, index: found.index, read: true, nextToken: found.value.nextToken };
}

function put(service: Service, call: Call, pathName: string): Reply {
  const body = poolBody(call);
  const name = text(body, "Name");
  if (pathName !== "" && name !== pathName) throw new Refusal(400, "Node pool name does not match request path");
  if (!call.access.nodePool(name, "write")) throw permissionDenied();
  if (field(body, "SchedulerConfiguration") !== undefined) {
    throw new Refusal(500, 'Feature "Node Pools Governance" is unlicensed');
  }
  const description = text(body, "Description");
  const settings = field(body, "SchedulerConfiguration") as { MemoryOversubscriptionEnabled?: boolean } | undefined;
  const problems = [
    ...(/^[a-zA-Z0-9-_]{1,128}$/.test(name)
      ? []
      : [`invalid name ${JSON.stringify(name)}, must match regex ^[a-zA-Z0-9-_]{1,128}$`]),
    ...(description.length > 256 ? ["description longer than 256"] : []),
    ...(settings === undefined ? [] : ["Node Pools Governance is unlicensed."]),
  ];
  if (problems.length > 0) throw new Refusal(400, `invalid node pool ${JSON.stringify(name)}: ${listErrors(problems)}`);
  if (builtIn.includes(name)) throw new Refusal(400, `modifying node pool "${name}" is not allowed`);
  const meta = textMap(body, "Meta");
  const ttl = field(body, "NodeIdentityTTL");
  const index = service.state.write("NodePoolUpsert", (tx) => {
    const old = tx.state.node_pools.get(name);
    tx.put("node_pools", {
      Name: name,
      Description: description,
      Meta: field(body, "Meta") === undefined ? null : meta,
      SchedulerConfiguration: null,
      NodeIdentityTTL: typeof ttl === "number" && ttl !== 0 ? ttl : dayNs,
      Hash: textHash(name, description, JSON.stringify(meta)),
      CreateIndex: old?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    });
    return tx.index;
  });
  return { index };
}

/** Its body is decoded as a type without a name. */
function poolBody(call: Call): Fields {
  try {
    return shapedBody(call.request, shapes.nodePool);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const message = error.message
      .replace("Go struct field NodePool.", "Go struct field .Alias.")
      .replace("value of type structs.NodePool", "value of type struct { NodeIdentityTTL interface {}; *structs.Alias }");
    throw new Refusal(error.status, message);
  }
}

function remove(service: Service, call: Call, name: string): Reply {
  if (!call.access.nodePool(name, "delete")) throw permissionDenied();
  if (name === "") throw new Refusal(400, "node pool name is empty");
  const { state, region } = service;
  const jobs = [...state.jobs.rows.values()].some((one) => one.NodePool === name && one.Status !== "dead");
  const nodes = [...state.nodes.rows.values()].some((one) => one.NodePool === name);
  const problems = [
    ...(jobs ? [`node pool "${name}" has non-terminal jobs in regions: [${region}]`] : []),
    ...(nodes ? [`node pool "${name}" has nodes in regions: [${region}]`] : []),
  ];
  if (problems.length > 0) throw new Refusal(500, listErrors(problems));
  if (state.node_pools.get(name) === undefined) throw new Refusal(500, `node pool ${name} not found`);
  if (builtIn.includes(name)) throw new Refusal(500, `deleting node pool "${name}" is not allowed`);
  const index = state.write("NodePoolDelete", (tx) => {
    tx.delete("node_pools", name);
    return tx.index;
  });
  return { index };
}
