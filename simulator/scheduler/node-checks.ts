import type { Node } from "../state/cluster-types.ts";
import type { Constraint, Job, Task, TaskGroup } from "../state/types.ts";
import { constraintText, meets } from "./constraints.ts";

/**
 * Why a node cannot take a group at all, in the words of Nomad's placement failures, or undefined when it can.
 * The order is the server's: the job's constraints, drivers, the group's and its tasks' constraints, volumes, devices.
 */
export function unfit(node: Node, job: Job, group: TaskGroup): string | undefined {
  const ofJob = violated(node, job.Constraints);
  if (ofJob !== undefined) return ofJob;
  for (const task of group.Tasks) {
    if (!hasDriver(node, task.Driver)) return "missing drivers";
  }
  const ofGroup = violated(node, group.Constraints);
  if (ofGroup !== undefined) return ofGroup;
  for (const task of group.Tasks) {
    const ofTask = violated(node, task.Constraints);
    if (ofTask !== undefined) return ofTask;
  }
  return missingDevice(node, group) ?? missingHostNetwork(node, group);
}

function violated(node: Node, constraints: readonly Constraint[] | null | undefined): string | undefined {
  const found = constraints?.find((constraint) => !meets(node, constraint));
  return found === undefined ? undefined : constraintText(found);
}

function hasDriver(node: Node, name: string): boolean {
  const driver = node.Drivers[name];
  return driver?.Detected === true && driver.Healthy;
}

/** Volumes are looked at apart: they come and go, so that they say nothing about a node's class. */
export function missingVolume(node: Node, group: TaskGroup): string | undefined {
  for (const volume of Object.values(group.Volumes ?? {})) {
    if (volume.Type === "host") {
      const host = node.HostVolumes?.[volume.Source];
      if (host === undefined || (host.ReadOnly && !volume.ReadOnly)) return "missing compatible host volumes";
    }
    if (volume.Type === "csi") return `missing CSI Volume ${volume.Source}`;
  }
  return undefined;
}

function missingDevice(node: Node, group: TaskGroup): string | undefined {
  for (const task of group.Tasks) {
    for (const wanted of task.Resources.Devices ?? []) {
      const found = (node.NodeResources.Devices ?? []).some(
        (device) => deviceMatches(wanted.Name, device) && device.Instances.length >= wanted.Count,
      );
      if (!found) return "missing devices";
    }
  }
  return undefined;
}

/** Ports may ask for a network of the host by its alias. */
function missingHostNetwork(node: Node, group: TaskGroup): string | undefined {
  const aliases = new Set(
    node.NodeResources.NodeNetworks.flatMap((one) => (one.Addresses ?? []).map((address) => address.Alias)),
  );
  for (const network of group.Networks ?? []) {
    for (const port of [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])]) {
      const wanted = port.HostNetwork ?? "";
      if (wanted !== "" && wanted !== "default" && !aliases.has(wanted)) {
        return `missing host network "${wanted}" for port "${port.Label}"`;
      }
    }
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

/** Constraints that speak of one node only: the verdict on its class does not hold for others. */
export function escapesClass(job: Job, group: TaskGroup): boolean {
  const all = [job.Constraints, group.Constraints, ...group.Tasks.map((task: Task) => task.Constraints)];
  return all.some((list) =>
    (list ?? []).some((constraint) => /\$\{(node|attr|meta)\.unique\./.test(`${constraint.LTarget} ${constraint.RTarget}`)),
  );
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
  if (!pattern.includes("*")) return pattern === text;
  const escaped = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`, "s").test(text);
}

export function isReady(node: Node): boolean {
  return node.Status === "ready" && node.DrainStrategy === null && node.SchedulingEligibility === "eligible";
}
