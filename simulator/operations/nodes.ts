import type { Timer } from "../../model/clock.ts";
import { inDatacenters, inPool } from "../scheduler/node-checks.ts";
import type { DriverInfo, Node } from "../state/cluster-types.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { nanos, rfc3339, serverTerminal, terminal } from "../state/facts.ts";
import { newEval } from "../state/records.ts";
import type { Tx } from "../state/state.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Evaluation, Job } from "../state/types.ts";
import type { Operations } from "./context.ts";

/** What a test says about a node of its cluster; the rest is as on a plain Linux machine. */
export interface NodeOptions {
  readonly name?: string;
  readonly datacenter?: string;
  readonly pool?: string;
  readonly class?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly meta?: Readonly<Record<string, string>>;
  /** Drivers that work there. */
  readonly drivers?: readonly string[];
  /** MHz. */
  readonly cpu?: number;
  readonly cores?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly hostVolumes?: Readonly<Record<string, { readonly Name: string; readonly Path: string; readonly ReadOnly: boolean }>>;
}

const defaultDrivers = ["raw_exec", "exec", "docker", "java", "qemu", "mock_driver"];

/** A node as its client would register it. */
export function newNode(ops: Pick<Operations, "newId" | "now">, options: NodeOptions, version: string): Node {
  const id = ops.newId();
  const drivers = options.drivers ?? defaultDrivers;
  const cores = options.cores ?? 64;
  const cpu = options.cpu ?? cores * 2500;
  const name = options.name ?? `node-${id.slice(0, 8)}`;
  const info = (): DriverInfo => ({
    Attributes: null,
    Detected: true,
    Healthy: true,
    HealthDescription: "Healthy",
    UpdateTime: rfc3339(ops.now()),
  });
  return {
    ID: id,
    SecretID: ops.newId(),
    Datacenter: options.datacenter ?? "dc1",
    Name: name,
    HTTPAddr: "127.0.0.1:4646",
    TLSEnabled: false,
    Attributes: {
      "kernel.name": "linux",
      "kernel.arch": "x86_64",
      "os.name": "debian",
      "os.version": "12",
      "cpu.arch": "amd64",
      "cpu.numcores": String(cores),
      "cpu.totalcompute": String(cpu),
      "memory.totalbytes": String((options.memoryMb ?? 262_144) * 1_048_576),
      "nomad.version": version,
      "nomad.revision": "",
      "nomad.service_discovery": "true",
      "unique.hostname": name,
      "unique.network.ip-address": "127.0.0.1",
      ...Object.fromEntries(drivers.map((driver) => [`driver.${driver}`, "1"])),
      ...options.attributes,
    },
    Meta: options.meta ?? null,
    NodeClass: options.class ?? "",
    NodePool: options.pool ?? "default",
    ComputedClass: "",
    NodeResources: {
      Cpu: { CpuShares: cpu, TotalCpuCores: cores, ReservableCpuCores: Array.from({ length: cores }, (_, i) => i) },
      Memory: { MemoryMB: options.memoryMb ?? 262_144 },
      Disk: { DiskMB: options.diskMb ?? 4_000_000 },
      Devices: null,
      Networks: [],
      NodeNetworks: [],
      MinDynamicPort: 20_000,
      MaxDynamicPort: 32_000,
    },
    ReservedResources: {
      Cpu: { CpuShares: 0 },
      Memory: { MemoryMB: 0 },
      Disk: { DiskMB: 0 },
      Networks: { ReservedHostPorts: "" },
    },
    Drivers: Object.fromEntries(drivers.map((driver) => [driver, info()])),
    HostVolumes: options.hostVolumes ?? null,
    HostNetworks: null,
    CSIControllerPlugins: null,
    CSINodePlugins: null,
    Links: null,
    DrainStrategy: null,
    LastDrain: null,
    SchedulingEligibility: "eligible",
    Status: "ready",
    StatusDescription: "",
    StatusUpdatedAt: Math.floor(ops.now() / 1000),
    Events: [{ Message: "Node registered", Subsystem: "Cluster", Details: null, Timestamp: rfc3339(ops.now()), CreateIndex: 0 }],
    CgroupParent: "",
    CreateIndex: 0,
    ModifyIndex: 0,
  };
}

/** Adds a node, or changes one, and lets system jobs and jobs with allocations there look again. */
export function putNode(ops: Operations, node: Node, type: string): number {
  return ops.state.write(type, (tx) => {
    const old = tx.state.nodes.get(node.ID);
    tx.put("nodes", { ...node, CreateIndex: old?.CreateIndex ?? tx.index, ModifyIndex: tx.index });
    return tx.index;
  });
}

/** Evaluations for all that a change of a node concerns. */
export function evaluateNode(ops: Operations, node: Node, triggeredBy: string): Evaluation[] {
  const { state } = ops;
  const jobs = new Map<string, Job>();
  for (const alloc of state.allocs.by("node", node.ID)) {
    const job = state.jobs.get(scoped(alloc.Namespace, alloc.JobID));
    if (!terminal(alloc) || job?.Type === "system") jobs.set(scoped(alloc.Namespace, alloc.JobID), job ?? alloc.Job);
  }
  for (const job of state.jobs.rows.values()) {
    if (job.Stop || (job.Type !== "system" && job.Type !== "sysbatch")) continue;
    if (job.ParameterizedJob && !job.Dispatched) continue;
    if (job.Periodic) continue;
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

export function setNodeStatus(ops: Operations, id: string, status: string): void {
  const node = ops.state.nodes.get(id);
  if (node === undefined || node.Status === status) return;
  const message = status === "ready" ? "Node reregistered by heartbeat" : "Node heartbeat missed";
  const event = { Message: message, Subsystem: "Cluster", Details: null, Timestamp: rfc3339(ops.now()), CreateIndex: 0 };
  const next = {
    ...node,
    Status: status,
    StatusUpdatedAt: Math.floor(ops.now() / 1000),
    Events: [...node.Events, event].slice(-10),
  };
  putNode(ops, next, "NodeUpdateStatus");
  evaluateNode(ops, ops.state.nodes.get(id) ?? next, "node-update");
}

export interface DrainRequest {
  /** Milliseconds; 0: no deadline, negative: at once. */
  readonly deadlineMs: number;
  readonly ignoreSystemJobs: boolean;
}

/** Drains nodes: moves service allocations away a few at a time, lets batch work finish, then system jobs (nomad-api §6). */
export class Drainer {
  readonly #ops: Operations;
  readonly #timers = new Map<string, Timer>();
  #look: Timer | undefined;

  constructor(ops: Operations) {
    this.#ops = ops;
    ops.state.listen((write) => {
      if (this.#timers.size === 0) return;
      if (write.changes.some((change) => change.table === "allocs" || change.table === "nodes")) this.#soon();
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
      this.#ops.clock.setTimer(Math.min(wait, 2_000_000_000), () => this.#step(id, true)),
    );
    this.#soon();
    return index;
  }

  cancel(id: string, eligible: boolean): number {
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    const node = this.#ops.state.nodes.get(id);
    if (node === undefined) return this.#ops.state.index;
    const SchedulingEligibility = eligible ? "eligible" : node.SchedulingEligibility;
    const index = putNode(this.#ops, { ...node, DrainStrategy: null, SchedulingEligibility }, "NodeUpdateDrain");
    if (eligible) evaluateNode(this.#ops, this.#ops.state.nodes.get(id) ?? node, "node-update");
    return index;
  }

  #soon(): void {
    this.#look ??= this.#ops.clock.setTimer(2, () => {
      this.#look = undefined;
      for (const id of [...this.#timers.keys()]) this.#step(id, false);
    });
  }

  #step(id: string, deadline: boolean): void {
    const { state } = this.#ops;
    const node = state.nodes.get(id);
    const strategy = node?.DrainStrategy;
    if (node === undefined || !strategy) return void this.#timers.delete(id);
    const left = state.allocs
      .by("node", id)
      .filter((alloc) => !terminal(alloc) || (serverTerminal(alloc) && alloc.ClientStatus === "running"));
    const services = left.filter((alloc) => alloc.Job.Type !== "system" && alloc.Job.Type !== "sysbatch");
    const system = left.filter((alloc) => alloc.Job.Type === "system" || alloc.Job.Type === "sysbatch");
    const todo = deadline ? services : services.filter((alloc) => alloc.Job.Type === "service");
    this.#migrate(this.#allowed(todo, deadline), node);
    if (services.length > 0) return;
    if (!strategy.IgnoreSystemJobs && system.some((alloc) => !serverTerminal(alloc))) return this.#migrate(system, node);
    if (!strategy.IgnoreSystemJobs && system.length > 0) return;
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    const event = {
      Message: "Node drain complete",
      Subsystem: "Drain",
      Details: null,
      Timestamp: rfc3339(this.#ops.now()),
      CreateIndex: 0,
    };
    putNode(this.#ops, { ...node, DrainStrategy: null, Events: [...node.Events, event].slice(-10) }, "BatchNodeUpdateDrain");
  }

  /** As many per group as its `migrate` block lets go while the others are healthy. */
  #allowed(allocs: readonly Allocation[], all: boolean): Allocation[] {
    const movable = allocs.filter((alloc) => !alloc.DesiredTransition.Migrate && !serverTerminal(alloc));
    if (all) return movable;
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
    const live = state.allocs
      .by("job", scoped(alloc.Namespace, alloc.JobID))
      .filter((one) => one.TaskGroup === alloc.TaskGroup && !terminal(one));
    const healthy = live.filter(
      (one) => one.ClientStatus === "running" && one.DeploymentStatus?.Healthy === true && !one.DesiredTransition.Migrate,
    ).length;
    return healthy - (group.Count - (group.Migrate?.MaxParallel ?? 1));
  }

  #migrate(allocs: readonly Allocation[], node: Node): void {
    const moving = allocs.filter((alloc) => !alloc.DesiredTransition.Migrate && !serverTerminal(alloc));
    if (moving.length === 0) return;
    const { state } = this.#ops;
    const jobs = new Map(moving.map((alloc) => [scoped(alloc.Namespace, alloc.JobID), alloc]));
    const evals = [...jobs.values()].map((alloc) => {
      const job = state.jobs.get(scoped(alloc.Namespace, alloc.JobID)) ?? alloc.Job;
      return { ...newEval(this.#ops.newId(), job, "node-drain", this.#ops.now()), NodeID: node.ID };
    });
    state.write("AllocationUpdateDesiredStatus", (tx: Tx) => {
      for (const alloc of moving) {
        tx.put("allocs", { ...alloc, DesiredTransition: { ...alloc.DesiredTransition, Migrate: true }, ModifyIndex: tx.index });
      }
      upsertEvals(tx, evals);
    });
  }
}
