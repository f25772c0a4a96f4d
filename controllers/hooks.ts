/**
 * The hooks controller: one key per deployment in a hook phase. Runs the frozen hooks of the phase one after another; owns step_ok and
 * fail there (operator §13).
 *
 * I1. A hook is dispatched at most once by itself: `running` is stored before the request leaves, and a run that is `running` is only ever
 * looked for (design D9). I2. The first hook that does not succeed ends the phase. I3. The verdict is read before the deadline is asked.
 */
import { type Deployment, engineActor, type FrozenHook, type HookRun } from "../model/deployment.ts";
import { formatDuration } from "../model/duration.ts";
import { messageOf, TerminalError } from "../model/errors.ts";
import type { ReasonCode } from "../model/reasons.ts";
import { type Pass, type Reconciler, type Result, recheck, settled } from "../queue/reconciler.ts";
import type { HooksDeps } from "./hook-deps.ts";
import { ensureRevision } from "./hook-revision.ts";
import { advanceRun } from "./hook-run.ts";

export class HooksController implements Reconciler<string> {
  readonly name = "hooks";
  private readonly deps: HooksDeps;
  private readonly activities = new Map<string, string>();

  constructor(deps: HooksDeps) {
    this.deps = deps;
  }

  /** What the deployment does at this moment. */
  activityOf(id: string): string | undefined {
    return this.activities.get(id);
  }

  async reconcile(id: string, pass: Pass): Promise<Result> {
    const deployment = await this.deps.store.deployment(id);
    if (deployment === undefined || phaseOf(deployment) === undefined) {
      this.forget(id);
      return settled;
    }
    try {
      return await this.step(deployment, pass);
    } catch (error) {
      if (error instanceof TerminalError) return this.fail(deployment, "integrity", error.message);
      this.activities.set(id, messageOf(error));
      throw error;
    }
  }

  private async step(deployment: Deployment, pass: Pass): Promise<Result> {
    const phase = phaseOf(deployment);
    const hooks = (await this.deps.store.frozenHooks(deployment.id)).filter((hook) => hook.phase === phase);
    if (hooks.length === 0) {
      return this.fail(
        deployment,
        "hook_failed",
        `no hook of the ${phase}-phase was frozen with this deployment; push again or retry`,
      );
    }
    const runs = await this.deps.store.hookRuns(deployment.id);
    for (const hook of hooks.toSorted((a, b) => a.position - b.position)) {
      const run = runs.find((each) => each.phase === phase && each.position === hook.position);
      if (run?.state === "succeeded") continue;
      if (run !== undefined && run.state !== "dispatching" && run.state !== "running")
        return this.failByRun(deployment, hook, run);
      return this.work(deployment, hook, run, pass);
    }
    const message = `${hooks.length === 1 ? "the hook" : `all ${hooks.length} hooks`} of the ${phase}-phase succeeded`;
    const moved = await this.deps.store.move(deployment.id, deployment.version, {
      trigger: "step_ok",
      reason: "hooks_succeeded",
      message,
      actor: engineActor,
    });
    this.forget(deployment.id);
    this.deps.wakes.moved(moved);
    if (phase === "post") this.deps.onPhaseEnd(deployment.namespace);
    return settled;
  }

  /** One step of the first hook that is not through: its revision, then its run. */
  private async work(deployment: Deployment, hook: FrozenHook, run: HookRun | undefined, pass: Pass): Promise<Result> {
    if (run === undefined || run.state === "dispatching") {
      const revision = await ensureRevision(deployment, hook, run, this.deps, pass);
      if (revision.kind === "failed")
        return this.fail(
          deployment,
          "hook_not_registered",
          this.words(deployment, hook, `could not be registered: ${revision.message}`),
        );
      if (revision.kind === "again") {
        this.activities.set(deployment.id, `${hook.phase}-hook ${hook.hookId}: ${revision.message}`);
        return recheck(revision.afterMs, revision.message);
      }
    }
    const outcome = await advanceRun(
      deployment,
      hook,
      run ?? (await this.deps.store.ensureHookRun(deployment.id, hook)),
      this.deps,
      pass,
    );
    this.activities.set(deployment.id, `${hook.phase}-hook ${hook.hookId}: ${outcome.message}`);
    return recheck(outcome.afterMs, outcome.message);
  }

  private failByRun(deployment: Deployment, hook: FrozenHook, run: HookRun): Promise<Result> {
    const reason: ReasonCode =
      run.state === "timed_out" ? "hook_timed_out" : run.state === "unknown" ? "hook_unknown" : "hook_failed";
    const what =
      run.state === "timed_out"
        ? `ran longer than ${formatDuration(run.timeoutMs)}`
        : run.state === "unknown"
          ? "has an unknown outcome"
          : "failed";
    const detail = run.error === undefined ? what : `${what}: ${run.error}`;
    return this.fail(deployment, reason, this.words(deployment, hook, detail));
  }

  private words(deployment: Deployment, hook: FrozenHook, detail: string): string {
    const after = deployment.state === "pre_hook" ? "the live job was not touched" : "the new version is live and stays";
    return `${hook.phase}-hook ${hook.hookId} ${detail}; ${after}`;
  }

  private async fail(deployment: Deployment, reason: ReasonCode, message: string): Promise<Result> {
    const moved = await this.deps.store.move(deployment.id, deployment.version, {
      trigger: "fail",
      reason,
      message,
      actor: engineActor,
    });
    this.forget(deployment.id);
    this.deps.wakes.moved(moved);
    this.deps.onPhaseEnd(deployment.namespace);
    return settled;
  }

  private forget(id: string): void {
    this.activities.delete(id);
    this.deps.wakes.unwatch(id);
  }
}

function phaseOf(deployment: Deployment): "pre" | "post" | undefined {
  return deployment.state === "pre_hook" ? "pre" : deployment.state === "post_hook" ? "post" : undefined;
}
