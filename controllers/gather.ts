import type { Clock } from "../model/clock.ts";
import type { DesiredJob } from "../model/desired.ts";
import { messageOf } from "../model/errors.ts";
import type { JobFacts, Verdict } from "../model/facts.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import { isRunning } from "../model/lifecycle.ts";
import type { JobSpec } from "../model/nomad.ts";
import type { Redactor } from "../model/redact.ts";
import { isMassChange } from "../plan/brake.ts";
import { type Dependency, type DependencyJudgement, judgeDependencies } from "../plan/dependencies.ts";
import { leavesToRegister } from "../plan/drift.ts";
import type { GateInput, OperatorMode } from "../plan/gates.ts";
import type { Comparer } from "./compare.ts";
import type { DesiredIndex } from "./desired-index.ts";
import type { FactsPort } from "./ports.ts";
import type { OperatorSettings } from "./settings.ts";

/** How far a look may go. `memory`: no call to Nomad, for pages; `changed`: plan what changed; `fresh`: plan in any case. */
export type Depth = "memory" | "changed" | "fresh";

export interface Gathered {
  readonly input: GateInput;
  /** The spec that was planned, when one was. */
  readonly planned: JobSpec | undefined;
  /** What Nomad threw, when it could not answer. */
  readonly failure: unknown;
}

export interface GatherDeps {
  readonly facts: Pick<FactsPort, "jobFacts" | "countAutomaticStarts">;
  readonly desired: DesiredIndex;
  readonly comparer: Comparer;
  readonly clock: Clock;
  readonly settings: Pick<OperatorSettings, "maxNewDeploymentsPerCycle">;
  readonly mode: () => OperatorMode;
  readonly redactor: Redactor;
  /** What a running deployment does at this moment. */
  readonly activityOf: (deploymentId: string) => string | undefined;
}

/** Reads everything that a decision about a job rests on. Looking changes nothing but the stored verdict (style §3.4). */
export class Gatherer {
  private readonly deps: GatherDeps;
  /** Why the last comparison of a job failed, and which move was found to be scaling: for pages, which ask Nomad nothing. */
  private readonly failures = new Map<JobKey, unknown>();
  private readonly scaledOnly = new Map<JobKey, string>();

  constructor(deps: GatherDeps) {
    this.deps = deps;
  }

  async gather(key: JobKey, depth: Depth): Promise<Gathered> {
    const facts = await this.deps.facts.jobFacts(key);
    const desired = this.deps.desired.state(key, (facts.active ?? facts.latest)?.repository);
    const job = desired.kind === "managed" ? desired.job : undefined;
    const compared = job === undefined ? nothing : await this.compare(job, facts, depth);
    const activity = facts.active === undefined ? undefined : this.deps.activityOf(facts.active.id);
    const input: GateInput = {
      now: this.deps.clock.now(),
      mode: this.deps.mode(),
      desired,
      facts,
      verdict: compared.verdict,
      problem: compared.failure === undefined ? undefined : this.deps.redactor.text(messageOf(compared.failure)),
      baseUnmoved: compared.baseUnmoved,
      dependencies: job === undefined ? noDependencies : await this.dependenciesOf(job),
      massChange: job !== undefined && facts.active === undefined && (await this.exceedsBrake(job)),
      ...(activity === undefined ? {} : { activity }),
    };
    return { input, planned: compared.planned, failure: compared.failure };
  }

  private async compare(job: DesiredJob, facts: JobFacts, depth: Depth): Promise<Compared> {
    const running = facts.active !== undefined && isRunning(facts.active.state);
    if (depth === "memory" || running) {
      const verdict = this.deps.comparer.current(job, facts);
      const reference = referenceIndex(job, facts);
      const baseUnmoved =
        verdict !== undefined &&
        (verdict.jobModifyIndex === reference || this.scaledOnly.get(job.key) === `${reference} ${verdict.jobModifyIndex}`);
      return { ...nothing, verdict, baseUnmoved, failure: verdict === undefined ? this.failures.get(job.key) : undefined };
    }
    try {
      const { verdict, planned } = await this.deps.comparer.compare(job, facts, depth === "fresh");
      const reference = referenceIndex(job, facts);
      const baseUnmoved =
        reference !== undefined && (await this.deps.comparer.baseUnmoved(job, reference, verdict.jobModifyIndex));
      this.failures.delete(job.key);
      if (baseUnmoved && reference !== verdict.jobModifyIndex)
        this.scaledOnly.set(job.key, `${reference} ${verdict.jobModifyIndex}`);
      return { verdict, planned, baseUnmoved, failure: undefined };
    } catch (failure) {
      this.failures.set(job.key, failure);
      return { ...nothing, failure };
    }
  }

  private async dependenciesOf(job: DesiredJob): Promise<DependencyJudgement> {
    if (job.settings.dependsOn.length === 0) return noDependencies;
    const { namespace } = splitJobKey(job.key);
    const dependencies = job.settings.dependsOn.map((id) => this.dependency(jobKey(namespace, id)));
    return judgeDependencies(this.deps.desired.cycle(job.key), await Promise.all(dependencies));
  }

  private async dependency(key: JobKey): Promise<Dependency> {
    const job = this.deps.desired.job(key);
    if (job === undefined) return { key, wanted: undefined, deploys: false, latest: undefined, inSync: undefined };
    const facts = await this.deps.facts.jobFacts(key);
    const verdict = this.deps.comparer.current(job, facts);
    const finite = job.spec.Type === "batch" || job.spec.Type === "sysbatch";
    const done = finite && facts.latestCompleted?.specHash === job.specHash && verdict?.jobModifyIndex === 0;
    const inSync = verdict === undefined ? undefined : done || !leavesToRegister(verdict, facts);
    return { key, wanted: job.specHash, deploys: job.policy !== "none", latest: facts.latest, inSync };
  }

  /** Whether one more automatic start of the job's commit is more than may be (design D32). */
  async exceedsBrake(job: DesiredJob): Promise<boolean> {
    const limit = this.deps.settings.maxNewDeploymentsPerCycle;
    if (limit === 0 || job.policy !== "auto") return false;
    return isMassChange(limit, await this.deps.facts.countAutomaticStarts(job.repository, job.commit.sha));
  }
}

interface Compared {
  readonly verdict: Verdict | undefined;
  readonly planned: JobSpec | undefined;
  readonly baseUnmoved: boolean;
  readonly failure: unknown;
}

const nothing: Compared = { verdict: undefined, planned: undefined, baseUnmoved: false, failure: undefined };
const noDependencies: DependencyJudgement = { ok: true, message: "it depends on nothing" };

/** The index at detection of the deployment that a decision may be about: the waiting one, or a failed one of the same spec. */
function referenceIndex(job: DesiredJob, facts: JobFacts): number | undefined {
  if (facts.active !== undefined) return facts.active.baseIndex;
  return facts.latest?.specHash === job.specHash ? facts.latest.baseIndex : undefined;
}
