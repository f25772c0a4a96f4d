import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideStep, type SkipInput, type StepStatus } from "./skip.ts";

const h = "a".repeat(64);
const ok: SkipInput = {
  prior: { status: "ok", hash: h },
  hash: h,
  revalidates: false,
  scopeMatches: true,
  force: false,
  gate: undefined,
};

describe("skip table", () => {
  it("case 35: a step without a record runs", () => {
    expect(decideStep({ ...ok, prior: undefined })).toEqual({ run: true, reason: "new" });
  });
  it("case 36: ok with an equal hash and no check is skipped", () => {
    expect(decideStep(ok)).toEqual({ run: false, reason: "already_done" });
  });
  it("case 37: ok with an equal hash and a check runs again", () => {
    expect(decideStep({ ...ok, revalidates: true })).toEqual({ run: true, reason: "revalidate" });
  });
  it("case 38: ok with another hash runs", () => {
    expect(decideStep({ ...ok, hash: "b" })).toEqual({ run: true, reason: "changed" });
  });
  it.each([
    ["failed", "failed_before"],
    ["partial", "interrupted"],
    ["in_progress", "interrupted"],
    ["skipped", "skipped_before"],
  ] as const)("case 39: %s runs (%s)", (status, reason) => {
    expect(decideStep({ ...ok, prior: { status, hash: h } })).toEqual({ run: true, reason });
  });
  it("row 9: another scope hash runs everything", () => {
    expect(decideStep({ ...ok, scopeMatches: false })).toEqual({ run: true, reason: "config_changed" });
  });
  it("row 10: force runs everything", () => {
    expect(decideStep({ ...ok, force: true })).toEqual({ run: true, reason: "forced" });
  });
  it("row 11: a gate for missing files bypasses the journal", () => {
    expect(decideStep({ ...ok, gate: "missing" })).toEqual({ run: true, reason: "gate_decides" });
  });
  it("row 12: a gate for readable files leaves the skip to the journal", () => {
    expect(decideStep({ ...ok, gate: "readable" })).toEqual({ run: false, reason: "already_done" });
  });

  it("skips in exactly one situation", () => {
    const statuses: readonly StepStatus[] = ["ok", "failed", "skipped", "partial", "in_progress"];
    const input = fc.record({
      prior: fc.option(fc.record({ status: fc.constantFrom(...statuses), hash: fc.constantFrom("a", "b") }), { nil: undefined }),
      hash: fc.constantFrom("a", "b"),
      revalidates: fc.boolean(),
      scopeMatches: fc.boolean(),
      force: fc.boolean(),
      gate: fc.constantFrom(undefined, "readable" as const, "missing" as const),
    });
    fc.assert(
      fc.property(input, (one) => {
        const mayskip =
          one.gate !== "missing" &&
          !one.force &&
          one.scopeMatches &&
          !one.revalidates &&
          one.prior?.status === "ok" &&
          one.prior.hash === one.hash;
        expect(decideStep(one).run).toBe(!mayskip);
      }),
    );
  });
});
