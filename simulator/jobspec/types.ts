/**
 * What passes through the pure half of the simulator: the two forms of a job, and what a server knows when it judges one.
 * Both forms are plain JSON with Nomad's own field names. Durations are integers in nanoseconds.
 */

/** A job as clients send it and as parse returns it: a field that was not stated is null. */
export type ApiJob = Record<string, unknown>;

/** A job as the server keeps it: every field has a value; lists and maps that are empty are null. */
export type ServerJob = Record<string, unknown>;

/** The part of a namespace that admission looks at. */
export interface NamespaceRules {
  readonly Capabilities?: {
    readonly EnabledTaskDrivers?: readonly string[] | null;
    readonly DisabledTaskDrivers?: readonly string[] | null;
    readonly EnabledNetworkModes?: readonly string[] | null;
    readonly DisabledNetworkModes?: readonly string[] | null;
  } | null;
}

/** The part of a node pool that admission looks at. */
export interface NodePoolRules {
  readonly SchedulerConfiguration?: { readonly MemoryOversubscriptionEnabled?: boolean | null } | null;
}

/** What a server knows when a job is planned, validated or registered. */
export interface AdmitContext {
  /** The region of the agent. */
  readonly region: string;
  /** `?region` of the request, else `Region` of its body. */
  readonly requestRegion?: string;
  /** `?namespace` of the request, else `Namespace` of its body. Wins over the job's own (nomad-api §2.1). */
  readonly requestNamespace?: string;
  readonly namespace: (name: string) => NamespaceRules | undefined;
  readonly nodePool: (name: string) => NodePoolRules | undefined;
  /** `MemoryOversubscriptionEnabled` of the scheduler configuration. */
  readonly memoryOversubscription: boolean;
  /** Draws 32 random bits; used where Nomad makes a name unique. */
  readonly randomName?: () => string;
}

export interface Admitted {
  readonly job: ServerJob;
  /** One text, "" when there is nothing to say. */
  readonly warnings: string;
  /** The same one by one, for a caller that has more to say (`listWarnings` joins them). */
  readonly warningList: readonly string[];
}

/** The answer of `/v1/validate/job`. */
export interface Validation {
  readonly DriverConfigValidated: boolean;
  readonly ValidationErrors: readonly string[] | null;
  readonly Error: string;
  readonly Warnings: string;
}

/** Parse refused the source. The message is the whole text of the 400 answer. */
export class ParseFailure extends Error {
  readonly status = 400;
}

/** Plan or register refused the job. The message is the whole text of the answer. */
export class AdmissionError extends Error {
  readonly status: number;

  constructor(message: string, status = 500) {
    super(message);
    this.status = status;
  }
}

export type UpdateKind = "ignore" | "in_place" | "destructive";

/** What a dry run wants to do with the allocations of one group. */
export interface DesiredUpdates {
  readonly Ignore: number;
  readonly Place: number;
  readonly Migrate: number;
  readonly Stop: number;
  readonly InPlaceUpdate: number;
  readonly DestructiveUpdate: number;
  readonly Canary: number;
  readonly Preemptions: number;
  readonly Disconnect: number;
  readonly Reconnect: number;
  readonly RescheduleNow: number;
  readonly RescheduleLater: number;
}
