import { describe, expect, it } from "vitest";
import { FakeClock, SeededRandom } from "../testkit/fake-clock.ts";
import { retryAfterMs, retryableAnswer, retryDelayMs } from "./retry.ts";

describe("retries", () => {
  it.each([
    [429, "", true],
    [502, "", true],
    [503, "", true],
    [504, "", true],
    [500, "No cluster leader", true],
    [500, "rpc error: EOF", true],
    [500, "something is wrong with the job", false],
    [404, "No cluster leader", false],
    [200, "", false],
  ])("%i %s: %s", (status, text, again) => {
    expect(retryableAnswer(status, text)).toBe(again);
  });

  it("wait as asked, else longer each time with jitter", () => {
    const random = new SeededRandom(7);
    expect(retryDelayMs(2, 1_234, random)).toBe(1_234);
    for (const [attempt, base] of [
      [1, 200],
      [2, 400],
    ] as const) {
      const delay = retryDelayMs(attempt, undefined, random);
      expect(delay).toBeGreaterThanOrEqual(base);
      expect(delay).toBeLessThan(base * 1.5);
    }
  });

  it("read Retry-After in both forms", () => {
    const clock = new FakeClock(Date.UTC(2027, 0, 4, 12, 0, 0));
    expect(retryAfterMs("2", clock)).toBe(2_000);
    expect(retryAfterMs("Mon, 04 Jan 2027 12:00:05 GMT", clock)).toBe(5_000);
    expect(retryAfterMs("Mon, 04 Jan 2027 11:00:00 GMT", clock)).toBe(0);
    expect(retryAfterMs("soon", clock)).toBeUndefined();
    expect(retryAfterMs(undefined, clock)).toBeUndefined();
  });
});
