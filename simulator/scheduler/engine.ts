import type { Clock, Timer } from "../../model/clock.ts";
import type { UpdateKind } from "../jobspec/types.ts";
import { applyPlan } from "../state/alloc-writes.ts";
import type { Node } from "../state/cluster-types.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { nanos } from "../state/facts.ts";
import type { State } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Evaluation, Job } from "../state/types.ts";
import { stoppedAllocation } from "./allocation.ts";
import { applicable } from "./applicable.ts";
import { blockedEvals, conflictEval, isSystem } from "./blocked.ts";
import type { SchedulerEnvironment } from "./environment.ts";
import { EvalTurns } from "./eval-turns.ts";
import { classOf } from "./feasibility.ts";
import { scheduleGeneric } from "./generic.ts";
import { reasons, type SchedulePlan } from "./plan-types.ts";
import { scheduleSystem } from "./system.ts";
import { lostWhileStopping, taintedNodes } from "./tainted.ts";

/** What judges whether a running allocation must restart for a new version (the pure half of the simulator). */
export type GroupUpdate = (existing: Job, next: Job, group: string) => UpdateKind;

interface Outcome {
  readonly plan: SchedulePlan;
  /** Ids of the evaluations that wait for room and for a time, or "". */
  readonly blocked: string;
  readonly next: string;
  /** Why it failed, or "". */
  readonly problem: string;
  readonly snapshotIndex: number;
}

/** Takes up pending evaluations as they are written, runs the scheduler for each and writes what it decided. */
export class Engine {
  readonly #env: SchedulerEnvironment;
  readonly #clock: Clock;
  readonly #groupUpdate: GroupUpdate;
  /** Evaluations whose time has not come. */
  readonly #waiting = new Map<string, Timer>();
  readonly #turns: EvalTurns;
  /** Where those that looked again and wait on may find room by now: a server keeps that in mind, and writes it when it cancels them. */
  readonly #outlooks = new Map<string, Pick<Evaluation, "ClassEligibility" | "EscapedComputedClass" | "SnapshotIndex">>();
  /** Set to hold evaluations back, as an operator's `PauseEvalBroker` does. */
  paused = false;

  constructor(env: SchedulerEnvironment, clock: Clock, groupUpdate: GroupUpdate) {
    this.#env = env;
    this.#clock = clock;
    this.#groupUpdate = groupUpdate;
    this.#turns = new EvalTurns(env.state, clock, (id) => this.#process(id));
    env.state.listen((write) => {
      const roomy = new Set<string>();
      for (const change of write.changes) {
        if (change.table === "evals") {
          if (change.after?.Status !== "blocked") this.#outlooks.delete(change.before?.ID ?? "");
          if (change.after?.Status === "pending" && change.before === undefined) this.#enqueue(change.after);
          else if (change.after === undefined || change.after.Status !== "pending")
            this.#forget(change.before?.ID ?? change.after?.ID ?? "");
        } else if (change.table === "nodes" && joined(change.before, change.after)) roomy.add(change.after?.ID ?? "");
        else if (write.type === "AllocationUpdated" && change.table === "allocs" && saidToBeOver(change.after))
          roomy.add(change.after?.NodeID ?? "");
      }
      if (roomy.size > 0) this.#unblock(roomy);
    });
    env.state.onRestore(() => this.#resume());
  }

  get state(): State {
    return this.#env.state;
  }

  #resume(): void {
    for (const timer of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
    this.#outlooks.clear();
    this.#turns.clear();
    for (const evaluation of this.state.evals.by("status", "pending")) this.#enqueue(evaluation);
  }

  #forget(id: string): void {
    this.#waiting.get(id)?.cancel();
    this.#waiting.delete(id);
  }

  #enqueue(evaluation: Evaluation): void {
    const until = evaluation.WaitUntil === undefined ? 0 : Date.parse(evaluation.WaitUntil) - this.#clock.now();
    if (until <= 0) {
      this.#turns.take(evaluation);
      return;
    }
    const timer = this.#clock.setTimer(until, () => {
      this.#waiting.delete(evaluation.ID);
      this.#turns.take(evaluation);
    });
    this.#waiting.set(evaluation.ID, timer);
  }

  /** Blocked evaluations try again when nodes have room again, unless they know that nodes of that class are not for them. */
  #unblock(nodeIds: ReadonlySet<string>): void {
    const classes = [...nodeIds].flatMap((id) => this.state.nodes.get(id) ?? []).map(classOf);
    for (const blocked of this.state.evals.by("status", "blocked")) {
      const { ClassEligibility } = this.#outlooks.get(blocked.ID) ?? blocked;
      const may = (name: string) => ClassEligibility?.[name] !== false;
      if (classes.length === 0 || classes.some(may)) this.#turns.take(blocked);
    }
  }

  #process(id: string): "done" | "again" {
    const evaluation = this.state.evals.get(id);
    if (evaluation === undefined || (evaluation.Status !== "pending" && evaluation.Status !== "blocked")) return "done";
    if (this.paused) {
      this.#enqueue(evaluation);
      return "done";
    }
    const now = this.#clock.now();
    const outcome = this.#attempt(evaluation, now);
    if (typeof outcome === "string") return outcome;
    const { plan, blocked, next, problem, snapshotIndex } = outcome;
    this.state.write("EvalUpdate", (tx) => {
      // One that waited for room tells no longer what found none then.
      const { FailedTGAllocs: _, ...current } = tx.state.evals.get(id) ?? evaluation;
      if (current.Status !== evaluation.Status) return;
      upsertEvals(tx, [
        {
          ...current,
          Status: problem === "" ? "complete" : "failed",
          StatusDescription: problem,
          PlanAnnotations: { DesiredTGUpdates: plan.desired },
          QueuedAllocations: plan.queued,
          ...(Object.keys(plan.failed).length === 0 ? {} : { FailedTGAllocs: plan.failed }),
          // Schedulers of system jobs do not say which one waits on their behalf.
          ...(blocked === "" || isSystem(evaluation) ? {} : { BlockedEval: blocked }),
          ...(next === "" ? {} : { NextEval: next }),
          ...(plan.deploymentId === "" ? {} : { DeploymentID: plan.deploymentId }),
          SnapshotIndex: snapshotIndex,
          ModifyTime: nanos(now),
        },
      ]);
    });
    return "done";
  }

  /**
   * Plans until the nodes take all of it, or nothing new a few times in a row: then the evaluation fails and another one waits.
   * `done` when a blocked evaluation has to wait on. `again` for one of a system job with a deployment: a server writes that with each of
   * its plans, which is progress, so that it goes on until nodes take all of it.
   */
  #attempt(evaluation: Evaluation, now: number): Outcome | "done" | "again" {
    const limit = evaluation.Type === "batch" || evaluation.Type === "sysbatch" ? 2 : 5;
    let [blocked, next] = ["", ""];
    for (let tries = 0; ; ) {
      const snapshotIndex = this.state.index;
      const plan = this.schedule(evaluation, this.state.jobs.get(scoped(evaluation.Namespace, evaluation.JobID)));
      const waits = evaluation.Status === "blocked" && !isSystem(evaluation);
      if (blocked === "" && !waits) {
        for (const waiting of blockedEvals(evaluation, plan, this.#env.newId, now))
          blocked = this.#block(evaluation, waiting, now);
      }
      next = this.#followUp(evaluation, plan, snapshotIndex, now) || next;
      const taken = applicable(this.state, plan);
      const progress = this.#writePlan(evaluation, taken.plan, now);
      if (taken.whole && waits && Object.keys(plan.failed).length > 0) {
        const { classes, escaped } = plan.outlook;
        const known = { ClassEligibility: classes, SnapshotIndex: snapshotIndex };
        this.#outlooks.set(evaluation.ID, escaped ? { ...known, EscapedComputedClass: true } : known);
        this.#cancelBlocked(evaluation, evaluation.ID, now);
        return "done";
      }
      if (taken.whole) return { plan, blocked, next, problem: "", snapshotIndex };
      if (isSystem(evaluation) && plan.deploymentId !== "") return "again";
      tries = progress ? 0 : tries + 1;
      if (tries < limit) continue;
      const problem = `maximum attempts reached (${limit})`;
      if (isSystem(evaluation)) return { plan, blocked, next, problem, snapshotIndex };
      const waiting = conflictEval(evaluation, plan, this.#env.newId(), now);
      // The scheduler forgets the deployment with each plan that is not taken.
      const forgetful = { ...plan, deploymentId: "" };
      return { plan: forgetful, blocked: this.#block(evaluation, waiting, now), next, problem, snapshotIndex };
    }
  }

  /** Evaluations for later, unless this one was such a one itself. Returns the id of the last, or "". */
  #followUp(evaluation: Evaluation, plan: SchedulePlan, SnapshotIndex: number, now: number): string {
    if (plan.followups.length === 0 || evaluation.WaitUntil !== undefined) return "";
    const time = { CreateTime: nanos(now), ModifyTime: nanos(now) };
    const followups = plan.followups.map((one) => ({ ...one, PreviousEval: evaluation.ID, SnapshotIndex, ...time }));
    this.state.write("EvalUpdate", (tx) => upsertEvals(tx, followups));
    return followups.at(-1)?.ID ?? "";
  }

  /** Whether there was anything to write. */
  #writePlan(evaluation: Evaluation, plan: SchedulePlan, now: number): boolean {
    const nothing =
      plan.allocs.length + plan.stopped.length + plan.deploymentUpdates.length === 0 && plan.deployment === undefined;
    if (nothing) return false;
    const { allocs, stopped, deployment, deploymentUpdates } = plan;
    this.state.write("PlanResult", (tx) =>
      applyPlan(tx, { evalId: evaluation.ID, allocs, stopped, deployment, deploymentUpdates }, now),
    );
    return true;
  }

  /** Leaves one evaluation that waits for capacity; an older one of the same job is cancelled. Returns its id. */
  #block(evaluation: Evaluation, blocked: Evaluation, now: number): string {
    this.state.write("EvalUpdate", (tx) => upsertEvals(tx, [{ ...blocked, SnapshotIndex: this.state.index }]));
    this.#cancelBlocked(evaluation, blocked.ID, now);
    return blocked.ID;
  }

  /** One of a job waits; those that were woken are not waiting. */
  #cancelBlocked({ Namespace, JobID }: Evaluation, but: string, now: number): void {
    const older = this.state.evals
      .by("job", scoped(Namespace, JobID))
      .filter((one) => one.Status === "blocked" && one.ID !== but && !this.#turns.has(one));
    if (older.length === 0) return;
    const StatusDescription = `existing blocked evaluation exists for job ${JSON.stringify(JobID)}`;
    const canceled = older.map((one) => {
      return { ...one, ...this.#outlooks.get(one.ID), Status: "canceled", StatusDescription, ModifyTime: nanos(now) };
    });
    this.state.write("EvalUpdate", (tx) => upsertEvals(tx, canceled));
  }

  /** Decides without writing. `job` may be one that is not stored: that is the dry run of plan. */
  schedule(evaluation: Evaluation, job: Job | undefined): SchedulePlan {
    const existing = this.state.allocs.by("job", scoped(evaluation.Namespace, evaluation.JobID));
    const tainted = taintedNodes(this.state, existing);
    const schedule = isSystem(evaluation) ? scheduleSystem : scheduleGeneric;
    const plan = schedule(this.#env, evaluation, job, existing, tainted, this.#groupUpdate);
    const gone = lostWhileStopping(existing, tainted);
    if (gone.length === 0) return plan;
    const lost = gone.map((alloc) =>
      stoppedAllocation({ alloc, clientStatus: "lost", description: reasons.lost, followupEval: "" }),
    );
    return { ...plan, stopped: [...plan.stopped, ...lost] };
  }
}

/** A node is new or ready again, or may be scheduled on again. */
function joined(before: Node | undefined, after: Node | undefined): boolean {
  if (after?.Status !== "ready") return false;
  if (before?.Status !== "ready") return true;
  return before.SchedulingEligibility === "ineligible" && after.SchedulingEligibility === "eligible";
}

/** Room comes free when a client says that an allocation is over, not yet when the server counts it as lost. */
function saidToBeOver(after: Allocation | undefined): boolean {
  return after?.ClientStatus === "complete" || after?.ClientStatus === "failed";
}
