import type { NomadTransport } from "./transport.ts";
import { parseNomadVersion } from "./version.ts";

export interface NomadNamespace {
  readonly Name: string;
  readonly Description?: string;
  readonly Meta?: Readonly<Record<string, string>> | null;
}

/** A client node, as lists show it. */
export interface NomadNodeStub {
  readonly ID: string;
  readonly Name: string;
  readonly Datacenter: string;
  readonly Status: string;
  readonly SchedulingEligibility: string;
  readonly Version?: string;
}

/** What the agent tells about itself, as far as `nops doctor` needs it. */
export interface AgentInfo {
  /** `2.0.6-dev`; empty when the agent does not say. */
  readonly version: string;
  readonly region: string;
  readonly aclEnabled: boolean | undefined;
  /** Agent's time in milliseconds since the epoch, to the second; for the clock check. */
  readonly date: number | undefined;
}

interface AgentAnswer {
  readonly config?: {
    readonly Region?: string;
    readonly ACL?: { readonly Enabled?: boolean } | null;
    readonly Version?: { readonly Version?: string; readonly VersionPrerelease?: string } | null;
  };
}

/** Those that the token may see. */
export async function listNamespaces(transport: NomadTransport): Promise<readonly NomadNamespace[]> {
  const { value } = await transport.call({
    operation: "list_namespaces",
    what: "list namespaces",
    effect: "read",
    method: "GET",
    path: "/v1/namespaces",
    shape: "list",
  });
  return value as readonly NomadNamespace[];
}

export async function readNamespace(transport: NomadTransport, name: string): Promise<NomadNamespace | undefined> {
  const { value } = await transport.call({
    operation: "read_namespace",
    what: `read namespace ${name}`,
    effect: "read",
    method: "GET",
    path: `/v1/namespace/${encodeURIComponent(name)}`,
    absent: "not found",
  });
  return value as NomadNamespace | undefined;
}

/** Creates the namespace or changes its description and meta. */
export async function registerNamespace(transport: NomadTransport, namespace: NomadNamespace): Promise<void> {
  await transport.call({
    operation: "register_namespace",
    what: `register namespace ${namespace.Name}`,
    effect: "write",
    method: "PUT",
    path: "/v1/namespace",
    body: namespace,
    decoding: "none",
  });
}

/** @throws NomadError `refused` when jobs are left in it. */
export async function deleteNamespace(transport: NomadTransport, name: string): Promise<void> {
  await transport.call({
    operation: "delete_namespace",
    what: `delete namespace ${name}`,
    effect: "write",
    method: "DELETE",
    path: `/v1/namespace/${encodeURIComponent(name)}`,
    decoding: "none",
  });
}

export async function listNodes(transport: NomadTransport): Promise<readonly NomadNodeStub[]> {
  const { value } = await transport.call({
    operation: "list_nodes",
    what: "list nodes",
    effect: "read",
    method: "GET",
    path: "/v1/nodes",
    shape: "list",
  });
  return value as readonly NomadNodeStub[];
}

/** Needs `agent:read` where ACLs are on. */
export async function agentSelf(transport: NomadTransport): Promise<AgentInfo> {
  const { value, date } = await transport.call({
    operation: "agent_self",
    what: "read the agent",
    effect: "read",
    method: "GET",
    path: "/v1/agent/self",
  });
  const { config } = value as AgentAnswer;
  const { Version = "", VersionPrerelease = "" } = config?.Version ?? {};
  const version = VersionPrerelease === "" ? Version : `${Version}-${VersionPrerelease}`;
  return {
    version: parseNomadVersion(version)?.text ?? version,
    region: config?.Region ?? "",
    aclEnabled: config?.ACL?.Enabled,
    date,
  };
}

/** Address of the leader, `""` when there is none. Needs no token: the cheapest sign of life. */
export async function statusLeader(transport: NomadTransport): Promise<string> {
  const { value } = await transport.call({
    operation: "status_leader",
    what: "ask for the leader",
    effect: "read",
    method: "GET",
    path: "/v1/status/leader",
    shape: "any",
  });
  return typeof value === "string" ? value : "";
}

/** Collects garbage now, thresholds ignored. For tests. */
export async function systemGc(transport: NomadTransport): Promise<void> {
  await transport.call({
    operation: "system_gc",
    what: "collect garbage",
    effect: "write",
    method: "PUT",
    path: "/v1/system/gc",
    decoding: "none",
  });
}
