import type { Node } from "../state/cluster-types.ts";
import { clientTerminal } from "../state/facts.ts";
import type { AllocatedPort, AllocatedResources, Allocation, Network, TaskGroup } from "../state/types.ts";

/** What is used of a node, or wanted by a group. */
export interface Usage {
  readonly cpu: number;
  readonly cores: number;
  readonly memory: number;
  readonly disk: number;
}

const nothing: Usage = { cpu: 0, cores: 0, memory: 0, disk: 0 };

function plus(a: Usage, b: Usage): Usage {
  return { cpu: a.cpu + b.cpu, cores: a.cores + b.cores, memory: a.memory + b.memory, disk: a.disk + b.disk };
}

const usageCache = new WeakMap<TaskGroup, Usage>();

/**
 * What a group needs at once: its main tasks together with sidecars, or the largest of the phases before and after them, since
 * a prestart task is over before the main ones begin.
 */
export function usageOf(group: TaskGroup): Usage {
  const cached = usageCache.get(group);
  if (cached !== undefined) return cached;
  let [main, before, after, sidecars] = [nothing, nothing, nothing, nothing];
  for (const task of group.Tasks) {
    const need: Usage = {
      cpu: task.Resources.CPU,
      cores: task.Resources.Cores ?? 0,
      memory: task.Resources.MemoryMB + (task.Resources.SecretsMB ?? 0),
      disk: 0,
    };
    if (!task.Lifecycle) main = plus(main, need);
    else if (task.Lifecycle.Sidecar) sidecars = plus(sidecars, need);
    else if (task.Lifecycle.Hook === "prestart") before = plus(before, need);
    else if (task.Lifecycle.Hook === "poststop") after = plus(after, need);
    else main = plus(main, need);
  }
  const most = (pick: (usage: Usage) => number) => Math.max(pick(main), pick(before), pick(after)) + pick(sidecars);
  const usage: Usage = {
    cpu: most((u) => u.cpu),
    cores: most((u) => u.cores),
    memory: most((u) => u.memory),
    disk: group.EphemeralDisk?.SizeMB ?? 0,
  };
  usageCache.set(group, usage);
  return usage;
}

/** Allocations that still hold resources of their node: also one that is to stop, until its client says that it is over. */
export function holdsResources(alloc: Allocation): boolean {
  return !clientTerminal(alloc);
}

/** Whether an allocation holds one port twice: its node takes nothing more then. */
export function holdsTwice(alloc: Allocation): boolean {
  const own = (alloc.AllocatedResources?.Shared.Ports ?? []).filter((port) => !port.IgnoreCollision);
  return new Set(own.map((port) => portKey(port.HostIP, port.Value))).size < own.length;
}

export interface NodeLoad {
  readonly usage: Usage;
  /** `portKey`s. */
  readonly ports: ReadonlySet<string>;
  /** An allocation that is there holds one port twice, as its group asked for. */
  readonly collides: boolean;
}

export interface Offer {
  readonly networks: readonly unknown[] | null;
  readonly ports: readonly AllocatedPort[] | null;
}

/** Tries a group on a node. Returns the dimension that does not suffice, or what the group gets there. */
export function tryFit(node: Node, load: NodeLoad, group: TaskGroup): string | Offer {
  if (load.collides) return "network: port collision";
  const offer = offerPorts(node, load, group);
  if (typeof offer === "string") return offer;
  const total = plus(load.usage, usageOf(group));
  const { Cpu, Memory, Disk } = node.NodeResources;
  if (total.cores > Cpu.ReservableCpuCores.length) return "cores";
  if (total.cpu > Cpu.CpuShares) return "cpu";
  if (total.memory > Memory.MemoryMB) return "memory";
  if (total.disk > Disk.DiskMB) return "disk";
  return offer;
}

/** Only the first network of a group counts; two ports of it that ask for one number get it both. */
function offerPorts(node: Node, load: NodeLoad, group: TaskGroup): string | Offer {
  const network = group.Networks?.[0];
  if (network === undefined) return { networks: null, ports: null };
  const ports: AllocatedPort[] = [];
  for (const port of network.ReservedPorts ?? []) {
    const { Value = 0, IgnoreCollision = false } = port;
    const addresses = addressesOf(node, port.HostNetwork);
    if (addresses.length === 0) return `network: no addresses available for ${port.HostNetwork ?? ""} network`;
    const address = addresses.find((one) => IgnoreCollision || !load.ports.has(portKey(one, Value)));
    if (address === undefined) return `network: reserved port collision ${port.Label}=${Value}`;
    ports.push({ Label: port.Label, Value, To: port.To ?? 0, HostIP: address, IgnoreCollision });
  }
  for (const port of network.DynamicPorts ?? []) {
    const address = addressesOf(node, port.HostNetwork)[0];
    if (address === undefined) return `network: no addresses available for ${port.HostNetwork ?? ""} network`;
    const taken = new Set([...load.ports, ...ports.map((one) => portKey(address, one.Value))]);
    const value = freePort(node, address, taken);
    if (value === undefined) return "network: dynamic port selection failed";
    const to = port.To === -1 ? value : (port.To ?? 0);
    ports.push({ Label: port.Label, Value: value, To: to, HostIP: address, IgnoreCollision: false });
  }
  const host = addressesOf(node, "default")[0] ?? "127.0.0.1";
  return { networks: [offered(network, ports, host)], ports };
}

/** A port is taken per address: a host with two of them can give one number twice. */
export function portKey(address: string, port: number): string {
  return `${address}#${port}`;
}

function addressesOf(node: Node, network: string | undefined): string[] {
  const alias = network === undefined || network === "" ? "default" : network;
  return node.NodeResources.NodeNetworks.flatMap((one) => one.Addresses ?? []).flatMap((one) =>
    one.Alias === alias ? [one.Address] : [],
  );
}

/** Dynamic ports are drawn by walking on from the number of taken ones, which spreads them and stays reproducible. */
function freePort(node: Node, address: string, taken: ReadonlySet<string>): number | undefined {
  const { MinDynamicPort, MaxDynamicPort } = node.NodeResources;
  const span = MaxDynamicPort - MinDynamicPort + 1;
  const start = (taken.size * 7919) % span;
  for (let i = 0; i < span; i++) {
    const port = MinDynamicPort + ((start + i) % span);
    if (!taken.has(portKey(address, port))) return port;
  }
  return undefined;
}

function offered(network: Network, ports: readonly AllocatedPort[], ip: string): unknown {
  const valued = (list: Network["DynamicPorts"]) =>
    (list ?? []).map((port) => ({ ...port, Value: ports.find((one) => one.Label === port.Label)?.Value ?? 0 }));
  return { ...network, IP: ip, DynamicPorts: valued(network.DynamicPorts), ReservedPorts: valued(network.ReservedPorts) };
}

/** The resources a placed allocation carries. */
export function allocatedResources(group: TaskGroup, offer: Offer): AllocatedResources {
  return {
    Tasks: Object.fromEntries(
      group.Tasks.map((task) => [
        task.Name,
        {
          Cpu: { CpuShares: task.Resources.CPU, ReservedCores: null },
          Memory: {
            MemoryMB: task.Resources.MemoryMB + (task.Resources.SecretsMB ?? 0),
            MemoryMaxMB: task.Resources.MemoryMaxMB ?? 0,
          },
          Networks: null,
          Devices: null,
        },
      ]),
    ),
    TaskLifecycles: Object.fromEntries(group.Tasks.map((task) => [task.Name, task.Lifecycle ?? null])),
    Shared: { DiskMB: group.EphemeralDisk?.SizeMB ?? 0, Networks: offer.networks, Ports: offer.ports },
  };
}
