import type { Exchange } from "./twins.ts";

/** How often both servers were asked the same, by kind of request. */
export interface Counts {
  plans: number;
  parses: number;
  registers: number;
  reads: number;
  lives: number;
  /** Lives that differed, but not each time they were lived: chance or time played a part. */
  chances: number;
  /** Requests at which a part of the real server panicked: nothing to compare. */
  crashes: number;
}

export function noCounts(): Counts {
  return { plans: 0, parses: 0, registers: 0, reads: 0, lives: 0, chances: 0, crashes: 0 };
}

/** Requests after which the servers answered otherwise. The last one shows the difference. */
export interface Found {
  readonly seed: number;
  /** What differs, real and simulated. */
  readonly what: string;
  readonly exchanges: readonly Exchange[];
}
