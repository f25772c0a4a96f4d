import { canonicalizeLogs, canonicalizeResources, dropEmpty } from "./canonicalize-resources.ts";
import { fill, SECOND, VOLUME_MOUNT } from "./defaults.ts";
import { emptyApi } from "./empty.ts";
import type { ApiJob } from "./types.ts";
import { flag, isUnset, num, type Rec, rec, recs, str } from "./values.ts";

/** The client library's defaults of a service of a task, or of a group when `task` is undefined. */
export function canonicalizeService(service: Rec, task: Rec | undefined, group: Rec, job: ApiJob): void {
  if (str(service, "Name") === "") {
    const parts = [str(job, "Name"), str(group, "Name"), ...(task === undefined ? [] : [str(task, "Name")])];
    service["Name"] = parts.join("-");
  }
  setIfEmpty(service, "AddressMode", "auto");
  setIfEmpty(service, "OnUpdate", "require_healthy");
  setIfEmpty(service, "Provider", "consul");
  setIfEmpty(service, "Cluster", "default");
  dropEmpty(service, "Meta", "CanaryMeta", "TaggedAddresses");
  const connect = rec(service, "Connect");
  if (connect !== undefined) canonicalizeConnect(connect);
  const weights = rec(service, "Weights");
  if (weights !== undefined) {
    if (num(weights, "Passing") <= 0) weights["Passing"] = 1;
    if (num(weights, "Warning") <= 0) weights["Warning"] = 1;
  }
  for (const check of recs(service, "Checks")) canonicalizeCheck(check, service);
}

function setIfEmpty(object: Rec, key: string, value: string): void {
  if (str(object, key) === "") object[key] = value;
}

const COUNTERS = ["SuccessBeforePassing", "FailuresBeforeCritical", "FailuresBeforeWarning"] as const;

function canonicalizeCheck(check: Rec, service: Rec): void {
  const restart = mergeCheckRestart(rec(service, "CheckRestart"), rec(check, "CheckRestart"));
  if (restart !== undefined) fill(restart, { Grace: SECOND });
  check["CheckRestart"] = restart ?? null;
  for (const key of COUNTERS) if (num(check, key) < 0) check[key] = 0;
  setIfEmpty(check, "OnUpdate", str(service, "OnUpdate"));
}

function mergeCheckRestart(base: Rec | undefined, over: Rec | undefined): Rec | undefined {
  if (base === undefined) return over;
  const result: Rec = { ...base };
  if (num(over, "Limit") > 0) result["Limit"] = num(over, "Limit");
  if (!isUnset(over?.["Grace"])) result["Grace"] = over?.["Grace"];
  if (flag(over, "IgnoreWarnings")) result["IgnoreWarnings"] = true;
  return result;
}

function canonicalizeConnect(connect: Rec): void {
  const sidecar = rec(connect, "SidecarService");
  if (sidecar !== undefined) {
    dropEmpty(sidecar, "Tags", "Meta");
    const proxy = rec(sidecar, "Proxy");
    if (proxy !== undefined) canonicalizeProxy(proxy);
  }
  const task = rec(connect, "SidecarTask");
  if (task !== undefined) canonicalizeSidecarTask(task);
  const gateway = rec(connect, "Gateway");
  if (gateway !== undefined) canonicalizeGateway(gateway);
}

function canonicalizeProxy(proxy: Rec): void {
  const expose = rec(proxy, "Expose");
  if (expose !== undefined) dropEmpty(expose, "Paths", "Path");
  dropEmpty(proxy, "Upstreams", "Config");
  const transparent = rec(proxy, "TransparentProxy");
  if (transparent !== undefined) {
    dropEmpty(transparent, "ExcludeInboundPorts", "ExcludeOutboundCIDRs", "ExcludeOutboundPorts", "ExcludeUIDs");
  }
  for (const upstream of recs(proxy, "Upstreams")) dropEmpty(upstream, "Config");
}

function canonicalizeSidecarTask(task: Rec): void {
  dropEmpty(task, "Config", "Env", "Meta");
  const resources = rec(task, "Resources");
  task["Resources"] = canonicalizeResources(resources ?? emptyApi("Resources"));
  task["LogConfig"] = canonicalizeLogs(rec(task, "LogConfig"));
  fill(task, { KillTimeout: 5 * SECOND, ShutdownDelay: 0 });
  for (const mount of recs(task, "VolumeMounts")) fill(mount, VOLUME_MOUNT);
}

function canonicalizeGateway(gateway: Rec): void {
  const proxy = rec(gateway, "Proxy");
  if (proxy !== undefined) {
    fill(proxy, { ConnectTimeout: 5 * SECOND });
    dropEmpty(proxy, "EnvoyGatewayBindAddresses", "Config");
  }
  const ingress = rec(gateway, "Ingress");
  if (ingress !== undefined) {
    dropEmpty(ingress, "Listeners");
    for (const listener of recs(ingress, "Listeners")) {
      setIfEmpty(listener, "Protocol", "tcp");
      dropEmpty(listener, "Services");
    }
  }
  const terminating = rec(gateway, "Terminating");
  if (terminating !== undefined) dropEmpty(terminating, "Services");
}
