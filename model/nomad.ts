/**
 * The parts of Nomad's JSON that nops reads (nomad-api §2–§7). Field names are Nomad's own.
 * A job is carried whole: fields that nops does not know pass untouched.
 */

/** Anything JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A job in Nomad's API form. Known fields are typed, all others are carried as they are. */
export interface JobSpec {
  readonly ID: string;
  readonly Name?: string | null;
  readonly Namespace?: string | null;
  readonly Region?: string | null;
  readonly Type?: string | null;
  readonly Meta?: Readonly<Record<string, string>> | null;
  readonly Stop?: boolean | null;
  readonly Periodic?: JsonObject | null;
  readonly ParameterizedJob?: ParameterizedSpec | null;
  readonly TaskGroups?: readonly TaskGroupSpec[] | null;
  readonly Update?: JsonObject | null;
  readonly [field: string]: unknown;
}

export interface ParameterizedSpec {
  readonly Payload?: string | null;
  readonly MetaRequired?: readonly string[] | null;
  readonly MetaOptional?: readonly string[] | null;
}

export interface TaskGroupSpec {
  readonly Name: string | null;
  readonly Count?: number | null;
  readonly Scaling?: JsonObject | null;
  readonly Update?: JsonObject | null;
  readonly Tasks?: readonly TaskSpec[] | null;
  readonly [field: string]: unknown;
}

export interface TaskSpec {
  readonly Name: string;
  readonly Driver?: string | null;
  readonly Config?: JsonObject | null;
  readonly [field: string]: unknown;
}

/** A job as Nomad has it now: its spec plus what the server keeps beside it. */
export interface LiveJob extends JobSpec {
  readonly Namespace: string;
  readonly Status: string;
  readonly StatusDescription?: string;
  readonly Version: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly JobModifyIndex: number;
  readonly ParentID?: string | null;
  readonly DispatchIdempotencyToken?: string | null;
}

/** One line of the job list. It names no version; `Meta` is there only when asked for. */
export interface JobStub {
  readonly ID: string;
  readonly Namespace: string;
  readonly ParentID: string;
  readonly Type: string;
  readonly Status: string;
  readonly Stop: boolean;
  readonly Periodic: boolean;
  readonly ParameterizedJob: boolean;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly JobModifyIndex: number;
  readonly Meta?: Readonly<Record<string, string>> | null;
}

export type DiffType = "None" | "Added" | "Deleted" | "Edited";

export interface FieldDiff {
  readonly Type: DiffType;
  readonly Name: string;
  readonly Old: string;
  readonly New: string;
  readonly Annotations?: readonly string[] | null;
}

export interface ObjectDiff {
  readonly Type: DiffType;
  readonly Name: string;
  readonly Fields?: readonly FieldDiff[] | null;
  readonly Objects?: readonly ObjectDiff[] | null;
}

export interface TaskDiff extends ObjectDiff {
  readonly Annotations?: readonly string[] | null;
}

export interface TaskGroupDiff extends ObjectDiff {
  readonly Tasks?: readonly TaskDiff[] | null;
  readonly Updates?: Readonly<Record<string, number>> | null;
}

export interface JobDiff {
  readonly Type: DiffType;
  readonly ID: string;
  readonly Fields?: readonly FieldDiff[] | null;
  readonly Objects?: readonly ObjectDiff[] | null;
  readonly TaskGroups?: readonly TaskGroupDiff[] | null;
}

/** Why allocations of a group could not be placed (nomad-api §6.1). */
export interface AllocMetric {
  readonly NodesEvaluated?: number;
  readonly NodesFiltered?: number;
  readonly NodesExhausted?: number;
  readonly NodesAvailable?: Readonly<Record<string, number>> | null;
  readonly ClassFiltered?: Readonly<Record<string, number>> | null;
  readonly ConstraintFiltered?: Readonly<Record<string, number>> | null;
  readonly DimensionExhausted?: Readonly<Record<string, number>> | null;
  readonly QuotaExhausted?: readonly string[] | null;
  readonly CoalescedFailures?: number;
}

export type PlacementFailures = Readonly<Record<string, AllocMetric>>;

export interface PlanResult {
  readonly diff: JobDiff;
  /** 0 when the job does not exist. */
  readonly jobModifyIndex: number;
  readonly failedPlacements: PlacementFailures;
  readonly warnings: string;
}

/** The source that goes along with a register, so that Nomad's UI can show the file (design D3, nomad-api §3.5). */
export interface Submission {
  readonly source: string;
  readonly format: "hcl2" | "json";
  readonly variables: string;
  /** Kept with the version and shown by nobody's file viewer: where a source that takes no comment says whose it is. */
  readonly variableFlags?: Readonly<Record<string, string>>;
}

/** The answer of a register proves nothing by itself (design D7): re-read the job. */
export interface RegisterResult {
  /** Empty for periodic and parameterized jobs. */
  readonly evalId: string;
  readonly warnings: string;
}

export interface DeploymentGroup {
  readonly AutoRevert?: boolean;
  readonly AutoPromote?: boolean;
  readonly Promoted: boolean;
  readonly PlacedCanaries?: readonly string[] | null;
  readonly DesiredCanaries: number;
  readonly DesiredTotal: number;
  readonly PlacedAllocs: number;
  readonly HealthyAllocs: number;
  readonly UnhealthyAllocs: number;
  readonly RequireProgressBy?: string;
}

/** Nomad's own rollout object; always called "Nomad deployment" to tell it from ours. */
export interface NomadDeployment {
  readonly ID: string;
  readonly JobID: string;
  readonly Namespace: string;
  readonly JobVersion: number;
  readonly JobCreateIndex: number;
  readonly JobSpecModifyIndex: number;
  readonly Status: string;
  readonly StatusDescription: string;
  readonly TaskGroups: Readonly<Record<string, DeploymentGroup>> | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface TaskEvent {
  readonly Type: string;
  readonly DisplayMessage?: string;
  readonly Message?: string;
  readonly Details?: Readonly<Record<string, string>> | null;
}

export interface TaskState {
  readonly State: string;
  readonly Failed: boolean;
  readonly Restarts?: number;
  readonly Events?: readonly TaskEvent[] | null;
}

export interface AllocationStub {
  readonly ID: string;
  readonly JobID: string;
  readonly JobVersion: number;
  readonly TaskGroup: string;
  readonly DesiredStatus: string;
  readonly DesiredDescription?: string;
  readonly ClientStatus: string;
  readonly ClientDescription?: string;
  readonly NodeID?: string;
  readonly NodeName?: string;
  readonly DeploymentStatus?: { readonly Healthy?: boolean | null; readonly Canary?: boolean } | null;
  readonly DeploymentID?: string;
  readonly TaskStates?: Readonly<Record<string, TaskState>> | null;
  readonly FollowupEvalID?: string;
  readonly NextAllocation?: string;
  readonly RescheduleTracker?: JsonObject | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export interface Evaluation {
  readonly ID: string;
  readonly JobID: string;
  readonly Status: string;
  readonly StatusDescription?: string;
  readonly Type: string;
  readonly TriggeredBy: string;
  readonly JobModifyIndex?: number;
  readonly DeploymentID?: string;
  readonly BlockedEval?: string;
  readonly NextEval?: string;
  readonly FailedTGAllocs?: PlacementFailures | null;
  readonly QueuedAllocations?: Readonly<Record<string, number>> | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** What was registered along with a job version. */
export interface StoredSubmission {
  readonly Source: string;
  readonly Format: string;
  readonly VariableFlags?: Readonly<Record<string, string>> | null;
  readonly Version: number;
}
