import { PolicyError } from "../acl/policy-text.ts";
import { readRules } from "../acl/rules.ts";
import { bootstrap as bootstrapToken, putToken } from "../operations/tokens.ts";
import { permissionDenied, Refusal } from "../refusal.ts";
import type { AclPolicy, AclToken } from "../state/cluster-types.ts";
import { ZERO_TIME } from "../state/facts.ts";
import { goDuration } from "../tasks/behaviour.ts";
import { allow, bodyOf, field, flag, list, record, text, texts } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { byText, paginate } from "./page.ts";
import type { Service } from "./service.ts";

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
  needAcls(service);
  const secret = call.request.body ? text(bodyOf(call.request), "BootstrapSecret") : "";
  const done = bootstrapToken(service, secret);
  return { json: tokenView(done.token), index: done.index };
}

/** `GET /v1/acl/tokens`. */
export function tokens(service: Service, call: Call): Reply {
  allow(call, "GET");
  needAcls(service);
  needManagement(call);
  const prefix = call.request.query.get("prefix") ?? "";
  const rows = service.state.acl_token.sorted().filter((one) => one.AccessorID.startsWith(prefix));
  const page = paginate(call.request, rows, (one) => one.AccessorID, byText);
  return { json: page.rows.map(stub), index: service.state.acl_token.index, read: true, nextToken: page.nextToken };
}

/** `/v1/acl/token`, `/v1/acl/token/:accessor` and `/v1/acl/token/self`. */
export function token(service: Service, call: Call, [id = ""]: readonly string[]): Reply {
  if (id === "self" && call.request.method === "GET") return self(service, call);
  needAcls(service);
  allow(call, "GET", "PUT", "POST", "DELETE");
  const { state } = service;
  if (call.request.method === "GET") {
    const sender = service.authenticator.known(call.request.headers);
    const own = sender.kind === "token" && sender.token.AccessorID === id;
    if (!own && !call.access.management) throw permissionDenied();
    const row = state.acl_token.get(id);
    if (row === undefined) throw new Refusal(404, "ACL token not found", state.acl_token.index);
    return { json: tokenView(row), index: row.ModifyIndex, read: true };
  }
  needManagement(call);
  if (call.request.method === "DELETE") {
    if (state.acl_token.get(id) === undefined) throw new Refusal(400, `Cannot delete nonexistent tokens: ${id}`);
    const index = state.write("ACLTokenDelete", (tx) => {
      tx.delete("acl_token", id);
      return tx.index;
    });
    return { index };
  }
  const body = bodyOf(call.request);
  const accessor = text(body, "AccessorID");
  if (id !== "" && accessor !== id) throw new Refusal(400, "ACL token accessor ID does not match request path");
  const ttl = field(body, "ExpirationTTL");
  const expires = field(body, "ExpirationTime");
  const done = putToken(service, {
    accessor: id === "" ? accessor : id,
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

/** The sender's own token. A workload identity has none (nomad-api §17). */
function self(service: Service, call: Call): Reply {
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
  if (sender.kind !== "token") throw new Refusal(404, "ACL token not found", service.state.acl_token.index);
  return { json: tokenView(sender.token), index: sender.token.ModifyIndex, read: true };
}

/** `GET /v1/acl/policies`: all for management, its own for any other token. */
export function policies(service: Service, call: Call): Reply {
  allow(call, "GET");
  needAcls(service);
  const sender = service.authenticator.known(call.request.headers);
  const prefix = call.request.query.get("prefix") ?? "";
  const visible = call.access.management ? service.state.acl_policy.sorted() : service.authenticator.policiesOf(sender);
  const rows = visible.filter((one) => one.Name.startsWith(prefix));
  const page = paginate(call.request, rows, (one) => one.Name, byText);
  const json = page.rows.map(({ Name, Description, Hash, CreateIndex, ModifyIndex }) => ({
    Name,
    Description,
    Hash,
    CreateIndex,
    ModifyIndex,
  }));
  return { json, index: service.state.acl_policy.index, read: true, nextToken: page.nextToken };
}

/** `/v1/acl/policy/:name` and `/v1/acl/policy/self`. */
export function policy(service: Service, call: Call, [name = ""]: readonly string[]): Reply {
  needAcls(service);
  allow(call, "GET", "PUT", "POST", "DELETE");
  if (name === "") throw new Refusal(400, "Missing Policy Name");
  const { state } = service;
  if (call.request.method === "GET") return readPolicy(service, call, name);
  needManagement(call);
  if (call.request.method === "DELETE") {
    const index = state.write("ACLPolicyDelete", (tx) => {
      tx.delete("acl_policy", name);
      return tx.index;
    });
    return { index };
  }
  const body = bodyOf(call.request);
  if (text(body, "Name") !== name) throw new Refusal(400, "ACL policy name does not match request path");
  const row = policyOf(body, name);
  const index = state.write("ACLPolicyUpsert", (tx) => {
    const old = state.acl_policy.get(name);
    tx.put("acl_policy", { ...row, CreateIndex: old?.CreateIndex ?? tx.index, ModifyIndex: tx.index });
    return tx.index;
  });
  return { index };
}

function readPolicy(service: Service, call: Call, name: string): Reply {
  const sender = service.authenticator.known(call.request.headers);
  const own = service.authenticator.policiesOf(sender);
  const { acl_policy } = service.state;
  if (name === "self") return { json: call.access.management ? acl_policy.sorted() : own, index: acl_policy.index, read: true };
  if (!call.access.management && !own.some((one) => one.Name === name)) throw permissionDenied();
  const row = acl_policy.get(name);
  if (row === undefined) throw new Refusal(404, "ACL policy not found", acl_policy.index);
  return { json: { ...row, RulesJSON: rulesView(row.Rules) }, index: row.ModifyIndex, read: true };
}

/** The parsed rules, short forms written out; only the part about namespaces is modelled. */
function rulesView(rules: string): unknown {
  const namespaces = readRules(rules).namespaces.map(({ pattern, capabilities }) => ({
    Name: pattern,
    Capabilities: capabilities,
  }));
  return { Namespaces: namespaces.length === 0 ? null : namespaces };
}

function policyOf(body: Readonly<Record<string, unknown>>, name: string): AclPolicy {
  const problems: string[] = [];
  if (!/^[a-zA-Z0-9-]{1,128}$/.test(name)) problems.push(`invalid name '${name}'`);
  const rules = text(body, "Rules");
  try {
    readRules(rules);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    problems.push(`failed to parse rules: ${error.message}`);
  }
  const job = record(body, "JobACL");
  const [Namespace, JobID, Group, Task] =
    job === undefined ? ["", "", "", ""] : [text(job, "Namespace"), text(job, "JobID"), text(job, "Group"), text(job, "Task")];
  if (JobID !== "" && Namespace === "") problems.push("namespace must be set to set job ID");
  if (Group !== "" && JobID === "") problems.push("job ID must be set to set group");
  if (Task !== "" && Group === "") problems.push("group must be set to set task");
  if (problems.length > 0) {
    const head = problems.length === 1 ? "1 error occurred" : `${problems.length} errors occurred`;
    throw new Refusal(400, `policy 0 invalid: ${head}:\n${problems.map((one) => `\t* ${one}\n`).join("")}\n`);
  }
  return {
    Name: name,
    Description: text(body, "Description"),
    Rules: rules,
    JobACL: job === undefined ? null : { Namespace, JobID, Group, Task },
    Hash: Buffer.from(`${name}${rules}`).toString("base64").slice(0, 44),
    CreateIndex: 0,
    ModifyIndex: 0,
  };
}
