import type { Random } from "../../model/clock.ts";

/** Chooses by chance. */
export class Chooser {
  private readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  chance(probability: number): boolean {
    return this.random.next() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.random.next() * limit);
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }

  weighed<T extends string>(weights: Readonly<Record<T, number>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return (entries[0] as [T, number])[0];
  }

  some<T>(items: readonly T[], probability: number): T[] {
    return items.filter(() => this.chance(probability));
  }

  /** Calls of a process that is to die young, wherever it is. */
  callsOfLife(): number {
    const kind = this.random.next();
    return this.below(kind < 0.5 ? 2 : kind < 0.8 ? 4 : kind < 0.95 ? 10 : 30);
  }

  /** Calls of a process that is to die on its way back to a deployment under way, of which it knows after about three. */
  callsOnTheWayBack(): number {
    const kind = this.random.next();
    return this.below(kind < 0.4 ? 3 : kind < 0.85 ? 6 : kind < 0.97 ? 10 : 30);
  }

  /** Mostly few, sometimes many. */
  calls(): number {
    const most = this.weighed({ 3: 6, 8: 3, 30: 1 });
    return this.below(Number(most));
  }
}
