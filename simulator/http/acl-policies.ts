import { PolicyError } from "../acl/policy-text.ts";
import { readRules } from "../acl/rules.ts";
import { listErrors } from "../jobspec/messages.ts";
import { notFound, permissionDenied, Refusal } from "../refusal.ts";
import type { AclPolicy } from "../state/cluster-types.ts";
import { textHash } from "../state/facts.ts";
import { needAcls, needManagement } from "./acl.ts";
import { allow, inThisRegion, readOptions, record, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";
import { type Fields, shapedBody, shapes } from "./shapes.ts";

const longestDescription = 256;

/** Policies that the sender may see: all for management, its own for any other. */
function visible(service: Service, call: Call): readonly AclPolicy[] {
  const sender = service.authenticator.known(call.request.headers);
  return call.access.management ? service.state.acl_policy.sorted() : service.authenticator.policiesOf(sender);
}

function listed(service: Service, call: Call): Reply {
  const prefix = call.request.query.get("prefix") ?? "";
  const rows = visible(service, call).filter((one) => one.Name.startsWith(prefix));
  const json = [...rows]
    .sort((a, b) => (a.Name < b.Name ? -1 : 1))
    .map(({ Name, Description, JobACL, Hash, CreateIndex, ModifyIndex }) => {
      return { Name, Description, JobACL, Hash, CreateIndex, ModifyIndex };
    });
  return { json, index: Math.max(1, service.state.acl_policy.index), read: true };
}

/** `GET /v1/acl/policies`. */
export function policies(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  needAcls(service);
  inThisRegion(call, service.region);
  return listed(service, call);
}

/** `GET /v1/acl/policy/self`. */
function own(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  needAcls(service);
  return listed(service, call);
}

/** `/v1/acl/policy/:name` and `/v1/acl/policy/self`. */
export function policy(service: Service, call: Call, [name = ""]: readonly string[]): Reply {
  if (name === "self") return own(service, call);
  if (name === "") throw new Refusal(400, "Missing Policy Name");
  allow(call, "GET", "PUT", "POST", "DELETE");
  const { method } = call.request;
  if (method === "GET") return read(service, call, name);
  const body = method === "DELETE" ? undefined : shapedBody(call.request, shapes.policy);
  if (body !== undefined && text(body, "Name") !== name) throw new Refusal(400, "ACL policy name does not match request path");
  needAcls(service);
  needManagement(call);
  const row = body === undefined ? undefined : policyOf(body, name);
  const { state } = service;
  const index = state.write(row === undefined ? "ACLPolicyDelete" : "ACLPolicyUpsert", (tx) => {
    const old = state.acl_policy.get(name);
    if (row === undefined) tx.delete("acl_policy", name);
    else tx.put("acl_policy", { ...row, CreateIndex: old?.CreateIndex ?? tx.index, ModifyIndex: tx.index });
    return tx.index;
  });
  return { index };
}

function read(service: Service, call: Call, name: string): Reply {
  readOptions(call.request);
  needAcls(service);
  inThisRegion(call, service.region);
  const seen = visible(service, call);
  const { acl_policy } = service.state;
  const mine = call.access.management || name === "anonymous" || seen.some((one) => one.Name === name);
  if (!mine) throw permissionDenied();
  const row = acl_policy.get(name);
  if (row === undefined) throw notFound("ACL policy not found", acl_policy.index);
  return { json: { ...row, RulesJSON: rulesView(row.Rules) }, index: row.ModifyIndex, read: true };
}

/** The parsed rules, short forms written out; only the part about namespaces is modelled. */
function rulesView(rules: string): unknown {
  const { namespaces } = rules === "" ? { namespaces: [] } : readRules(rules);
  const shown = namespaces.map(({ pattern, capabilities }) => ({ Name: pattern, Capabilities: capabilities }));
  return { Namespaces: shown.length === 0 ? null : shown };
}

function policyOf(body: Fields, name: string): AclPolicy {
  const problems: string[] = [];
  if (!/^[a-zA-Z0-9-]{1,128}$/.test(name)) problems.push(`invalid name '${name}'`);
  const rules = text(body, "Rules");
  const description = text(body, "Description");
  try {
    if (rules !== "") readRules(rules);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    problems.push(`failed to parse rules: ${error.message}`);
  }
  if (Buffer.byteLength(description) > longestDescription) problems.push(`description longer than ${longestDescription}`);
  const job = record(body, "JobACL");
  const [Namespace, JobID, Group, Task] =
    job === undefined ? ["", "", "", ""] : [text(job, "Namespace"), text(job, "JobID"), text(job, "Group"), text(job, "Task")];
  if (JobID !== "" && Namespace === "") problems.push("namespace must be set to set job ID");
  if (Group !== "" && JobID === "") problems.push("job ID must be set to set group");
  if (Task !== "" && Group === "") problems.push("group must be set to set task");
  if (problems.length > 0) throw new Refusal(400, `policy 0 invalid: ${listErrors(problems)}`);
  return {
    Name: name,
    Description: description,
    Rules: rules,
    JobACL: job === undefined ? null : { Namespace, JobID, Group, Task },
    Hash: textHash(name, description, rules),
    CreateIndex: 0,
    ModifyIndex: 0,
  };
}
