import type { Node } from "../state/cluster-types.ts";
import type { Network, TaskGroup, VolumeRequest } from "../state/types.ts";
import { resolveTarget } from "./constraints.ts";

/** Volumes are looked at apart: they come and go, so that they say nothing about a node's class. */
export function missingVolumes(node: Node, group: TaskGroup, allocName: string): string | undefined {
  if (!group.Volumes) return undefined;
  const volumes = Object.values(group.Volumes).map((volume) => ({ ...volume, Source: sourceOf(volume, allocName) }));
  for (const volume of volumes) {
    if (volume.Type !== "host") continue;
    const host = node.HostVolumes?.[volume.Source];
    if (host === undefined || volume.Sticky === true || (host.ReadOnly && !volume.ReadOnly)) {
      return "missing compatible host volumes";
    }
  }
  const missing = volumes.filter(({ Type }) => Type === "csi").map(({ Source }) => Source);
  return missing.length === 0 ? undefined : `missing CSI volume(s) ${missing.join(", ")}`;
}

/** Volumes of CSI that the cluster lacks, as blocked evaluations name them. */
export function missingCsiVolumes(namespace: string, group: TaskGroup, allocName: string): string[] {
  return Object.values(group.Volumes ?? {})
    .filter(({ Type }) => Type === "csi")
    .map((volume) => `csi-volume:${namespace}:${sourceOf(volume, allocName)}`);
}

/** With `per_alloc` each allocation has a volume of its own, by its number. */
function sourceOf(volume: VolumeRequest, allocName: string): string {
  return volume.PerAlloc === true ? volume.Source + allocName.slice(allocName.lastIndexOf("[")) : volume.Source;
}

export function missingDevices(node: Node, group: TaskGroup): string | undefined {
  const all = group.Tasks.flatMap((task) => task.Resources.Devices ?? []);
  if (all.length === 0) return undefined;
  const left = (node.NodeResources.Devices ?? []).map((device) => ({ device, count: healthyInstances(device) }));
  for (const wanted of all) {
    let count = wanted.Count;
    for (const one of left) {
      if (!deviceMatches(wanted.Name, one.device)) continue;
      const taken = Math.min(count, one.count);
      one.count -= taken;
      count -= taken;
    }
    if (count > 0) return "missing devices";
  }
  return undefined;
}

type Device = NonNullable<Node["NodeResources"]["Devices"]>[number];

function healthyInstances(device: Device): number {
  return device.Instances.filter((instance) => (instance as { readonly Healthy?: boolean }).Healthy !== false).length;
}

/** Whether the node has a network of the mode, and the networks of the host that ports ask for by their alias. */
export function networkProblem(node: Node, network: Network | undefined): string | undefined {
  const mode = network?.Mode || "host";
  if (mode === "none") return undefined;
  const offered = node.NodeResources.Networks.some((one) => ((one as { readonly Mode?: string }).Mode || "host") === mode);
  if (!offered) return "missing network";
  if (network === undefined) return undefined;
  const aliases = new Set(
    node.NodeResources.NodeNetworks.flatMap((one) => (one.Addresses ?? []).map((address) => address.Alias)),
  );
  for (const port of [...(network.DynamicPorts ?? []), ...(network.ReservedPorts ?? [])]) {
    if (!port.HostNetwork) continue;
    const wanted = resolveTarget(port.HostNetwork, node);
    if (wanted === undefined) return `invalid host network "${port.HostNetwork}" template for port "${port.Label}"`;
    if (!aliases.has(wanted)) return `missing host network "${wanted}" for port "${port.Label}"`;
  }
  return undefined;
}

/** `type`, `vendor/type` or `vendor/type/name`. */
function deviceMatches(name: string, device: { Vendor: string; Type: string; Name: string }): boolean {
  const parts = name.split("/");
  if (parts.length === 1) return parts[0] === device.Type;
  if (parts.length === 2) return parts[0] === device.Vendor && parts[1] === device.Type;
  return parts[0] === device.Vendor && parts[1] === device.Type && parts.slice(2).join("/") === device.Name;
}

/** The smallest text that tells nodes apart for feasibility: nodes with the same one pass or fail together. */
export function computedClass(node: Node): string {
  const plain = (map: Readonly<Record<string, string>> | null) =>
    Object.entries(map ?? {})
      .filter(([name]) => !name.startsWith("unique."))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const drivers = Object.entries(node.Drivers).map(([name, info]) => [name, info.Detected && info.Healthy]);
  return JSON.stringify([node.Datacenter, node.NodeClass, node.NodePool, plain(node.Attributes), plain(node.Meta), drivers]);
}

/** Datacenters may hold `*`. */
export function inDatacenters(node: Node, datacenters: readonly string[] | null | undefined): boolean {
  return (datacenters ?? ["*"]).some((pattern) => globMatches(pattern, node.Datacenter));
}

export function inPool(node: Node, pool: string): boolean {
  return pool === "all" || pool === "" || node.NodePool === pool;
}

/** `*` stands for any text. */
export function globMatches(pattern: string, text: string): boolean {
  if (pattern === "*" || pattern === text) return true;
  if (!pattern.includes("*")) return false;
  const escaped = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`, "s").test(text);
}

export function isReady(node: Node): boolean {
  return node.Status === "ready" && node.DrainStrategy === null && node.SchedulingEligibility === "eligible";
}
