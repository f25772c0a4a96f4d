import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openCron } from "../model/cron.ts";
import type { WindowRule } from "../model/desired.ts";
import { openings, windowStatus } from "./windows.ts";

const minute = 60_000;
const hour = 60 * minute;
const rule = (cron: string, minutes: number, timeZone = "UTC"): WindowRule => ({ cron, durationMs: minutes * minute, timeZone });
const at = (text: string): number => Date.parse(text);
const instant = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16);

describe("one allow window", () => {
  const nightly = rule("0 22 * * *", 120);
  it.each([
    ["2027-01-04T21:59:59.999Z", false, "2027-01-04T22:00"],
    ["2027-01-04T22:00:00.000Z", true, "2027-01-05T00:00"],
    ["2027-01-04T23:59:59.999Z", true, "2027-01-05T00:00"],
    ["2027-01-05T00:00:00.000Z", false, "2027-01-05T22:00"],
  ])("start inclusive, end exclusive, over midnight: %s", (time, open, changes) => {
    const status = windowStatus(nightly, undefined, at(time));
    expect([status.open, instant(status.changesAt)]).toEqual([open, changes]);
  });

  it.each<[string, WindowRule, string, boolean, string | undefined]>([
    ["touching windows are one", rule("0 * * * *", 60), "2027-01-04T12:30:00Z", true, undefined],
    ["overlapping windows are one", rule("0,30 8-10 * * *", 45), "2027-01-04T08:10:00Z", true, "2027-01-04T11:15"],
    ["a zone counts", rule("0 22 * * *", 60, "Asia/Tokyo"), "2027-01-04T13:30:00Z", true, "2027-01-04T14:00"],
    [
      "the gap of a spring night moves the start to its end",
      rule("30 2 * * *", 60, "Europe/Berlin"),
      "2027-03-28T00:59:00Z",
      false,
      "2027-03-28T01:00",
    ],
    [
      "the length is elapsed time over an autumn night",
      rule("0 1 * * *", 180, "Europe/Berlin"),
      "2027-10-31T01:30:00Z",
      true,
      "2027-10-31T02:00",
    ],
    ["weekdays by name", rule("0 9 * * MON-FRI", 60), "2027-01-09T09:30:00Z", false, "2027-01-11T09:00"],
    ["shorthands", rule("@monthly", 60), "2027-01-09T09:30:00Z", false, "2027-02-01T00:00"],
  ])("%s", (_name, one, time, open, changes) => {
    const status = windowStatus(one, undefined, at(time));
    expect([status.open, instant(status.changesAt)]).toEqual([open, changes]);
  });
});

describe("deny beats allow", () => {
  const office = rule("0 8 * * *", 600);
  const lunch = rule("0 12 * * *", 60);
  it.each<[string, WindowRule | undefined, WindowRule | undefined, string, boolean, string | undefined, string | undefined]>([
    ["inside both", office, lunch, "2027-01-04T12:30:00Z", false, "window_denied", "2027-01-04T13:00"],
    ["inside allow only", office, lunch, "2027-01-04T09:00:00Z", true, undefined, "2027-01-04T12:00"],
    ["outside both", office, lunch, "2027-01-04T20:00:00Z", false, "window_closed", "2027-01-05T08:00"],
    ["deny alone", undefined, lunch, "2027-01-04T20:00:00Z", true, undefined, "2027-01-05T12:00"],
    [
      "deny that begins where allow ends keeps it closed",
      office,
      rule("0 18 * * *", 600),
      "2027-01-04T19:00:00Z",
      false,
      "window_denied",
      "2027-01-05T08:00",
    ],
    ["no window at all", undefined, undefined, "2027-01-04T20:00:00Z", true, undefined, undefined],
    ["denied for ever", office, rule("* * * * *", 60), "2027-01-04T09:00:00Z", false, "window_denied", undefined],
  ])("%s", (_name, allow, deny, time, open, reason, changes) => {
    const status = windowStatus(allow, deny, at(time));
    expect([status.open, status.reason, instant(status.changesAt)]).toEqual([open, reason, changes]);
  });
});

const zones = [
  ["Europe/Berlin", "2027-03-26", "2027-10-29"],
  ["Australia/Lord_Howe", "2027-10-01", "2027-04-02"],
  ["America/New_York", "2027-11-05", "2027-03-12"],
  ["Africa/Cairo", "2027-04-28", "2027-10-27"],
  ["Asia/Kathmandu", "2027-01-01", "2027-06-01"],
] as const;
const crons = ["30 2 * * *", "0 0 * * *", "0 22 * * 1-5", "*/15 2 * * *", "15 1,2,3 * * *", "0 */6 * * *"];

const listed = new Map<string, readonly number[]>();

/** All matches of a rule from a day before `from` to six days after it. */
function matches(one: WindowRule, from: number): readonly number[] {
  const name = `${one.timeZone} ${one.cron} ${from}`;
  const known = listed.get(name);
  if (known !== undefined) return known;
  const cron = openCron(one.cron, one.timeZone);
  const starts: number[] = [];
  for (
    let match = cron.nextRun(new Date(from - 24 * hour));
    match !== null && match.getTime() < from + 144 * hour;
    match = cron.nextRun(match)
  )
    starts.push(match.getTime());
  listed.set(name, starts);
  return starts;
}

/** Whether a rule is open at an instant, by its list of matches: no merging, no looking back. */
function bruteForce(one: WindowRule | undefined, from: number): (at: number) => boolean {
  if (one === undefined) return () => false;
  const starts = matches(one, from);
  return (moment) => starts.some((start) => start <= moment && moment < start + one.durationMs);
}

describe("over weeks with a change of daylight saving, in five zones", () => {
  const arbitraryRule = fc.record({
    cron: fc.constantFrom(...crons),
    durationMs: fc.constantFrom(15, 60, 90, 480).map((minutes) => minutes * minute),
  });
  it("agrees with a list of all matches, and changes exactly when it says", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.nat(1),
        fc.option(arbitraryRule),
        fc.option(arbitraryRule),
        fc.nat(4 * 24 * 12),
        (zone, season, allowRule, denyRule, offset) => {
          const allow = allowRule === null ? undefined : { ...allowRule, timeZone: zone[0] };
          const deny = denyRule === null ? undefined : { ...denyRule, timeZone: zone[0] };
          const day = at(`${zone[1 + season]}T00:00:00Z`);
          const from = day + offset * 5 * minute;
          const to = from + 30 * hour;
          const [isAllowed, isDenied] = [bruteForce(allow, day), bruteForce(deny, day)];
          const isOpen = (moment: number): boolean => (allow === undefined || isAllowed(moment)) && !isDenied(moment);
          const status = windowStatus(allow, deny, from);
          expect(status.open).toBe(isOpen(from));
          for (let moment = from; moment < to; moment += 5 * minute) {
            if (status.changesAt !== undefined && moment >= status.changesAt) {
              expect(isOpen(status.changesAt - 1)).toBe(status.open);
              expect(isOpen(status.changesAt)).toBe(!status.open);
              return;
            }
            expect(isOpen(moment)).toBe(status.open);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("openings", () => {
  it("lists those between two instants, cut to them, without what deny takes out", () => {
    const found = openings(
      { allow: rule("0 8 * * *", 600), deny: rule("0 12 * * *", 60) },
      at("2027-01-04T09:00:00Z"),
      at("2027-01-05T10:00:00Z"),
    );
    expect(found.map((opening) => [instant(opening.start), instant(opening.end)])).toEqual([
      ["2027-01-04T09:00", "2027-01-04T12:00"],
      ["2027-01-04T13:00", "2027-01-04T18:00"],
      ["2027-01-05T08:00", undefined],
    ]);
  });
});
