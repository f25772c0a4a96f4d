import type { Random } from "../../model/clock.ts";

/** Chance in the words that generators use. */
export interface Chooser {
  readonly chance: (probability: number) => boolean;
  /** A whole number from `low` to `high`, both included. */
  readonly int: (low: number, high: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
  /** Each element with this probability, in order. */
  readonly some: <T>(list: readonly T[], probability: number) => T[];
}

/** Wraps a source of chance; the same seed makes the same choices. */
export function chooser(random: Random): Chooser {
  const chance = (probability: number): boolean => random.next() < probability;
  const int = (low: number, high: number): number => low + Math.floor(random.next() * (high - low + 1));
  return {
    chance,
    int,
    pick: <T>(list: readonly T[]): T => {
      const found = list[int(0, list.length - 1)];
      if (found === undefined) throw new Error("nothing to pick from");
      return found;
    },
    some: (list, probability) => list.filter(() => chance(probability)),
  };
}
