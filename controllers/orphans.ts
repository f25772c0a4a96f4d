import { type JobKey, splitJobKey } from "../model/job-key.ts";
import type { Policy } from "../model/policy.ts";
import { type Pass, type Reconciler, type Result, settled } from "../queue/reconciler.ts";
import type { DesiredIndex } from "./desired-index.ts";
import type { LiveIndex } from "./live-index.ts";
import type { FactsPort, NomadPort } from "./ports.ts";

/** A job that nops once deployed, that git no longer has, and that still runs (operator §16). Shown, never touched. */
export interface Orphan {
  readonly key: JobKey;
  /** Policy of its last completed deployment. */
  readonly policy: Policy | undefined;
  /** What it is and how to end it. */
  readonly message: string;
}

/**
 * Looks for orphans: one key for all. A broken file suspends the search for its repository's jobs: what was an orphan before stays one,
 * and none is added, since absence that is not certain proves nothing.
 */
export class OrphanController implements Reconciler<"all"> {
  readonly name = "orphans";
  private readonly deps: {
    readonly store: Pick<FactsPort, "completedJobs" | "jobFacts">;
    readonly nomad: Pick<NomadPort, "readJob">;
    readonly desired: DesiredIndex;
    readonly live: LiveIndex;
    readonly namespaces: readonly string[];
  };
  private found = new Map<JobKey, Orphan>();
  /** Whether a job ran at an index, so that an unchanged one is not read again. */
  private readonly running = new Map<JobKey, { readonly index: number; readonly runs: boolean }>();

  constructor(deps: OrphanController["deps"]) {
    this.deps = deps;
  }

  get(key: JobKey): Orphan | undefined {
    return this.found.get(key);
  }

  keys(): JobKey[] {
    return [...this.found.keys()];
  }

  async reconcile(_key: "all", pass: Pass): Promise<Result> {
    const next = new Map<JobKey, Orphan>();
    let failure: unknown;
    for (const key of await this.deps.store.completedJobs()) {
      if (!this.deps.namespaces.includes(splitJobKey(key).namespace) || this.deps.desired.state(key).kind !== "absent") continue;
      try {
        const orphan = await this.judge(key);
        if (orphan !== undefined) next.set(key, orphan);
      } catch (error) {
        failure = error;
        const before = this.found.get(key);
        if (before !== undefined) next.set(key, before);
        pass.log.error("a job that left git could not be looked at", { job: key });
      }
    }
    this.found = next;
    if (failure !== undefined) throw failure;
    return settled;
  }

  private async judge(key: JobKey): Promise<Orphan | undefined> {
    const facts = await this.deps.store.jobFacts(key);
    const owner = (facts.latestCompleted ?? facts.latest)?.repository;
    const state = this.deps.desired.state(key, owner);
    if (state.kind !== "absent" || !state.certain) return this.found.get(key);
    if (!(await this.runs(key))) return undefined;
    const { namespace, jobId } = splitJobKey(key);
    const message = `git no longer has the job, which still runs; nops leaves it alone. Stop it with: nomad job stop -namespace=${namespace} ${jobId}`;
    return { key, policy: facts.latestCompleted?.policy, message };
  }

  /** Exists, is not stopped and not dead. The list's line serves as long as the job did not move since. */
  private async runs(key: JobKey): Promise<boolean> {
    const index = this.deps.live.index(key);
    if (index === 0) return false;
    const stub = this.deps.live.stub(key);
    if (stub !== undefined && stub.JobModifyIndex === index) return !stub.Stop && stub.Status !== "dead";
    const known = this.running.get(key);
    if (known !== undefined && known.index === index) return known.runs;
    const live = await this.deps.nomad.readJob(key);
    const runs = live !== undefined && live.Stop !== true && live.Status !== "dead";
    this.running.set(key, { index: live?.JobModifyIndex ?? 0, runs });
    return runs;
  }
}
