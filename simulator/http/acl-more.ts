import { Refusal } from "../refusal.ts";
import { rfc3339 } from "../state/facts.ts";
import { goDuration } from "../tasks/behaviour.ts";
import { needAcls, needManagement } from "./acl.ts";
import { defaultTokenName } from "./acl-login.ts";
import { allow, bodyOf, field, flag, list, record, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";

/** `GET /v1/acl/roles`. */
export function roles(service: Service, call: Call): Reply {
  allow(call, "GET");
  needAcls(service);
  const sender = service.authenticator.known(call.request.headers);
  const own = sender.kind === "token" ? (sender.token.Roles ?? []).map((one) => one.ID) : [];
  const rows = service.state.acl_roles.sorted().filter((role) => call.access.management || own.includes(role.ID));
  return { json: rows, index: service.state.acl_roles.index, read: true };
}

/** `/v1/acl/role`, `/v1/acl/role/:id` and `/v1/acl/role/name/:name`. */
export function role(service: Service, call: Call, [path = ""]: readonly string[]): Reply {
  needAcls(service);
  allow(call, "GET", "PUT", "POST", "DELETE");
  const { state } = service;
  const row = path.startsWith("name/") ? state.acl_roles.by("name", path.slice(5))[0] : state.acl_roles.get(path);
  if (call.request.method === "GET") {
    const sender = service.authenticator.known(call.request.headers);
    const own = sender.kind === "token" && (sender.token.Roles ?? []).some((one) => one.ID === row?.ID);
    if (!own) needManagement(call);
    if (row === undefined) throw new Refusal(404, "ACL role not found", state.acl_roles.index);
    return { json: row, index: row.ModifyIndex, read: true };
  }
  needManagement(call);
  if (call.request.method === "DELETE") {
    if (row === undefined) throw new Refusal(404, "ACL role not found");
    const index = state.write("ACLRoleDelete", (tx) => {
      tx.delete("acl_roles", row.ID);
      return tx.index;
    });
    return { index };
  }
  const body = bodyOf(call.request);
  const name = text(body, "Name");
  const links = list(body, "Policies").map((one) => ({ Name: text(one as Record<string, unknown>, "Name") }));
  if (name === "" || links.length === 0) {
    const problems = [
      ...(name === "" ? ["invalid name ''"] : []),
      ...(links.length === 0 ? ["at least one policy should be specified"] : []),
    ];
    throw new Refusal(400, `role 0 invalid: ${problems.join("; ")}`);
  }
  const other = state.acl_roles.by("name", name)[0];
  if (path === "" && other !== undefined) throw new Refusal(400, `role with name ${name} already exists`);
  if (path !== "" && row === undefined) throw new Refusal(400, `cannot find role ${path}`);
  const lacking = links.find((link) => state.acl_policy.get(link.Name) === undefined);
  if (lacking !== undefined) throw new Refusal(400, `cannot find policy ${lacking.Name}`);
  return state.write("ACLRoleUpsert", (tx): Reply => {
    const next = {
      ID: row?.ID ?? service.newId(),
      Name: name,
      Description: text(body, "Description"),
      Policies: links,
      Hash: "",
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
  needAcls(service);
  const json = service.state.acl_auth_methods.sorted().map(({ Config: _, ...stub }) => stub);
  return { json, index: service.state.acl_auth_methods.index, read: true };
}

/** `/v1/acl/auth-method` and `/v1/acl/auth-method/:name`. */
export function authMethod(service: Service, call: Call, [name = ""]: readonly string[]): Reply {
  needAcls(service);
  allow(call, "GET", "PUT", "POST", "DELETE");
  needManagement(call);
  const { state } = service;
  const row = state.acl_auth_methods.get(name);
  if (call.request.method === "GET") {
    if (row === undefined) throw new Refusal(404, "ACL auth-method not found", state.acl_auth_methods.index);
    return { json: row, index: row.ModifyIndex, read: true };
  }
  if (call.request.method === "DELETE") {
    const index = state.write("ACLAuthMethodDelete", (tx) => {
      tx.delete("acl_auth_methods", name);
      return tx.index;
    });
    return { index };
  }
  const body = bodyOf(call.request);
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
export function bindingRule(service: Service, call: Call, [id = ""]: readonly string[]): Reply {
  needAcls(service);
  allow(call, "GET", "PUT", "POST", "DELETE");
  needManagement(call);
  const { state } = service;
  const row = state.acl_binding_rules.get(id);
  if (call.request.method === "GET") {
    if (row === undefined) throw new Refusal(404, "ACL binding rule not found", state.acl_binding_rules.index);
    return { json: row, index: row.ModifyIndex, read: true };
  }
  if (call.request.method === "DELETE") {
    const index = state.write("ACLBindingRuleDelete", (tx) => {
      tx.delete("acl_binding_rules", id);
      return tx.index;
    });
    return { index };
  }
  const body = bodyOf(call.request);
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
