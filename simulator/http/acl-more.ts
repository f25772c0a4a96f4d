import { listErrors } from "../jobspec/messages.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import type { AclRole } from "../state/cluster-types.ts";
import { rfc3339, textHash } from "../state/facts.ts";
import { goDuration } from "../tasks/behaviour.ts";
import { needAcls, needManagement } from "./acl.ts";
import { defaultTokenName } from "./acl-login.ts";
import { allow, bodyOf, field, flag, inThisRegion, list, readOptions, record, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";
import { shapedBody, shapes } from "./shapes.ts";

/** `GET /v1/acl/roles`: all for management, its own for any other token. */
export function roles(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  needAcls(service);
  inThisRegion(call, service.region);
  const sender = service.authenticator.known(call.request.headers);
  const own = sender.kind === "token" ? (sender.token.Roles ?? []).map((one) => one.ID) : undefined;
  if (!call.access.management && own === undefined) throw new Refusal(403, "ACL token not found");
  const prefix = call.request.query.get("prefix") ?? "";
  const rows = service.state.acl_roles
    .sorted()
    .filter((role) => role.ID.startsWith(prefix) && (call.access.management || own?.includes(role.ID)));
  return { json: rows, index: Math.max(1, service.state.acl_roles.index), read: true };
}

/** `/v1/acl/role`, `/v1/acl/role/:id` and `/v1/acl/role/name/:name`. */
export function role(service: Service, call: Call, [path]: readonly string[]): Reply {
  if (path === undefined) {
    allow(call, "PUT", "POST");
    return putRole(service, call, "");
  }
  const [id = "", name, ...more] = path.split("/");
  if (more.length > 0) throw new Refusal(400, "invalid URI");
  if (name !== undefined) {
    allow(call, "GET");
    if (id !== "name") throw new Refusal(400, "invalid URI");
    if (name === "") throw new Refusal(400, "missing ACL role name");
    return readRole(service, call, service.state.acl_roles.by("name", name)[0]);
  }
  if (id === "") throw new Refusal(400, "missing ACL role ID");
  allow(call, "GET", "PUT", "POST", "DELETE");
  if (call.request.method === "GET") return readRole(service, call, service.state.acl_roles.get(id));
  if (call.request.method !== "DELETE") return putRole(service, call, id);
  needAcls(service);
  needManagement(call);
  const row = service.state.acl_roles.get(id);
  if (row === undefined) throw new Refusal(500, "ACL role not found");
  const index = service.state.write("ACLRoleDelete", (tx) => {
    tx.delete("acl_roles", row.ID);
    return tx.index;
  });
  return { index };
}

function readRole(service: Service, call: Call, row: AclRole | undefined): Reply {
  readOptions(call.request);
  needAcls(service);
  inThisRegion(call, service.region);
  const sender = service.authenticator.known(call.request.headers);
  if (!call.access.management) {
    if (sender.kind !== "token") throw new Refusal(403, "ACL token not found");
    if (!(sender.token.Roles ?? []).some((one) => one.ID === row?.ID)) throw permissionDenied();
  }
  if (row === undefined) throw notFound("ACL role not found", service.state.acl_roles.index);
  return { json: row, index: row.ModifyIndex, read: true };
}

function putRole(service: Service, call: Call, id: string): Reply {
  const body = shapedBody(call.request, shapes.role);
  if (id !== "" && text(body, "ID") !== id) throw new Refusal(400, "ACL role ID does not match request path");
  needAcls(service);
  needManagement(call);
  const { state } = service;
  const [own, name, description] = [text(body, "ID"), text(body, "Name"), text(body, "Description")];
  const links = list(body, "Policies").map((one) => text(one as Record<string, unknown>, "Name"));
  const problems = [
    ...(/^[a-zA-Z0-9-]{1,128}$/.test(name) ? [] : [`invalid name '${name}'`]),
    ...(Buffer.byteLength(description) > 256 ? ["description longer than 256"] : []),
    ...(links.length === 0 ? ["at least one policy should be specified"] : []),
  ];
  if (problems.length > 0) throw new Refusal(400, `role 0 invalid: ${listErrors(problems)}`);
  const row = own === "" ? undefined : state.acl_roles.get(own);
  if (own === "" && state.acl_roles.by("name", name).length > 0) throw new Refusal(400, `role with name ${name} already exists`);
  if (own !== "" && row === undefined) throw new Refusal(400, `cannot find role ${own}`);
  const lacking = links.find((link) => state.acl_policy.get(link) === undefined);
  if (lacking !== undefined) throw new Refusal(400, `cannot find policy ${lacking}`);
  return state.write("ACLRoleUpsert", (tx): Reply => {
    const next = {
      ID: row?.ID ?? service.newId(),
      Name: name,
      Description: description,
      Policies: [...new Set(links)].map((Name) => ({ Name })),
      Hash: textHash(name, description, ...links),
      CreateIndex: row?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    };
    tx.put("acl_roles", next);
    return { json: next, index: tx.index };
  });
}

/** `GET /v1/acl/auth-methods`: open to all, so that people can choose how to log in. */
export function authMethods(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  needAcls(service);
  const json = service.state.acl_auth_methods.sorted().map(({ Config: _, ...stub }) => stub);
  return { json, index: service.state.acl_auth_methods.index, read: true };
}

/** `/v1/acl/auth-method` and `/v1/acl/auth-method/:name`. */
export function authMethod(service: Service, call: Call, [name]: readonly string[]): Reply {
  if (name === undefined) allow(call, "PUT", "POST");
  if (name === "") throw new Refusal(400, "missing ACL auth-method name");
  return methodNamed(service, call, name ?? "");
}

function methodNamed(service: Service, call: Call, name: string): Reply {
  allow(call, "GET", "PUT", "POST", "DELETE");
  const { method } = call.request;
  if (method === "GET") readOptions(call.request);
  const sent = method === "PUT" || method === "POST" ? bodyOf(call.request, "structs.ACLAuthMethod") : undefined;
  needAcls(service);
  needManagement(call);
  const { state } = service;
  const row = state.acl_auth_methods.get(name);
  if (call.request.method === "GET") {
    if (row === undefined) throw notFound("ACL auth-method not found", state.acl_auth_methods.index);
    return { json: row, index: row.ModifyIndex, read: true };
  }
  if (call.request.method === "DELETE") {
    const index = state.write("ACLAuthMethodDelete", (tx) => {
      tx.delete("acl_auth_methods", name);
      return tx.index;
    });
    return { index };
  }
  const body = sent ?? {};
  const own = text(body, "Name") || name;
  const old = state.acl_auth_methods.get(own);
  const ttl = field(body, "MaxTokenTTL");
  const now = rfc3339(service.now());
  return state.write("ACLAuthMethodUpsert", (tx): Reply => {
    const next = {
      Name: own,
      Type: text(body, "Type") || old?.Type || "",
      TokenLocality: text(body, "TokenLocality") || old?.TokenLocality || "local",
      TokenNameFormat: text(body, "TokenNameFormat") || old?.TokenNameFormat || defaultTokenName,
      MaxTokenTTL:
        typeof ttl === "string" ? (goDuration(ttl) ?? 0) * 1e6 : typeof ttl === "number" ? ttl : (old?.MaxTokenTTL ?? 0),
      Default: flag(body, "Default"),
      Config: record(body, "Config") ?? old?.Config ?? null,
      Hash: "",
      CreateTime: old?.CreateTime ?? now,
      ModifyTime: now,
      CreateIndex: old?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    };
    tx.put("acl_auth_methods", next);
    return { json: next, index: tx.index };
  });
}

/** `GET /v1/acl/binding-rules`. */
export function bindingRules(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  needAcls(service);
  needManagement(call);
  const json = service.state.acl_binding_rules
    .sorted()
    .map(({ ID, Description, AuthMethod, Hash, CreateIndex, ModifyIndex }) => ({
      ID,
      Description,
      AuthMethod,
      Hash,
      CreateIndex,
      ModifyIndex,
    }));
  return { json, index: service.state.acl_binding_rules.index, read: true };
}

/** `/v1/acl/binding-rule` and `/v1/acl/binding-rule/:id`. */
export function bindingRule(service: Service, call: Call, [id]: readonly string[]): Reply {
  if (id === undefined) allow(call, "PUT", "POST");
  if (id === "") throw new Refusal(400, "missing ACL binding rule ID");
  return ruleOf(service, call, id ?? "");
}

function ruleOf(service: Service, call: Call, id: string): Reply {
  allow(call, "GET", "PUT", "POST", "DELETE");
  const { method: verb } = call.request;
  if (verb === "GET") readOptions(call.request);
  const sent = verb === "PUT" || verb === "POST" ? bodyOf(call.request, "structs.ACLBindingRule") : undefined;
  needAcls(service);
  needManagement(call);
  const { state } = service;
  const row = state.acl_binding_rules.get(id);
  if (call.request.method === "GET") {
    if (row === undefined) throw notFound("ACL binding rule not found", state.acl_binding_rules.index);
    return { json: row, index: row.ModifyIndex, read: true };
  }
  if (call.request.method === "DELETE") {
    const index = state.write("ACLBindingRuleDelete", (tx) => {
      tx.delete("acl_binding_rules", id);
      return tx.index;
    });
    return { index };
  }
  const body = sent ?? {};
  const method = text(body, "AuthMethod") || row?.AuthMethod || "";
  if (state.acl_auth_methods.get(method) === undefined) throw new Refusal(400, `ACL auth method ${method} not found`);
  const now = rfc3339(service.now());
  return state.write("ACLBindingRuleUpsert", (tx): Reply => {
    const next = {
      ID: row?.ID ?? service.newId(),
      Description: text(body, "Description"),
      AuthMethod: method,
      Selector: text(body, "Selector"),
      BindType: text(body, "BindType"),
      BindName: text(body, "BindName"),
      Hash: "",
      CreateTime: row?.CreateTime ?? now,
      ModifyTime: now,
      CreateIndex: row?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    };
    tx.put("acl_binding_rules", next);
    return { json: next, index: tx.index };
  });
}

/** `GET /.well-known/jwks.json`. */
export function jwks(service: Service, call: Call): Reply {
  allow(call, "GET");
  return { json: service.authenticator.identities.jwks() };
}
