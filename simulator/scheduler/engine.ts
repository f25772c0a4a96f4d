import type { Clock, Timer } from "../../model/clock.ts";
import type { UpdateKind } from "../jobspec/types.ts";
import { applyPlan } from "../state/alloc-writes.ts";
import type { Node } from "../state/cluster-types.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { clientTerminal, nanos } from "../state/facts.ts";
import type { State } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Evaluation, Job } from "../state/types.ts";
import { stoppedAllocation } from "./allocation.ts";
import { blockedEval } from "./blocked.ts";
import type { SchedulerEnvironment } from "./environment.ts";
import { scheduleGeneric } from "./generic.ts";
import { isReady } from "./node-checks.ts";
import { reasons, type SchedulePlan } from "./plan-types.ts";
import { scheduleSystem } from "./system.ts";
import { taintedNodes } from "./tainted.ts";

/** Milliseconds between an evaluation and its scheduler. */
const processDelay = 1;

/** What judges whether a running allocation must restart for a new version (the pure half of the simulator). */
export type GroupUpdate = (existing: Job, next: Job, group: string) => UpdateKind;

/** Takes up pending evaluations as they are written, runs the scheduler for each and writes what it decided. */
export class Engine {
  readonly #env: SchedulerEnvironment;
  readonly #clock: Clock;
  readonly #groupUpdate: GroupUpdate;
  readonly #waiting = new Map<string, Timer>();
  /** Blocked evaluations that were woken by capacity and are about to be processed. */
  readonly #woken = new Set<string>();
  /** Set to hold evaluations back, as an operator's `PauseEvalBroker` does. */
  paused = false;

  constructor(env: SchedulerEnvironment, clock: Clock, groupUpdate: GroupUpdate) {
    this.#env = env;
    this.#clock = clock;
    this.#groupUpdate = groupUpdate;
    env.state.listen((write) => {
      let capacity = false;
      for (const change of write.changes) {
        if (change.table === "evals") {
          if (change.after?.Status === "pending" && change.before === undefined) this.#enqueue(change.after);
          else if (change.after === undefined || change.after.Status !== "pending")
            this.#forget(change.before?.ID ?? change.after?.ID ?? "");
        } else if (change.table === "nodes") capacity ||= joined(change.before, change.after);
        else if (change.table === "allocs") capacity ||= freed(change.before, change.after);
      }
      if (capacity) this.#unblock();
    });
    env.state.onRestore(() => this.#resume());
  }

  get state(): State {
    return this.#env.state;
  }

  #resume(): void {
    for (const timer of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
    this.#woken.clear();
    for (const evaluation of this.state.evals.by("status", "pending")) this.#enqueue(evaluation);
  }

  #forget(id: string): void {
    this.#waiting.get(id)?.cancel();
    this.#waiting.delete(id);
  }

  #enqueue(evaluation: Evaluation): void {
    const until = evaluation.WaitUntil === undefined ? 0 : Date.parse(evaluation.WaitUntil) - this.#clock.now();
    const timer = this.#clock.setTimer(Math.max(processDelay, until), () => {
      this.#waiting.delete(evaluation.ID);
      this.#process(evaluation.ID);
    });
    this.#waiting.set(evaluation.ID, timer);
  }

  /** Blocked evaluations try again when a node or room on one came. */
  #unblock(): void {
    for (const blocked of this.state.evals.by("status", "blocked")) {
      if (this.#woken.has(blocked.ID)) continue;
      this.#woken.add(blocked.ID);
      this.#clock.setTimer(processDelay, () => {
        this.#woken.delete(blocked.ID);
        this.#process(blocked.ID);
      });
    }
  }

  #process(id: string): void {
    const evaluation = this.state.evals.get(id);
    if (evaluation === undefined || (evaluation.Status !== "pending" && evaluation.Status !== "blocked")) return;
    if (this.paused) {
      this.#enqueue(evaluation);
      return;
    }
    const snapshotIndex = this.state.index;
    const job = this.state.jobs.get(scoped(evaluation.Namespace, evaluation.JobID));
    const plan = this.schedule(evaluation, job);
    const now = this.#clock.now();
    const failed = Object.keys(plan.failed).length > 0;
    if (evaluation.Status === "blocked" && failed) {
      this.#writePlan(evaluation, plan, now);
      return;
    }
    const blocked = this.#block(evaluation, plan, now);
    const followups = plan.followups.map((one) => ({
      ...one,
      PreviousEval: evaluation.ID,
      SnapshotIndex: snapshotIndex,
      CreateTime: nanos(now),
      ModifyTime: nanos(now),
    }));
    if (followups.length > 0) this.state.write("EvalUpdate", (tx) => upsertEvals(tx, followups));
    this.#writePlan(evaluation, plan, now);
    this.state.write("EvalUpdate", (tx) => {
      const current = tx.state.evals.get(id) ?? evaluation;
      if (current.Status !== evaluation.Status) return;
      upsertEvals(tx, [
        {
          ...current,
          Status: "complete",
          StatusDescription: "",
          PlanAnnotations: { DesiredTGUpdates: plan.desired },
          QueuedAllocations: plan.queued,
          ...(failed ? { FailedTGAllocs: plan.failed } : {}),
          ...(blocked === "" ? {} : { BlockedEval: blocked }),
          ...(followups.length > 0 ? { NextEval: followups.at(-1)?.ID ?? "" } : {}),
          ...(plan.deploymentId === "" ? {} : { DeploymentID: plan.deploymentId }),
          SnapshotIndex: snapshotIndex,
          ModifyTime: nanos(now),
        },
      ]);
    });
  }

  #writePlan(evaluation: Evaluation, plan: SchedulePlan, now: number): void {
    const nothing =
      plan.allocs.length + plan.stopped.length + plan.deploymentUpdates.length === 0 && plan.deployment === undefined;
    if (nothing) return;
    const { allocs, stopped, deployment, deploymentUpdates } = plan;
    this.state.write("PlanResult", (tx) =>
      applyPlan(tx, { evalId: evaluation.ID, allocs, stopped, deployment, deploymentUpdates }, now),
    );
  }

  /** Leaves one evaluation that waits for capacity; an older one of the same job is cancelled. Returns its id, or "". */
  #block(evaluation: Evaluation, plan: SchedulePlan, now: number): string {
    const blocked = blockedEval(evaluation, plan, this.#env.newId(), now);
    if (blocked === undefined) return "";
    const older = this.state.evals
      .by("job", scoped(evaluation.Namespace, evaluation.JobID))
      .filter((one) => one.Status === "blocked" && one.ID !== evaluation.ID);
    this.state.write("EvalUpdate", (tx) => upsertEvals(tx, [{ ...blocked, SnapshotIndex: this.state.index }]));
    if (older.length > 0) {
      const StatusDescription = `existing blocked evaluation exists for job ${JSON.stringify(evaluation.JobID)}`;
      const canceled = older.map((one) => ({ ...one, Status: "canceled", StatusDescription, ModifyTime: nanos(now) }));
      this.state.write("EvalUpdate", (tx) => upsertEvals(tx, canceled));
    }
    return blocked.ID;
  }

  /** Decides without writing. `job` may be one that is not stored: that is the dry run of plan. */
  schedule(evaluation: Evaluation, job: Job | undefined): SchedulePlan {
    const existing = this.state.allocs.by("job", scoped(evaluation.Namespace, evaluation.JobID));
    const tainted = taintedNodes(this.state, existing);
    const system = evaluation.Type === "system" || evaluation.Type === "sysbatch";
    const schedule = system ? scheduleSystem : scheduleGeneric;
    const plan = schedule(this.#env, evaluation, job, existing, tainted, this.#groupUpdate);
    const gone = existing.filter((alloc) =>
      isLostWhileStopping(alloc, tainted.get(alloc.NodeID)?.Status, tainted.has(alloc.NodeID)),
    );
    if (gone.length === 0) return plan;
    const lost = gone.map((alloc) =>
      stoppedAllocation({ alloc, clientStatus: "lost", description: reasons.lost, followupEval: "" }),
    );
    return { ...plan, stopped: [...plan.stopped, ...lost] };
  }
}

/** A node takes work that did not before. */
function joined(before: Node | undefined, after: Node | undefined): boolean {
  return after !== undefined && isReady(after) && (before === undefined || !isReady(before));
}

/** Room came free: a client said that an allocation is over, or one that held none is gone. */
function freed(before: Allocation | undefined, after: Allocation | undefined): boolean {
  if (before === undefined) return false;
  if (after === undefined) return true;
  return !clientTerminal(before) && clientTerminal(after);
}

/** Told to stop, but its node died before it could say so. */
function isLostWhileStopping(alloc: Allocation, status: string | undefined, tainted: boolean): boolean {
  if (!tainted || (status !== undefined && status !== "down")) return false;
  const stopping = alloc.DesiredStatus === "stop" || alloc.DesiredStatus === "evict";
  return stopping && (alloc.ClientStatus === "running" || alloc.ClientStatus === "pending");
}
