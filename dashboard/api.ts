/** Calls of the page to the API it came from. A token lives in this tab only; a session lives in a cookie that no script reads. */
import { signal } from "@preact/signals";
import type {
  DeploymentDetailJson,
  DeploymentJson,
  ErrorJson,
  EventJson,
  ExplanationJson,
  JobDetailJson,
  JobJson,
  LoggedInJson,
  LoginOptionsJson,
  SessionJson,
  StatusJson,
} from "../api/contract.ts";

const storageKey = "nops-token";

/** The token of this tab; empty when none was given. */
export const token = signal(sessionStorage.getItem(storageKey) ?? "");
/** Set when the API asks who is there, or refuses the token or session it got. */
export const loginWanted = signal(false);

export function useToken(value: string): void {
  token.value = value.trim();
  sessionStorage.setItem(storageKey, token.value);
  loginWanted.value = false;
}

/** An answer that is no success, in the API's own words. */
export class RequestError extends Error {
  readonly code: string;
  readonly hint: string | null;

  constructor(code: string, message: string, hint: string | null) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

function headers(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...extra, ...(token.value === "" ? {} : { authorization: `Bearer ${token.value}` }) };
}

async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(path, {
    ...init,
    headers: headers(init.body === undefined ? {} : { "content-type": "application/json" }),
  });
  if (response.ok) return (await response.json()) as T;
  if (response.status === 401 && !path.startsWith("/auth/")) loginWanted.value = true;
  const body = (await response.json().catch(() => undefined)) as ErrorJson | undefined;
  throw new RequestError(
    body?.error.code ?? "unknown",
    body?.error.message ?? `the server answered ${response.status}`,
    body?.error.hint ?? null,
  );
}

const post = <T>(path: string, body: unknown = {}): Promise<T> => call<T>(path, { method: "POST", body: JSON.stringify(body) });
const jobPath = (namespace: string, job: string): string =>
  `/api/v1/jobs/${encodeURIComponent(namespace)}/${encodeURIComponent(job)}`;
const deploymentPath = (id: string): string => `/api/v1/deployments/${encodeURIComponent(id)}`;

export const api = {
  loginOptions: () => call<LoginOptionsJson>("/auth/options"),
  session: () => call<SessionJson>("/api/v1/session"),
  loginLocal: (name: string, password: string, next: string) => post<LoggedInJson>("/auth/local", { name, password, next }),
  loginNomad: (nomadToken: string, next: string) => post<LoggedInJson>("/auth/nomad", { token: nomadToken, next }),
  logout: () => post("/auth/logout"),
  jobs: () => call<{ jobs: JobJson[] }>("/api/v1/jobs"),
  job: (namespace: string, job: string) => call<JobDetailJson>(jobPath(namespace, job)),
  explain: (namespace: string, job: string) => call<ExplanationJson>(`${jobPath(namespace, job)}/explain`),
  deployments: () => call<{ deployments: DeploymentJson[] }>("/api/v1/deployments?limit=100"),
  deployment: (id: string) => call<DeploymentDetailJson>(deploymentPath(id)),
  events: () => call<{ events: EventJson[] }>("/api/v1/events?limit=200"),
  status: () => call<StatusJson>("/api/v1/status"),
  approve: (id: string, specHash: string, comment: string) =>
    post(`${deploymentPath(id)}/approve`, { spec_hash: specHash, ...(comment === "" ? {} : { comment }) }),
  reject: (id: string, comment: string) => post(`${deploymentPath(id)}/reject`, comment === "" ? {} : { comment }),
  retry: (id: string, choices: { readonly reschedule?: boolean; readonly rerun_unknown_hooks?: boolean } = {}) =>
    post<DeploymentJson>(`${deploymentPath(id)}/retry`, choices),
  resolveHook: (id: string, runId: string, resolution: "ran" | "did_not_run") =>
    post(`${deploymentPath(id)}/hooks/${encodeURIComponent(runId)}/resolve`, { resolution }),
  promote: (id: string) => post(`${deploymentPath(id)}/promote`),
  fail: (id: string) => post(`${deploymentPath(id)}/fail`),
  pause: (namespace: string, job: string, reason: string) => post(`${jobPath(namespace, job)}/pause`, { reason }),
  resume: (namespace: string, job: string) => post(`${jobPath(namespace, job)}/resume`),
  deployNow: (namespace: string, job: string, specHash: string) =>
    post(`${jobPath(namespace, job)}/deploy-now`, { spec_hash: specHash }),
  pauseAll: (reason: string) => post("/api/v1/pause", { reason }),
  resumeAll: () => post("/api/v1/resume"),
  fetch: () => post("/api/v1/fetch"),
  acceptCommit: (repository: string) => post("/api/v1/fetch", { repository, accept: true }),
};

/**
 * Calls back on every event until aborted; reconnects and resumes where it was.
 * The browser's own EventSource cannot send a token, so the stream is read by hand.
 */
export async function followEvents(onEvent: () => void, abort: AbortSignal): Promise<void> {
  let last = "";
  while (!abort.aborted) {
    // Whoever has to log in first would only be refused again and again.
    if (loginWanted.value) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      continue;
    }
    try {
      const response = await fetch("/api/v1/events/stream", {
        headers: headers(last === "" ? {} : { "last-event-id": last }),
        signal: abort,
      });
      if (response.status === 401) loginWanted.value = true;
      if (!response.ok || response.body === null) throw new Error(String(response.status));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        for (const [, id] of part.value.matchAll(/^id: (\d+)$/gm)) last = id ?? last;
        if (part.value.includes("data: ")) onEvent();
      }
    } catch {
      // The page shows the last state meanwhile; a failed read of it says what is wrong.
    }
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}
