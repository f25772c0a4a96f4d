import type { Node } from "../state/cluster-types.ts";
import { terminal } from "../state/facts.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Constraint, Job, TaskGroup } from "../state/types.ts";
import { meets, resolveTarget } from "./constraints.ts";
import type { SchedulerEnvironment } from "./environment.ts";
import { Feasibility } from "./feasibility.ts";
import { type NodeLoad, type Offer, portKey, tryFit, usageOf } from "./fit.ts";
import { Metrics } from "./metrics.ts";
import { inDatacenters, inPool, isReady, missingCsiVolumes } from "./node-checks.ts";

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
  readonly #placed = new Map<string, Allocation[]>();
  readonly feasibility: Feasibility;
  /** Whether each choice is about one node, and knows nothing of the others. */
  readonly #forgetful: boolean;
  /** Things beside nodes that the cluster lacks. */
  readonly missing = new Set<string>();

  constructor(env: SchedulerEnvironment, job: Job, forgetful = false) {
    this.#env = env;
    this.#job = job;
    this.#forgetful = forgetful;
    this.feasibility = new Feasibility(job);
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

  place(alloc: Allocation): void {
    const list = this.#placed.get(alloc.NodeID);
    if (list === undefined) this.#placed.set(alloc.NodeID, [alloc]);
    else list.push(alloc);
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
    if (this.#forgetful) this.feasibility.forget();
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
    return { usage, ports };
  }

  #siblings(): Allocation[] {
    const existing = this.#env.state.allocs.by("job", scoped(this.#job.Namespace, this.#job.ID));
    const live = existing.filter((alloc) => !terminal(alloc) && !this.#stopped.has(alloc.ID));
    return [...live, ...[...this.#placed.values()].flat()];
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
        const siblings = this.#siblings().filter((alloc) => !groupOnly || alloc.TaskGroup === group.Name);
        if (constraint.Operand === "distinct_hosts" && constraint.RTarget !== "false") {
          if (siblings.some((alloc) => alloc.NodeID === node.ID)) return "distinct_hosts";
        }
        if (constraint.Operand === "distinct_property") {
          const taken = this.#propertyTaken(node, constraint, siblings);
          if (taken !== undefined) return taken;
        }
      }
    }
    return undefined;
  }

  #propertyTaken(node: Node, constraint: Constraint, siblings: readonly Allocation[]): string | undefined {
    const value = resolveTarget(constraint.LTarget, node);
    if (value === undefined) return `missing property "${constraint.LTarget}"`;
    const limit = constraint.RTarget === "" ? 1 : Number(constraint.RTarget);
    const used = siblings.filter((alloc) => {
      const other = this.#env.state.nodes.get(alloc.NodeID);
      return other !== undefined && resolveTarget(constraint.LTarget, other) === value;
    }).length;
    return used >= limit ? `distinct_property: ${constraint.LTarget}=${value} used by ${used} allocs` : undefined;
  }

  #score(node: Node, load: NodeLoad, group: TaskGroup, metrics: Metrics, avoided: boolean): number {
    const need = usageOf(group);
    const free = (used: number, total: number) => 1 - used / Math.max(1, total);
    const cpu = free(load.usage.cpu + need.cpu, node.NodeResources.Cpu.CpuShares);
    const memory = free(load.usage.memory + need.memory, node.NodeResources.Memory.MemoryMB);
    const binpack = Math.min(18, Math.max(0, 20 - (10 ** cpu + 10 ** memory))) / 18;
    const scores: Record<string, number> = { binpack };
    const siblings = this.#siblings().filter((alloc) => alloc.TaskGroup === group.Name);
    const here = siblings.filter((alloc) => alloc.NodeID === node.ID).length;
    if (here > 0) scores["job-anti-affinity"] = -(here + 1) / Math.max(1, group.Count);
    if (avoided) scores["node-reschedule-penalty"] = -1;
    const affinity = affinityScore(node, this.#job, group);
    if (affinity !== 0) scores["node-affinity"] = affinity;
    const spread = this.#spreadScore(node, group, siblings);
    if (spread !== 0) scores["allocation-spread"] = spread;
    const all = Object.values(scores);
    const norm = all.reduce((sum, score) => sum + score, 0) / all.length;
    metrics.score(node, scores, norm);
    return norm;
  }

  /** Nodes whose value of the spread attribute is used least score best. */
  #spreadScore(node: Node, group: TaskGroup, siblings: readonly Allocation[]): number {
    const spreads = [...(group.Spreads ?? []), ...(this.#job.Spreads ?? [])];
    let score = 0;
    for (const spread of spreads) {
      const value = resolveTarget(spread.Attribute, node);
      const used = siblings.filter((alloc) => {
        const other = this.#env.state.nodes.get(alloc.NodeID);
        return other !== undefined && resolveTarget(spread.Attribute, other) === value;
      }).length;
      const target = spread.SpreadTarget?.find((one) => one.Value === value);
      const wanted = target === undefined ? 0 : (target.Percent / 100) * group.Count;
      score += (target === undefined ? -used : (wanted - used) / Math.max(1, wanted)) * (spread.Weight / 100);
    }
    return score;
  }
}

function affinityScore(node: Node, job: Job, group: TaskGroup): number {
  const all = [...(job.Affinities ?? []), ...(group.Affinities ?? []), ...group.Tasks.flatMap((task) => task.Affinities ?? [])];
  const total = all.reduce((sum, affinity) => sum + Math.abs(affinity.Weight), 0);
  if (total === 0) return 0;
  return all.filter((affinity) => meets(node, affinity)).reduce((sum, affinity) => sum + affinity.Weight, 0) / total;
}
