/** What the running operator knows, as the API shows it. */
import type { ExplanationJson, JobDetailJson, JobJson, StatusJson } from "../../api/contract.ts";
import { presentDeployment } from "../../api/present.ts";
import type { ExplainView, JobView, OperatorView, RepositoryView } from "../../controllers/views.ts";
import type { Deployment } from "../../model/deployment.ts";
import type { WindowRule } from "../../model/desired.ts";
import { formatDuration } from "../../model/duration.ts";
import { splitJobKey } from "../../model/job-key.ts";
import { type ReasonCode, reasons } from "../../model/reasons.ts";

export function presentJob(view: JobView): JobJson {
  const { hold, window } = view;
  return {
    namespace: view.namespace,
    job: view.job,
    repository: view.repository ?? null,
    file: view.file ?? null,
    commit: view.commitSha ?? null,
    policy: view.policy ?? "none",
    sync: view.sync,
    reason: view.reason ?? null,
    message: view.message,
    drift: view.drift === "drift",
    spec_hash: view.specHash ?? null,
    blocked_by: view.blockedBy ?? null,
    hold:
      hold === undefined
        ? null
        : { kind: hold.kind, reason: hold.message, by: hold.by ?? null, since: hold.since ?? null, until: hold.until ?? null },
    window:
      window === undefined
        ? null
        : {
            open: window.open,
            changes_at: window.changesAt ?? null,
            time_zone: (window.allow ?? window.deny)?.timeZone ?? "UTC",
            allow: ruleText(window.allow),
            deny: ruleText(window.deny),
          },
    health: view.health ?? (view.placement === "" ? null : view.placement),
    issues: view.issues.map(({ severity, key, message }) => ({ severity, key, message })),
    last_deployment: view.lastDeployment === undefined ? null : presentDeployment(view.lastDeployment),
  };
}

function ruleText(rule: WindowRule | undefined): string | null {
  return rule === undefined ? null : `${rule.cron} for ${formatDuration(rule.durationMs)}`;
}

export function presentJobDetail(view: JobView, deployments: readonly Deployment[]): JobDetailJson {
  return {
    ...presentJob(view),
    diff: view.diff === undefined ? null : { ...view.diff },
    deployments: deployments.map(presentDeployment),
  };
}

/** Nothing is left to do: where the gates end by these, nothing has failed. */
const settled: ReadonlySet<ReasonCode | undefined> = new Set(["in_sync", "own_keys_only", "batch_done"]);

/** A gate that stops because the job is as git wants it passes; those behind it are not reached. */
export function presentExplanation(view: ExplainView): ExplanationJson {
  const { namespace, jobId } = splitJobKey(view.key);
  const failed = view.gates.find((gate) => gate.status === "fail" && !settled.has(gate.reason));
  return {
    namespace,
    job: jobId,
    summary: view.verdict === undefined ? view.message : `${view.message || reasons[view.verdict]} (${view.verdict})`,
    blocking_gate: failed?.name ?? null,
    gates: view.gates.map((gate) => ({
      gate: gate.name,
      result: settled.has(gate.reason) ? "pass" : gate.status,
      fact: gate.fact,
      source: gate.source,
      may_change: gate.changesAt ?? null,
    })),
  };
}

/** Repositories as the status shows them; branches come from the configuration. */
export function presentRepository(view: RepositoryView, branch: string): StatusJson["repositories"][number] {
  const issues = view.issues.map(({ severity, file, line, message }) => ({ severity, file, line: line ?? null, message }));
  if (view.heldMessage !== undefined) issues.unshift({ severity: "error", file: "", line: null, message: view.heldMessage });
  return {
    name: view.name,
    branch,
    commit: view.commitSha ?? null,
    commit_subject: view.commitSubject ?? null,
    last_check_at: view.checkedAt ?? null,
    last_error: view.error ?? null,
    managed_jobs: view.managedJobs,
    issues,
    held_commit: view.heldCommit ?? null,
  };
}

/** Loops by name with what they have to do. */
export function presentQueues(view: OperatorView): StatusJson["queues"] {
  return Object.fromEntries(view.loops.map(({ name, waiting, running, failing }) => [name, { waiting, running, failing }]));
}

/** Loops by name with the time of their last pass. */
export function presentLoops(view: OperatorView): Record<string, string | null> {
  return Object.fromEntries(view.loops.map((loop) => [loop.name, loop.lastPassAt ?? null]));
}
