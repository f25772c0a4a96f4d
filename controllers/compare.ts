import { type Clock, toInstant } from "../model/clock.ts";
import type { DesiredJob } from "../model/desired.ts";
import type { JobFacts, Verdict } from "../model/facts.ts";
import type { JobSpec, LiveJob, PlanResult } from "../model/nomad.ts";
import type { Redactor } from "../model/redact.ts";
import { blindSpotsDiffer, judgeDrift } from "../plan/drift.ts";
import { hasScaling, onlyScaledBetween, substituteCounts } from "../plan/scaling.ts";
import type { LiveIndex } from "./live-index.ts";
import type { DriftPort, NomadPort } from "./ports.ts";

/** A comparison of git with the live job, and the spec that was planned for it. */
export interface Comparison {
  readonly verdict: Verdict;
  /** With the live counts of scaled groups; absent when the stored verdict served and the spec was not needed. */
  readonly planned: JobSpec | undefined;
}

/** How often a job is read again that moves between the read and the plan. */
const mostRereads = 3;

/** Compares jobs with git by Nomad's plan, and only when something may have changed (design D5). */
export class Comparer {
  private readonly nomad: Pick<NomadPort, "plan" | "readJob" | "jobVersions">;
  private readonly store: Pick<DriftPort, "saveVerdict">;
  private readonly live: LiveIndex;
  private readonly clock: Clock;
  private readonly redactor: Redactor;

  constructor(deps: {
    readonly nomad: Pick<NomadPort, "plan" | "readJob" | "jobVersions">;
    readonly store: Pick<DriftPort, "saveVerdict">;
    readonly live: LiveIndex;
    readonly clock: Clock;
    readonly redactor: Redactor;
  }) {
    this.nomad = deps.nomad;
    this.store = deps.store;
    this.live = deps.live;
    this.clock = deps.clock;
    this.redactor = deps.redactor;
  }

  /** The stored verdict, when it is for this spec and for the index that the live job has now. */
  current(job: DesiredJob, facts: JobFacts): Verdict | undefined {
    const { verdict } = facts;
    if (verdict?.specHash !== job.specHash) return undefined;
    return verdict.jobModifyIndex === this.live.index(job.key) ? verdict : undefined;
  }

  /** `fresh`: plan in any case. @throws NomadError when Nomad cannot answer. */
  async compare(job: DesiredJob, facts: JobFacts, fresh: boolean): Promise<Comparison> {
    const known = fresh ? undefined : this.current(job, facts);
    if (known !== undefined) return { verdict: known, planned: hasScaling(job.spec) ? undefined : job.spec };
    const { plan, planned, live } = await this.planAtOneIndex(job.spec, job);
    const blind = plan.diff.Type === "None" && (await this.differsUnseen(job, facts, live));
    const verdict: Verdict = {
      specHash: job.specHash,
      targetHash: job.targetHash,
      jobModifyIndex: plan.jobModifyIndex,
      drift: judgeDrift(plan.diff, blind),
      diff: plan.diff.Type === "None" ? undefined : this.redactor.diff(plan.diff),
      failedPlacements: plan.failedPlacements,
      warnings: this.redactor.text(plan.warnings),
      plannedAt: toInstant(this.clock.now()),
    };
    await this.store.saveVerdict(job.key, verdict);
    this.live.note(job.key, plan.jobModifyIndex);
    return { verdict, planned };
  }

  /** A spec with scaled groups is planned with the counts of the very version that it is planned against (operator §31.32). */
  private async planAtOneIndex(
    spec: JobSpec,
    job: DesiredJob,
  ): Promise<{ plan: PlanResult; planned: JobSpec; live: LiveJob | undefined }> {
    if (!hasScaling(spec)) return { plan: await this.nomad.plan(spec), planned: spec, live: undefined };
    for (let round = 1; ; round++) {
      const live = await this.nomad.readJob(job.key);
      const planned = substituteCounts(spec, live);
      const plan = await this.nomad.plan(planned);
      if (plan.jobModifyIndex === (live?.JobModifyIndex ?? 0) || round >= mostRereads) return { plan, planned, live };
    }
  }

  /** Fields that plan does not compare matter only when git changed: then the live job is read once (design D29). */
  private async differsUnseen(job: DesiredJob, facts: JobFacts, read: LiveJob | undefined): Promise<boolean> {
    const before = facts.verdict?.specHash;
    const mayDiffer =
      before === undefined ? Array.isArray(job.spec.Spreads) && job.spec.Spreads.length > 0 : before !== job.specHash;
    if (!mayDiffer) return facts.verdict?.drift === "unknown" && facts.verdict.jobModifyIndex === this.live.index(job.key);
    const live = read ?? (await this.nomad.readJob(job.key));
    return live !== undefined && blindSpotsDiffer(job.spec, live);
  }

  /** Whether the live job moved from `baseIndex` to `index` by nothing but scaling. Only scaled jobs cost a call (design D6). */
  async baseUnmoved(job: DesiredJob, baseIndex: number, index: number): Promise<boolean> {
    if (baseIndex === index) return true;
    if (!hasScaling(job.spec) || index === 0) return false;
    return onlyScaledBetween(await this.nomad.jobVersions(job.key), baseIndex, index);
  }
}
