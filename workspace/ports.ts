/**
 * What the workspace needs of the world beside its files. Adapters are matched against these in `cmd/workspace/` only.
 */
import type { JobKey } from "../model/job-key.ts";
import type {
  AllocationStub,
  Evaluation,
  JobSpec,
  JobStub,
  LiveJob,
  NomadDeployment,
  PlanResult,
  RegisterResult,
  Submission,
} from "../model/nomad.ts";

/** A Nomad variable as read; `modifyIndex` is what a check-and-set names. */
export interface NomadVariable {
  readonly items: Readonly<Record<string, string>>;
  readonly modifyIndex: number;
}

export interface NomadNamespace {
  readonly Name: string;
  readonly Description?: string;
  readonly Quota?: string;
  readonly Meta?: Readonly<Record<string, string>> | null;
  readonly [field: string]: unknown;
}

/** Nomad as the workspace uses it. Every failure is a `NomadError`. */
export interface WorkspaceNomad {
  /** Resolves when the agent answers. @throws NomadError `not_sent` when it cannot be reached. */
  ping(): Promise<void>;
  /** Lets Nomad parse a job file; `json` text is taken as it is. */
  parse(
    source: { readonly format: "hcl2" | "json"; readonly source: string; readonly variables: string },
    namespace: string,
  ): Promise<JobSpec>;
  plan(spec: JobSpec, options?: { readonly policyOverride?: boolean }): Promise<PlanResult>;
  /** Register under check-and-set; index 0 means: only when there is no such job. */
  register(
    spec: JobSpec,
    enforceIndex: number,
    submission: Submission | undefined,
    options?: { readonly policyOverride?: boolean },
  ): Promise<RegisterResult>;
  readJob(key: JobKey): Promise<LiveJob | undefined>;
  /** Jobs of a namespace with their meta; `*` for every namespace that the token may see. */
  listJobs(namespace: string): Promise<readonly JobStub[]>;
  listAllocations(key: JobKey): Promise<readonly AllocationStub[]>;
  listEvaluations(key: JobKey): Promise<readonly Evaluation[]>;
  /** Newest first. */
  listNomadDeployments(key: JobKey): Promise<readonly NomadDeployment[]>;
  /** Stops, or removes with `purge`. A job that is not there is no error. */
  stopJob(key: JobKey, options: { readonly purge: boolean }): Promise<void>;
  /** Dispatches under an idempotency token and says which child Nomad named. */
  dispatch(
    parent: JobKey,
    request: {
      readonly token: string;
      readonly meta: Readonly<Record<string, string>>;
      readonly payload: Uint8Array | undefined;
    },
  ): Promise<{ readonly childId: string }>;
  /** The child that carries the token, dead ones included. */
  findDispatched(parent: JobKey, token: string): Promise<LiveJob | undefined>;
  /** Asks Nomad to place the job again, failed allocations included (design D12). */
  reschedule(key: JobKey): Promise<void>;
  /** Starts one run of a periodic job now. */
  forcePeriodic(key: JobKey): Promise<void>;
  readVariable(namespace: string, path: string): Promise<NomadVariable | undefined>;
  /** @throws NomadError `conflict` when somebody else wrote meanwhile. */
  putVariable(namespace: string, path: string, items: Readonly<Record<string, string>>, cas: number): Promise<void>;
  listVariables(namespace: string, prefix: string): Promise<readonly string[]>;
  deleteVariable(namespace: string, path: string): Promise<void>;
  readNamespace(name: string): Promise<NomadNamespace | undefined>;
  putNamespace(namespace: NomadNamespace): Promise<void>;
  readLogTail(
    namespace: string,
    allocationId: string,
    task: string,
    stream: "stdout" | "stderr",
    maxBytes: number,
  ): Promise<string>;
}

/** A job file made ready for Nomad's parse: texts of `file()` put in place, variables merged into one text. */
export interface PreparedJob {
  readonly format: "hcl2" | "json";
  readonly source: string;
  readonly variables: string;
  /** What goes along with the register, without values that look secret. */
  readonly submission: Submission;
}

/** Reads job files. Adapter: `hcl/`. */
export interface JobFiles {
  /**
   * @param request paths are absolute; `vars` win over `varFiles`, later files over earlier ones (design D28).
   * @throws NopsError with file and line for a file that cannot be used.
   */
  prepare(request: {
    readonly root: string;
    readonly file: string;
    readonly varFiles: readonly string[];
    readonly vars: Readonly<Record<string, unknown>>;
  }): Promise<PreparedJob>;
}

/** Questions to a person. Only called when the run is interactive. */
export interface Prompt {
  /** Whether standard input is a terminal and nobody said `-y`. */
  readonly interactive: boolean;
  confirm(message: string): Promise<boolean>;
  /** `undefined` when the person turned away. */
  select<T extends string>(
    message: string,
    choices: readonly { readonly value: T; readonly label: string }[],
  ): Promise<T | undefined>;
}

/** HTTP as predicates need it: one GET, no redirects followed, no credentials. */
export interface HttpProbe {
  get(url: string, timeoutMs: number, signal: AbortSignal): Promise<{ readonly status: number; readonly body: string }>;
}
