/** Typed client of the HTTP API, used by the command line and by end-to-end tests. */

import type {
  DeploymentDetailJson,
  DeploymentJson,
  ErrorJson,
  EventJson,
  ExplanationJson,
  HookRunJson,
  JobDetailJson,
  JobJson,
  PauseJson,
  RetryRequest,
  StatusJson,
} from "../api/contract.ts";
import type { NopsError } from "../model/errors.ts";
import type { JobKey } from "../model/job-key.ts";
import { splitJobKey } from "../model/job-key.ts";
import { CommandError, type ExitCode, exitCodes } from "./exit-codes.ts";

export interface ApiClientOptions {
  /** Base address without a trailing slash. */
  readonly address: string;
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

type Query = Readonly<Record<string, string | number | undefined>>;

const exitCodeByStatus: Readonly<Record<number, ExitCode>> = {
  400: exitCodes.usage,
  401: exitCodes.failed,
  403: exitCodes.refused,
  404: exitCodes.notFound,
  409: exitCodes.refused,
  503: exitCodes.unreachable,
};

export type ApiClient = ReturnType<typeof createApiClient>;

/** Every call throws CommandError with the exit code that the answer means (contract §1). */
export function createApiClient(options: ApiClientOptions) {
  const get = <T>(path: string, query?: Query) => request<T>(options, "GET", path, query);
  const post = <T>(path: string, body: unknown = {}) => request<T>(options, "POST", path, undefined, body);
  const deployment = (id: string) => `/api/v1/deployments/${encodeURIComponent(id)}`;
  return {
    address: options.address,
    jobs: (query?: Query) => get<{ jobs: JobJson[] }>("/api/v1/jobs", query),
    job: (key: JobKey) => get<JobDetailJson>(jobPath(key)),
    explain: (key: JobKey) => get<ExplanationJson>(`${jobPath(key)}/explain`),
    deployments: (query?: Query) =>
      get<{ deployments: DeploymentJson[]; next_cursor: string | null }>("/api/v1/deployments", query),
    deployment: (id: string) => get<DeploymentDetailJson>(deployment(id)),
    events: (query?: Query) => get<{ events: EventJson[]; next_cursor: string | null }>("/api/v1/events", query),
    status: () => get<StatusJson>("/api/v1/status"),
    pauseState: () => get<PauseJson>("/api/v1/pause"),
    approve: (id: string, specHash: string, comment?: string) =>
      post<DeploymentJson>(`${deployment(id)}/approve`, { spec_hash: specHash, ...optional({ comment }) }),
    reject: (id: string, comment?: string) => post<DeploymentJson>(`${deployment(id)}/reject`, optional({ comment })),
    retry: (id: string, wish: RetryRequest) => post<DeploymentJson>(`${deployment(id)}/retry`, wish),
    promote: (id: string) => post<DeploymentJson>(`${deployment(id)}/promote`),
    fail: (id: string) => post<DeploymentJson>(`${deployment(id)}/fail`),
    resolveHook: (id: string, run: string, resolution: "ran" | "did_not_run") =>
      post<HookRunJson>(`${deployment(id)}/hooks/${encodeURIComponent(run)}/resolve`, { resolution }),
    pauseJob: (key: JobKey, reason: string) => post<PauseJson>(`${jobPath(key)}/pause`, { reason }),
    resumeJob: (key: JobKey) => post<PauseJson>(`${jobPath(key)}/resume`),
    pauseAll: (reason: string) => post<PauseJson>("/api/v1/pause", { reason }),
    resumeAll: () => post<PauseJson>("/api/v1/resume"),
    deployNow: (key: JobKey, specHash: string) =>
      post<{ deployment: DeploymentJson | null }>(`${jobPath(key)}/deploy-now`, { spec_hash: specHash }),
    fetch: (repository: string | undefined, accept: boolean) =>
      post<{ accepted: true }>("/api/v1/fetch", { ...optional({ repository }), ...(accept ? { accept } : {}) }),
    /** Events as they happen, after `lastEventId` when given; ends with the connection. */
    follow: (lastEventId: number | undefined) => follow(options, lastEventId),
  };
}

function jobPath(key: JobKey): string {
  const { namespace, jobId } = splitJobKey(key);
  return `/api/v1/jobs/${encodeURIComponent(namespace)}/${encodeURIComponent(jobId)}`;
}

function optional<T extends Readonly<Record<string, unknown>>>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

async function request<T>(options: ApiClientOptions, method: string, path: string, query?: Query, body?: unknown): Promise<T> {
  const response = await send(options, method, path, query, body);
  const text = await response.text();
  if (!response.ok) throw failure(response.status, text, options.address);
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new CommandError(
      exitCodes.failed,
      `${options.address} answered something that is not JSON`,
      "check --addr: it must be the address of nops",
    );
  }
}

async function send(
  options: ApiClientOptions,
  method: string,
  path: string,
  query?: Query,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const url = new URL(path, options.address);
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) url.searchParams.set(name, String(value));
  if (options.token !== undefined) headers["authorization"] = `Bearer ${options.token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    // A redirect would carry the token to wherever it points (S73).
    return await fetch(url, {
      method,
      headers,
      redirect: "error",
      signal: options.signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (options.signal.aborted) throw new CommandError(exitCodes.interrupted, "interrupted");
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const detail = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
    throw new CommandError(
      exitCodes.unreachable,
      `cannot reach nops at ${options.address}: ${detail}`,
      "is nops serve running? --addr or NOPS_ADDR names its address",
    );
  }
}

function failure(status: number, text: string, address: string): NopsError {
  const { error } = parseError(text);
  const message = error?.message ?? `${address} answered ${status}`;
  return new CommandError(exitCodeByStatus[status] ?? exitCodes.failed, message, error?.hint ?? undefined, error?.code);
}

function parseError(text: string): Partial<ErrorJson> {
  try {
    const parsed = JSON.parse(text) as unknown;
    return typeof parsed === "object" && parsed !== null ? (parsed as Partial<ErrorJson>) : {};
  } catch {
    return {};
  }
}

async function* follow(options: ApiClientOptions, lastEventId: number | undefined): AsyncGenerator<EventJson> {
  const headers = { accept: "text/event-stream", ...(lastEventId === undefined ? {} : { "last-event-id": String(lastEventId) }) };
  const response = await send(options, "GET", "/api/v1/events/stream", undefined, undefined, headers);
  if (!response.ok || response.body === null) throw failure(response.status, await response.text(), options.address);
  let buffered = "";
  try {
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      buffered += chunk;
      const messages = buffered.split("\n\n");
      buffered = messages.pop() ?? "";
      for (const message of messages) {
        const data = /^data: (.*)$/m.exec(message)?.[1];
        if (data !== undefined) yield JSON.parse(data) as EventJson;
      }
    }
  } catch (error) {
    if (!options.signal.aborted)
      throw new CommandError(exitCodes.unreachable, `the connection to ${options.address} was lost: ${(error as Error).message}`);
  }
}
