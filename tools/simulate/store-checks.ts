import type { Clock } from "../../model/clock.ts";
import type { Deployment, EventRecord, HookRun, NewDeployment } from "../../model/deployment.ts";
import { type JobKey, jobKey } from "../../model/job-key.ts";
import { isRunning, isTerminal } from "../../model/lifecycle.ts";
import { builtInDefaults, parseSettings } from "../../model/settings.ts";
import { windowHold, windowOf } from "../../plan/holds.ts";
import type { Store } from "../../store/open.ts";
import type { Catalogue } from "./catalogue.ts";
import type { PendingCall } from "./gate.ts";
import { storeReads } from "./ports.ts";
import type { Shadow } from "./shadow.ts";
import { Violation } from "./violation.ts";

const edges: Readonly<Record<string, readonly string[]>> = {
  detected: ["pending_approval", "pre_hook", "applying", "superseded", "completed", "failed"],
  pending_approval: ["pre_hook", "applying", "rejected", "superseded", "completed", "failed"],
  pre_hook: ["applying", "failed"],
  applying: ["post_hook", "completed", "failed"],
  post_hook: ["completed", "failed"],
};

export interface StoreChecksDeps {
  readonly store: () => Store;
  readonly shadow: Shadow;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  /** Longest time of applying, ms. */
  readonly applyTimeoutMs: number;
  readonly required: number;
  /** JobModifyIndex of the live job, 0 when there is none. */
  readonly liveIndex: (namespace: string, jobId: string) => number;
  /** Whether a plan of the deployment's stored spec shows a difference right now. */
  readonly differs: (deployment: Deployment) => Promise<boolean>;
  /** Whether a plan of the job was ever answered at this index. */
  readonly wasPlanned: (key: JobKey, index: number) => boolean;
  /** Whether a plan of the job showed a difference after that step of the shadow. */
  readonly differedSince: (key: JobKey, step: number) => boolean;
}

/** Looks at what each write to the store did, by the events that it left and the rows that they speak of. */
export class StoreChecks {
  private readonly deps: StoreChecksDeps;
  private seen = 0;

  constructor(deps: StoreChecksDeps) {
    this.deps = deps;
  }

  /** `value`: what the port answers, `null` for nothing, `undefined` when it refused. @throws Violation. */
  async after(call: PendingCall, value: unknown): Promise<void> {
    if (storeReads.has(call.name)) return;
    if (value !== undefined) this.noteHolds(call);
    if (call.name === "approve" && value !== undefined) this.checkApproval(call.args[0] as { id: string; specHash: string });
    const touched = new Set<string>();
    const events = await this.deps.store().eventsAfter(this.seen, 100);
    if (call.name === "create" && value !== undefined) this.checkBirth(call.args[0] as NewDeployment, value as Deployment);
    for (const event of events) {
      this.seen = event.id;
      if (event.deploymentId === undefined) continue;
      await this.checkEvent(event);
      touched.add(event.deploymentId);
    }
    const id = call.name === "move" ? String(call.args[0]) : undefined;
    if (id !== undefined) touched.add(id);
    for (const each of touched) await this.checkRow(each);
    if ((call.name === "ensureHookRun" || call.name === "updateHookRun") && value !== undefined) this.noteRun(value as HookRun);
  }

  private async checkEvent(event: EventRecord): Promise<void> {
    const id = event.deploymentId ?? "";
    const { shadow } = this.deps;
    const before = shadow.states.get(id);
    const { fromState, toState, kind } = event;
    if (kind === "promotion_requested" || kind === "fail_requested") shadow.asked.add(id);
    if (toState === undefined) return;
    if (before !== undefined && isTerminal(before) && toState !== before)
      throw new Violation("I6", `deployment ${id} went from ${before} to ${toState}`);
    if (toState === "superseded" && fromState !== undefined && isRunning(fromState))
      throw new Violation("I15", `deployment ${id} was superseded in ${fromState}`);
    if (fromState !== before) throw new Violation("I7", `an event of ${id} says it came from ${fromState}, it was ${before}`);
    if (fromState !== undefined && fromState !== toState) {
      if (!(edges[fromState] ?? []).includes(toState)) throw new Violation("I7", `no edge leads from ${fromState} to ${toState}`);
      const name = `${fromState} → ${toState}: ${event.reason ?? ""}`;
      shadow.reached.set(name, (shadow.reached.get(name) ?? 0) + 1);
      await this.checkMove(id, fromState, toState, event);
    }
    shadow.states.set(id, toState);
  }

  private async checkMove(id: string, from: Deployment["state"], to: Deployment["state"], event: EventRecord): Promise<void> {
    const row = await this.deps.store().deployment(id);
    const before = this.deps.shadow.row(id);
    if (row === undefined) throw new Violation("I7", `deployment ${id} has events and no row`);
    if (!isRunning(from) && isRunning(to)) await this.checkStart(row, from);
    if (before !== undefined) this.checkClock(before, event);
    if (to === "completed") await this.checkCompleted(row, event);
  }

  private async checkStart(row: Deployment, from: Deployment["state"]): Promise<void> {
    const { shadow, catalogue, clock } = this.deps;
    const key = jobKey(row.namespace, row.jobId);
    if (shadow.pausedAll || shadow.pausedJobs.has(key)) throw new Violation("I8", `${key} started while it was paused`);
    const declared = catalogue.byTarget(row.targetHash);
    if (from === "pending_approval") {
      const given = (await this.deps.store().approvals(row.id)).filter((each) => each.specHash === row.specHash);
      if (new Set(given.map((each) => each.identity)).size < this.deps.required)
        throw new Violation("I5", `deployment ${row.id} started with ${given.length} approvals`);
      return;
    }
    const settings = parseSettings(declared?.Meta, builtInDefaults);
    if (settings.policy !== "auto" || row.policy !== "auto")
      throw new Violation("I5", `deployment ${row.id} started by itself, its policy is ${settings.policy}`);
    const hold = windowHold(windowOf(settings, "auto", clock.now()), row.windowLiftedBy !== undefined);
    if (hold !== undefined) throw new Violation("I8", `deployment ${row.id} started although ${hold.message}`);
  }

  private checkClock(before: Deployment, event: EventRecord): void {
    if (event.reason !== "health_timeout" && event.reason !== "register_timeout") return;
    const start = Date.parse(before.promotedAt ?? before.enteredAt);
    const passed = this.deps.clock.now() - start;
    if (passed < this.deps.applyTimeoutMs) throw new Violation("I12", `deployment ${before.id} timed out after ${passed} ms`);
  }

  private async checkCompleted(row: Deployment, event: EventRecord): Promise<void> {
    const { shadow } = this.deps;
    const index = row.appliedIndex ?? row.baseIndex;
    shadow.settled.set(`${jobKey(row.namespace, row.jobId)} ${row.specHash}`, { index, step: shadow.tick() });
    const live = this.deps.liveIndex(row.namespace, row.jobId);
    if (event.reason === "nothing_to_apply") {
      if (live === row.baseIndex && (await this.deps.differs(row)))
        throw new Violation("I11", `deployment ${row.id} completed as in sync, but the live job differs`);
      return;
    }
    if (row.appliedIndex === undefined) throw new Violation("I11", `deployment ${row.id} completed and was never applied`);
  }

  private async checkRow(id: string): Promise<void> {
    const { shadow } = this.deps;
    const row = await this.deps.store().deployment(id);
    if (row === undefined) throw new Violation("I7", `deployment ${id} is gone`);
    const told = shadow.states.get(id);
    if (told !== row.state) {
      const rule = told !== undefined && isTerminal(told) ? "I6" : "I7";
      throw new Violation(rule, `deployment ${id} is ${row.state}, its events say ${told}`);
    }
    const before = shadow.row(id);
    const key = jobKey(row.namespace, row.jobId);
    const other = shadow.activeOf.get(key);
    if (!isTerminal(row.state) && other !== undefined && other !== id)
      throw new Violation("I1", `job ${key} has the active deployments ${other} and ${id}`);
    shadow.remember(row);
    if (row.appliedIndex !== undefined && before?.appliedIndex !== row.appliedIndex) await this.checkApplied(row);
  }

  /** Whatever was recorded as applied must be live, as long as nobody wrote since. */
  private async checkApplied(row: Deployment): Promise<void> {
    if (this.deps.liveIndex(row.namespace, row.jobId) !== row.appliedIndex) return;
    if (await this.deps.differs(row))
      throw new Violation("I11", `deployment ${row.id} is recorded as applied at ${row.appliedIndex}, but the live job differs`);
  }

  private checkBirth(input: NewDeployment, created: Deployment): void {
    const { shadow, liveIndex } = this.deps;
    const key = jobKey(input.namespace, input.jobId);
    shadow.hooks.set(created.id, input.hooks);
    if (!this.deps.wasPlanned(key, input.baseIndex))
      throw new Violation("I3", `deployment ${created.id} is made over index ${input.baseIndex}, at which nothing was planned`);
    const settled = shadow.settled.get(`${key} ${input.specHash}`);
    const again = settled?.index === input.baseIndex && input.mode === "apply" && input.retryOf === undefined;
    if (again && !this.deps.differedSince(key, settled.step))
      throw new Violation("D5", `${created.id} deploys to ${key} what was found to be live at index ${input.baseIndex}`);
    const latest = shadow.latest(key);
    if (latest === undefined || (latest.state !== "failed" && latest.state !== "rejected")) return;
    if (latest.retriedAt !== undefined || latest.specHash !== input.specHash) return;
    const unmoved = latest.baseIndex === input.baseIndex && liveIndex(input.namespace, input.jobId) === input.baseIndex;
    if (latest.appliedIndex !== undefined || unmoved)
      throw new Violation("I9", `deployment ${latest.id} of ${key} is ${latest.state}, and ${created.id} tries the same again`);
  }

  private checkApproval(input: { readonly id: string; readonly specHash: string }): void {
    const { shadow } = this.deps;
    if (!shadow.clicked.has(`${input.id} ${input.specHash}`))
      throw new Violation("I5", `an approval of ${input.id} was stored that nobody gave for this spec`);
    if (shadow.row(input.id)?.specHash !== input.specHash)
      throw new Violation("I4", `the approval of ${input.id} is for another spec`);
  }

  private noteHolds(call: PendingCall): void {
    const { shadow } = this.deps;
    if (call.name === "pauseJob") shadow.pausedJobs.add(String(call.args[0]));
    if (call.name === "resumeJob") shadow.pausedJobs.delete(String(call.args[0]));
    if (call.name === "pauseAll") shadow.pausedAll = true;
    if (call.name === "resumeAll") shadow.pausedAll = false;
  }

  private noteRun(run: HookRun): void {
    const before = this.deps.shadow.runs.get(run.token);
    if (before !== undefined && before.finishedAt !== undefined && run.state !== before.state)
      throw new Violation("I6", `hook run ${run.token} went from ${before.state} to ${run.state}`);
    if (run.state === "timed_out" && this.deps.clock.now() < Date.parse(run.startedAt) + run.timeoutMs)
      throw new Violation("I12", `hook run ${run.token} timed out early`);
    this.deps.shadow.runs.set(run.token, run);
  }
}
