import { bootstrap as bootstrapToken, putToken } from "../operations/tokens.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import type { AclToken } from "../state/cluster-types.ts";
import { ZERO_TIME } from "../state/facts.ts";
import { goDuration } from "../tasks/behaviour.ts";
import { allow, field, flag, inThisRegion, list, readOptions, text, texts } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { byCreation, checkId, checkPrefix, paginate, tokensOf } from "./page.ts";
import type { Service } from "./service.ts";
import { type Fields, shapedBody, shapes } from "./shapes.ts";

/** Refuses while ACLs are off. */
export function needAcls(service: Service): void {
  if (!service.acls) throw new Refusal(400, "ACL support disabled");
}

export function needManagement(call: Call): void {
  if (!call.access.management) throw permissionDenied();
}

export function tokenView(token: AclToken): unknown {
  return { ...token, ExpirationTTL: "" };
}

function stub(token: AclToken): unknown {
  const { SecretID: _, ...rest } = token;
  return rest;
}

/** `POST /v1/acl/bootstrap`. */
export function bootstrap(service: Service, call: Call): Reply {
  allow(call, "PUT", "POST");
  const secret = call.request.body ? text(secretBody(call), "BootstrapSecret") : "";
  needAcls(service);
  const done = bootstrapToken(service, secret);
  return { json: tokenView(done.token), index: done.index };
}

function secretBody(call: Call): Fields {
  try {
    return shapedBody(call.request, shapes.bootstrap);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(400, `failed to decode request body: ${error.message}`) : error;
  }
}

/** `GET /v1/acl/tokens`. */
export function tokens(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  needAcls(service);
  needManagement(call);
  const prefix = call.request.query.get("prefix") ?? "";
  const rows = [...service.state.acl_token.rows.values()].map((row) => ({ ...row, ID: row.AccessorID, Namespace: "" }));
  checkPrefix(prefix, "acl token lookup failed");
  const page = paginate(call.request, byCreation(rows, prefix, ""), { type: "ACLToken", ...tokensOf(prefix) });
  const json = page.rows.map(({ ID: _, Namespace: __, ...row }) => stub(row));
  return { json, index: service.state.acl_token.index, read: true, nextToken: page.nextToken };
}

/** `/v1/acl/token`, `/v1/acl/token/:accessor` and `/v1/acl/token/self`. */
export function token(service: Service, call: Call, [id]: readonly string[]): Reply {
  if (id === undefined) allow(call, "PUT", "POST");
  if (id === "self") return self(service, call);
  if (id === "") throw new Refusal(400, "Missing Token Accessor");
  allow(call, "GET", "PUT", "POST", "DELETE");
  if (call.request.method === "GET") return read(service, call, id ?? "");
  if (call.request.method === "DELETE") return remove(service, call, id ?? "");
  const body = shapedBody(call.request, shapes.token);
  const accessor = text(body, "AccessorID");
  if (id !== undefined && accessor !== id) throw new Refusal(400, "ACL token accessor does not match request path");
  needAcls(service);
  needManagement(call);
  const ttl = field(body, "ExpirationTTL");
  const expires = field(body, "ExpirationTime");
  const done = putToken(service, {
    accessor,
    ...(accessor === "" ? {} : { secret: text(body, "SecretID") }),
    name: text(body, "Name"),
    type: text(body, "Type"),
    policies: texts(body, "Policies"),
    roles: list(body, "Roles").map((one) => ({
      id: text(one as Record<string, unknown>, "ID"),
      name: text(one as Record<string, unknown>, "Name"),
    })),
    global: flag(body, "Global"),
    ttlMs: typeof ttl === "string" ? (goDuration(ttl) ?? 0) : typeof ttl === "number" ? ttl / 1e6 : 0,
    expirationTime: typeof expires === "string" ? expires : null,
  });
  return { json: tokenView(done.token), index: done.index };
}

function read(service: Service, call: Call, id: string): Reply {
  readOptions(call.request);
  needAcls(service);
  inThisRegion(call, service.region);
  const sender = service.authenticator.known(call.request.headers);
  const own = sender.kind === "token" && sender.token.AccessorID === id;
  checkId(id, "acl token lookup failed");
  if (!own && !call.access.management) throw permissionDenied();
  const { acl_token } = service.state;
  const row = acl_token.get(id);
  if (row === undefined) throw notFound("ACL token not found", acl_token.index);
  return { json: tokenView(row), index: row.ModifyIndex, read: true };
}

function remove(service: Service, call: Call, id: string): Reply {
  needAcls(service);
  needManagement(call);
  try {
    checkId(id, "token lookup failed: acl token lookup failed");
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(400, error.message) : error;
  }
  const { state } = service;
  if (state.acl_token.get(id) === undefined) throw new Refusal(400, `Cannot delete nonexistent tokens: ${id}`);
  const index = state.write("ACLTokenDelete", (tx) => {
    tx.delete("acl_token", id);
    return tx.index;
  });
  return { index };
}

/** The sender's own token. A workload identity has none (nomad-api §17). */
function self(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  inThisRegion(call, service.region);
  if (!service.acls) {
    const json = {
      AccessorID: "acls-disabled",
      SecretID: "",
      Name: "ACLs disabled token",
      Type: "client",
      Policies: null,
      Roles: null,
      Global: false,
      Hash: null,
      CreateTime: ZERO_TIME,
      ExpirationTime: null,
      ExpirationTTL: "",
      CreateIndex: 0,
      ModifyIndex: 0,
    };
    return { json, index: 0, read: true };
  }
  const sender = service.authenticator.known(call.request.headers);
  const anonymous = {
    AccessorID: "anonymous",
    SecretID: "",
    Name: "Anonymous Token",
    Type: "client",
    Policies: ["anonymous"],
    Roles: null,
    Global: false,
    Hash: null,
    CreateTime: ZERO_TIME,
    ExpirationTime: null,
    ExpirationTTL: "",
    CreateIndex: 0,
    ModifyIndex: 0,
  };
  if (sender.kind === "anonymous") return { json: anonymous, index: 0, read: true };
  if (sender.kind !== "token") throw notFound("ACL token not found", service.state.acl_token.index);
  return { json: tokenView(sender.token), index: sender.token.ModifyIndex, read: true };
}
