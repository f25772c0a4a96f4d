import { evaluateNode, putNode } from "../operations/nodes.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import type { Node } from "../state/cluster-types.ts";
import { nanos, rfc3339 } from "../state/facts.ts";
import type { Evaluation } from "../state/types.ts";
import { wholeAllocation } from "./allocations.ts";
import { allow, flag, number, queryFlag, readOptions, record, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { checkId, checkPrefix, paginate } from "./page.ts";
import type { Service } from "./service.ts";
import { type Fields, shapedBody, shapes } from "./shapes.ts";
import { nodeStub } from "./views.ts";

/** Which fields lists of nodes have. Throws Refusal (400). */
export function nodeFields(call: Call): { readonly resources: boolean; readonly os: boolean } {
  try {
    return { resources: queryFlag(call.request, "resources"), os: queryFlag(call.request, "os") };
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(400, `Failed to parse node list fields: ${error.message}`);
    throw error;
  }
}

/** `GET /v1/nodes`. */
export async function nodes(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  const fields = nodeFields(call);
  if (!call.access.node("read")) throw permissionDenied();
  const prefix = call.request.query.get("prefix") ?? "";
  checkPrefix(prefix, "node lookup failed");
  const found = await service.blocking.run(call.request, ["nodes"], () => {
    const rows = service.state.nodes.sorted().filter((node) => node.ID.startsWith(prefix));
    const page = paginate(call.request, rows, { type: "Node", tokenOf: (node) => node.ID, fixed: true });
    return { index: service.state.nodes.index, value: page };
  });
  const json = found.value.rows.map((node) => nodeStub(node, fields));
  return { json, index: found.index, read: true, nextToken: found.value.nextToken };
}

type Change = (service: Service, call: Call, id: string, body: Fields) => Reply;

const changes: Readonly<Record<string, Change>> = { evaluate, eligibility, drain, purge };

/** Everything below `/v1/node/`. */
export async function node(service: Service, call: Call, [path = ""]: readonly string[]): Promise<Reply> {
  if (path.endsWith("/allocations")) return allocations(service, call, path.slice(0, -"/allocations".length));
  const verb = Object.keys(changes).find((name) => path.endsWith(`/${name}`));
  const change = changes[verb ?? ""];
  if (verb === undefined || change === undefined) return read(service, call, path);
  allow(call, "PUT", "POST");
  const body = verb === "eligibility" || verb === "drain" ? shapedBody(call.request, shapes[verb]) : {};
  if (!call.access.node("write")) throw permissionDenied();
  return change(service, call, text(body, "NodeID") || path.slice(0, -verb.length - 1), body);
}

/** A node that is to be changed. Throws Refusal (500). */
function known(service: Service, id: string, forWhat: string): Node {
  if (id === "") throw new Refusal(500, `missing node ID for ${forWhat}`);
  checkId(id, "node lookup failed");
  const found = service.state.nodes.get(id);
  if (found === undefined) throw new Refusal(500, "node not found");
  return found;
}

function answerOf(evals: readonly Evaluation[], modified: number, index: number, more: object = {}): Reply {
  const EvalIDs = evals.length === 0 ? null : evals.map((one) => one.ID);
  const EvalCreateIndex = evals[0]?.CreateIndex ?? 0;
  return { json: { EvalIDs, EvalCreateIndex, NodeModifyIndex: modified, Index: index, ...more }, index };
}

/** Evaluations of what a node concerns, as they were stored. */
function evaluated(service: Service, one: Node): Evaluation[] {
  return evaluateNode(service, one, "node-update").map((row) => service.state.evals.get(row.ID) ?? row);
}

const rpcAddress = "127.0.0.1:4647";

/** What such an answer says to a client of its servers; nobody else needs it. */
const serverInfo = {
  Features: 0,
  HeartbeatTTL: 0,
  LeaderRPCAddr: rpcAddress,
  KnownLeader: false,
  LastContact: 0,
  NextToken: "",
  SchedulingEligibility: "",
  SignedIdentity: null,
};

function evaluate(service: Service, _call: Call, id: string): Reply {
  const one = known(service, id, "evaluation");
  const evals = evaluated(service, one);
  const server = { RPCAdvertiseAddr: rpcAddress, RPCMajorVersion: 0, RPCMinorVersion: 0, Datacenter: service.datacenter };
  const more = { NumNodes: service.state.nodes.rows.size, Servers: [server], SchedulingEligibility: one.SchedulingEligibility };
  return answerOf(evals, 0, evals[0]?.CreateIndex ?? 0, { ...serverInfo, ...more });
}

function purge(service: Service, _call: Call, id: string): Reply {
  const gone = known(service, id, "client deregistration");
  const index = service.state.write("NodeDeregister", (tx) => {
    tx.delete("nodes", id);
    return tx.index;
  });
  return answerOf(evaluated(service, gone), index, index, { ...serverInfo, Servers: null, NumNodes: 0 });
}

async function read(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  if (!call.access.node("read")) throw permissionDenied();
  if (id === "") throw new Refusal(500, "missing node ID");
  checkId(id, "node lookup failed");
  const found = await service.blocking.run(call.request, ["nodes"], () => {
    const row = service.state.nodes.get(id);
    return { index: row?.ModifyIndex ?? service.state.nodes.index, value: row };
  });
  if (found.value === undefined) throw notFound("node not found", found.index);
  const { SecretID: _, ...shown } = found.value;
  const more = {
    SecretID: "",
    Drain: found.value.DrainStrategy !== null,
    NodeMaxAllocs: 0,
  };
  return { json: { ...shown, ...more }, index: found.index, read: true };
}

async function allocations(service: Service, call: Call, id: string): Promise<Reply> {
  allow(call, "GET");
  readOptions(call.request);
  if (!call.access.node("read")) throw permissionDenied();
  if (id === "") throw new Refusal(500, "missing node ID");
  const found = await service.blocking.run(call.request, ["allocs"], () => {
    // The beginning of an id is enough.
    const rows = [...service.state.allocs.rows.values()].filter((alloc) => alloc.NodeID.startsWith(id));
    const index = rows.length === 0 ? service.state.allocs.index : Math.max(...rows.map((alloc) => alloc.ModifyIndex));
    return { index, value: rows };
  });
  const visible = found.value.filter((alloc) => call.access.ns(alloc.Namespace, "read-job"));
  return { json: visible.map((alloc) => wholeAllocation(alloc, service.signingKeyId)), index: found.index, read: true };
}

function eligibility(service: Service, _call: Call, id: string, body: Fields): Reply {
  if (id === "") throw new Refusal(500, "missing node ID for setting scheduling eligibility");
  const wanted = text(body, "Eligibility");
  if (wanted !== "eligible" && wanted !== "ineligible") throw new Refusal(500, `invalid scheduling eligibility "${wanted}"`);
  const before = known(service, id, "setting scheduling eligibility");
  if (before.DrainStrategy !== null && wanted === "eligible") {
    throw new Refusal(500, "can not set node's scheduling eligibility to eligible while it is draining");
  }
  if (before.SchedulingEligibility === wanted) return answerOf([], 0, 0);
  const event = {
    Message: `Node marked as ${wanted} for scheduling`,
    Subsystem: "Cluster",
    Details: null,
    Timestamp: rfc3339(service.now()),
    CreateIndex: service.state.index + 1,
  };
  const next = { ...before, SchedulingEligibility: wanted, Events: [...before.Events, event].slice(-10) };
  const index = putNode(service, { ...next, StatusUpdatedAt: Math.floor(service.now() / 1000) }, "NodeUpdateEligibility");
  const evals = wanted === "eligible" ? evaluated(service, service.state.nodes.get(id) ?? next) : [];
  return answerOf(evals, 0, index);
}

function drain(service: Service, _call: Call, id: string, body: Fields): Reply {
  const before = known(service, id, "drain update");
  const spec = record(body, "DrainSpec");
  const eligible = flag(body, "MarkEligible");
  const evalsBefore = new Set(service.state.evals.rows.keys());
  const index =
    spec === undefined
      ? service.drainer.cancel(id, eligible)
      : service.drainer.start(id, {
          deadlineMs: number(spec, "Deadline") / nanos(1),
          ignoreSystemJobs: flag(spec, "IgnoreSystemJobs"),
        });
  const woken = spec === undefined && eligible && before.SchedulingEligibility === "ineligible";
  const evals = woken ? [...service.state.evals.rows.values()].filter((one) => !evalsBefore.has(one.ID)) : [];
  return answerOf(evals, index, index);
}
