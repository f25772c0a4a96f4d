import type { Node } from "../state/cluster-types.ts";
import { clientTerminal, terminal } from "../state/facts.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Constraint, Job, TaskGroup } from "../state/types.ts";
import { meets, resolveTarget } from "./constraints.ts";
import type { SchedulerEnvironment } from "./environment.ts";
import { Feasibility } from "./feasibility.ts";
import { holdsTwice, type NodeLoad, type Offer, portKey, tryFit, usageOf } from "./fit.ts";
import { Metrics } from "./metrics.ts";
import { inDatacenters, inPool, isReady, missingCsiVolumes } from "./node-checks.ts";
import type { Outlook } from "./plan-types.ts";
import { type PlacedAllocations, usedValues } from "./property-use.ts";
import { SpreadScore } from "./spread-score.ts";

export interface Choice {
  readonly node: Node;
  readonly offer: Offer;
  readonly metrics: Metrics;
}

/** Places the allocations of one evaluation: keeps in mind what the evaluation stops and has already placed. */
export class Selector {
  readonly #env: SchedulerEnvironment;
  readonly #job: Job;
  readonly nodes: readonly Node[];
  readonly #byDatacenter: Record<string, number> = {};
  readonly #stopped = new Set<string>();
  readonly #noted = new Set<string>();
  readonly #placed = new Map<string, Allocation[]>();
  readonly feasibility: Feasibility;
  /** Whether each choice is about one node, and knows nothing of the others. */
  readonly #forgetful: boolean;
  readonly #spread: SpreadScore;
  /** Things beside nodes that the cluster lacks. */
  readonly missing = new Set<string>();

  constructor(env: SchedulerEnvironment, job: Job, forgetful = false) {
    this.#env = env;
    this.#job = job;
    this.#forgetful = forgetful;
    this.feasibility = new Feasibility(job);
    this.#spread = new SpreadScore(job, (id) => env.state.nodes.get(id));
    this.nodes = env.state.nodes
      .sorted()
      .filter((node) => inPool(node, job.NodePool) && isReady(node) && inDatacenters(node, job.Datacenters));
    for (const node of this.nodes) this.#byDatacenter[node.Datacenter] = (this.#byDatacenter[node.Datacenter] ?? 0) + 1;
  }

  stop(alloc: Allocation): void {
    this.#stopped.add(alloc.ID);
  }

  unstop(alloc: Allocation): void {
    this.#stopped.delete(alloc.ID);
  }

  /** The evaluation writes something into an allocation that stays. */
  note(alloc: Allocation): void {
    this.#noted.add(alloc.ID);
  }

  place(alloc: Allocation): void {
    const list = this.#placed.get(alloc.NodeID);
    if (list === undefined) this.#placed.set(alloc.NodeID, [alloc]);
    else list.push(alloc);
  }

  get outlook(): Outlook {
    const { classes, escaped } = this.feasibility;
    return { classes, escaped, missing: [...this.missing].sort() };
  }

  metrics(): Metrics {
    return new Metrics(this.#job.NodePool, this.nodes.length, this.#byDatacenter);
  }

  /** The best node for an allocation of the group, or the metrics that say why there is none. `avoid` only lowers a node's rank. */
  select(
    group: TaskGroup,
    allocName: string,
    nodes: readonly Node[] = this.nodes,
    avoid: ReadonlySet<string> = new Set(),
  ): Choice | Metrics {
    const metrics = this.metrics();
    if (this.#forgetful) {
      this.feasibility.forget();
      this.missing.clear();
    }
    this.feasibility.begin(group);
    let best: Choice | undefined;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (const node of nodes) {
      metrics.evaluated++;
      const reason = this.#filtered(node, group, allocName);
      if (reason !== undefined) {
        metrics.filter(node, reason);
        continue;
      }
      const load = this.#load(node);
      const offer = tryFit(node, load, group);
      if (typeof offer === "string") {
        metrics.exhaust(node, offer);
        continue;
      }
      const score = this.#score(node, load, group, metrics, avoid.has(node.ID));
      if (score > bestScore) [best, bestScore] = [{ node, offer, metrics }, score];
    }
    return best ?? metrics;
  }

  #filtered(node: Node, group: TaskGroup, allocName: string): string | undefined {
    const reason = this.feasibility.refusal(node, group, allocName);
    if (reason?.startsWith("missing CSI volume(s)")) {
      for (const name of missingCsiVolumes(this.#job.Namespace, group, allocName)) this.missing.add(name);
    }
    return reason ?? this.#indistinct(node, group);
  }

  #load(node: Node): NodeLoad {
    const load = this.#env.loads.of(node.ID, this.#stopped);
    const placed = this.#placed.get(node.ID);
    if (placed === undefined) return load;
    const usage = { ...load.usage };
    const ports = new Set(load.ports);
    for (const alloc of placed) {
      const group = alloc.Job.TaskGroups.find((one) => one.Name === alloc.TaskGroup);
      if (group === undefined) continue;
      const need = usageOf(group);
      usage.cpu += need.cpu;
      usage.cores += need.cores;
      usage.memory += need.memory;
      usage.disk += need.disk;
      for (const port of alloc.AllocatedResources?.Shared.Ports ?? []) ports.add(portKey(port.HostIP, port.Value));
    }
    return { usage, ports, collides: load.collides || placed.some(holdsTwice) };
  }

  #ofJob(): readonly Allocation[] {
    return this.#env.state.allocs.by("job", scoped(this.#job.Namespace, this.#job.ID));
  }

  /**
   * Allocations of the job that count as neighbours: also those that are told to stop, until their client says that they did, and
   * failed ones that the same evaluation makes a note on, even where it replaces them.
   */
  #siblings(): Allocation[] {
    const counts = (alloc: Allocation) => this.#noted.has(alloc.ID) || !(clientTerminal(alloc) || this.#stopped.has(alloc.ID));
    const live = this.#ofJob().filter(counts);
    return [...live, ...[...this.#placed.values()].flat()];
  }

  /** Allocations whose places count for properties of nodes. */
  #properties(fits: (alloc: Allocation) => boolean): PlacedAllocations {
    const ofJob = this.#ofJob().filter(fits);
    return {
      existing: ofJob.filter((alloc) => !terminal(alloc)),
      stopping: ofJob.filter((alloc) => this.#stopped.has(alloc.ID)),
      // What is only noted, or updated in place, counts twice: the server sees it among those that are there as well.
      proposed: [
        ...[...this.#placed.values()].flat().filter(fits),
        ...ofJob.filter((one) => !terminal(one) && this.#noted.has(one.ID)),
      ],
    };
  }

  /** `distinct_hosts` and `distinct_property`, of the job and of the group. */
  #indistinct(node: Node, group: TaskGroup): string | undefined {
    const scopes: [readonly Constraint[], boolean][] = [
      [this.#job.Constraints ?? [], false],
      [group.Constraints ?? [], true],
    ];
    for (const [constraints, groupOnly] of scopes) {
      for (const constraint of constraints) {
        if (!constraint.Operand.startsWith("distinct_")) continue;
        const here = (alloc: Allocation) => !groupOnly || alloc.TaskGroup === group.Name;
        // System jobs are not asked to keep apart what each node gets once.
        if (
          constraint.Operand === "distinct_hosts" &&
          !this.#forgetful &&
          !["0", "f", "F", "false", "FALSE", "False"].includes(constraint.RTarget)
        ) {
          if (this.#siblings().some((alloc) => alloc.NodeID === node.ID && here(alloc))) return "distinct_hosts";
        }
        if (constraint.Operand === "distinct_property") {
          const taken = this.#propertyTaken(node, constraint, this.#properties(here));
          if (taken !== undefined) return taken;
        }
      }
    }
    return undefined;
  }

  #propertyTaken(node: Node, constraint: Constraint, allocs: PlacedAllocations): string | undefined {
    const value = resolveTarget(constraint.LTarget, node);
    if (value === undefined) return `missing property "${constraint.LTarget}"`;
    const limit = constraint.RTarget === "" ? 1 : Number(constraint.RTarget);
    const used = usedValues(constraint.LTarget, allocs, (id) => this.#env.state.nodes.get(id)).get(value) ?? 0;
    return used >= limit ? `distinct_property: ${constraint.LTarget}=${value} used by ${used} allocs` : undefined;
  }

  #score(node: Node, load: NodeLoad, group: TaskGroup, metrics: Metrics, avoided: boolean): number {
    const need = usageOf(group);
    const free = (used: number, total: number) => 1 - used / Math.max(1, total);
    const cpu = free(load.usage.cpu + need.cpu, node.NodeResources.Cpu.CpuShares);
    const memory = free(load.usage.memory + need.memory, node.NodeResources.Memory.MemoryMB);
    const binpack = Math.min(18, Math.max(0, 20 - (10 ** cpu + 10 ** memory))) / 18;
    const scores: Record<string, number> = { binpack };
    const counted = [binpack];
    // What says nothing of a node is shown as zero, and counts in the mean only where it was asked for.
    const add = (name: string, score: number, asked = score !== 0) => {
      if (asked) counted.push(score);
      scores[name] = score;
    };
    if (!this.#forgetful) {
      const here = this.#siblings().filter((alloc) => alloc.TaskGroup === group.Name && alloc.NodeID === node.ID).length;
      add("job-anti-affinity", here > 0 ? -(here + 1) / group.Count : 0);
      add("node-reschedule-penalty", avoided ? -1 : 0);
      const affinity = affinityScore(node, this.#job, group);
      add("node-affinity", affinity ?? 0, affinity !== undefined);
      const spread = this.#spread.of(node, group, () => this.#properties((alloc) => alloc.TaskGroup === group.Name));
      if (spread !== 0) add("allocation-spread", spread);
    }
    const norm = counted.reduce((sum, score) => sum + score, 0) / counted.length;
    metrics.score(node, scores, norm);
    return norm;
  }
}

/** Undefined where there are no affinities at all. */
function affinityScore(node: Node, job: Job, group: TaskGroup): number | undefined {
  const all = [...(job.Affinities ?? []), ...(group.Affinities ?? []), ...group.Tasks.flatMap((task) => task.Affinities ?? [])];
  if (all.length === 0) return undefined;
  const total = all.reduce((sum, affinity) => sum + Math.abs(affinity.Weight), 0);
  return all.filter((affinity) => meets(node, affinity)).reduce((sum, affinity) => sum + affinity.Weight, 0) / total;
}
