/** Rows that are not about jobs: nodes, namespaces, variables, access. */

export interface DrainStrategy {
  readonly Deadline: number;
  readonly IgnoreSystemJobs: boolean;
  readonly ForceDeadline: string;
  readonly StartedAt: string;
}

export interface DriverInfo {
  readonly Attributes: Readonly<Record<string, string>> | null;
  readonly Detected: boolean;
  readonly Healthy: boolean;
  readonly HealthDescription: string;
  readonly UpdateTime: string;
}

export interface NodeNetwork {
  readonly Mode: string;
  readonly Device: string;
  readonly MacAddress: string;
  readonly Speed: number;
  readonly Addresses:
    | readonly {
        readonly Family: string;
        readonly Alias: string;
        readonly Address: string;
        readonly ReservedPorts: string;
        readonly Gateway: string;
      }[]
    | null;
}

export interface NodeResources {
  readonly Cpu: { readonly CpuShares: number; readonly TotalCpuCores: number; readonly ReservableCpuCores: readonly number[] };
  readonly Memory: { readonly MemoryMB: number };
  readonly Disk: { readonly DiskMB: number };
  readonly Devices:
    | readonly { readonly Vendor: string; readonly Type: string; readonly Name: string; readonly Instances: readonly unknown[] }[]
    | null;
  readonly Networks: readonly unknown[];
  readonly NodeNetworks: readonly NodeNetwork[];
  readonly MinDynamicPort: number;
  readonly MaxDynamicPort: number;
}

export interface Node {
  readonly ID: string;
  readonly SecretID: string;
  readonly Datacenter: string;
  readonly Name: string;
  readonly HTTPAddr: string;
  readonly TLSEnabled: boolean;
  readonly Attributes: Readonly<Record<string, string>>;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly NodeClass: string;
  readonly NodePool: string;
  readonly ComputedClass: string;
  readonly NodeResources: NodeResources;
  readonly ReservedResources: unknown;
  readonly Drivers: Readonly<Record<string, DriverInfo>>;
  readonly HostVolumes: Readonly<
    Record<string, { readonly Name: string; readonly Path: string; readonly ReadOnly: boolean }>
  > | null;
  readonly HostNetworks: unknown;
  readonly CSIControllerPlugins: unknown;
  readonly CSINodePlugins: Readonly<Record<string, unknown>> | null;
  readonly Links: Readonly<Record<string, string>> | null;
  readonly DrainStrategy: DrainStrategy | null;
  readonly LastDrain: unknown;
  readonly SchedulingEligibility: string;
  readonly Status: string;
  readonly StatusDescription: string;
  readonly StatusUpdatedAt: number;
  readonly Events: readonly NodeEvent[];
  readonly CgroupParent: string;
  /** Raft index at which it fell silent; 0 once it is ready again. */
  readonly LastMissedHeartbeatIndex: number;
  /** Raft index at which its client spoke of its allocations last. */
  readonly LastAllocUpdateIndex: number;
  readonly GCVolumesOnNodeGC: boolean;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface NodeEvent {
  readonly Message: string;
  readonly Subsystem: string;
  readonly Details: Readonly<Record<string, string>> | null;
  readonly Timestamp: string;
  readonly CreateIndex: number;
}

export interface Namespace {
  readonly Name: string;
  readonly Description: string;
  readonly Quota: string;
  readonly Capabilities: {
    readonly EnabledTaskDrivers: readonly string[] | null;
    readonly DisabledTaskDrivers: readonly string[] | null;
    readonly EnabledNetworkModes: readonly string[] | null;
    readonly DisabledNetworkModes: readonly string[] | null;
  } | null;
  readonly NodePoolConfiguration: unknown;
  readonly VaultConfiguration: unknown;
  readonly ConsulConfiguration: unknown;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly Hash: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface NodePool {
  readonly Name: string;
  readonly Description: string;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly SchedulerConfiguration: { readonly MemoryOversubscriptionEnabled?: boolean | null } | null;
  readonly NodeIdentityTTL: number;
  readonly Hash: string | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface VariableLock {
  readonly ID: string;
  /** Nanoseconds. */
  readonly TTL: number;
  /** Nanoseconds. */
  readonly LockDelay: number;
}

export interface Variable {
  readonly Namespace: string;
  readonly Path: string;
  readonly Items: Readonly<Record<string, string>>;
  readonly Lock: VariableLock | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

export interface AclToken {
  readonly AccessorID: string;
  readonly SecretID: string;
  readonly Name: string;
  readonly Type: string;
  readonly Policies: readonly string[] | null;
  readonly Roles: readonly { readonly ID: string; readonly Name: string }[] | null;
  readonly Global: boolean;
  readonly Hash: string;
  readonly CreateTime: string;
  readonly ExpirationTime: string | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface AclPolicy {
  readonly Name: string;
  readonly Description: string;
  readonly Rules: string;
  readonly JobACL: { readonly Namespace: string; readonly JobID: string; readonly Group: string; readonly Task: string } | null;
  readonly Hash: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface AclRole {
  readonly ID: string;
  readonly Name: string;
  readonly Description: string;
  readonly Policies: readonly { readonly Name: string }[];
  readonly Hash: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface AuthMethod {
  readonly Name: string;
  readonly Type: string;
  readonly TokenLocality: string;
  readonly TokenNameFormat: string;
  /** Nanoseconds. */
  readonly MaxTokenTTL: number;
  readonly Default: boolean;
  readonly Config: Readonly<Record<string, unknown>> | null;
  readonly Hash: string;
  readonly CreateTime: string;
  readonly ModifyTime: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface BindingRule {
  readonly ID: string;
  readonly Description: string;
  readonly AuthMethod: string;
  readonly Selector: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly Hash: string;
  readonly CreateTime: string;
  readonly ModifyTime: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface ScalingEvent {
  readonly Time: number;
  readonly PreviousCount: number;
  readonly Count: number | null;
  readonly Message: string;
  readonly Error: boolean;
  readonly Meta: Readonly<Record<string, unknown>> | null;
  readonly EvalID: string | null;
  readonly CreateIndex: number;
}

export interface ScalingEvents {
  readonly Namespace: string;
  readonly JobID: string;
  readonly ScalingEvents: Readonly<Record<string, readonly ScalingEvent[]>>;
  readonly ModifyIndex: number;
}

export interface PeriodicLaunch {
  readonly ID: string;
  readonly Namespace: string;
  /** Milliseconds since the epoch. */
  readonly Launch: number;
}

export interface SchedulerConfig {
  readonly SchedulerAlgorithm: string;
  readonly PreemptionConfig: Readonly<Record<string, boolean>>;
  readonly MemoryOversubscriptionEnabled: boolean;
  readonly RejectJobRegistration: boolean;
  readonly PauseEvalBroker: boolean;
  readonly NodeLimitForFeasibilityChecks: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}
