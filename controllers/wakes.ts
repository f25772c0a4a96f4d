import type { Deployment } from "../model/deployment.ts";
import { type JobKey, jobKey } from "../model/job-key.ts";
import { isTerminal } from "../model/lifecycle.ts";
import type { DesiredIndex } from "./desired-index.ts";

/** What waking needs of a loop. */
export interface Wakeable<K> {
  add(key: K, options?: { readonly afterMs?: number; readonly priority?: number }): void;
}

/** Priorities: what a person waits for goes before what the world did, and that before the slow net. */
export const priorities = { person: 10, step: 5, change: 0, sweep: -5 } as const;

/** Events of one job come in bursts; one look serves them all, ms. */
const burstMs = 100;

interface Loops {
  readonly drift: Wakeable<JobKey>;
  readonly apply: Wakeable<string>;
  readonly hooks: Wakeable<string>;
}

/** Hands keys to the loop whose turn it is. Keys only: every pass reads the facts anew (style §3.1). */
export class Wakes {
  private loops: Loops | undefined;
  private readonly desired: DesiredIndex;
  private readonly listeners = new Set<(deployment: Deployment) => void>();
  /** Jobs in Nomad, hook runs included, whose changes a deployment waits for. */
  private readonly watched = new Map<JobKey, Map<string, "apply" | "hooks">>();
  /** Whether deployments of a namespace may be advanced: not while nops only looks on. */
  private mayAct: (namespace: string) => boolean = () => true;

  constructor(desired: DesiredIndex) {
    this.desired = desired;
  }

  /** The loops exist after the controllers that wake them. */
  connect(loops: Loops, mayAct: (namespace: string) => boolean): void {
    this.loops = loops;
    this.mayAct = mayAct;
  }

  /** Tells `listener` of every move that is handed on. */
  listen(listener: (deployment: Deployment) => void): void {
    this.listeners.add(listener);
  }

  job(key: JobKey, priority: number = priorities.change): void {
    this.loops?.drift.add(key, { priority });
  }

  /** A deployment changed its state, or is found in one: whoever owns that state looks at it. */
  moved(deployment: Deployment): void {
    for (const listener of this.listeners) listener(deployment);
    const key = jobKey(deployment.namespace, deployment.jobId);
    switch (deployment.state) {
      case "pre_hook":
      case "post_hook":
        if (this.mayAct(deployment.namespace)) this.loops?.hooks.add(deployment.id, { priority: priorities.step });
        return;
      case "applying":
        if (this.mayAct(deployment.namespace)) this.loops?.apply.add(deployment.id, { priority: priorities.step });
        return;
      default:
        this.job(key, priorities.step);
        if (isTerminal(deployment.state)) this.judged(key);
    }
  }

  /** Something is now known about a job that others may have waited for. */
  judged(key: JobKey): void {
    for (const dependent of this.desired.dependents(key)) this.job(dependent);
  }

  /** Until `unwatch`, a change of the job in Nomad wakes the deployment's loop. */
  watch(key: JobKey, loop: "apply" | "hooks", deploymentId: string): void {
    const watchers = this.watched.get(key) ?? new Map<string, "apply" | "hooks">();
    watchers.set(deploymentId, loop);
    this.watched.set(key, watchers);
  }

  unwatch(deploymentId: string): void {
    for (const [key, watchers] of this.watched) {
      if (watchers.delete(deploymentId) && watchers.size === 0) this.watched.delete(key);
    }
  }

  /** Nomad told of something about a job. */
  signal(key: JobKey): void {
    for (const [id, loop] of this.watched.get(key) ?? [])
      this.loops?.[loop].add(id, { afterMs: burstMs, priority: priorities.step });
  }
}
