/** Prometheus metrics (operator §25, reliability §5, contract §6). Counters live here; gauges are read at each scrape. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** One job as the gauges show it. */
export interface JobMetrics {
  readonly namespace: string;
  readonly job: string;
  readonly policy: string;
  readonly drift: boolean;
  readonly paused: boolean;
  readonly blocked: boolean;
  readonly invalidMeta: boolean;
}

/** What a scrape reads from store and memory; nothing of it is kept. */
export interface MetricsSnapshot {
  readonly deploymentsByState: Readonly<Record<string, number>>;
  readonly oldestActiveSeconds: Readonly<Record<string, number>>;
  readonly waiting: readonly {
    readonly namespace: string;
    readonly job: string;
    readonly waiting: "approval" | "canary_promotion";
    readonly sinceSeconds: number;
  }[];
  /** Unix seconds by loop: git, nomad, detection, apply. */
  readonly lastSuccessSeconds: Readonly<Record<string, number>>;
  readonly jobs: readonly JobMetrics[];
  readonly unparsedFiles: number;
  readonly skippedJobs: number;
  readonly orphanJobs: number;
  readonly databaseBytes: number;
  readonly walBytes: number;
  readonly auditHead: { readonly sequence: number; readonly hash: string };
  readonly queueDepth: Readonly<Record<string, number>>;
}

export interface Metrics {
  nomadRequest(operation: string, code: string, durationMs: number): void;
  gitFetch(repository: string, ok: boolean, durationMs: number): void;
  webhook(repository: string, result: "accepted" | "refused"): void;
  deploymentEnded(state: string, policy: string): void;
  step(step: string, durationMs: number): void;
  hookRun(phase: string, result: string): void;
  detection(durationMs: number): void;
  eventStreamReconnect(): void;
  notificationFailed(adapter: string): void;
  jobError(kind: string): void;
  /** The page for Prometheus. */
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}

// A repository can declare any number of jobs; one page must stay readable for Prometheus (S20).
const maxJobSeries = 2000;

/** Every metric of one process. `snapshot` is asked once per scrape. */
export function createMetrics(version: string, snapshot: () => Promise<MetricsSnapshot>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = createCounters(registry);
  const gauges = createGauges(registry);
  new Gauge({ name: "nops_build_info", help: "Version of nops", labelNames: ["version"], registers: [registry] }).set(
    { version },
    1,
  );
  return {
    nomadRequest: (op, code, durationMs) => {
      counters.nomadRequests.inc({ op, code });
      counters.nomadSeconds.observe({ op }, durationMs / 1000);
    },
    gitFetch: (repository, ok, durationMs) => {
      counters.gitFetchSeconds.observe({ repository }, durationMs / 1000);
      if (!ok) counters.gitFetchErrors.inc({ repository });
    },
    webhook: (repository, result) => counters.webhooks.inc({ repository, result }),
    deploymentEnded: (state, policy) => counters.deployments.inc({ state, policy }),
    step: (step, durationMs) => counters.stepSeconds.observe({ step }, durationMs / 1000),
    hookRun: (phase, result) => counters.hookRuns.inc({ phase, result }),
    detection: (durationMs) => counters.detectSeconds.observe(durationMs / 1000),
    eventStreamReconnect: () => counters.reconnects.inc(),
    notificationFailed: (adapter) => counters.notificationsFailed.inc({ adapter }),
    jobError: (kind) => counters.jobErrors.inc({ kind }),
    render: async () => {
      fillGauges(gauges, await snapshot());
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

function createCounters(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) => new Counter({ name, help, labelNames, registers });
  const seconds = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const short = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60];
  const long = [0.1, 0.5, 2, 10, 30, 60, 300, 1200, 3600];
  return {
    nomadRequests: counter("nops_nomad_requests_total", "Calls to Nomad by operation and outcome", ["op", "code"]),
    nomadSeconds: seconds("nops_nomad_request_duration_seconds", "Duration of calls to Nomad", ["op"], short),
    gitFetchSeconds: seconds("nops_git_fetch_seconds", "Duration of looks at a repository", ["repository"], short),
    gitFetchErrors: counter("nops_git_fetch_errors_total", "Failed looks at a repository", ["repository"]),
    webhooks: counter("nops_webhook_events_total", "Webhook calls by outcome", ["repository", "result"]),
    deployments: counter("nops_deployments_total", "Ended deployments", ["state", "policy"]),
    stepSeconds: seconds("nops_step_duration_seconds", "Time spent in each state of a deployment", ["step"], long),
    hookRuns: counter("nops_hook_runs_total", "Ended hook runs", ["phase", "result"]),
    detectSeconds: seconds("nops_detect_cycle_seconds", "Duration of a look at one commit or list", [], short),
    reconnects: counter("nops_event_stream_reconnects_total", "New connections to Nomad's event stream", []),
    notificationsFailed: counter("nops_notifications_failed_total", "Notifications that could not be delivered", ["adapter"]),
    jobErrors: counter("nops_job_errors_total", "Passes over a job that failed", ["kind"]),
  };
}

function createGauges(registry: Registry) {
  const gauge = (name: string, help: string, labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const job = ["namespace", "nomad_job"];
  return {
    deployments: gauge("nops_deployments", "Active deployments by state", ["state"]),
    oldest: gauge("nops_deployment_oldest_seconds", "Age of the oldest active deployment in a state", ["state"]),
    waiting: gauge("nops_waiting_since_timestamp_seconds", "Since when a person is waited for", [...job, "waiting"]),
    lastSuccess: gauge("nops_loop_last_success_timestamp_seconds", "When a loop last did its work", ["loop"]),
    jobInfo: gauge("nops_job_info", "Managed jobs and their policy", [...job, "policy"]),
    drift: gauge("nops_job_drift", "Whether the live job differs from git", job),
    paused: gauge("nops_job_paused", "Whether the job is paused", job),
    blocked: gauge("nops_job_blocked", "Whether the job is blocked after a failure", job),
    invalidMeta: gauge("nops_job_invalid_meta", "Whether a nops_* key of the job is invalid", job),
    unparsed: gauge("nops_unparsed_files", "Job files that cannot be used", []),
    skipped: gauge("nops_detection_skipped_jobs", "Jobs that could not be looked at", []),
    orphans: gauge("nops_orphan_jobs", "Jobs that run but left git", []),
    databaseBytes: gauge("nops_db_size_bytes", "Size of the database", []),
    walBytes: gauge("nops_wal_bytes", "Size of the write-ahead log", []),
    audit: gauge("nops_audit_head_info", "Sequence of the newest event; its hash as label", ["hash"]),
    queue: gauge("nops_queue_depth", "Keys waiting in a controller's queue", ["controller"]),
  };
}

type Gauges = ReturnType<typeof createGauges>;

function fillGauges(gauges: Gauges, now: MetricsSnapshot): void {
  for (const gauge of Object.values(gauges)) gauge.reset();
  fillByLabel(gauges.deployments, "state", now.deploymentsByState);
  fillByLabel(gauges.oldest, "state", now.oldestActiveSeconds);
  fillByLabel(gauges.lastSuccess, "loop", now.lastSuccessSeconds);
  fillByLabel(gauges.queue, "controller", now.queueDepth);
  for (const { namespace, job, waiting, sinceSeconds } of now.waiting)
    gauges.waiting.set({ namespace, nomad_job: job, waiting }, sinceSeconds);
  for (const job of now.jobs.slice(0, maxJobSeries)) fillJob(gauges, job);
  gauges.unparsed.set(now.unparsedFiles);
  gauges.skipped.set(now.skippedJobs);
  gauges.orphans.set(now.orphanJobs);
  gauges.databaseBytes.set(now.databaseBytes);
  gauges.walBytes.set(now.walBytes);
  gauges.audit.set({ hash: now.auditHead.hash }, now.auditHead.sequence);
}

function fillJob(gauges: Gauges, { namespace, job, policy, ...facts }: JobMetrics): void {
  const labels = { namespace, nomad_job: job };
  gauges.jobInfo.set({ ...labels, policy }, 1);
  gauges.drift.set(labels, Number(facts.drift));
  gauges.paused.set(labels, Number(facts.paused));
  gauges.blocked.set(labels, Number(facts.blocked));
  gauges.invalidMeta.set(labels, Number(facts.invalidMeta));
}

function fillByLabel(gauge: Gauge, label: string, values: Readonly<Record<string, number>>): void {
  for (const [key, value] of Object.entries(values)) gauge.set({ [label]: key }, value);
}
