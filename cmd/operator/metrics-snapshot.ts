import type { Operator } from "../../controllers/operator.ts";
import type { Deployment } from "../../model/deployment.ts";
import { activeStates } from "../../model/lifecycle.ts";
import type { Store } from "../../store/open.ts";
import type { MetricsSnapshot } from "../../telemetry/metrics.ts";

const loopNames: Readonly<Record<string, string>> = { source: "git", drift: "detection", apply: "apply", hooks: "hooks" };

/** Everything a scrape shows, read now; nothing is kept for it. */
export async function metricsSnapshot(store: Store, operator: Operator, nowMs: number): Promise<MetricsSnapshot> {
  const [counts, oldest, active, jobs, status, health, head] = await Promise.all([
    store.countByState(),
    store.oldestByState(),
    store.activeDeployments(),
    operator.jobs(),
    operator.status(),
    store.health(),
    store.auditHead(),
  ]);
  const managed = jobs.filter((job) => job.managed);
  return {
    deploymentsByState: Object.fromEntries(activeStates.map((state) => [state, counts[state] ?? 0])),
    oldestActiveSeconds: Object.fromEntries(
      activeStates.flatMap((state) => {
        const since = oldest[state];
        return since === undefined ? [] : [[state, Math.max(0, (nowMs - Date.parse(since)) / 1000)]];
      }),
    ),
    waiting: active.flatMap(waitingFor),
    lastSuccessSeconds: Object.fromEntries(
      status.loops.flatMap((loop) =>
        loop.lastPassAt === undefined ? [] : [[loopNames[loop.name] ?? loop.name, Date.parse(loop.lastPassAt) / 1000]],
      ),
    ),
    jobs: managed.map((job) => ({
      namespace: job.namespace,
      job: job.job,
      policy: job.policy ?? "none",
      drift: job.drift === "drift",
      paused: job.sync === "paused",
      blocked: job.sync === "blocked",
      invalidMeta: job.sync === "invalid",
    })),
    unparsedFiles: status.repositories.reduce(
      (sum, repository) => sum + repository.issues.filter((issue) => issue.severity === "error").length,
      0,
    ),
    skippedJobs: managed.filter((job) => job.sync === "unknown").length,
    orphanJobs: status.orphans,
    databaseBytes: health.databaseBytes,
    walBytes: health.walBytes,
    auditHead: { sequence: head.seq, hash: head.hash },
    queueDepth: Object.fromEntries(status.loops.map((loop) => [loop.name, loop.waiting])),
  };
}

function waitingFor(deployment: Deployment): MetricsSnapshot["waiting"] {
  const { namespace, jobId: job } = deployment;
  if (deployment.state === "pending_approval")
    return [{ namespace, job, waiting: "approval", sinceSeconds: Date.parse(deployment.enteredAt) / 1000 }];
  if (deployment.state === "applying" && deployment.promotionWaitSince !== undefined && deployment.promotedAt === undefined) {
    return [{ namespace, job, waiting: "canary_promotion", sinceSeconds: Date.parse(deployment.promotionWaitSince) / 1000 }];
  }
  return [];
}
