import type { DriverInfo, Node, NodeResources } from "../state/cluster-types.ts";
import { rfc3339 } from "../state/facts.ts";

/** What a test says about a node of its cluster; the rest is as on a plain Linux machine without Docker and Consul. */
export interface NodeOptions {
  readonly name?: string;
  readonly datacenter?: string;
  readonly pool?: string;
  readonly class?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly meta?: Readonly<Record<string, string>>;
  /** Drivers that work there. */
  readonly drivers?: readonly string[];
  /** MHz. */
  readonly cpu?: number;
  readonly cores?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly hostVolumes?: Readonly<Record<string, { readonly Name: string; readonly Path: string; readonly ReadOnly: boolean }>>;
  readonly devices?: NodeResources["Devices"];
}

/** Drivers that every client looks for. */
const lookedFor = ["raw_exec", "exec", "java", "docker", "qemu", "mock_driver"];
const defaultDrivers = ["raw_exec", "exec", "java", "mock_driver"];

const signals =
  "SIGBUS,SIGFPE,SIGILL,SIGPIPE,SIGSEGV,SIGUSR1,SIGUSR2,SIGABRT,SIGHUP,SIGIOT,SIGPROF,SIGSTOP,SIGSYS,SIGTRAP,SIGTSTP,SIGINT,SIGKILL,SIGQUIT,SIGTTIN,SIGTTOU,SIGWINCH,SIGALRM,SIGCONT,SIGIO,SIGTERM,SIGXCPU,SIGXFSZ,SIGNULL";

const clientMeta: Readonly<Record<string, string>> = {
  "connect.gateway_image": "docker.io/envoyproxy/envoy:v${NOMAD_envoy_version}",
  "connect.log_level": "info",
  "connect.proxy_concurrency": "1",
  "connect.sidecar_image": "docker.io/envoyproxy/envoy:v${NOMAD_envoy_version}",
  "connect.transparent_proxy.default_outbound_port": "15001",
  "connect.transparent_proxy.default_uid": "101",
};

/** Makes ids; gives the time in milliseconds. */
export interface NodeTools {
  readonly newId: () => string;
  readonly now: () => number;
}

/** A node as its client would register it. */
export function newNode(tools: NodeTools, options: NodeOptions, version: string): Node {
  const id = tools.newId();
  const drivers = options.drivers ?? defaultDrivers;
  const name = options.name ?? `node-${id.slice(0, 8)}`;
  const time = rfc3339(tools.now());
  const resources = resourcesOf(options);
  const node: Node = {
    ID: id,
    SecretID: tools.newId(),
    Datacenter: options.datacenter ?? "dc1",
    Name: name,
    HTTPAddr: "127.0.0.1:4646",
    TLSEnabled: false,
    Attributes: { ...attributes(name, version, drivers, resources), ...options.attributes },
    Meta: { ...clientMeta, ...options.meta },
    NodeClass: options.class ?? "",
    NodePool: options.pool ?? "default",
    ComputedClass: "",
    NodeResources: resources,
    ReservedResources: {
      Cpu: { CpuShares: 0, ReservedCpuCores: null },
      Memory: { MemoryMB: 0 },
      Disk: { DiskMB: 0 },
      Networks: { ReservedHostPorts: "" },
    },
    Drivers: Object.fromEntries(
      [...new Set([...lookedFor, ...drivers])].map((one) => [one, driverInfo(one, drivers.includes(one), time)]),
    ),
    HostVolumes: options.hostVolumes ?? {},
    HostNetworks: null,
    CSIControllerPlugins: {},
    CSINodePlugins: {},
    Links: {},
    DrainStrategy: null,
    LastDrain: null,
    SchedulingEligibility: "eligible",
    Status: "ready",
    StatusDescription: "",
    StatusUpdatedAt: Math.floor(tools.now() / 1000),
    Events: [{ Message: "Node registered", Subsystem: "Cluster", Details: null, Timestamp: time, CreateIndex: 0 }],
    LastMissedHeartbeatIndex: 0,
    LastAllocUpdateIndex: 0,
    CgroupParent: "nomad.slice",
    GCVolumesOnNodeGC: false,
    CreateIndex: 0,
    ModifyIndex: 0,
  };
  return { ...node, ComputedClass: classOf(node, options) };
}

function driverInfo(name: string, works: boolean, time: string): DriverInfo {
  const HealthDescription = works ? "Healthy" : name === "docker" ? "Failed to connect to docker daemon" : "";
  const Attributes: Record<string, string> = works ? { [`driver.${name}`]: "true" } : {};
  return { Attributes, Detected: works, Healthy: works, HealthDescription, UpdateTime: time };
}

function attributes(name: string, version: string, drivers: readonly string[], resources: NodeResources): Record<string, string> {
  return {
    "kernel.name": "linux",
    "kernel.arch": "x86_64",
    "kernel.version": "6.1.0",
    "os.name": "debian",
    "os.version": "12.11",
    "os.signals": signals,
    "os.cgroups.version": "2",
    "cpu.arch": "amd64",
    "cpu.numcores": String(resources.Cpu.TotalCpuCores),
    "cpu.reservablecores": String(resources.Cpu.TotalCpuCores),
    "cpu.totalcompute": String(resources.Cpu.CpuShares),
    "cpu.usablecompute": String(resources.Cpu.CpuShares),
    "memory.totalbytes": String(resources.Memory.MemoryMB * 1_048_576),
    "nomad.version": version,
    "nomad.service_discovery": "true",
    "nomad.bridge.hairpin_mode": "false",
    "plugins.secrets.nomad.version": "1.0.0",
    "plugins.secrets.vault.version": "1.0.0",
    "plugins.host_volume.mkdir.version": "0.0.1",
    "unique.hostname": name,
    "unique.network.ip-address": "127.0.0.1",
    "unique.advertise.address": "127.0.0.1:4646",
    ...Object.fromEntries(drivers.map((driver) => [`driver.${driver}`, "1"])),
  };
}

function resourcesOf(options: NodeOptions): NodeResources {
  const cores = options.cores ?? 64;
  const addresses = ["127.0.0.1", "::1"];
  return {
    Cpu: {
      CpuShares: options.cpu ?? cores * 2500,
      TotalCpuCores: cores,
      ReservableCpuCores: Array.from({ length: cores }, (_, i) => i),
    },
    Memory: { MemoryMB: options.memoryMb ?? 262_144 },
    Disk: { DiskMB: options.diskMb ?? 4_000_000 },
    Devices: options.devices ?? null,
    Networks: [
      { Mode: "bridge" },
      ...addresses.map((IP) => ({ Mode: "host", Device: "lo", CIDR: `${IP}/${IP === "::1" ? 128 : 32}`, IP, MBits: 1000 })),
    ],
    NodeNetworks: [
      { Mode: "bridge", Device: "", MacAddress: "", Speed: 0, Addresses: null },
      {
        Mode: "host",
        Device: "lo",
        MacAddress: "",
        Speed: 1000,
        Addresses: addresses.map((Address) => ({
          Family: Address === "::1" ? "ipv6" : "ipv4",
          Alias: "default",
          Address,
          ReservedPorts: "",
          Gateway: "",
        })),
      },
    ],
    MinDynamicPort: 20_000,
    MaxDynamicPort: 32_000,
  };
}

/** The class that clients of a plain machine computed; others get one of their own. */
const plainClass = "v1:17908215380015971536";

function classOf(node: Node, options: NodeOptions): string {
  const special = Object.keys(options).some((key) => key !== "name");
  if (!special) return plainClass;
  const plain = (map: Readonly<Record<string, string>> | null) =>
    Object.entries(map ?? {})
      .filter(([key]) => !key.startsWith("unique."))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const drivers = Object.entries(node.Drivers).map(([key, info]) => [key, info.Healthy]);
  const text = JSON.stringify([
    node.Datacenter,
    node.NodeClass,
    node.NodePool,
    plain(node.Attributes),
    plain(node.Meta),
    drivers,
    node.HostVolumes,
    node.NodeResources.Devices,
  ]);
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return `v1:${hash}`;
}
