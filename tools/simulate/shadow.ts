import type { Deployment, FrozenHook, HookRun } from "../../model/deployment.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import { isTerminal } from "../../model/lifecycle.ts";

/** One run of `register` or `dispatch` that really took effect. */
export interface Effect {
  readonly deploymentId: string;
  readonly index: number;
}

/**
 * What the observer of a history knows beside the database: the rows as the last event left them, holds in force, and what Nomad really
 * did. Kept by the checks alone; the product never sees it.
 */
export class Shadow {
  readonly rows = new Map<string, Deployment>();
  /** The state that the events tell. */
  readonly states = new Map<string, Deployment["state"]>();
  readonly activeOf = new Map<JobKey, string>();
  readonly latestOf = new Map<JobKey, string>();
  readonly hooks = new Map<string, readonly FrozenHook[]>();
  /** Hook runs by token. */
  readonly runs = new Map<string, HookRun>();
  readonly pausedJobs = new Set<string>();
  pausedAll = false;
  /** Deployments for which a person asked Nomad for a promotion or a failure. */
  readonly asked = new Set<string>();
  /** Registers that took effect, without those that a restored snapshot undid. */
  registers: Effect[] = [];
  /** Really started runs by deployment, phase and revision. */
  readonly executions = new Map<string, number>();
  /** Approvals that were answered with success. */
  readonly acknowledged: { readonly id: string; readonly identity: string; readonly specHash: string }[] = [];
  /** How often each move was made, by `from → to: reason`: what the histories reach. */
  readonly reached = new Map<string, number>();
  /** Specs that were found to be live, as `job hash`, with the index, and the step at which that was put on record. */
  readonly settled = new Map<string, { readonly index: number; readonly step: number }>();
  private steps = 0;
  /** Approvals that a person has asked for, as `id hash`. */
  readonly clicked = new Set<string>();

  /** The next step: plans and ends of deployments in their order. */
  tick(): number {
    this.steps += 1;
    return this.steps;
  }

  row(id: string): Deployment | undefined {
    return this.rows.get(id);
  }

  active(key: JobKey): Deployment | undefined {
    const id = this.activeOf.get(key);
    return id === undefined ? undefined : this.rows.get(id);
  }

  /** Whether a deployment goes its way, or would if its process did not die. */
  get working(): boolean {
    for (const id of this.activeOf.values()) {
      const row = this.rows.get(id);
      if (row === undefined || row.state === "pending_approval") continue;
      if (row.promotionWaitSince === undefined || row.promotedAt !== undefined) return true;
    }
    return false;
  }

  latest(key: JobKey): Deployment | undefined {
    const id = this.latestOf.get(key);
    return id === undefined ? undefined : this.rows.get(id);
  }

  remember(row: Deployment): void {
    const key = jobKey(row.namespace, row.jobId);
    this.rows.set(row.id, row);
    const latest = this.latestOf.get(key);
    if (latest === undefined || row.id > latest) this.latestOf.set(key, row.id);
    if (!isTerminal(row.state)) this.activeOf.set(key, row.id);
    else if (this.activeOf.get(key) === row.id) this.activeOf.delete(key);
  }

  runsOf(deploymentId: string, phase: "pre" | "post"): readonly HookRun[] {
    return [...this.runs.values()].filter((run) => run.deploymentId === deploymentId && run.phase === phase);
  }

  /** A snapshot of Nomad came back: what was written after it never was. */
  restored(index: number): void {
    this.registers = this.registers.filter((each) => each.index <= index);
    for (const [name, found] of this.settled) if (found.index > index) this.settled.delete(name);
  }
}
