import { evaluateNode, putNode } from "../operations/nodes.ts";
import { permissionDenied, Refusal } from "../refusal.ts";
import { wholeAllocation } from "./allocations.ts";
import { checkId } from "./evaluations.ts";
import { allow, bodyOf, field, flag, number, queryFlag, record, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { byText, paginate } from "./page.ts";
import type { Service } from "./service.ts";
import { nodeStub } from "./views.ts";

/** `GET /v1/nodes`. */
export async function nodes(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  if (!call.access.node("read")) throw permissionDenied();
  const prefix = call.request.query.get("prefix") ?? "";
  const resources = queryFlag(call.request, "resources");
  const found = await service.blocking.run(call.request, ["nodes"], () => {
    const rows = service.state.nodes.sorted().filter((node) => node.ID.startsWith(prefix));
    return { index: service.state.nodes.index, value: paginate(call.request, rows, (node) => node.ID, byText) };
  });
  const json = found.value.rows.map((node) => nodeStub(node, resources));
  return { json, index: found.index, read: true, nextToken: found.value.nextToken };
}

/** Everything below `/v1/node/`. */
export async function node(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  const [id = "", verb] = path.split("/");
  const known = service.state.nodes.get(id);
  if (verb === undefined) return read(service, call, id);
  if (verb === "allocations") return allocations(service, call, id);
  if (known === undefined) throw new Refusal(500, "node not found");
  if (!call.access.node("write")) throw permissionDenied();
  allow(call, "PUT", "POST");
  if (verb === "evaluate") {
    const evals = evaluateNode(service, known, "node-update");
    const index = service.state.index;
    return {
      json: { EvalIDs: evals.map((one) => one.ID), EvalCreateIndex: index, NodeModifyIndex: known.ModifyIndex, Index: index },
      index,
    };
  }
  if (verb === "eligibility") return eligibility(service, call, id);
  if (verb === "drain") return drain(service, call, id);
  if (verb === "purge") {
    const index = service.state.write("NodeDeregister", (tx) => {
      tx.delete("nodes", id);
      return tx.index;
    });
    const evals = evaluateNode(service, known, "node-update");
    return { json: { EvalIDs: evals.map((one) => one.ID), EvalCreateIndex: index, NodeModifyIndex: index, Index: index }, index };
  }
  throw new Refusal(404, "");
}

async function read(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  if (!call.access.node("read")) throw permissionDenied();
  checkId(id, "node lookup failed");
  const found = await service.blocking.run(call.request, ["nodes"], () => {
    const row = service.state.nodes.get(id);
    return { index: row?.ModifyIndex ?? service.state.nodes.index, value: row };
  });
  if (found.value === undefined) throw new Refusal(404, "node not found", found.index);
  const { SecretID: _, ...shown } = found.value;
  return { json: { ...shown, SecretID: "", Drain: found.value.DrainStrategy !== null }, index: found.index, read: true };
}

async function allocations(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  if (!call.access.node("read")) throw permissionDenied();
  const found = await service.blocking.run(call.request, ["allocs"], () => ({
    index: service.state.allocs.index,
    value: service.state.allocs.by("node", id).filter((alloc) => call.access.ns(alloc.Namespace, "read-job")),
  }));
  return { json: found.value.map((alloc) => wholeAllocation(alloc, service.signingKeyId)), index: found.index, read: true };
}

function eligibility(service: Service, call: Call, id: string): Reply {
  const body = bodyOf(call.request);
  const wanted = text(body, "Eligibility");
  if (wanted !== "eligible" && wanted !== "ineligible") throw new Refusal(400, `invalid scheduling eligibility "${wanted}"`);
  const known = service.state.nodes.get(id);
  if (known === undefined) throw new Refusal(500, "node not found");
  if (known.DrainStrategy !== null && wanted === "eligible") {
    throw new Refusal(500, "can not set node's scheduling eligibility to eligible while it is draining");
  }
  if (known.SchedulingEligibility === wanted) {
    return { json: { EvalIDs: null, EvalCreateIndex: 0, NodeModifyIndex: 0, Index: 0 }, index: 0 };
  }
  const index = putNode(service, { ...known, SchedulingEligibility: wanted }, "NodeUpdateEligibility");
  const next = service.state.nodes.get(id) ?? known;
  const evals = wanted === "eligible" ? evaluateNode(service, next, "node-update") : [];
  return {
    json: {
      EvalIDs: evals.map((one) => one.ID),
      EvalCreateIndex: evals.length > 0 ? index : 0,
      NodeModifyIndex: index,
      Index: index,
    },
    index,
  };
}

function drain(service: Service, call: Call, id: string): Reply {
  const body = bodyOf(call.request);
  const spec = record(body, "DrainSpec");
  const index =
    spec === undefined
      ? service.drainer.cancel(id, flag(body, "MarkEligible"))
      : service.drainer.start(id, {
          deadlineMs: number(spec, "Deadline") / 1e6,
          ignoreSystemJobs: flag(spec, "IgnoreSystemJobs"),
        });
  return { json: { EvalIDs: null, EvalCreateIndex: 0, NodeModifyIndex: index, Index: index }, index };
}

/** `/v1/node/pools` and `/v1/node/pool/:name`. */
export async function pools(service: Service, call: Call): Promise<Reply> {
  if (call.request.method !== "GET") return putPool(service, call);
  const found = await service.blocking.run(call.request, ["node_pools"], () => ({
    index: service.state.node_pools.index,
    value: service.state.node_pools.sorted(),
  }));
  const page = paginate(call.request, found.value, (pool) => pool.Name, byText);
  return { json: page.rows, index: found.index, read: true, nextToken: page.nextToken };
}

function putPool(service: Service, call: Call): Reply {
  allow(call, "PUT", "POST");
  if (!call.access.management) throw permissionDenied();
  const body = bodyOf(call.request);
  const name = text(body, "Name");
  if (!/^[a-zA-Z0-9-_]{1,128}$/.test(name))
    throw new Refusal(400, `invalid node pool: invalid name "${name}", must match regex ^[a-zA-Z0-9-_]{1,128}$`);
  if (name === "all" || name === "default") throw new Refusal(400, `modifying node pool "${name}" is not allowed`);
  const index = service.state.write("NodePoolUpsert", (tx) => {
    const old = tx.state.node_pools.get(name);
    const settings = field(body, "SchedulerConfiguration") as { MemoryOversubscriptionEnabled?: boolean } | undefined;
    tx.put("node_pools", {
      Name: name,
      Description: text(body, "Description"),
      Meta: (record(body, "Meta") as Record<string, string> | undefined) ?? null,
      SchedulerConfiguration: settings ?? null,
      NodeIdentityTTL: 86_400_000_000_000,
      Hash: "",
      CreateIndex: old?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    });
    return tx.index;
  });
  return { index };
}

export async function pool(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  const [name = "", verb] = path.split("/");
  if (call.request.method === "DELETE") {
    if (!call.access.management) throw permissionDenied();
    const used = [...service.state.jobs.rows.values()].some((one) => one.NodePool === name && !one.Stop);
    if (used)
      throw new Refusal(
        500,
        `1 error occurred:\n\t* node pool "${name}" has non-terminal jobs in regions: [${service.region}]\n\n`,
      );
    const index = service.state.write("NodePoolDelete", (tx) => {
      tx.delete("node_pools", name);
      return tx.index;
    });
    return { index };
  }
  if (call.request.method !== "GET") return putPool(service, call);
  if (verb === "jobs")
    return {
      json: [...service.state.jobs.rows.values()]
        .filter((one) => one.NodePool === name)
        .map((one) => ({ ID: one.ID, Namespace: one.Namespace })),
      index: service.state.jobs.index,
      read: true,
    };
  if (verb === "nodes")
    return {
      json: service.state.nodes
        .sorted()
        .filter((one) => one.NodePool === name)
        .map((one) => nodeStub(one, false)),
      index: service.state.nodes.index,
      read: true,
    };
  const row = service.state.node_pools.get(name);
  if (row === undefined) throw new Refusal(404, "node pool not found", service.state.node_pools.index);
  return { json: row, index: row.ModifyIndex, read: true };
}
