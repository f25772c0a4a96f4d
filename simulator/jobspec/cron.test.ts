import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CronError, parseCron } from "./cron.ts";

const numbers = (set: ReadonlySet<number> | undefined) => (set === undefined ? "all" : [...set].sort((a, b) => a - b));

describe("parseCron", () => {
  it.each([
    ["0 3 * * *", { seconds: [0], minutes: [0], hours: [3], days: "all", weekdays: "all" }],
    ["30 */6 * * *", { seconds: [0], minutes: [30], hours: [0, 6, 12, 18] }],
    ["5 0 3 * * * *", { seconds: [5], minutes: [0], hours: [3] }],
    ["@daily", { seconds: [0], minutes: [0], hours: [0] }],
    ["0 0 1,15 * *", { days: [1, 15] }],
    ["0 0 * * MON-fri", { weekdays: [1, 2, 3, 4, 5] }],
    ["0 0 * * 5-7", { weekdays: [5, 6] }],
    ["0 0 * * 7", { weekdays: [0] }],
    ["0 0 * jan,December *", { months: [1, 12] }],
    ["10-40/15 * * * *", { minutes: [10, 25, 40] }],
    ["50/5 * * * *", { minutes: [50, 55] }],
  ])("%s", (text, wanted) => {
    const found = parseCron(text);
    for (const [key, value] of Object.entries(wanted)) {
      expect(numbers(found[key as "seconds"]), key).toEqual(value);
    }
  });

  it("knows the last day, working days and the n-th weekday", () => {
    expect(parseCron("0 0 L * *").lastDay).toBe(true);
    expect(parseCron("0 0 LW * *").lastWorkday).toBe(true);
    expect(numbers(parseCron("0 0 15W * *").workdays)).toEqual([15]);
    expect(numbers(parseCron("0 0 * * 5L").lastWeekdays)).toEqual([5]);
    expect(numbers(parseCron("0 0 * * mon#2").nthWeekdays)).toEqual([8]);
  });

  it.each([
    ["* * *", "missing field(s)"],
    ["61 * * * *", "syntax error in minute field: '61'"],
    ["a * * * *", "syntax error in minute field: 'a'"],
    ["* 24 * * *", "syntax error in hour field: '24'"],
    ["* * 32 * *", "syntax error in day-of-month field: '32'"],
    ["* * * 13 *", "syntax error in month field: '13'"],
    ["* * * * 8", "syntax error in day-of-week field: '8'"],
    ["*/90 * * * *", "invalid interval */90"],
    ["*/0 * * * *", "invalid interval */0"],
    [", * * * *", "minute field: missing directive"],
  ])("%s is refused: %s", (text, message) => {
    expect(() => parseCron(text)).toThrow(new CronError(message));
  });

  it("takes every single minute and hour, and only these", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 99 }), (minute, hour) => {
        const parse = () => parseCron(`${minute} ${hour} * * *`);
        if (minute < 60 && hour < 24) expect([numbers(parse().minutes), numbers(parse().hours)]).toEqual([[minute], [hour]]);
        else expect(parse).toThrow(CronError);
      }),
    );
  });
});
