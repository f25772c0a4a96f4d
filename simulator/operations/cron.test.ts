import { describe, expect, it } from "vitest";
import { parseCron } from "../jobspec/cron.ts";
import { nextTime, textInZone } from "./cron.ts";

const next = (spec: string, after: string, zone = "UTC") => {
  const at = nextTime(parseCron(spec), Date.parse(after), zone);
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe("nextTime", () => {
  it.each([
    ["* * * * *", "2030-01-01T00:00:30Z", "2030-01-01T00:01:00.000Z"],
    ["*/15 * * * *", "2030-01-01T00:45:00Z", "2030-01-01T01:00:00.000Z"],
    ["0 0 1 * *", "2030-01-01T00:00:00Z", "2030-02-01T00:00:00.000Z"],
    ["0 12 * * 1", "2030-01-01T00:00:00Z", "2030-01-07T12:00:00.000Z"],
    ["0 0 29 2 *", "2030-01-01T00:00:00Z", "2032-02-29T00:00:00.000Z"],
    ["0 0 L * *", "2030-02-01T00:00:00Z", "2030-02-28T00:00:00.000Z"],
    ["*/5 * * * * * *", "2030-01-01T00:00:01Z", "2030-01-01T00:00:05.000Z"],
    ["@daily", "2030-01-01T00:00:00Z", "2030-01-02T00:00:00.000Z"],
  ])("%s after %s: %s", (spec, after, wanted) => {
    expect(next(spec, after)).toBe(wanted);
  });

  it("goes by the wall clock of its zone, summer and winter", () => {
    expect(next("0 9 * * *", "2030-01-15T00:00:00Z", "Europe/Berlin")).toBe("2030-01-15T08:00:00.000Z");
    expect(next("0 9 * * *", "2030-07-15T00:00:00Z", "Europe/Berlin")).toBe("2030-07-15T07:00:00.000Z");
    expect(next("30 0 * * *", "2030-01-15T12:00:00Z", "Asia/Kolkata")).toBe("2030-01-15T19:00:00.000Z");
  });

  it("passes over a time that the clocks jump over", () => {
    expect(next("30 2 * * *", "2030-03-30T12:00:00Z", "Europe/Berlin")).toBe("2030-04-01T00:30:00.000Z");
  });

  it("finds nothing where there is nothing", () => {
    expect(next("0 0 30 2 *", "2030-01-01T00:00:00Z")).toBeUndefined();
    expect(next("0 0 1 1 * 2029", "2030-01-01T00:00:00Z")).toBeUndefined();
  });
});

describe("textInZone", () => {
  it.each([
    ["2030-01-31T07:00:00.000Z", "America/New_York", "2030-01-31T02:00:00-05:00"],
    ["2030-07-31T07:00:00.000Z", "Asia/Kolkata", "2030-07-31T12:30:00+05:30"],
    ["2030-01-31T07:00:00.000Z", "Europe/London", "2030-01-31T07:00:00Z"],
    ["2030-01-31T07:00:00.000Z", "UTC", "2030-01-31T07:00:00Z"],
    ["2030-01-31T07:00:00.000Z", "", "2030-01-31T07:00:00Z"],
  ])("%s in %s: %s", (at, zone, wanted) => {
    expect(textInZone(Date.parse(at), zone)).toBe(wanted);
  });
});
