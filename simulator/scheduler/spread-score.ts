import type { Node } from "../state/cluster-types.ts";
import type { Job, Spread, TaskGroup } from "../state/types.ts";
import { resolveTarget } from "./constraints.ts";
import { type PlacedAllocations, usedValues } from "./property-use.ts";

/** How much better a node is for an even, or the wanted, spread of a group over values of attributes (nomad-api §17). */
export class SpreadScore {
  readonly #job: Job;
  readonly #node: (id: string) => Node | undefined;
  readonly #weighed = new Set<string>();
  /** The weights of all groups looked at so far: the server never starts anew. */
  #weights = 0;
  #lowest = -1;

  constructor(job: Job, node: (id: string) => Node | undefined) {
    this.#job = job;
    this.#node = node;
  }

  of(node: Node, group: TaskGroup, allocs: () => PlacedAllocations): number {
    const spreads = [...(this.#job.Spreads ?? []), ...(group.Spreads ?? [])];
    if (spreads.length === 0) return 0;
    if (!this.#weighed.has(group.Name)) {
      this.#weighed.add(group.Name);
      for (const { Weight } of spreads) this.#weights += Weight;
    }
    const found = allocs();
    return spreads.reduce((sum, spread) => sum + this.#one(node, group, spread, found), 0);
  }

  #one(node: Node, group: TaskGroup, spread: Spread, allocs: PlacedAllocations): number {
    const value = resolveTarget(spread.Attribute, node);
    if (value === undefined) return -1;
    const targets = spread.SpreadTarget ?? [];
    const known = new Set(targets.map((target) => target.Value));
    const name = (one: string) => (known.size === 0 || known.has(one) ? one : "*");
    const used = usedValues(spread.Attribute, allocs, this.#node, name);
    if (targets.length === 0) return evenly(used, value);
    const wanted = new Map(targets.map((target) => [target.Value, (target.Percent / 100) * group.Count]));
    const stated = [...wanted.values()].reduce((sum, count) => sum + count, 0);
    if (stated > 0 && stated < group.Count) wanted.set("*", group.Count - stated);
    const count = wanted.get(name(value)) ?? wanted.get("*");
    if (count === undefined) return -1;
    if (count === 0) return this.#lowest;
    const boost = ((count - ((used.get(name(value)) ?? 0) + 1)) / count) * (spread.Weight / this.#weights);
    this.#lowest = Math.min(this.#lowest, boost);
    return boost;
  }
}

/** Without targets every value is to be used alike; a least use of zero counts as not yet known. */
function evenly(used: ReadonlyMap<string, number>, value: string): number {
  if (used.size === 0) return 0;
  const current = used.get(value) ?? 0;
  let [least, most] = [0, 0];
  for (const count of used.values()) {
    if (least === 0 || count < least) least = count;
    if (most === 0 || count > most) most = count;
  }
  if (current !== least) return least === 0 ? -1 : (least - current) / least;
  if (least === most) return -1;
  return least === 0 ? 1 : (most - least) / least;
}
