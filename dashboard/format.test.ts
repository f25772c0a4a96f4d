import { describe, expect, it } from "vitest";
import { deploymentSchema, gateSchema, jobSchema } from "../api/contract.ts";
import { ago, dayOf, mixesScripts, toneOf, visible } from "./format.ts";

describe("visible", () => {
  it.each([
    ["plain text", "plain text"],
    ["line\nbreak\tand tab", "line\nbreak\tand tab"],
    ["turn\u202eed", "turn\\u202eed"],
    ["zero\u200bwidth", "zero\\u200bwidth"],
    ["bell\u0007", "bell\\u0007"],
    ["carriage\rreturn", "carriage\\u000dreturn"],
  ])("S13: %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it.each([
    ["nul\u0000", "nul\\u0000"],
    ["line\u2028separator\u2029", "line\\u2028separator\\u2029"],
    ["half\ud800 of one", "half\\ud800 of one"],
    ["whole 😀 one", "whole 😀 one"],
    ["</script><script>alert(1)</script>", "</script><script>alert(1)</script>"],
  ])("S11: %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it("is bounded and says how much is missing (S11)", () => {
    expect(visible("y".repeat(1_000_000)).length).toBeLessThan(5_000);
    expect(visible("x".repeat(4_010))).toBe(`${"x".repeat(4_000)}… (10 more characters)`);
  });
});

it.each([
  ["payments", false],
  ["раyments", true],
  ["платежи", false],
  ["αpp", true],
])("S14: whether %s mixes scripts: %s", (name, mixed) => {
  expect(mixesScripts(name)).toBe(mixed);
});

it.each([
  [0, "0 s ago"],
  [59, "59 s ago"],
  [60, "1 min ago"],
  [3_600, "1 h ago"],
  [86_400, "1 d ago"],
  [-5, "0 s ago"],
])("%i s later", (seconds, words) => {
  const instant = "2026-05-04T10:00:00.000Z";
  expect(ago(instant, Date.parse(instant) + seconds * 1000)).toBe(words);
});

it("days are those of UTC", () => {
  expect(dayOf("2026-05-04T23:59:59.999Z")).toBe("2026-05-04");
});

describe("states", () => {
  it.each([...jobSchema.shape.sync.options, ...deploymentSchema.shape.state.options, ...gateSchema.shape.result.options])(
    "%s is known, and every tone is one that the command line has too",
    (state) => {
      const quiet = ["rejected", "superseded", "not_reached"];
      expect(toneOf(state) === "quiet").toBe(quiet.includes(state));
    },
  );

  it.each([
    ["failed", "bad"],
    ["pending_approval", "wait"],
    ["applying", "busy"],
    ["completed", "good"],
    ["rejected", "quiet"],
    ["superseded", "quiet"],
  ])("%s is shown as %s", (state, tone) => {
    expect(toneOf(state)).toBe(tone);
  });
});
