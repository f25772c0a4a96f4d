import { connectTask, mergeSidecarTask } from "./connect-task.ts";
import { SECOND } from "./defaults.ts";
import { goQuote } from "./go-text.ts";
import { canonicalizeNetwork, canonicalizeServerTask, interpolate } from "./server-canonicalize.ts";
import type { ServerJob } from "./types.ts";
import { flag, num, type Rec, rec, recs, str } from "./values.ts";

/** What the Connect hook needs beside the job. */
export interface ConnectOptions {
  /** Six hex digits, for a sidecar whose name is taken. */
  readonly suffix: () => string;
}

/**
 * Adds the proxy tasks and ports that services with a `connect` block need; runs after canonicalisation and before validation, so it
 * passes over what validation will refuse. Returns the text of an error, or undefined.
 */
export function injectConnect(job: ServerJob, options: ConnectOptions): string | undefined {
  for (const group of recs(job, "TaskGroups")) {
    if (recs(group, "Networks").length === 0) continue;
    const problem = injectIntoGroup(job, group, options);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function injectIntoGroup(job: ServerJob, group: Rec, options: ConnectOptions): string | undefined {
  const known = submissionEnvironment(job, group);
  let touched = false;
  for (const service of recs(group, "Services")) {
    const connect = rec(service, "Connect");
    if (connect === undefined) continue;
    touched = true;
    if (rec(connect, "SidecarService") !== undefined) injectSidecar(job, group, service, known, options);
    else if (flag(connect, "Native")) {
      const task = nativeTask(group, service);
      if (typeof task === "string") return task;
      task["Kind"] = `connect-native:${str(service, "Name")}`;
      service["TaskName"] = task["Name"];
    } else if (rec(connect, "Gateway") !== undefined) {
      const problem = injectGateway(job, group, service, known);
      if (problem !== undefined) return problem;
    }
  }
  const network = recs(group, "Networks")[0];
  if (touched && network !== undefined) canonicalizeNetwork(network);
  return undefined;
}

/** What can be put into a service name before anything is placed. */
function submissionEnvironment(job: ServerJob, group: Rec): Record<string, string> {
  return {
    NOMAD_JOB_ID: str(job, "ID"),
    NOMAD_JOB_NAME: str(job, "Name"),
    NOMAD_GROUP_NAME: str(group, "Name"),
    NOMAD_NAMESPACE: str(job, "Namespace"),
    NOMAD_REGION: str(job, "Region"),
  };
}

function injectSidecar(job: ServerJob, group: Rec, service: Rec, known: Record<string, string>, options: ConnectOptions): void {
  const connect = rec(service, "Connect");
  service["Name"] = interpolate(str(service, "Name"), known);
  const name = str(service, "Name");
  const tasks = recs(group, "Tasks");
  let task = tasks.find((t) => t["Kind"] === `connect-proxy:${name}`);
  if (task === undefined) {
    task = connectTask({
      prefix: "connect-proxy",
      service: name,
      driver: guessDriver(group),
    });
    const wanted = task["Name"];
    if (tasks.some((t) => t["Name"] === wanted)) task["Name"] = `${wanted}-${options.suffix()}`;
    group["Tasks"] = [...tasks, task];
  }
  const sidecarTask = rec(connect, "SidecarTask");
  if (sidecarTask !== undefined) mergeSidecarTask(sidecarTask, task);
  canonicalizeServerTask(task, job, group);
  injectPort(group, str(rec(connect, "SidecarService"), "Port") || `connect-proxy-${name}`);
}

function injectPort(group: Rec, label: string): void {
  const network = recs(group, "Networks")[0];
  if (network === undefined) return;
  const ports = recs(network, "DynamicPorts");
  if (ports.some((port) => port["Label"] === label)) return;
  network["DynamicPorts"] = [...ports, { Label: label, To: -1 }];
}

function guessDriver(group: Rec): string {
  const drivers = new Set(recs(group, "Tasks").map((task) => task["Driver"]));
  return drivers.has("podman") && !drivers.has("docker") ? "podman" : "docker";
}

/** The task behind a Connect-native service, or the text of what is wrong. */
export function nativeTask(group: Rec, service: Rec): Rec | string {
  const wanted = str(service, "TaskName");
  const tasks = recs(group, "Tasks");
  const where = `${str(group, "Name")}->${str(service, "Name")}`;
  if (wanted === "") {
    const only = tasks[0];
    if (tasks.length === 1 && only !== undefined) return only;
    return `task for Consul Connect Native service ${where} is ambiguous and must be set`;
  }
  const found = tasks.find((task) => task["Name"] === wanted);
  return found ?? `task ${wanted} named by Consul Connect Native service ${where} does not exist`;
}

type GatewayKind = "connect-mesh" | "connect-ingress" | "connect-terminating";

function gatewayKind(gateway: Rec): GatewayKind {
  if (rec(gateway, "Mesh") !== undefined) return "connect-mesh";
  return rec(gateway, "Ingress") !== undefined ? "connect-ingress" : "connect-terminating";
}

const GATEWAY_KINDS: readonly GatewayKind[] = ["connect-ingress", "connect-terminating", "connect-mesh"];

function injectGateway(job: ServerJob, group: Rec, service: Rec, known: Record<string, string>): string | undefined {
  const connect = rec(service, "Connect");
  const gateway = rec(connect, "Gateway") ?? {};
  service["Name"] = interpolate(str(service, "Name"), known);
  const name = str(service, "Name");
  const mode = str(recs(group, "Networks")[0], "Mode");
  gateway["Proxy"] = gatewayProxy(gateway, mode);
  if (rec(gateway, "Terminating") !== undefined && str(service, "PortLabel") === "") {
    service["PortLabel"] = `connect-terminating-${name}`;
    injectPort(group, `connect-terminating-${name}`);
  }
  if (rec(gateway, "Mesh") !== undefined) {
    if (str(service, "PortLabel") === "") return "service.port must be set for mesh gateway service";
    injectPort(group, `connect-mesh-${name}-lan`);
  }
  const tasks = recs(group, "Tasks");
  if (tasks.some((task) => GATEWAY_KINDS.some((kind) => task["Kind"] === `${kind}:${name}`))) return undefined;
  const task = connectTask({
    prefix: gatewayKind(gateway),
    service: name,
    driver: guessDriver(group),
    hostNetwork: mode === "host",
    customizedTls: customizesTls(gateway),
  });
  group["Tasks"] = [...tasks, task];
  const sidecarTask = rec(connect, "SidecarTask");
  if (sidecarTask !== undefined) mergeSidecarTask(sidecarTask, task);
  canonicalizeServerTask(task, job, group);
  return undefined;
}

function customizesTls(gateway: Rec): boolean {
  const tls = rec(rec(gateway, "Ingress"), "TLS");
  if (tls === undefined) return false;
  return str(tls, "TLSMinVersion") !== "" || str(tls, "TLSMaxVersion") !== "" || Array.isArray(tls["CipherSuites"]);
}

function isDefaultProxy(proxy: Rec | undefined): boolean {
  if (proxy === undefined) return true;
  const bound = Object.keys(rec(proxy, "EnvoyGatewayBindAddresses") ?? {}).length > 0;
  return !flag(proxy, "EnvoyGatewayNoDefaultBind") && !flag(proxy, "EnvoyGatewayBindTaggedAddresses") && !bound;
}

const ANY_ADDRESS = "0.0.0.0";

/** The proxy that fits the network mode, unless the job has its own. */
function gatewayProxy(gateway: Rec, mode: string): Rec {
  const stated = rec(gateway, "Proxy");
  if (stated !== undefined && !isDefaultProxy(stated)) return stated;
  const proxy: Rec = {
    ConnectTimeout: stated?.["ConnectTimeout"] ?? 5 * SECOND,
    EnvoyGatewayBindTaggedAddresses: false,
    EnvoyGatewayBindAddresses: null,
    EnvoyGatewayNoDefaultBind: false,
    EnvoyDNSDiscoveryType: str(stated, "EnvoyDNSDiscoveryType"),
    Config: stated?.["Config"] ?? null,
  };
  if (mode !== "bridge" && !mode.startsWith("cni/")) return proxy;
  const addresses = bridgeAddresses(gateway);
  if (addresses === undefined) return proxy;
  return { ...proxy, EnvoyGatewayNoDefaultBind: true, EnvoyGatewayBindAddresses: addresses };
}

function bridgeAddresses(gateway: Rec): Rec | undefined {
  const ingress = rec(gateway, "Ingress");
  const later = { Address: ANY_ADDRESS, Port: -1 };
  if (ingress !== undefined) {
    const addresses: Rec = {};
    for (const listener of recs(ingress, "Listeners")) {
      for (const service of recs(listener, "Services")) {
        addresses[str(service, "Name")] = { Address: ANY_ADDRESS, Port: num(listener, "Port") };
      }
    }
    return addresses;
  }
  if (rec(gateway, "Terminating") !== undefined) return { default: later };
  if (rec(gateway, "Mesh") !== undefined) return { wan: later, lan: { ...later } };
  return undefined;
}

/** The text about a group whose network does not suit Connect, or undefined. */
export function connectNetworkProblem(group: Rec, prefix: string, allowHost: boolean): string | undefined {
  const networks = recs(group, "Networks");
  const name = goQuote(str(group, "Name"));
  if (networks.length !== 1) {
    return `${prefix}: must have exactly one network for Consul Connect: group ${name} has ${networks.length} networks`;
  }
  const mode = str(networks[0], "Mode");
  if (mode === "bridge" || (allowHost && mode === "host") || mode.startsWith("cni/")) return undefined;
  const allowed = allowHost ? '"bridge", "host", or "cni/*"' : '"bridge" or "cni/*"';
  return `${prefix}: invalid network mode for Consul Connect: group ${name} uses network mode ${goQuote(mode)}; must be ${allowed}`;
}
