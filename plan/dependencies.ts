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

type Graph = ReadonlyMap<JobKey, readonly JobKey[]>;

/**
 * The jobs that lie on a cycle of dependencies, each with all jobs that it shares cycles with (its strongly connected component,
 * by Tarjan's algorithm). Iterative, so depth is no danger.
 */
export function findCycles(graph: Graph): Map<JobKey, ReadonlySet<JobKey>> {
  const found = new Map<JobKey, ReadonlySet<JobKey>>();
  const order = new Map<JobKey, number>();
  const lowest = new Map<JobKey, number>();
  const open: JobKey[] = [];
  const isOpen = new Set<JobKey>();
  const enter = (key: JobKey): { readonly key: JobKey; at: number } => {
    order.set(key, order.size);
    lowest.set(key, order.size - 1);
    open.push(key);
    isOpen.add(key);
    return { key, at: 0 };
  };
  const lower = (key: JobKey, to: number | undefined): void => {
    lowest.set(key, Math.min(lowest.get(key) ?? 0, to ?? 0));
  };
  for (const root of graph.keys()) {
    if (order.has(root)) continue;
    const path = [enter(root)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = graph.get(top.key)?.[top.at++];
      if (next === undefined) {
        path.pop();
        const below = path.at(-1);
        if (below !== undefined) lower(below.key, lowest.get(top.key));
        if (lowest.get(top.key) === order.get(top.key)) closeComponent(top.key, open, isOpen, graph, found);
      } else if (!order.has(next)) path.push(enter(next));
      else if (isOpen.has(next)) lower(top.key, order.get(next));
    }
  }
  return found;
}

function closeComponent(
  root: JobKey,
  open: JobKey[],
  isOpen: Set<JobKey>,
  graph: Graph,
  found: Map<JobKey, ReadonlySet<JobKey>>,
): void {
  const members = new Set<JobKey>(open.splice(open.lastIndexOf(root)));
  for (const member of members) isOpen.delete(member);
  if (members.size === 1 && graph.get(root)?.includes(root) !== true) return;
  for (const member of members) found.set(member, members);
}

/** A shortest way from a job on a cycle back to itself, both ends included. */
export function cyclePath(graph: Graph, members: ReadonlySet<JobKey>, start: JobKey): readonly JobKey[] {
  const cameFrom = new Map<JobKey, JobKey>();
  const queue: JobKey[] = [start];
  for (const key of queue) {
    for (const next of graph.get(key) ?? []) {
      if (next === start) return [...trace(cameFrom, start, key), start];
      if (!members.has(next) || cameFrom.has(next)) continue;
      cameFrom.set(next, key);
      queue.push(next);
    }
  }
  return [start];
}

function trace(cameFrom: ReadonlyMap<JobKey, JobKey>, start: JobKey, end: JobKey): JobKey[] {
  const path = [end];
  for (let key = end; key !== start; ) {
    key = cameFrom.get(key) ?? start;
    path.unshift(key);
  }
  return path;
}
