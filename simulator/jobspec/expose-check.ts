import { createHash } from "node:crypto";
import { connectNetworkProblem } from "./connect.ts";
import { goDuration } from "./go-text.ts";
import { hasExposedCheck } from "./implied-constraints.ts";
import type { ServerJob } from "./types.ts";
import { flag, num, type Rec, rec, recs, sameJson, str, strings } from "./values.ts";

/**
 * Gives each exposed check of a Connect service a path through the proxy, and a port when it names none.
 * Returns the text of an error, or undefined.
 */
export function injectExposePaths(job: ServerJob): string | undefined {
  for (const group of recs(job, "TaskGroups")) {
    for (const service of recs(group, "Services")) {
      const sidecar = rec(rec(service, "Connect"), "SidecarService");
      if (sidecar === undefined) continue;
      for (const [index, check] of recs(service, "Checks").entries()) {
        if (!flag(check, "Expose") || !isExposable(check)) continue;
        const problem = exposeCheck(group, service, sidecar, check, index);
        if (problem !== undefined) return problem;
      }
    }
  }
  return undefined;
}

function isExposable(check: Rec): boolean {
  const type = str(check, "Type").toLowerCase();
  return (type === "http" || type === "grpc") && str(check, "Path").startsWith("/");
}

function exposeCheck(group: Rec, service: Rec, sidecar: Rec, check: Rec, index: number): string | undefined {
  const wrongNetwork = connectNetworkProblem(group, "connect expose check", false);
  if (wrongNetwork !== undefined) return wrongNetwork;
  if (str(check, "PortLabel") === "") addPort(group, service, check, index);
  const port = localPort(group, str(service, "PortLabel"));
  if (port <= 0) {
    const where = `${str(group, "Name")}->${str(service, "Name")}->${str(check, "Name")}`;
    return `unable to determine local service port for service check ${where}`;
  }
  const path = {
    Path: str(check, "Path"),
    Protocol: str(check, "Protocol"),
    LocalPathPort: port,
    ListenerPort: str(check, "PortLabel"),
  };
  const expose = exposeConfig(sidecar);
  const paths = recs(expose, "Paths");
  if (!paths.some((known) => sameJson(known, path))) expose["Paths"] = [...paths, path];
  return undefined;
}

function exposeConfig(sidecar: Rec): Rec {
  sidecar["Proxy"] ??= {
    LocalServiceAddress: "",
    LocalServicePort: 0,
    Upstreams: null,
    Expose: null,
    TransparentProxy: null,
    Config: null,
  };
  const proxy = rec(sidecar, "Proxy") ?? {};
  proxy["Expose"] ??= { Paths: null };
  return rec(proxy, "Expose") ?? {};
}

function localPort(group: Rec, label: string): number {
  for (const network of recs(group, "Networks")) {
    const found = [...recs(network, "ReservedPorts"), ...recs(network, "DynamicPorts")].find((port) => port["Label"] === label);
    if (found !== undefined && num(found, "Value") > 0) return num(found, "Value");
  }
  return /^[+-]?\d+$/.test(label) ? Number(label) : 0;
}

function addPort(group: Rec, service: Rec, check: Rec, index: number): void {
  const network = recs(group, "Networks")[0];
  if (network === undefined) return;
  const name = str(service, "Name");
  const label = `svc_${name}_ck_${checkHash(check, `${name}_${index}`).slice(0, 6)}`;
  network["DynamicPorts"] = [...recs(network, "DynamicPorts"), { HostNetwork: "default", Label: label, To: -1 }];
  check["PortLabel"] = label;
}

const COUNTS = [
  ["success", "SuccessBeforePassing"],
  ["failures", "FailuresBeforeCritical"],
  ["failures-before-warning", "FailuresBeforeWarning"],
] as const;

/** The identity of a check as Nomad computes it: it names the port that an exposed check gets. */
function checkHash(check: Rec, serviceId: string): string {
  const header = rec(check, "Header") ?? {};
  const parts = [
    serviceId,
    ...["Name", "Type", "Command"].map((k) => str(check, k)),
    strings(check, "Args").join(""),
    ...["Path", "Protocol", "PortLabel"].map((k) => str(check, k)),
    goDuration(num(check, "Interval")),
    goDuration(num(check, "Timeout")),
    ...["Method", "Body", "OnUpdate", "Notes"].map((k) => str(check, k)),
    flag(check, "TLSSkipVerify") ? "true" : "",
    str(check, "TLSServerName"),
    Object.keys(header)
      .map((k) => k + strings(header, k).join(""))
      .sort()
      .join(""),
    str(check, "AddressMode"),
    str(check, "GRPCService"),
    flag(check, "GRPCUseTLS") ? "true" : "",
    ...COUNTS.map(([name, key]) => (num(check, key) === 0 ? "" : `${name}:${num(check, key)}`)),
  ];
  return createHash("sha256").update(parts.join("")).digest("hex");
}

/** The text about exposed checks that cannot be, or undefined. */
export function exposeProblem(job: ServerJob): string | undefined {
  for (const group of recs(job, "TaskGroups")) {
    const name = str(group, "Name");
    if (recs(group, "Services").some(hasExposedCheck)) {
      const wrongNetwork = connectNetworkProblem(group, "connect expose check", false);
      if (wrongNetwork !== undefined) return wrongNetwork;
    }
    for (const service of recs(group, "Services")) {
      const check = recs(service, "Checks").find((c) => flag(c, "Expose"));
      if (check === undefined || rec(rec(service, "Connect"), "SidecarService") !== undefined) continue;
      return `exposed service check ${name}->${str(service, "Name")}->${str(check, "Name")} requires use of sidecar_proxy`;
    }
    for (const task of recs(group, "Tasks")) {
      for (const service of recs(task, "Services")) {
        const check = recs(service, "Checks").find((c) => flag(c, "Expose"));
        if (check === undefined) continue;
        const where = `${name}[${str(task, "Name")}]->${str(service, "Name")}->${str(check, "Name")}`;
        return `exposed service check ${where} is not a task-group service`;
      }
    }
  }
  return undefined;
}
