/** What the server needs of the program behind it. `cmd/` matches these with operator and store. */

import type { Instant } from "../model/clock.ts";
import type { Actor } from "../model/deployment.ts";
import type { Grant } from "../model/grant.ts";
import type { JobKey } from "../model/job-key.ts";
import type { LoginMethod } from "../model/login.ts";
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
  /** How the principal proved who they are. */
  readonly method: LoginMethod | "token" | "anonymous";
  /** Together; each right holds in the namespaces of its own grant only. */
  readonly grants: readonly Grant[];
  /** When the session ends at the latest; of sessions only. */
  readonly endsAt?: Instant;
}

/** What a session is asked for: `watch` is a stream that stays open, which is no activity of a person. */
export type SessionPurpose = "read" | "write" | "watch";

export interface Authenticator {
  /** Whether API tokens count at all (`auth.mode`). */
  readonly acceptsTokens: boolean;
  /** The owner of a bearer token, `undefined` when there is none such. Must take the same time for every wrong token. */
  bearer(secret: string): Promise<Principal | undefined>;
  /** Who a session belongs to and what they may do at this moment; `undefined` when it ended or its person lost the account (S24). */
  session(secret: string, purpose: SessionPurpose): Promise<Principal | undefined>;
  /** Who an unauthenticated request counts as; `undefined` in production. */
  readonly anonymous: Principal | undefined;
}

/** Where a login comes from. */
export interface LoginOrigin {
  /** Address of the client; one for all of an IPv6 network. */
  readonly source: string;
  /** Secret of the session that the browser has already. It ends with the login (S23). */
  readonly formerSecret: string | undefined;
}

export interface LoggedIn {
  /** For the cookie, and nowhere else. */
  readonly secret: string;
  readonly principal: Principal;
  /** Milliseconds until the session ends at the latest. */
  readonly longestMs: number;
}

/** A login that leads over another site. Throws ApiError also 400 for an answer that proves nobody, comes late, or came before (S32). */
export interface OidcRoundTrip {
  /** Where to send the browser; `pending` comes back with it, in a cookie. */
  begin(
    next: string | undefined,
    formerSecret: string | undefined,
  ): Promise<{ readonly url: string; readonly pending: string; readonly longestMs: number }>;
  finish(
    search: string,
    pending: string | undefined,
    origin: Pick<LoginOrigin, "source">,
  ): Promise<LoggedIn & { readonly next: string | undefined }>;
}

/**
 * Ways for people to come in; one that is absent is switched off. Each throws ApiError 401 `wrong_credentials` (one text, whatever was
 * wrong), 403 `not_allowed`, 429 `too_many_logins`, 503 when what knows the person cannot be asked.
 */
export interface Logins {
  readonly methods: readonly (LoginMethod | "token")[];
  readonly local: ((name: string, password: string, origin: LoginOrigin) => Promise<LoggedIn>) | undefined;
  /** `token` is Nomad's. */
  readonly nomad: ((token: string, origin: LoginOrigin) => Promise<LoggedIn>) | undefined;
  readonly oidc: OidcRoundTrip | undefined;
  /** Ends the session of a secret; an unknown one is no error. */
  logout(secret: string): Promise<void>;
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
  readonly logins: Logins;
  /** True when people reach the server by https: cookies are then kept from any other way. */
  readonly secureCookies: boolean;
  /** Addresses and networks whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly string[];
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
