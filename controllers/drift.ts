/**
 * The drift controller: one key per job. Desired, live and facts to at most one creation or one move of a waiting deployment.
 * It owns create, start, need_approval, supersede and in_sync of deployments that have not started.
 */

import { engineActor, type FrozenHook, type NewDeployment } from "../model/deployment.ts";
import type { DeclaredHook } from "../model/desired.ts";
import { ConflictError, NomadError } from "../model/errors.ts";
import { revisionId } from "../model/hash.ts";
import { type JobKey, splitJobKey } from "../model/job-key.ts";
import { isRunning } from "../model/lifecycle.ts";
import { silentLog } from "../model/log.ts";
import type { JobSpec } from "../model/nomad.ts";
import { decide } from "../plan/decide.ts";
import type { Birth, Decision } from "../plan/decision.ts";
import { type Pass, type Reconciler, type Result, recheck, settled } from "../queue/reconciler.ts";
import type { Schedule } from "../queue/schedule.ts";
import type { DesiredIndex } from "./desired-index.ts";
import type { Gathered, Gatherer } from "./gather.ts";
import type { LiveIndex } from "./live-index.ts";
import type { CreationPort, DriftPort, MovePort } from "./ports.ts";
import type { Wakes } from "./wakes.ts";

export interface DriftDeps {
  readonly gatherer: Gatherer;
  readonly desired: DesiredIndex;
  readonly live: LiveIndex;
  readonly store: CreationPort & MovePort & Pick<DriftPort, "refreshBase" | "dropLift">;
  readonly wakes: Wakes;
  readonly namespaces: readonly string[];
  /** The namespace has been listed, and the database is known to be no older copy (design D34). */
  readonly isProven: (namespace: string) => boolean;
  /** Window edges of jobs, in absolute time (design D10). */
  readonly edges: Pick<Schedule<JobKey>, "set" | "clear">;
}

/** A look at a job whose namespace has not been listed yet is made up for by the list; this is the net under it, ms. */
const unlistedRecheckMs = 30_000;
const refusedRecheckMs = 600_000;
/** Passes that a person's request may take: dropping a lift, refreshing a base, planning anew, creating. */
const mostRoundsNow = 6;

export class DriftController implements Reconciler<JobKey> {
  readonly name = "drift";
  private readonly deps: DriftDeps;
  /** What was last made known of a job to those that depend on it; without it two jobs could wake each other for ever. */
  private creating: Promise<unknown> = Promise.resolve();
  private readonly told = new Map<JobKey, string>();

  constructor(deps: DriftDeps) {
    this.deps = deps;
  }

  /**
   * Makes passes over one job until it is settled, in the caller's time, so that a person's request can answer with what became of it.
   * Beside a pass of the loop it loses a race at worst, and the loop goes on from there.
   */
  async runNow(key: JobKey): Promise<void> {
    const pass: Pass = { id: "request", signal: new AbortController().signal, log: silentLog };
    for (let round = 0; round < mostRoundsNow; round++) {
      try {
        const result = await this.reconcile(key, pass);
        if (result.next === "settled" || result.afterMs > 0) return;
      } catch (error) {
        if (!(error instanceof ConflictError)) {
          this.deps.wakes.job(key);
          return;
        }
      }
    }
    this.deps.wakes.job(key);
  }

  async reconcile(key: JobKey, pass: Pass): Promise<Result> {
    const { namespace } = splitJobKey(key);
    // What is in a namespace that nops no longer serves stays exactly as it is (operator §6.6).
    if (!this.deps.namespaces.includes(namespace)) return settled;
    if (!this.deps.isProven(namespace)) {
      return recheck(unlistedRecheckMs, "the live jobs have not been listed yet");
    }
    const gathered = await this.deps.gatherer.gather(key, "changed");
    const { active } = gathered.input.facts;
    if (active !== undefined && isRunning(active.state)) {
      this.deps.wakes.moved(active);
      return settled;
    }
    const decision = decide(gathered.input);
    this.setEdge(key, decision, gathered.input.now);
    const result = await this.act(key, decision, gathered, pass);
    // A job that could not be compared is looked at again with backoff; what the stored facts alone decide was done above.
    if (gathered.failure === undefined) return result;
    // What Nomad refuses to plan it refuses again, until somebody changes the spec or the cluster.
    if (gathered.failure instanceof NomadError && gathered.failure.kind === "refused")
      return recheck(refusedRecheckMs, "Nomad refused the plan");
    throw gathered.failure;
  }

  private setEdge(key: JobKey, decision: Decision, now: number): void {
    const byWindow = decision.act === "nothing" && (decision.reason === "window_closed" || decision.reason === "window_denied");
    // A window whose end lies too far away to be known is looked at once a day.
    if (byWindow) this.deps.edges.set(key, decision.changesAt ?? now + 24 * 3_600_000);
    else this.deps.edges.clear(key);
  }

  private async act(key: JobKey, decision: Decision, gathered: Gathered, pass: Pass): Promise<Result> {
    switch (decision.act) {
      case "nothing":
        pass.log.debug("nothing to do", { reason: decision.reason, message: decision.message });
        this.tell(key, `${decision.reason} ${gathered.input.verdict?.specHash ?? ""}`);
        return settled;
      case "drop_lift":
        await this.deps.store.dropLift(key, decision.message);
        return recheck(0, "a lift was dropped");
      case "refresh_base": {
        const index = gathered.input.verdict?.jobModifyIndex ?? decision.deployment.baseIndex;
        await this.deps.store.refreshBase(decision.deployment.id, decision.deployment.version, index);
        return recheck(0, "the base was refreshed");
      }
      case "move": {
        const { deployment, trigger, reason, message } = decision;
        const moved = await this.deps.store.move(deployment.id, deployment.version, {
          trigger,
          reason,
          message,
          actor: engineActor,
        });
        this.deps.wakes.moved(moved);
        return settled;
      }
      case "create":
        return this.create(key, decision.birth, gathered);
    }
  }

  private tell(key: JobKey, judgement: string): void {
    if (this.told.get(key) === judgement) return;
    this.told.set(key, judgement);
    this.deps.wakes.judged(key);
  }

  private async create(key: JobKey, birth: Birth, gathered: Gathered): Promise<Result> {
    const { verdict } = gathered.input;
    if (verdict === undefined) return recheck(0, "the verdict is gone");
    if (gathered.planned === undefined) {
      // The stored verdict served, but a scaled job's spec needs the live counts of the moment: plan once more.
      this.deps.live.doubt(key);
      return recheck(0, "the planned spec has to be made anew");
    }
    // Facts may have grown old during a slow plan: a deployment that came and failed meanwhile may block this very one.
    const input = { ...toNewDeployment(key, birth, gathered.planned, verdict), over: gathered.input.facts.latest?.id ?? null };
    if (birth.state === "detected" && birth.windowLiftedBy === undefined)
      return this.createBehindOthers(birth, () => this.store(input));
    return this.store(input);
  }

  /** Automatic starts are counted one after another, so that passes side by side cannot together outrun the brake (design D32). */
  private createBehindOthers(birth: Birth, create: () => Promise<Result>): Promise<Result> {
    const turn = this.creating.then(async () =>
      (await this.deps.gatherer.exceedsBrake(birth.job)) ? recheck(0, "the brake was reached") : create(),
    );
    this.creating = turn.catch(() => undefined);
    return turn;
  }

  private async store(input: NewDeployment): Promise<Result> {
    try {
      const created = await this.deps.store.create(input);
      this.deps.wakes.moved(created);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return recheck(0, "somebody else made a deployment");
    }
    return settled;
  }
}

type CurrentVerdict = NonNullable<Gathered["input"]["verdict"]>;

function toNewDeployment(key: JobKey, birth: Birth, planned: JobSpec, verdict: CurrentVerdict): NewDeployment {
  const { job } = birth;
  const policy = job.policy === "none" ? "approval" : job.policy;
  return {
    ...splitJobKey(key),
    repository: job.repository,
    commitSha: job.commit.sha,
    commitSubject: job.commit.subject,
    commitAuthor: job.commit.author,
    commitAuthorEmail: job.commit.authorEmail,
    file: job.file,
    specHash: job.specHash,
    targetHash: job.targetHash,
    policy,
    mode: birth.mode,
    state: birth.state,
    baseIndex: verdict.jobModifyIndex,
    spec: {
      spec: planned,
      submission: { source: job.source.original, format: job.source.format, variables: job.source.publicVariables },
    },
    diff: verdict.diff,
    hooks: job.hooks.flatMap((hook) => freeze(hook, birth)),
    reason: birth.reason,
    message: birth.message,
    ...(birth.retryOf === undefined ? {} : { retryOf: birth.retryOf }),
    ...(birth.reschedule ? { reschedule: true } : {}),
    ...(birth.windowLiftedBy === undefined ? {} : { windowLiftedBy: birth.windowLiftedBy }),
  };
}

/** Pre-hooks of a verification are left out: they do not run again (design D12). */
function freeze(hook: DeclaredHook, birth: Birth): FrozenHook[] {
  if (!hook.usable || (birth.mode === "verify" && hook.phase === "pre")) return [];
  const { phase, position, hookId, hash, spec, timeoutMs } = hook;
  return [{ phase, position, hookId, hash, spec, revisionId: revisionId(hookId, hash), timeoutMs }];
}
