import type { Deployment } from "../model/deployment.ts";
import type { JobKey } from "../model/job-key.ts";
import { splitJobKey } from "../model/job-key.ts";
import { isTerminal } from "../model/lifecycle.ts";
import type { ReasonCode } from "../model/reasons.ts";

/** What is known of one job that another depends on. */
export interface Dependency {
  readonly key: JobKey;
  /** Spec hash that git wants of it; absent when nops does not manage it. */
  readonly wanted: string | undefined;
  /** `none`: nops only shows it and will never deploy it. */
  readonly deploys: boolean;
  readonly latest: Deployment | undefined;
  /** Whether the live job equals git: known, or not yet looked at. */
  readonly inSync: boolean | undefined;
}

export type DependencyJudgement =
  | { readonly ok: true; readonly message: string }
  | {
      readonly ok: false;
      readonly reason: Extract<ReasonCode, "waiting_for_dependency" | "dependency_failed" | "dependency_cycle">;
      readonly message: string;
      readonly on: JobKey | undefined;
    };

/**
 * Whether the jobs that a job depends on are where git wants them. It waits for one that is behind, and refuses after one
 * that failed at the same state of git, until that changes. A job that nops does not deploy stands in nobody's way.
 */
export function judgeDependencies(
  cycle: readonly JobKey[] | undefined,
  dependencies: readonly Dependency[],
): DependencyJudgement {
  if (cycle !== undefined) {
    const path = cycle.map((key) => splitJobKey(key).jobId).join(" → ");
    return { ok: false, reason: "dependency_cycle", message: `the dependencies form a cycle: ${path}`, on: cycle[1] };
  }
  const judged = dependencies.map(judgeOne).filter((one) => !one.ok);
  const failed = judged.find((one) => !one.ok && one.reason === "dependency_failed");
  const message =
    dependencies.length === 0
      ? "it depends on nothing"
      : `${dependencies.length} of ${dependencies.length} dependencies are in place`;
  return failed ?? judged[0] ?? { ok: true, message };
}

function judgeOne(dependency: Dependency): DependencyJudgement {
  const { key, latest, wanted } = dependency;
  const name = splitJobKey(key).jobId;
  const wait = (message: string): DependencyJudgement => ({ ok: false, reason: "waiting_for_dependency", message, on: key });
  const ok: DependencyJudgement = { ok: true, message: `${name} is in place` };
  if (wanted === undefined || !dependency.deploys) return ok;
  if (latest !== undefined && !isTerminal(latest.state))
    return wait(`${name} is being deployed (${latest.state}, deployment ${latest.id})`);
  const ended = latest?.specHash === wanted ? latest : undefined;
  if ((ended?.state === "failed" || ended?.state === "rejected") && ended.retriedAt === undefined) {
    const message = `deployment ${ended.id} of ${name} was ${ended.state === "failed" ? "a failure" : "rejected"}`;
    return { ok: false, reason: "dependency_failed", message, on: key };
  }
  if (dependency.inSync === true) return ok;
  return wait(dependency.inSync === undefined ? `${name} has not been compared with git yet` : `${name} differs from git`);
}

/** For each job on a cycle of `dependsOn`, the cycle from that job back to itself. Iterative, so depth is no danger. */
export function findCycles(dependsOn: ReadonlyMap<JobKey, readonly JobKey[]>): Map<JobKey, readonly JobKey[]> {
  const cycles = new Map<JobKey, readonly JobKey[]>();
  const done = new Set<JobKey>();
  for (const root of dependsOn.keys()) {
    if (done.has(root)) continue;
    const path: { readonly key: JobKey; at: number }[] = [{ key: root, at: 0 }];
    const place = new Map<JobKey, number>([[root, 0]]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = dependsOn.get(top.key)?.[top.at++];
      if (next === undefined) {
        done.add(top.key);
        place.delete(top.key);
        path.pop();
        continue;
      }
      const seenAt = place.get(next);
      if (seenAt !== undefined)
        recordCycle(
          path.slice(seenAt).map((step) => step.key),
          cycles,
        );
      else if (!done.has(next) && dependsOn.has(next)) {
        place.set(next, path.length);
        path.push({ key: next, at: 0 });
      }
    }
  }
  return cycles;
}

function recordCycle(members: readonly JobKey[], cycles: Map<JobKey, readonly JobKey[]>): void {
  members.forEach((key, at) => {
    if (!cycles.has(key)) cycles.set(key, [...members.slice(at), ...members.slice(0, at), key]);
  });
}
