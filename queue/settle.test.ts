import { describe, expect, it } from "vitest";
import { ConflictError, NomadError, RetryAfterError, TerminalError } from "../model/errors.ts";
import { SeededRandom } from "../testkit/fake-clock.ts";
import { Backoff, backoffDelay } from "./backoff.ts";
import { recheck, settled } from "./reconciler.ts";
import { settle } from "./settle.ts";
import type { AddOptions } from "./work-queue.ts";

const noJitter = { baseMs: 100, maxMs: 1_000, jitter: 0 };

function open() {
  const adds: AddOptions[] = [];
  const backoff = {
    failures: new Backoff<string>(noJitter, new SeededRandom()),
    conflicts: new Backoff<string>(noJitter, new SeededRandom()),
  };
  const end = (outcome: Parameters<typeof settle<string>>[3]) =>
    settle({ add: (_key: string, add = {}) => adds.push(add) }, backoff, "k", outcome);
  return { adds, backoff, end };
}

const details = { code: "x" };

describe("how a pass ends", () => {
  it.each([
    ["settled adds nothing", settled, "settled", []],
    ["recheck returns after its time", recheck(700, "health"), "recheck", [{ afterMs: 700 }]],
    ["an error backs off", new Error("x"), "error", [{ afterMs: 100 }]],
    ["a lost race returns at once", new ConflictError("x", details), "conflict", [{}]],
    ["a named delay is kept", new RetryAfterError("x", 4_000, details), "later", [{ afterMs: 4_000 }]],
    ["what cannot change waits for new inputs", new TerminalError("x", details), "terminal", []],
    ["Nomad asks for a delay", new NomadError("x", { kind: "overloaded", retryAfterMs: 3_000 }), "later", [{ afterMs: 3_000 }]],
    ["Nomad fails", new NomadError("x", { kind: "not_sent" }), "error", [{ afterMs: 100 }]],
  ])("%s", (_name, outcome, ending, adds) => {
    const one = open();
    expect(one.end(outcome)).toBe(ending);
    expect(one.adds).toEqual(adds);
  });

  it("doubles the delay with each failure, up to the longest, and forgets after a success", () => {
    const { adds, end } = open();
    for (let i = 0; i < 6; i++) end(new Error("x"));
    end(settled);
    end(new Error("x"));
    expect(adds.map((add) => add.afterMs)).toEqual([100, 200, 400, 800, 1_000, 1_000, 100]);
  });

  it("never counts a lost race as a failure, and does not spin on a series of them", () => {
    const { adds, backoff, end } = open();
    for (let i = 0; i < 3; i++) end(new ConflictError("x", details));
    expect(adds).toEqual([{}, { afterMs: 200 }, { afterMs: 400 }]);
    expect(backoff.failures.count("k")).toBe(0);
  });
});

it("adds at most the given share of jitter", () => {
  const random = new SeededRandom(7);
  const delays = Array.from({ length: 200 }, () => backoffDelay(1, { baseMs: 1_000, maxMs: 9_000, jitter: 0.2 }, random));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_200);
  expect(new Set(delays).size).toBeGreaterThan(50);
});
