import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, formatNanoseconds, parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["90s", 90_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["5.s", 5_000],
    ["250ms", 250],
    ["1m0s", 60_000],
    ["0", 0],
    ["-5s", -5_000],
    ["+5s", 5_000],
    ["1000us", 1],
    ["1000µs", 1],
    ["1000000ns", 1],
  ])("%s is %d ms", (text, ms) => expect(parseDuration(text)).toBeCloseTo(ms, 6));

  it.each(["", "5", "s", "5 s", "1d", "5S", "1h-5m", "--5s", "1e3s", "0x5s", ".s", "5m5", "∞s", `${"1".repeat(80)}s`])(
    "%j is none",
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(fc.string(), (text) =>
        [undefined, "number"].includes(typeof parseDuration(text) === "number" ? "number" : undefined),
      ),
    );
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0s"],
    [250, "250ms"],
    [90_000, "1m30s"],
    [5_400_000, "1h30m"],
    [3_600_001, "1h1ms"],
    [-1_000, "-1s"],
  ])("%d ms is %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

  it.each([
    [30_000_000_000n, "30s"],
    [1_500n, "1500ns"],
    [0n, "0s"],
    [-90_000_000_000n, "-1m30s"],
    [9_223_372_036_854_775_807n, "9223372036854775807ns"],
  ])("%d ns is %s", (ns, text) => expect(formatNanoseconds(ns)).toBe(text));

  it("is read back as the same number of milliseconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => parseDuration(formatDuration(ms)) === (ms === 0 ? 0 : ms)),
    );
  });
});
