import type { Allocation } from "../state/types.ts";
import type { AllocSet } from "./alloc-set.ts";

export function allocName(jobId: string, group: string, index: number): string {
  return `${jobId}.${group}[${index}]`;
}

/** The number in brackets at the end of an allocation's name. */
export function indexOfName(alloc: Allocation): number {
  return Number(/\[(\d+)\]$/.exec(alloc.Name)?.[1] ?? -1);
}

/** Gives out the lowest free index of a group's names and takes back the highest. */
export class NameIndex {
  readonly #used = new Set<number>();
  readonly #twice = new Set<number>();
  readonly #job: string;
  readonly #group: string;
  readonly #count: number;

  constructor(jobId: string, group: string, count: number, taken: AllocSet) {
    this.#job = jobId;
    this.#group = group;
    this.#count = count;
    for (const alloc of taken.values()) {
      const index = indexOfName(alloc);
      if (this.#used.has(index)) this.#twice.add(index);
      this.#used.add(index);
    }
  }

  next(n: number): string[] {
    const names: string[] = [];
    for (let i = 0; i < this.#count && names.length < n; i++) if (!this.#used.has(i)) names.push(this.#take(i));
    for (let i = 0; names.length < n; i++) names.push(this.#take(i));
    return names;
  }

  /** The name itself, or a free one when two allocations bear it: promoted canaries leave such pairs behind. */
  distinct(name: string): string {
    const index = Number(/\[(\d+)\]$/.exec(name)?.[1] ?? -1);
    if (!this.#twice.has(index)) return name;
    const [other = name] = this.next(1);
    this.#twice.delete(index);
    return other;
  }

  /** Names for canaries: first those of the allocations that they will replace. */
  nextCanaries(n: number, existing: AllocSet, destructive: AllocSet): string[] {
    const taken = new Set([...existing.values()].map((alloc) => alloc.Name));
    const names: string[] = [];
    const offer = (i: number) => {
      const name = allocName(this.#job, this.#group, i);
      if (names.length < n && !taken.has(name) && !names.includes(name)) names.push(this.#take(i));
    };
    const replaced = [...destructive.values()].map(indexOfName).filter((i) => i < this.#count);
    for (const i of replaced.sort((a, b) => a - b)) offer(i);
    for (let i = 0; i < this.#count; i++) if (!this.#used.has(i)) offer(i);
    for (let i = this.#count; names.length < n; i++) names.push(allocName(this.#job, this.#group, i));
    return names;
  }

  /** Frees and returns the `n` highest names. */
  highest(n: number): Set<string> {
    const sorted = [...this.#used].sort((a, b) => b - a).slice(0, n);
    for (const i of sorted) this.#used.delete(i);
    return new Set(sorted.map((i) => allocName(this.#job, this.#group, i)));
  }

  unset(index: number): void {
    this.#used.delete(index);
  }

  #take(i: number): string {
    this.#used.add(i);
    return allocName(this.#job, this.#group, i);
  }
}
