/** What the HTTP API stands on, made up: commands are recorded, reads give what a test put there. */
import type { DeploymentDetailJson, EventJson } from "../api/contract.ts";
import type { ApiDependencies, ListFilter, Principal } from "../api/ports.ts";
import type { TokenCapability } from "../model/capabilities.ts";
import { grantOf } from "../model/grant.ts";

export const at = "2026-01-02T03:04:05.678Z";

const deployment: DeploymentDetailJson = {
  id: "01D",
  namespace: "apps",
  job: "web",
  repository: "main",
  file: "web.nomad.hcl",
  commit_sha: "a".repeat(40),
  commit_subject: "subject",
  commit_author: "author",
  spec_hash: "hash",
  policy: "approval",
  state: "pending_approval",
  mode: "apply",
  base_index: 1,
  applied_index: null,
  error: null,
  reason: "drift",
  decided_by: null,
  decided_at: null,
  retry_of: null,
  retried_by: null,
  awaiting_promotion_since: null,
  promoted_at: null,
  window_lifted_by: null,
  created_at: at,
  updated_at: at,
  diff: null,
  hooks: [],
  hook_runs: [],
  approvals: [],
  approvals_required: 1,
  events: [],
};

/** A token with these rights, everywhere or in one namespace. */
export function aPrincipal(capabilities: readonly TokenCapability[], namespace = "*"): Principal {
  return {
    actor: { name: "tester", kind: "token", identity: "token:1" },
    method: "token",
    grants: [grantOf({ capabilities, namespaces: [namespace] })],
  };
}

/** Secrets that the made-up API knows. */
export const tokens: Readonly<Record<string, Principal>> = {
  reader: aPrincipal(["read"]),
  approver: aPrincipal(["read", "approve"]),
  admin: aPrincipal(["admin"]),
  elsewhere: aPrincipal(["admin"], "other"),
};

export interface FakeApi {
  /** Every command with its arguments, and every list of deployments. */
  readonly calls: unknown[][];
  readonly reported: unknown[];
  /** What the audit log holds. */
  events: EventJson[];
  /** What commands fail with. */
  failWith: Error | undefined;
  /** Tells streams that events may have come. */
  wake: () => void;
  dependencies(overrides?: Partial<ApiDependencies>): ApiDependencies;
}

export function fakeApi(): FakeApi {
  const fake: FakeApi = {
    calls: [],
    reported: [],
    events: [],
    failWith: undefined,
    wake: () => undefined,
    dependencies: (overrides = {}) => ({ ...dependenciesOf(fake), ...overrides }),
  };
  return fake;
}

const paused = { paused: true, reason: "r", by: "tester", since: at };

function dependenciesOf(fake: FakeApi): ApiDependencies {
  return {
    queries: queriesOf(fake),
    commands: commandsOf(fake),
    authenticator: {
      acceptsTokens: true,
      bearer: (secret) => Promise.resolve(Object.hasOwn(tokens, secret) ? tokens[secret] : undefined),
      session: () => Promise.resolve(undefined),
      anonymous: undefined,
    },
    logins: { methods: ["token"], local: undefined, nomad: undefined, oidc: undefined, logout: () => Promise.resolve() },
    secureCookies: false,
    trustedProxies: [],
    probes: {
      healthy: () => Promise.resolve(true),
      ready: () => Promise.resolve({ ready: false, reasons: { nomad: "cannot be reached" } }),
      version: "1.2.3",
      metrics: () => Promise.resolve({ contentType: "text/plain", body: "nops_build_info 1\n" }),
      metricsToken: () => undefined,
    },
    webhooks: { receive: (repository) => Promise.resolve(repository === "main" ? "refused" : "unknown") },
    redact: (text) => text.replaceAll("s3cret", "<redacted>"),
    reportError: (error) => fake.reported.push(error),
    dashboardDir: undefined,
    allowedHosts: [],
    stopping: new AbortController().signal,
  };
}

function queriesOf(fake: FakeApi): ApiDependencies["queries"] {
  return {
    jobs: () => Promise.resolve([]),
    job: () => Promise.resolve(undefined),
    explain: () => Promise.resolve(undefined),
    deployments: (filter: ListFilter) => {
      fake.calls.push(["deployments", filter]);
      return Promise.resolve({ items: [deployment], nextCursor: "next" });
    },
    deployment: (id) => Promise.resolve(id === deployment.id ? deployment : undefined),
    events: () => Promise.resolve({ items: fake.events, nextCursor: null }),
    eventsAfter: (id) => Promise.resolve(fake.events.filter((event) => event.id > id)),
    lastEventId: () => Promise.resolve(0),
    onEvents: (wake) => {
      fake.wake = wake;
      return () => undefined;
    },
    pause: () => Promise.resolve({ paused: false, reason: null, by: null, since: null }),
    status: () => Promise.reject(new Error("boom with s3cret")),
  };
}

function commandsOf(fake: FakeApi): ApiDependencies["commands"] {
  const record =
    <T>(name: string, answer: T) =>
    (...args: unknown[]): Promise<T> => {
      fake.calls.push([name, ...args]);
      return fake.failWith === undefined ? Promise.resolve(answer) : Promise.reject(fake.failWith);
    };
  return {
    approve: record("approve", deployment),
    reject: record("reject", deployment),
    retry: record("retry", deployment),
    promote: record("promote", deployment),
    fail: record("fail", deployment),
    pauseJob: record("pauseJob", paused),
    resumeJob: record("resumeJob", paused),
    pauseAll: record("pauseAll", paused),
    resumeAll: record("resumeAll", paused),
    deployNow: record("deployNow", null),
    fetch: record("fetch", undefined),
    resolveHook: record("resolveHook", {} as never),
  };
}
