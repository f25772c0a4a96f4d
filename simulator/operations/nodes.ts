import type { Timer } from "../../model/clock.ts";
import { inDatacenters, inPool } from "../scheduler/node-checks.ts";
import { wish } from "../state/alloc-writes.ts";
import type { Node } from "../state/cluster-types.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { clientTerminal, nanos, rfc3339, serverTerminal, terminal } from "../state/facts.ts";
import { newEval } from "../state/records.ts";
import type { Tx } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Evaluation, Job } from "../state/types.ts";
import type { Operations } from "./context.ts";

/** Adds a node, or changes one, and lets system jobs and jobs with allocations there look again. */
export function putNode(ops: Operations, node: Node, type: string): number {
  return ops.state.write(type, (tx) => {
    const old = tx.state.nodes.get(node.ID);
    tx.put("nodes", { ...node, CreateIndex: old?.CreateIndex ?? tx.index, ModifyIndex: tx.index });
    return tx.index;
  });
}

/**
 * Evaluations for all that a change of a node concerns: services that did not end there by the server's wish, batch work that is not
 * over, and every system job that may run there. Those of sysbatch jobs are never looked at again for a node's sake.
 */
export function evaluateNode(ops: Operations, node: Node, triggeredBy: string): Evaluation[] {
  const { state } = ops;
  const jobs = new Map<string, Job>();
  for (const alloc of state.allocs.by("node", node.ID)) {
    if (concerned(alloc)) jobs.set(scoped(alloc.Namespace, alloc.JobID), alloc.Job);
  }
  for (const job of state.jobs.rows.values()) {
    if (job.Type !== "system" || job.Stop) continue;
    if (inPool(node, job.NodePool) && inDatacenters(node, job.Datacenters)) jobs.set(scoped(job.Namespace, job.ID), job);
  }
  const evals = [...jobs.values()].map((job) => ({
    ...newEval(ops.newId(), job, triggeredBy, ops.now()),
    NodeID: node.ID,
    NodeModifyIndex: node.ModifyIndex,
  }));
  if (evals.length > 0) state.write("EvalUpdate", (tx) => upsertEvals(tx, evals));
  return evals;
}

function concerned(alloc: Allocation): boolean {
  if (alloc.Job.Type === "service") return !serverTerminal(alloc) || !clientTerminal(alloc);
  return alloc.Job.Type === "batch" && !clientTerminal(alloc);
}

/** What a client says of its node by a heartbeat, or the server when it hears none. */
export function setNodeStatus(ops: Operations, id: string, said: "ready" | "down" | "disconnected"): void {
  const node = ops.state.nodes.get(id);
  if (node === undefined) return;
  const status = nextStatus(ops, node, said);
  if (status !== node.Status) writeStatus(ops, node, status);
  if (status === "down" || concernsJobs(node.Status, status)) evaluateNode(ops, ops.state.nodes.get(id) ?? node, "node-update");
}

/** One that was missed while its allocations lived on is not ready before its client has told how they fared. */
function nextStatus(ops: Operations, node: Node, said: string): string {
  if (said !== "ready") return said;
  if (node.Status === "disconnected") return "initializing";
  if (node.Status !== "initializing" || node.LastAllocUpdateIndex > node.LastMissedHeartbeatIndex) return said;
  return ops.state.allocs.by("node", node.ID).every(terminal) ? said : node.Status;
}

function writeStatus(ops: Operations, node: Node, Status: string): void {
  const Message = ["down", "disconnected"].includes(Status) ? "Node heartbeat missed" : "Node reregistered by heartbeat";
  const event = { Message, Subsystem: "Cluster", Details: null, Timestamp: rfc3339(ops.now()), CreateIndex: 0 };
  const told = Status !== "ready" || node.Status === "down";
  ops.state.write("NodeUpdateStatus", (tx) => {
    const missed = isUnresponsive(Status) && !isUnresponsive(node.Status);
    const indexes = missed
      ? { LastMissedHeartbeatIndex: tx.index }
      : Status === "ready" && node.Status !== "ready"
        ? { LastMissedHeartbeatIndex: 0 }
        : {};
    const StatusUpdatedAt = Math.floor(ops.now() / 1000);
    const Events = told ? [...node.Events, event].slice(-10) : node.Events;
    tx.put("nodes", { ...node, ...indexes, Status, StatusUpdatedAt, Events, ModifyIndex: tx.index });
  });
}

/** Such a node's client may not speak of its allocations. */
export function isUnresponsive(status: string): boolean {
  return status === "down" || status === "disconnected";
}

function concernsJobs(before: string, after: string): boolean {
  if ((before === "disconnected") !== (after === "disconnected")) return true;
  return after === "ready" && (before === "down" || before === "initializing");
}

export interface DrainRequest {
  /** Milliseconds; 0: no deadline, negative: at once. */
  readonly deadlineMs: number;
  readonly ignoreSystemJobs: boolean;
}

/** Milliseconds for which news of draining nodes are gathered: longer than a deployment is looked at, shorter than it is pushed on. */
const gather = 5;

/** Drains nodes: moves service allocations away a few at a time, lets batch work finish, then system jobs (nomad-api §6). */
export class Drainer {
  readonly #ops: Operations;
  readonly #timers = new Map<string, Timer>();
  #look: Timer | undefined;
  /** Nodes of which something was heard since the last look: only of those it is asked whether they are done. */
  readonly #heard = new Set<string>();
  /** Jobs that had work on a draining node which was not told to stop; what others left there is let alone. */
  readonly #jobs = new Set<string>();

  constructor(ops: Operations) {
    this.#ops = ops;
    ops.state.listen((write) => {
      if (this.#timers.size === 0) return;
      for (const change of write.changes) {
        if (change.after === undefined) continue;
        if (change.table === "allocs") this.#soon(change.after.NodeID);
        else if (change.table === "nodes") this.#soon(change.after.ID);
      }
    });
  }

  start(id: string, request: DrainRequest): number {
    const { state } = this.#ops;
    const node = state.nodes.get(id);
    if (node === undefined) return state.index;
    const now = this.#ops.now();
    const deadline = request.deadlineMs > 0 ? rfc3339(now + request.deadlineMs) : "0001-01-01T00:00:00Z";
    const strategy = {
      Deadline: nanos(request.deadlineMs),
      IgnoreSystemJobs: request.ignoreSystemJobs,
      ForceDeadline: deadline,
      StartedAt: rfc3339(now),
    };
    const event = {
      Message: "Node drain strategy set",
      Subsystem: "Drain",
      Details: null,
      Timestamp: rfc3339(now),
      CreateIndex: 0,
    };
    const index = putNode(
      this.#ops,
      { ...node, DrainStrategy: strategy, SchedulingEligibility: "ineligible", Events: [...node.Events, event].slice(-10) },
      "NodeUpdateDrain",
    );
    this.#timers.get(id)?.cancel();
    const wait = request.deadlineMs < 0 ? 0 : request.deadlineMs === 0 ? 365 * 86_400_000 : request.deadlineMs;
    this.#timers.set(
      id,
      this.#ops.clock.setTimer(Math.min(wait, 2_000_000_000), () => this.#step(id, true, true)),
    );
    this.#soon(id);
    return index;
  }

  cancel(id: string, eligible: boolean): number {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    const node = this.#ops.state.nodes.get(id);
    if (node === undefined) return this.#ops.state.index;
    const SchedulingEligibility = eligible ? "eligible" : node.SchedulingEligibility;
    const index = putNode(this.#ops, { ...node, DrainStrategy: null, SchedulingEligibility }, "NodeUpdateDrain");
    if (eligible && node.SchedulingEligibility === "ineligible")
      evaluateNode(this.#ops, this.#ops.state.nodes.get(id) ?? node, "node-update");
    return index;
  }

  #soon(heardOf: string): void {
    this.#heard.add(heardOf);
    this.#look ??= this.#ops.clock.setTimer(gather, () => {
      this.#look = undefined;
      const heard = new Set(this.#heard);
      this.#heard.clear();
      for (const id of [...this.#timers.keys()]) this.#step(id, false, heard.has(id));
      for (const job of this.#jobs) if (!this.#drains(job)) this.#jobs.delete(job);
    });
  }

  /** Whether a draining node still has something of a job. */
  #drains(job: string): boolean {
    const { allocs } = this.#ops.state;
    return allocs.by("job", job).some((alloc) => this.#timers.has(alloc.NodeID) && !clientTerminal(alloc));
  }

  /**
   * Services move as their `migrate` block lets them; batch work may finish. Once all of it is over, or the deadline is there, the rest is
   * told to go, and the drain is complete without waiting for it.
   */
  #step(id: string, deadline: boolean, heard: boolean): void {
    const { state } = this.#ops;
    const node = state.nodes.get(id);
    const strategy = node?.DrainStrategy;
    if (node === undefined || !strategy) return void this.#timers.delete(id);
    const allocs = state.allocs.by("node", id);
    const work = allocs.filter((alloc) => alloc.Job.Type !== "system");
    for (const alloc of work) {
      if (!terminal(alloc)) this.#jobs.add(scoped(alloc.Namespace, alloc.JobID));
    }
    const services = work.filter((alloc) => alloc.Job.Type === "service" && this.#jobs.has(scoped(alloc.Namespace, alloc.JobID)));
    if (!deadline) this.#migrate(this.#allowed(services));
    if (!deadline && !(heard && work.every(clientTerminal))) return;
    this.#migrate(allocs.filter((alloc) => !terminal(alloc) && !(alloc.Job.Type === "system" && strategy.IgnoreSystemJobs)));
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    const event = {
      Message: "Node drain complete",
      Subsystem: "Drain",
      Details: deadline ? { deadline_reached: "true" } : null,
      Timestamp: rfc3339(this.#ops.now()),
      CreateIndex: 0,
    };
    const last = state.nodes.get(id) ?? node;
    putNode(this.#ops, { ...last, DrainStrategy: null, Events: [...last.Events, event].slice(-10) }, "BatchNodeUpdateDrain");
  }

  /** As many per group as its `migrate` block lets go while the others are healthy. */
  #allowed(allocs: readonly Allocation[]): Allocation[] {
    const movable = allocs.filter((alloc) => !alloc.DesiredTransition.Migrate && !clientTerminal(alloc));
    const room = new Map<string, number>();
    return movable.filter((alloc) => {
      const key = `${scoped(alloc.Namespace, alloc.JobID)}\u0000${alloc.TaskGroup}`;
      const left = room.get(key) ?? this.#room(alloc);
      room.set(key, left - 1);
      return left > 0;
    });
  }

  #room(alloc: Allocation): number {
    const { state } = this.#ops;
    const job = state.jobs.get(scoped(alloc.Namespace, alloc.JobID)) ?? alloc.Job;
    const group = job.TaskGroups.find((one) => one.Name === alloc.TaskGroup);
    if (group === undefined) return 1;
    const healthy = state.allocs
      .by("job", scoped(alloc.Namespace, alloc.JobID))
      .filter(
        (one) =>
          one.TaskGroup === alloc.TaskGroup &&
          !terminal(one) &&
          typeof one.DeploymentStatus?.Healthy === "boolean" &&
          !one.DesiredTransition.Migrate,
      ).length;
    return healthy - (group.Count - (group.Migrate?.MaxParallel ?? 1));
  }

  #migrate(moving: readonly Allocation[]): void {
    if (moving.length === 0) return;
    const { state } = this.#ops;
    const jobs = new Map(moving.map((alloc) => [scoped(alloc.Namespace, alloc.JobID), alloc.Job]));
    const evals = [...jobs.values()].map((job) => newEval(this.#ops.newId(), job, "node-drain", this.#ops.now()));
    state.write("AllocationUpdateDesiredStatus", (tx: Tx) => {
      for (const alloc of moving) {
        // Batch work that is moved by force is not placed again.
        const more = alloc.Job.Type === "batch" ? { MigrateDisablePlacement: true } : {};
        wish(tx, alloc, { Migrate: true, ...more });
      }
      upsertEvals(tx, evals);
    });
  }
}
