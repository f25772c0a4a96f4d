/**
 * The rows of the simulated cluster. Field names are Nomad's own, so that a row is its JSON answer. Rows are never changed
 * in place: a write puts a new object, which makes a snapshot the copy of a few maps.
 * Times named `…Time` are nanoseconds since the epoch; durations are nanoseconds.
 */

export interface Constraint {
  readonly LTarget: string;
  readonly RTarget: string;
  readonly Operand: string;
}

export interface Affinity extends Constraint {
  readonly Weight: number;
}

export interface Spread {
  readonly Attribute: string;
  readonly Weight: number;
  readonly SpreadTarget?: readonly { readonly Value: string; readonly Percent: number }[] | null;
}

export interface Port {
  readonly Label: string;
  readonly Value?: number;
  readonly To?: number;
  readonly HostNetwork?: string;
  readonly IgnoreCollision?: boolean;
}

export interface Network {
  readonly Mode?: string;
  readonly DynamicPorts?: readonly Port[] | null;
  readonly ReservedPorts?: readonly Port[] | null;
  readonly [field: string]: unknown;
}

export interface Resources {
  readonly CPU: number;
  readonly Cores?: number;
  readonly MemoryMB: number;
  readonly MemoryMaxMB?: number;
  readonly SecretsMB?: number;
  readonly Devices?: readonly { readonly Name: string; readonly Count: number }[] | null;
  readonly Networks?: readonly Network[] | null;
}

export interface RestartPolicy {
  readonly Attempts: number;
  readonly Interval: number;
  readonly Delay: number;
  readonly Mode: string;
}

export interface ReschedulePolicy {
  readonly Attempts: number;
  readonly Interval: number;
  readonly Delay: number;
  readonly DelayFunction: string;
  readonly MaxDelay: number;
  readonly Unlimited: boolean;
}

export interface UpdateStrategy {
  readonly Stagger: number;
  readonly MaxParallel: number;
  readonly HealthCheck: string;
  readonly MinHealthyTime: number;
  readonly HealthyDeadline: number;
  readonly ProgressDeadline: number;
  readonly AutoRevert: boolean;
  readonly AutoPromote: boolean;
  readonly Canary: number;
}

export interface ScalingPolicy {
  readonly ID: string;
  readonly Type: string;
  readonly Target?: Readonly<Record<string, string>> | null;
  readonly Policy?: unknown;
  readonly Min: number;
  readonly Max: number;
  readonly Enabled: boolean;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface Task {
  readonly Name: string;
  readonly Driver: string;
  readonly Config?: Readonly<Record<string, unknown>> | null;
  readonly Env?: Readonly<Record<string, string>> | null;
  readonly Meta?: Readonly<Record<string, string>> | null;
  readonly Constraints?: readonly Constraint[] | null;
  readonly Affinities?: readonly Affinity[] | null;
  readonly Resources: Resources;
  readonly RestartPolicy?: RestartPolicy | null;
  readonly Lifecycle?: { readonly Hook: string; readonly Sidecar: boolean } | null;
  readonly Leader?: boolean;
  readonly KillTimeout?: number;
  readonly ShutdownDelay?: number;
  readonly Services?: readonly Service[] | null;
  readonly Secrets?: readonly { readonly Provider: string }[] | null;
  readonly [field: string]: unknown;
}

export interface VolumeRequest {
  readonly Type: string;
  readonly Source: string;
  readonly ReadOnly: boolean;
  readonly Sticky?: boolean;
  readonly PerAlloc?: boolean;
}

export interface Service {
  readonly Name: string;
  readonly PortLabel?: string;
  readonly Provider?: string;
  readonly Tags?: readonly string[] | null;
  readonly [field: string]: unknown;
}

export interface TaskGroup {
  readonly Name: string;
  readonly Count: number;
  readonly Tasks: readonly Task[];
  readonly Constraints?: readonly Constraint[] | null;
  readonly Affinities?: readonly Affinity[] | null;
  readonly Spreads?: readonly Spread[] | null;
  readonly Networks?: readonly Network[] | null;
  readonly Services?: readonly Service[] | null;
  readonly Meta?: Readonly<Record<string, string>> | null;
  readonly RestartPolicy?: RestartPolicy | null;
  readonly ReschedulePolicy?: ReschedulePolicy | null;
  readonly Update?: UpdateStrategy | null;
  readonly Migrate?: { readonly MaxParallel: number; readonly MinHealthyTime: number; readonly HealthyDeadline: number } | null;
  readonly EphemeralDisk?: { readonly SizeMB: number; readonly Sticky?: boolean; readonly Migrate?: boolean } | null;
  readonly Scaling?: ScalingPolicy | null;
  readonly Volumes?: Readonly<Record<string, VolumeRequest>> | null;
  readonly ShutdownDelay?: number | null;
  readonly [field: string]: unknown;
}

export interface PeriodicConfig {
  readonly Enabled: boolean;
  readonly Spec: string;
  readonly Specs?: readonly string[] | null;
  readonly SpecType: string;
  readonly ProhibitOverlap: boolean;
  readonly TimeZone: string;
}

export interface ParameterizedConfig {
  readonly Payload: string;
  readonly MetaRequired?: readonly string[] | null;
  readonly MetaOptional?: readonly string[] | null;
}

export interface VersionTag {
  readonly Name: string;
  readonly Description: string;
  readonly TaggedTime: number;
}

export interface Job {
  readonly ID: string;
  readonly Name: string;
  readonly Namespace: string;
  readonly Region: string;
  readonly ParentID: string;
  readonly Type: string;
  readonly Priority: number;
  readonly Datacenters?: readonly string[] | null;
  readonly NodePool: string;
  readonly Constraints?: readonly Constraint[] | null;
  readonly Affinities?: readonly Affinity[] | null;
  readonly Spreads?: readonly Spread[] | null;
  readonly TaskGroups: readonly TaskGroup[];
  readonly Update?: UpdateStrategy | null;
  readonly Periodic?: PeriodicConfig | null;
  readonly ParameterizedJob?: ParameterizedConfig | null;
  readonly Dispatched: boolean;
  readonly DispatchIdempotencyToken: string;
  readonly Payload?: string | null;
  readonly Meta?: Readonly<Record<string, string>> | null;
  readonly NomadTokenID: string;
  readonly Stop: boolean;
  readonly Status: string;
  readonly StatusDescription: string;
  readonly Stable: boolean;
  readonly Version: number;
  readonly VersionTag?: VersionTag | null;
  readonly SubmitTime: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly JobModifyIndex: number;
  readonly [field: string]: unknown;
}

export interface Submission {
  readonly Source: string;
  readonly Format: string;
  readonly VariableFlags: Readonly<Record<string, string>> | null;
  readonly Variables: string;
  readonly Namespace: string;
  readonly JobID: string;
  readonly Version: number;
  readonly JobModifyIndex: number;
}

/** Why allocations could not be placed (nomad-api §6.1). */
export interface AllocMetric {
  readonly NodesEvaluated: number;
  readonly NodesFiltered: number;
  readonly NodesInPool: number;
  readonly NodePool: string;
  readonly NodesAvailable: Readonly<Record<string, number>> | null;
  readonly ClassFiltered: Readonly<Record<string, number>> | null;
  readonly ConstraintFiltered: Readonly<Record<string, number>> | null;
  readonly NodesExhausted: number;
  readonly ClassExhausted: Readonly<Record<string, number>> | null;
  readonly DimensionExhausted: Readonly<Record<string, number>> | null;
  readonly QuotaExhausted: readonly string[] | null;
  readonly ResourcesExhausted: Readonly<Record<string, unknown>> | null;
  readonly Scores: null;
  readonly AllocationTime: number;
  readonly CoalescedFailures: number;
  readonly ScoreMetaData:
    | readonly { readonly NodeID: string; readonly Scores: Readonly<Record<string, number>>; readonly NormScore: number }[]
    | null;
}

export interface Evaluation {
  readonly ID: string;
  readonly Namespace: string;
  readonly Priority: number;
  readonly Type: string;
  readonly TriggeredBy: string;
  readonly JobID: string;
  readonly JobModifyIndex?: number;
  readonly NodeID?: string;
  readonly NodeModifyIndex?: number;
  readonly DeploymentID?: string;
  readonly Status: string;
  readonly StatusDescription?: string;
  readonly WaitUntil?: string;
  readonly NextEval?: string;
  readonly PreviousEval?: string;
  readonly BlockedEval?: string;
  readonly FailedTGAllocs?: Readonly<Record<string, AllocMetric>> | null;
  readonly PlanAnnotations?: { readonly DesiredTGUpdates: Readonly<Record<string, unknown>> } | null;
  readonly QueuedAllocations?: Readonly<Record<string, number>> | null;
  readonly ClassEligibility?: Readonly<Record<string, boolean>> | null;
  readonly MissingNonNodeResources?: readonly string[] | null;
  readonly EscapedComputedClass?: boolean;
  readonly SnapshotIndex?: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

export interface TaskEvent {
  readonly Type: string;
  readonly Time: number;
  readonly DisplayMessage: string;
  readonly Message: string;
  readonly Details: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface TaskState {
  readonly State: string;
  readonly Failed: boolean;
  readonly Restarts: number;
  readonly LastRestart: string | null;
  readonly StartedAt: string | null;
  readonly FinishedAt: string | null;
  readonly Paused: string;
  readonly Events: readonly TaskEvent[];
}

export interface AllocDeploymentStatus {
  readonly Healthy: boolean | null;
  readonly Timestamp: string | null;
  readonly Canary: boolean;
  readonly ModifyIndex: number;
}

export interface RescheduleEvent {
  readonly RescheduleTime: number;
  readonly PrevAllocID: string;
  readonly PrevNodeID: string;
  readonly Delay: number;
}

export interface DesiredTransition {
  readonly Migrate?: boolean | null;
  readonly Reschedule?: boolean | null;
  readonly ForceReschedule?: boolean | null;
  readonly NoShutdownDelay?: boolean | null;
  readonly MigrateDisablePlacement?: boolean | null;
}

export interface AllocatedResources {
  readonly Tasks: Readonly<Record<string, unknown>>;
  readonly TaskLifecycles: Readonly<Record<string, unknown>>;
  readonly Shared: {
    readonly DiskMB: number;
    readonly Networks: readonly unknown[] | null;
    readonly Ports: readonly AllocatedPort[] | null;
  };
}

export interface AllocatedPort {
  readonly Label: string;
  readonly Value: number;
  readonly To: number;
  readonly HostIP: string;
  readonly IgnoreCollision: boolean;
}

export interface Allocation {
  readonly ID: string;
  readonly Namespace: string;
  readonly EvalID: string;
  readonly Name: string;
  readonly NodeID: string;
  readonly NodeName: string;
  readonly JobID: string;
  readonly Job: Job;
  readonly TaskGroup: string;
  readonly AllocatedResources: AllocatedResources | null;
  readonly Metrics?: AllocMetric | null;
  readonly DesiredStatus: string;
  readonly DesiredDescription: string;
  readonly DesiredTransition: DesiredTransition;
  readonly ClientStatus: string;
  readonly ClientDescription: string;
  readonly TaskStates: Readonly<Record<string, TaskState>> | null;
  readonly AllocStates?: readonly { readonly Field: string; readonly Value: string; readonly Time: string }[] | null | undefined;
  readonly PreviousAllocation: string;
  readonly NextAllocation: string;
  readonly DeploymentID: string;
  readonly DeploymentStatus: AllocDeploymentStatus | null;
  readonly RescheduleTracker: { readonly Events: readonly RescheduleEvent[] | null; readonly LastReschedule?: string } | null;
  readonly FollowupEvalID: string;
  readonly PreemptedAllocations: readonly string[] | null;
  readonly PreemptedByAllocation: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly AllocModifyIndex: number;
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

export interface DeploymentState {
  readonly AutoRevert: boolean;
  readonly AutoPromote: boolean;
  readonly ProgressDeadline: number;
  /** Null until something was placed. */
  readonly RequireProgressBy: string | null;
  readonly Promoted: boolean;
  readonly PlacedCanaries: readonly string[] | null;
  readonly DesiredCanaries: number;
  readonly DesiredTotal: number;
  readonly PlacedAllocs: number;
  readonly HealthyAllocs: number;
  readonly UnhealthyAllocs: number;
}

export interface Deployment {
  readonly ID: string;
  readonly Namespace: string;
  readonly JobID: string;
  readonly JobVersion: number;
  readonly JobModifyIndex: number;
  readonly JobSpecModifyIndex: number;
  readonly JobCreateIndex: number;
  readonly IsMultiregion: boolean;
  readonly TaskGroups: Readonly<Record<string, DeploymentState>>;
  readonly Status: string;
  readonly StatusDescription: string;
  readonly EvalPriority: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly CreateTime: number;
  readonly ModifyTime: number;
}
