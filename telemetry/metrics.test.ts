import { expect, it } from "vitest";
import { createMetrics, type MetricsSnapshot } from "./metrics.ts";

const empty: MetricsSnapshot = {
  deploymentsByState: { detected: 0, applying: 2 },
  oldestActiveSeconds: { applying: 12 },
  waiting: [{ namespace: "default", job: "web", waiting: "approval", sinceSeconds: 1_700_000_000 }],
  lastSuccessSeconds: { git: 1_700_000_100 },
  jobs: [{ namespace: "default", job: "web", policy: "auto", drift: true, paused: false, blocked: false, invalidMeta: false }],
  unparsedFiles: 1,
  skippedJobs: 0,
  orphanJobs: 3,
  databaseBytes: 4096,
  walBytes: 0,
  auditHead: { sequence: 7, hash: "abc" },
  queueDepth: { drift: 4 },
};

it("renders counters, histograms and the snapshot under the names of the contract", async () => {
  const metrics = createMetrics("1.2.3", () => Promise.resolve(empty));
  metrics.nomadRequest("plan", "200", 12);
  metrics.hookRun("pre", "succeeded");
  const { body, contentType } = await metrics.render();
  expect(contentType).toContain("text/plain");
  for (const line of [
    'nops_build_info{version="1.2.3"} 1',
    'nops_deployments{state="applying"} 2',
    'nops_job_drift{namespace="default",nomad_job="web"} 1',
    'nops_job_info{namespace="default",nomad_job="web",policy="auto"} 1',
    'nops_waiting_since_timestamp_seconds{namespace="default",nomad_job="web",waiting="approval"} 1700000000',
    'nops_loop_last_success_timestamp_seconds{loop="git"} 1700000100',
    'nops_nomad_requests_total{op="plan",code="200"} 1',
    'nops_hook_runs_total{phase="pre",result="succeeded"} 1',
    "nops_orphan_jobs 3",
    'nops_audit_head_info{hash="abc"} 7',
  ]) {
    expect(body).toContain(line);
  }
});

it("forgets a job that is no longer there and bounds the number of series (S20)", async () => {
  let jobs = Array.from({ length: 5000 }, (_, index) => ({
    namespace: "default",
    job: `job-${index}`,
    policy: "none",
    drift: false,
    paused: false,
    blocked: false,
    invalidMeta: false,
  }));
  const metrics = createMetrics("1", () => Promise.resolve({ ...empty, jobs }));
  const count = (body: string): number => body.split("\n").filter((line) => line.startsWith("nops_job_info{")).length;
  expect(count((await metrics.render()).body)).toBe(2000);
  jobs = jobs.slice(0, 1);
  expect(count((await metrics.render()).body)).toBe(1);
});
