import { type CronExpression, parseCron } from "../jobspec/cron.ts";
import type { Job } from "../state/types.ts";

interface Wall {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** The next launch of a periodic job after `after` (milliseconds), or undefined when there is none. */
export function nextLaunch(job: Job, after: number): number | undefined {
  const periodic = job.Periodic;
  if (!periodic?.Enabled) return undefined;
  const specs = periodic.Specs && periodic.Specs.length > 0 ? periodic.Specs : [periodic.Spec];
  const times = specs.flatMap((spec) => {
    const at =
      periodic.SpecType === "_internal_test" ? testLaunch(spec, after) : nextTime(parsed(spec), after, periodic.TimeZone);
    return at === undefined ? [] : [at];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

const cache = new Map<string, CronExpression>();

function parsed(spec: string): CronExpression {
  const known = cache.get(spec);
  if (known !== undefined) return known;
  const expression = parseCron(spec);
  if (cache.size > 1000) cache.clear();
  cache.set(spec, expression);
  return expression;
}

function testLaunch(spec: string, after: number): number | undefined {
  const times = spec.split(",").map((text) => Number(text) * 1000);
  return times.filter((time) => time > after).sort((a, b) => a - b)[0];
}

/** Next time of an expression in a zone, looking at most a hundred years ahead. Wall times that the zone skips do not count. */
export function nextTime(cron: CronExpression, after: number, zone: string): number | undefined {
  const from = wallOf(after, zone);
  let day = Date.UTC(from.year, from.month - 1, from.day);
  const [hours, minutes, seconds] = [sorted(cron.hours), sorted(cron.minutes), sorted(cron.seconds)];
  for (let i = 0; i < 36_600; i++, day += 86_400_000) {
    const date = new Date(day);
    if (!dayMatches(cron, date)) continue;
    for (const hour of hours) {
      for (const minute of minutes) {
        for (const second of seconds) {
          const at = utcOf(
            { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), hour, minute, second },
            zone,
          );
          if (at !== undefined && at > after) return at;
        }
      }
    }
  }
  return undefined;
}

function sorted(values: ReadonlySet<number>): number[] {
  return [...values].sort((a, b) => a - b);
}

function dayMatches(cron: CronExpression, date: Date): boolean {
  const [year, month, day, weekday] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCDay()];
  if (!cron.years.has(year) || !cron.months.has(month)) return false;
  const length = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const byDay =
    cron.days === undefined && !cron.lastDay && !cron.lastWorkday && cron.workdays.size === 0
      ? undefined
      : (cron.days?.has(day) ?? false) ||
        (cron.lastDay && day === length) ||
        (cron.lastWorkday && day === workdayNear(year, month, length, length)) ||
        [...cron.workdays].some((near) => near <= length && day === workdayNear(year, month, near, length));
  const nth = Math.floor((day - 1) / 7) * 7 + weekday;
  const byWeekday =
    cron.weekdays === undefined && cron.lastWeekdays.size === 0 && cron.nthWeekdays.size === 0
      ? undefined
      : (cron.weekdays?.has(weekday) ?? false) ||
        (cron.lastWeekdays.has(weekday) && day + 7 > length) ||
        cron.nthWeekdays.has(nth);
  if (byDay === undefined) return byWeekday ?? true;
  return byWeekday === undefined ? byDay : byDay || byWeekday;
}

function workdayNear(year: number, month: number, day: number, length: number): number {
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < length ? day + 1 : day - 2;
  return day;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function wallOf(ms: number, zone: string): Wall {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone === "Local" || zone === "" ? "UTC" : zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  const parts = new Map(format.formatToParts(ms).map((part) => [part.type, Number(part.value)]));
  const get = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  return {
    year: get("year"),
    month: get("month"),
    day: get("day"),
    hour: get("hour"),
    minute: get("minute"),
    second: get("second"),
  };
}

function asUtc(wall: Wall): number {
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
}

/** An instant in the words of a zone, to the second: `2030-01-31T02:00:00-05:00`, or with `Z` where that is UTC. */
export function textInZone(ms: number, zone: string): string {
  const offset = zone === "UTC" || zone === "" || zone === "Local" ? 0 : Math.round((asUtc(wallOf(ms, zone)) - ms) / 60_000);
  const wall = new Date(ms + offset * 60_000).toISOString().slice(0, 19);
  if (zone === "UTC" || zone === "" || zone === "Local") return `${wall}Z`;
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  const two = (n: number) => String(n).padStart(2, "0");
  return offset === 0 ? `${wall}Z` : `${wall}${offset < 0 ? "-" : "+"}${two(hours)}:${two(minutes)}`;
}

/** The instant of a wall time in a zone; of two, the first; undefined when the clocks jump over it. */
function utcOf(wall: Wall, zone: string): number | undefined {
  const guess = asUtc(wall);
  if (zone === "UTC" || zone === "" || zone === "Local") return guess;
  const offsets = [guess - 86_400_000, guess + 86_400_000].map((at) => asUtc(wallOf(at, zone)) - at);
  const times = offsets.map((offset) => guess - offset).filter((at) => asUtc(wallOf(at, zone)) === guess);
  return times.length === 0 ? undefined : Math.min(...times);
}
