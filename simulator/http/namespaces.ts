import { goQuote } from "../jobspec/go-text.ts";
import { listErrors } from "../jobspec/messages.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import type { Namespace } from "../state/cluster-types.ts";
import { terminal, textHash } from "../state/facts.ts";
import { allow, field, record, text, textMap } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";
import { shapedBody, shapes } from "./shapes.ts";

/** `GET /v1/namespaces`: those that the sender may see. */
export async function namespaces(service: Service, call: Call): Promise<Reply> {
  allow(call, "GET");
  const prefix = call.request.query.get("prefix") ?? "";
  const found = await service.blocking.run(call.request, ["namespaces"], () => {
    const rows = service.state.namespaces
      .sorted()
      .filter((one) => one.Name.startsWith(prefix) && call.access.namespace(one.Name));
    return { index: service.state.namespaces.index, value: rows };
  });
  return { json: found.value, index: found.index, read: true };
}

/** `PUT /v1/namespace`. */
export function newNamespace(service: Service, call: Call): Reply {
  allow(call, "PUT", "POST");
  return put(service, call, "");
}

/** `/v1/namespace/:name`. */
export async function namespace(service: Service, call: Call, [name = ""]: readonly string[]): Promise<Reply> {
  if (name === "") throw new Refusal(400, "Missing Namespace Name");
  allow(call, "GET", "PUT", "POST", "DELETE");
  if (call.request.method === "DELETE") return remove(service, call, name);
  if (call.request.method !== "GET") return put(service, call, name);
  const found = await service.blocking.run(call.request, ["namespaces"], () => {
    const row = service.state.namespaces.get(name);
    return { index: row?.ModifyIndex ?? service.state.namespaces.index, value: row };
  });
  if (!call.access.namespace(name)) throw permissionDenied();
  if (found.value === undefined) throw notFound("Namespace not found", found.index);
  return { json: found.value, index: found.index, read: true };
}

function put(service: Service, call: Call, pathName: string): Reply {
  const body = shapedBody(call.request, shapes.namespace);
  const name = text(body, "Name");
  if (pathName !== "" && name !== pathName) throw new Refusal(400, "Namespace name does not match request path");
  if (!call.access.management) throw permissionDenied();
  const problems = [
    ...(/^[a-zA-Z0-9-]{1,128}$/.test(name) ? [] : [`invalid name ${goQuote(name)}. Must match regex ^[a-zA-Z0-9-]{1,128}$`]),
    ...(Buffer.byteLength(text(body, "Description")) > 256 ? ["description longer than 256"] : []),
  ];
  if (problems.length > 0) throw new Refusal(500, `Invalid namespace ${goQuote(name)}: ${listErrors(problems)}`);
  const quota = text(body, "Quota");
  if (quota !== "") throw new Refusal(500, `namespace ${goQuote(name)} using non-existent quota ${goQuote(quota)}`);
  const meta = textMap(body, "Meta");
  const index = service.state.write("NamespaceUpsert", (tx) => {
    const old = tx.state.namespaces.get(name);
    const row: Namespace = {
      Name: name,
      Description: text(body, "Description"),
      Quota: "",
      Capabilities: (record(body, "Capabilities") as Namespace["Capabilities"] | undefined) ?? null,
      NodePoolConfiguration: field(body, "NodePoolConfiguration") ?? null,
      VaultConfiguration: field(body, "VaultConfiguration") ?? null,
      ConsulConfiguration: field(body, "ConsulConfiguration") ?? null,
      Meta: Object.keys(meta).length === 0 ? null : meta,
      Hash: textHash(name, text(body, "Description"), JSON.stringify(body)),
      CreateIndex: old?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    };
    tx.put("namespaces", row);
    return tx.index;
  });
  return { index };
}

/** Refused while something in it lives; the default one stays. */
function remove(service: Service, call: Call, name: string): Reply {
  if (!call.access.management) throw permissionDenied();
  const { state } = service;
  if (name === "default") throw new Refusal(500, "can not delete default namespace");
  if (state.namespaces.get(name) === undefined) throw new Refusal(500, "namespace not found");
  const jobs = [...state.jobs.rows.values()].some((job) => job.Namespace === name && job.Status !== "dead");
  const allocs = [...state.allocs.rows.values()].some((alloc) => alloc.Namespace === name && !terminal(alloc));
  const variables = [...state.variables.rows.values()].some((one) => one.Namespace === name);
  const left = [
    ...(jobs ? ["non-terminal jobs"] : []),
    ...(allocs ? ["non-terminal allocations"] : []),
    ...(variables ? ["variables associated with it"] : []),
  ];
  const problems = left.map((what) => `namespace "${name}" has ${what} in regions: [${service.region}]`);
  if (problems.length > 0) throw new Refusal(500, listErrors(problems));
  const index = state.write("NamespaceDelete", (tx) => {
    tx.delete("namespaces", name);
    return tx.index;
  });
  return { index };
}
