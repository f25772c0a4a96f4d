/**
 * The apply controller: one key per deployment in `applying`. Registers once, proves it, then watches health. Owns step_ok, in_sync
 * and fail there.
 *
 * I1. A register follows a plan of the same spec in the same pass, with nothing between them (operator I1).
 * I2. It carries the index that was seen at detection (operator I2); after an answer that proves nothing the job is looked at.
 * I3. Health is read before the clock is asked (design D8).
 */
import { type Deployment, engineActor } from "../model/deployment.ts";
import { formatDuration } from "../model/duration.ts";
import { messageOf, NomadError, TerminalError } from "../model/errors.ts";
import type { Trigger } from "../model/lifecycle.ts";
import type { JobSpec } from "../model/nomad.ts";
import { type ReasonCode, reasons } from "../model/reasons.ts";
import { builtInDefaults, parseSettings } from "../model/settings.ts";
import { type Pass, type Reconciler, type Result, recheck, settled } from "../queue/reconciler.ts";
import { type ApplyDeps, keyOf } from "./apply-deps.ts";
import { type HealthWatch, readHealth } from "./apply-health.ts";
import { type RegisterOutcome, registerOnce } from "./apply-register.ts";

interface Terms {
  readonly spec: JobSpec;
  readonly timeoutMs: number;
}

/** First and longest pause between looks at health, ms. The watch wakes the pass earlier. */
const firstLookMs = 500;
const longestLookMs = 5_000;
const registerRetryMs = 1_000;

export class ApplyController implements Reconciler<string> {
  readonly name = "apply";
  private readonly deps: ApplyDeps;
  /** What is being waited for, for pages; lost with the process, found again with the next look. */
  private readonly activities = new Map<string, string>();
  private readonly looks = new Map<string, number>();
  /** What was registered and the time it has, read once a deployment. */
  private readonly terms = new Map<string, Terms>();

  constructor(deps: ApplyDeps) {
    this.deps = deps;
  }

  /** What the deployment does at this moment. */
  activityOf(id: string): string | undefined {
    return this.activities.get(id);
  }

  async reconcile(id: string, pass: Pass): Promise<Result> {
    const deployment = await this.deps.store.deployment(id);
    if (deployment?.state !== "applying") {
      this.forget(id);
      return settled;
    }
    this.deps.wakes.watch(keyOf(deployment), "apply", id);
    try {
      return await this.step(deployment, pass);
    } catch (error) {
      return this.failOrRethrow(deployment, error);
    }
  }

  private async step(deployment: Deployment, pass: Pass): Promise<Result> {
    if (deployment.appliedIndex !== undefined) return this.watchHealth(deployment);
    const outcome = await registerOnce(deployment, this.deps, pass);
    return this.afterRegister(deployment, outcome);
  }

  private async afterRegister(deployment: Deployment, outcome: RegisterOutcome): Promise<Result> {
    switch (outcome.kind) {
      case "applied":
        this.activities.set(deployment.id, "registered, waiting for the new version to be healthy");
        return recheck(firstLookMs, "health");
      case "in_sync":
        return this.end(deployment, "in_sync", "nothing_to_apply", reasons.nothing_to_apply);
      case "failed":
        return this.end(deployment, "fail", outcome.reason, outcome.message);
      case "again":
        this.activities.set(deployment.id, outcome.message);
        if (await this.isOver(deployment)) return this.timedOutBeforeRegister(deployment, outcome.message);
        return recheck(outcome.afterMs ?? registerRetryMs, outcome.message);
    }
  }

  /** Before the register every error that may heal is tried again until the time is over (operator §14.5). */
  private async failOrRethrow(deployment: Deployment, error: unknown): Promise<Result> {
    if (error instanceof TerminalError) return this.end(deployment, "fail", "integrity", error.message);
    if (error instanceof NomadError && error.kind === "refused" && deployment.appliedIndex === undefined) {
      return this.end(deployment, "fail", "register_refused", `Nomad refused the job: ${error.message}`);
    }
    if (error instanceof NomadError && deployment.appliedIndex === undefined && (await this.isOver(deployment))) {
      return this.timedOutBeforeRegister(deployment, error.message);
    }
    this.activities.set(deployment.id, this.deps.redactor.text(messageOf(error)));
    throw error;
  }

  private async timedOutBeforeRegister(deployment: Deployment, cause: string): Promise<Result> {
    const { timeoutMs } = await this.termsOf(deployment);
    const message = `the job could not be registered within ${formatDuration(timeoutMs)}: ${cause}`;
    return this.end(deployment, "fail", "register_timeout", message);
  }

  private async watchHealth(deployment: Deployment): Promise<Result> {
    const { spec } = await this.termsOf(deployment);
    const watch = await readHealth(deployment, spec, this.deps);
    const current = watch.deployment;
    this.activities.set(deployment.id, watch.health.message);
    switch (watch.health.state) {
      case "healthy":
        return this.end(current, "step_ok", "healthy", watch.health.message);
      case "failed":
        return this.end(current, "fail", watch.health.reason, watch.health.message);
      case "awaiting_promotion":
        return this.awaitPromotion(current);
      case "waiting":
        return this.keepWaiting(current, watch);
    }
  }

  /** While a person is waited for there is no clock; noted and notified once (operator §14.7). */
  private async awaitPromotion(deployment: Deployment): Promise<Result> {
    if (deployment.promotionWaitSince === undefined) await this.deps.store.recordPromotionWait(deployment.id, deployment.version);
    return recheck(longestLookMs, "promotion");
  }

  private async keepWaiting(deployment: Deployment, watch: HealthWatch): Promise<Result> {
    if (watch.health.state !== "waiting") return settled;
    const promoting = deployment.promotionWaitSince !== undefined && deployment.promotedAt === undefined;
    if (!promoting && (await this.isOver(deployment))) {
      const limit = formatDuration((await this.termsOf(deployment)).timeoutMs);
      if (watch.health.goodEnough === true)
        return this.end(deployment, "step_ok", "healthy", `still running after ${limit}: ${watch.health.message}`);
      return this.end(deployment, "fail", "health_timeout", `not healthy within ${limit}: ${watch.health.message}`);
    }
    // Without a clock there is no end to be met in time either.
    return recheck(promoting ? longestLookMs : await this.nextLook(deployment), watch.health.message);
  }

  /** Looks grow rarer, but never miss the end of the time. */
  private async nextLook(deployment: Deployment): Promise<number> {
    const last = this.looks.get(deployment.id) ?? firstLookMs;
    this.looks.set(deployment.id, Math.min(longestLookMs, last * 2));
    return Math.max(1, Math.min(last, (await this.deadlineOf(deployment)) - this.deps.clock.now()));
  }

  private async isOver(deployment: Deployment): Promise<boolean> {
    return this.deps.clock.now() >= (await this.deadlineOf(deployment));
  }

  /** Counts from the step's own start or the promotion, never from a restart (operator §14.6). */
  private async deadlineOf(deployment: Deployment): Promise<number> {
    return Date.parse(deployment.promotedAt ?? deployment.enteredAt) + (await this.termsOf(deployment)).timeoutMs;
  }

  /** The time comes from the annotations frozen in the deployment, not from git as it is by now (operator §4.9). */
  private async termsOf(deployment: Deployment): Promise<Terms> {
    const known = this.terms.get(deployment.id);
    if (known !== undefined) return known;
    const { spec } = await this.deps.store.deploymentSpec(deployment.id);
    const { applyTimeoutMs } = parseSettings(spec.Meta, builtInDefaults);
    const terms = { spec, timeoutMs: applyTimeoutMs ?? this.deps.applyTimeoutMs };
    this.terms.set(deployment.id, terms);
    return terms;
  }

  private async end(deployment: Deployment, trigger: Trigger, reason: ReasonCode, message: string): Promise<Result> {
    const moved = await this.deps.store.move(deployment.id, deployment.version, { trigger, reason, message, actor: engineActor });
    this.forget(deployment.id);
    this.deps.wakes.moved(moved);
    return settled;
  }

  private forget(id: string): void {
    this.activities.delete(id);
    this.looks.delete(id);
    this.terms.delete(id);
    this.deps.wakes.unwatch(id);
  }
}
