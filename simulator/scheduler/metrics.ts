import { noResources } from "../jobspec/no-resources.ts";
import type { Node } from "../state/cluster-types.ts";
import type { AllocMetric, TaskGroup } from "../state/types.ts";

type Counts = Record<string, number>;

interface ExhaustedResources {
  readonly CPU: number;
  readonly MemoryMB: number;
  readonly [unused: string]: number | null;
}

/** Of a task's resources only processor and memory are told; the others stand there all the same. */
const nothing: ExhaustedResources = noResources;

/** Collects what happened to the nodes that were looked at for one placement (nomad-api §6.1). */
export class Metrics {
  evaluated = 0;
  filtered = 0;
  exhausted = 0;
  coalesced = 0;
  readonly constraintFiltered: Counts = {};
  readonly classFiltered: Counts = {};
  readonly classExhausted: Counts = {};
  readonly dimensions: Counts = {};
  readonly resources: Record<string, ExhaustedResources> = {};
  readonly scores: { NodeID: string; Scores: Counts; NormScore: number }[] = [];
  #pool: string;
  #inPool: number;
  #available: Readonly<Counts>;

  constructor(pool: string, inPool: number, available: Readonly<Counts>) {
    this.#pool = pool;
    this.#inPool = inPool;
    this.#available = available;
  }

  filter(node: Node, reason: string): void {
    this.filtered++;
    if (node.NodeClass !== "") add(this.classFiltered, node.NodeClass);
    add(this.constraintFiltered, reason);
  }

  exhaust(node: Node, dimension: string): void {
    this.exhausted++;
    if (node.NodeClass !== "") add(this.classExhausted, node.NodeClass);
    add(this.dimensions, dimension);
  }

  score(node: Node, scores: Counts, norm: number): void {
    this.scores.push({ NodeID: node.ID, Scores: scores, NormScore: norm });
  }

  /** Adds what a group that could not be placed would have needed of the exhausted dimensions. */
  wanted(group: TaskGroup): void {
    if (Object.keys(this.dimensions).length === 0) return;
    for (const task of group.Tasks) {
      const sum = this.resources[task.Name] ?? nothing;
      this.resources[task.Name] = {
        ...sum,
        CPU: sum.CPU + (this.dimensions["cpu"] ? task.Resources.CPU : 0),
        MemoryMB: sum.MemoryMB + (this.dimensions["memory"] ? task.Resources.MemoryMB : 0),
      };
    }
  }

  /** System jobs do not say where they looked when every node was filtered out. */
  anonymize(): void {
    this.#pool = "";
    this.#inPool = 0;
    this.#available = {};
  }

  merge(other: Metrics): void {
    this.evaluated += other.evaluated;
    this.filtered += other.filtered;
    for (const [name, n] of Object.entries(other.constraintFiltered)) add(this.constraintFiltered, name, n);
    for (const [name, n] of Object.entries(other.classFiltered)) add(this.classFiltered, name, n);
  }

  json(): AllocMetric {
    return {
      NodesEvaluated: this.evaluated,
      NodesFiltered: this.filtered,
      NodesInPool: this.#inPool,
      NodePool: this.#pool,
      NodesAvailable: orNull(this.#available),
      ClassFiltered: orNull(this.classFiltered),
      ConstraintFiltered: orNull(this.constraintFiltered),
      NodesExhausted: this.exhausted,
      ClassExhausted: orNull(this.classExhausted),
      DimensionExhausted: orNull(this.dimensions),
      QuotaExhausted: null,
      ResourcesExhausted: orNull(this.resources),
      Scores: null,
      AllocationTime: 0,
      CoalescedFailures: this.coalesced,
      ScoreMetaData: this.scores.length === 0 ? null : this.scores.sort((a, b) => b.NormScore - a.NormScore).slice(0, 5),
    };
  }
}

function add(counts: Counts, name: string, n = 1): void {
  counts[name] = (counts[name] ?? 0) + n;
}

function orNull<T extends Readonly<Record<string, unknown>>>(map: T): T | null {
  return Object.keys(map).length === 0 ? null : { ...map };
}
