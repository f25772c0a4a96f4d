/** What the server needs of the program behind it. `cmd/` matches these with operator and store. */

import type { TokenCapability } from "../model/capabilities.ts";
import type { Actor } from "../model/deployment.ts";
import type { JobKey } from "../model/job-key.ts";
import type {
  DeploymentDetailJson,
  DeploymentJson,
  EventJson,
  ExplanationJson,
  HookRunJson,
  JobDetailJson,
  JobJson,
  PauseJson,
  RetryRequest,
  StatusJson,
} from "./contract.ts";

export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; `null` on the last page. */
  readonly nextCursor: string | null;
}

export interface ListFilter {
  readonly limit: number;
  readonly cursor?: string;
  readonly namespace?: string;
  readonly job?: string;
  readonly state?: string;
  readonly repository?: string;
  /** ISO 8601. */
  readonly since?: string;
}

/** Reads. They change nothing, ever (S22). */
export interface Queries {
  jobs(): Promise<readonly JobJson[]>;
  /** `undefined` when nops knows nothing of the job. */
  job(key: JobKey): Promise<JobDetailJson | undefined>;
  explain(key: JobKey): Promise<ExplanationJson | undefined>;
  deployments(filter: ListFilter): Promise<Page<DeploymentJson>>;
  deployment(id: string): Promise<DeploymentDetailJson | undefined>;
  events(filter: ListFilter): Promise<Page<EventJson>>;
  /** Events after a sequence number, oldest first, at most `limit`. */
  eventsAfter(id: number, limit: number): Promise<readonly EventJson[]>;
  lastEventId(): Promise<number>;
  /** Calls back whenever events may have been added; returns how to stop. */
  onEvents(wake: () => void): () => void;
  pause(): Promise<PauseJson>;
  status(): Promise<StatusJson>;
}

/** People's decisions. Each throws RefusedError, ConflictError, NotFoundError or InvalidRequestError with a code of the contract. */
export interface Commands {
  approve(id: string, specHash: string, comment: string | undefined, actor: Actor): Promise<DeploymentJson>;
  reject(id: string, comment: string | undefined, actor: Actor): Promise<DeploymentJson>;
  /** The successor, or the deployment itself while a hold keeps it from being made. */
  retry(id: string, request: RetryRequest, actor: Actor): Promise<DeploymentJson>;
  promote(id: string, actor: Actor): Promise<DeploymentJson>;
  fail(id: string, actor: Actor): Promise<DeploymentJson>;
  pauseJob(key: JobKey, reason: string, actor: Actor): Promise<PauseJson>;
  resumeJob(key: JobKey, actor: Actor): Promise<PauseJson>;
  pauseAll(reason: string, actor: Actor): Promise<PauseJson>;
  resumeAll(actor: Actor): Promise<PauseJson>;
  deployNow(key: JobKey, specHash: string, actor: Actor): Promise<DeploymentJson | null>;
  fetch(repository: string | undefined, accept: boolean, actor: Actor): Promise<void>;
  resolveHook(runId: string, resolution: "ran" | "did_not_run", actor: Actor): Promise<HookRunJson>;
}

/** Who a request comes from and what they may do. */
export interface Principal {
  readonly actor: Actor;
  readonly capabilities: ReadonlySet<TokenCapability>;
  /** Whether the principal's rights reach into a namespace. */
  covers(namespace: string): boolean;
  /** Whether the rights reach every namespace: needed for what is not about one job. */
  readonly everywhere: boolean;
}

export interface Authenticator {
  /** The owner of a bearer token, `undefined` when there is none such. Must take the same time for every wrong token. */
  bearer(secret: string): Promise<Principal | undefined>;
  /** Who an unauthenticated request counts as; `undefined` in production. */
  readonly anonymous: Principal | undefined;
}

export interface Readiness {
  readonly ready: boolean;
  /** What is missing, in words, by name. */
  readonly reasons: Readonly<Record<string, string>>;
}

export interface Probes {
  /** False when the process should be restarted. Never depends on Nomad or git. */
  healthy(): Promise<boolean>;
  ready(): Promise<Readiness>;
  readonly version: string;
  metrics(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** When set, /metrics asks for this bearer token. */
  metricsToken(): string | undefined;
}

export interface Webhooks {
  /**
   * `unknown`: no such repository or no secret configured. The payload is never read beyond its signature.
   */
  receive(
    repository: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
  ): Promise<"accepted" | "refused" | "unknown">;
}

export interface ApiDependencies {
  readonly queries: Queries;
  readonly commands: Commands;
  readonly authenticator: Authenticator;
  readonly probes: Probes;
  readonly webhooks: Webhooks;
  /** Masks secrets in any text that leaves (design D25). */
  readonly redact: (text: string) => string;
  /** Reports an unexpected failure; the client sees a general sentence only. */
  readonly reportError: (error: unknown, route: string) => void;
  /** Folder with the built dashboard, when it ships. */
  readonly dashboardDir: string | undefined;
  /** Host names the server answers for; empty: any. */
  readonly allowedHosts: readonly string[];
  /** True once the process stops: streams end. */
  readonly stopping: AbortSignal;
}
