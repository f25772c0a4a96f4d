import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Clock, Random } from "./clock.ts";
import { isUlid, ulidSource, ulidTime } from "./ulid.ts";

function clockOf(times: readonly number[]): Clock {
  let index = 0;
  return {
    now: () => times[Math.min(index++, times.length - 1)] ?? 0,
    setTimer: () => ({ cancel() {} }),
    sleep: () => Promise.resolve(),
  };
}

function bytesOf(value: number): Random {
  return { next: () => 0, bytes: (length) => new Uint8Array(length).fill(value) };
}

describe("ulidSource", () => {
  it("writes time and randomness in Crockford base 32", () => {
    const next = ulidSource(clockOf([1_469_918_176_385]), bytesOf(0));
    expect(next()).toBe("01ARYZ6S410000000000000000");
  });

  it("gives the successor when the clock stands still, with carry", () => {
    const next = ulidSource(clockOf([1_469_918_176_385]), bytesOf(31));
    expect(next()).toBe("01ARYZ6S41ZZZZZZZZZZZZZZZZ");
    expect(next()).toBe("01ARYZ6S420000000000000000");
    expect(next()).toBe("01ARYZ6S420000000000000001");
  });

  it("goes on after the greatest ID of an earlier process although the clock went back", () => {
    const next = ulidSource(clockOf([5]), bytesOf(3), "01ARYZ6S41000000000000000Z");
    expect(next()).toBe("01ARYZ6S410000000000000010");
  });

  it("ends loudly when nothing greater is left", () => {
    const next = ulidSource(clockOf([5]), bytesOf(3), `7${"Z".repeat(25)}`);
    expect(next).toThrow(RangeError);
  });

  it("is strictly increasing and well formed for every walk of the clock", () => {
    const walk = fc.array(fc.integer({ min: 0, max: 2 ** 45 }), { minLength: 25, maxLength: 60 });
    fc.assert(
      fc.property(walk, fc.integer({ min: 0, max: 31 }), (times, byte) => {
        const next = ulidSource(clockOf(times), bytesOf(byte));
        const made = times.map(() => next());
        expect(made.every(isUlid)).toBe(true);
        expect([...made].sort()).toEqual(made);
        expect(new Set(made).size).toBe(made.length);
        // An ID never claims a time before its own making.
        expect(made.every((ulid, index) => ulidTime(ulid) >= (times[index] ?? 0))).toBe(true);
      }),
    );
  });
});

describe("isUlid", () => {
  it.each([
    "",
    "01ARYZ6S41",
    "81ARYZ6S410000000000000000",
    "01aryz6s410000000000000000",
    "01ARYZ6S41000000000000000U",
    "01ARYZ6S41000000000000000I",
  ])("refuses %j", (text) => {
    expect(isUlid(text)).toBe(false);
  });
});
