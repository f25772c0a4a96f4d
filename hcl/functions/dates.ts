import { FunctionError } from "../scope.ts";
import { stringValue, type Value } from "../value.ts";
import { define, type FunctionTable, str, textAt } from "./define.ts";

/** A point in time and the zone it was written in. */
interface Timestamp {
  /** Seconds since 1970, UTC. */
  readonly seconds: bigint;
  /** Billionths of a second. */
  readonly nanos: bigint;
  /** Minutes east of Greenwich. */
  readonly offset: number;
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/;

function parseTimestamp(text: string, argument?: number): Timestamp {
  const match = RFC3339.exec(text);
  if (match === null) throw new FunctionError(`not a valid RFC3339 timestamp: ${whatIsWrong(text)}`, argument);
  const [, year, month, day, hour, minute, second, fraction = "", zone = "Z"] = match;
  const parts = [year, month, day, hour, minute, second].map(Number);
  const [y = 0, mo = 1, d = 1, h = 0, mi = 0, s = 0] = parts;
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  const wrong = (what: string) => new FunctionError(`not a valid RFC3339 timestamp: ${what}`, argument);
  if (mo < 1 || mo > 12) throw wrong("month out of range");
  if (date.getUTCMonth() !== mo - 1 || d < 1) throw wrong("day out of range");
  if (h > 23) throw wrong("hour must be between 0 and 23 inclusive");
  if (mi > 59) throw wrong("minute out of range");
  if (s > 59) throw wrong("second out of range");
  const offset = zone === "Z" ? 0 : (zone.startsWith("-") ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6)));
  const seconds = BigInt(date.getTime()) / 1000n + BigInt(h * 3600 + (mi - offset) * 60 + s);
  return { seconds, nanos: BigInt(fraction.padEnd(9, "0").slice(0, 9)), offset };
}

const SEGMENTS: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}/, "year"],
  [/^-/, '"-"'],
  [/^\d\d/, "month"],
  [/^-/, '"-"'],
  [/^\d\d/, "day of month"],
  [/^T/, "T"],
  [/^\d\d/, "hour"],
  [/^:/, '":"'],
  [/^\d\d/, "minute"],
  [/^:/, '":"'],
  [/^\d\d(?:\.\d+)?/, "second"],
  [/^(?:Z|[+-]\d\d:\d\d)/, "UTC offset"],
];

function whatIsWrong(text: string): string {
  let rest = text;
  for (const [pattern, what] of SEGMENTS) {
    const match = pattern.exec(rest);
    if (match === null) {
      if (what === "T") return "missing required time introducer 'T'";
      const isMark = what.startsWith('"');
      if (rest === "") return isMark ? `end of string where ${what} is expected` : `end of string before ${what}`;
      return isMark ? `found ${JSON.stringify(rest)} where ${what} is expected` : `cannot use ${JSON.stringify(rest)} as ${what}`;
    }
    rest = rest.slice(match[0].length);
  }
  return `extra text: ${JSON.stringify(rest)}`;
}

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Billionths of a second in a duration as Go writes it: `1h30m`, `-1.5s`. */
function parseDuration(text: string): bigint {
  const body = text.replace(/^[+-]/, "");
  if (body === "0") return 0n;
  const pattern = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;
  let total = 0n;
  while (pattern.lastIndex < body.length) {
    const match = pattern.exec(body);
    const unit = UNITS[match?.[3] ?? ""];
    const whole = match?.[1] ?? "";
    const fraction = match?.[2] ?? "";
    if (match === null || unit === undefined || whole + fraction === "") break;
    total +=
      BigInt(whole === "" ? 0 : whole) * unit + (BigInt(fraction === "" ? 0 : fraction) * unit) / 10n ** BigInt(fraction.length);
  }
  if (body === "" || pattern.lastIndex < body.length || pattern.lastIndex === 0) {
    throw new FunctionError(durationProblem(text, body));
  }
  return text.startsWith("-") ? -total : total;
}

function durationProblem(text: string, body: string): string {
  const unit = /^(?:\d*\.?\d*(?:ns|us|µs|μs|ms|s|m|h))*(?:\d+\.?\d*|\.\d+)([^\d.]*)/.exec(body)?.[1];
  const quoted = JSON.stringify(text);
  if (unit === undefined) return `time: invalid duration ${quoted}`;
  return unit === ""
    ? `time: missing unit in duration ${quoted}`
    : `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
}

/** The clock on the wall in the zone of the timestamp, as if it were UTC. */
function wallClock({ seconds, offset }: Timestamp): Date {
  return new Date(Number(seconds + BigInt(offset * 60)) * 1000);
}

function zoneText(offset: number, colon: string): string {
  const minutes = Math.abs(offset);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}${colon}${two(minutes % 60)}`;
}

function timeAdd(args: readonly Value[]): Value {
  const start = parseTimestamp(textAt(args, 0));
  const nanos = start.nanos + parseDuration(textAt(args, 1));
  const carry = nanos >= 0n ? nanos / 1_000_000_000n : -((-nanos + 999_999_999n) / 1_000_000_000n);
  const clock = wallClock({ ...start, seconds: start.seconds + carry });
  const zone = start.offset === 0 ? "Z" : zoneText(start.offset, ":");
  return stringValue(clock.toISOString().replace(/\.\d+Z$/, zone));
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** What a run of one letter stands for: by its length, from 1; and the complaint about other lengths. */
interface Verb {
  readonly forms: Readonly<Record<number, string>>;
  readonly complaint: string;
}

function verbOf(letter: string, clock: Date, offset: number): Verb | undefined {
  const plain = (value: number): Verb["forms"] => ({ 1: String(value), 2: String(value).padStart(2, "0") });
  const year = clock.getUTCFullYear();
  const month = MONTHS[clock.getUTCMonth()] ?? "";
  const day = DAYS[clock.getUTCDay()] ?? "";
  const hour = clock.getUTCHours();
  const half = hour < 12 ? "am" : "pm";
  const zone = zoneText(offset, "");
  switch (letter) {
    case "Y":
      return {
        forms: { 2: String(year % 100).padStart(2, "0"), 4: String(year).padStart(4, "0") },
        complaint: 'year must either be "YY" or "YYYY"',
      };
    case "M":
      return {
        forms: { ...plain(clock.getUTCMonth() + 1), 3: month.slice(0, 3), 4: month },
        complaint: 'month must be "M", "MM", "MMM", or "MMMM"',
      };
    case "D":
      return { forms: plain(clock.getUTCDate()), complaint: 'day of month must either be "D" or "DD"' };
    case "E":
      return { forms: { 3: day.slice(0, 3), 4: day }, complaint: 'day of week must either be "EEE" or "EEEE"' };
    case "h":
      return { forms: plain(hour), complaint: '24-hour must either be "h" or "hh"' };
    case "H":
      return { forms: plain(hour % 12 === 0 ? 12 : hour % 12), complaint: '12-hour must either be "H" or "HH"' };
    case "A":
      return { forms: { 2: half.toUpperCase() }, complaint: 'must be "AA"' };
    case "a":
      return { forms: { 2: half }, complaint: 'must be "aa"' };
    case "m":
      return { forms: plain(clock.getUTCMinutes()), complaint: 'minute must either be "m" or "mm"' };
    case "s":
      return { forms: plain(clock.getUTCSeconds()), complaint: 'second must either be "s" or "ss"' };
    case "Z": {
      const forms = {
        1: offset === 0 ? "Z" : zoneText(offset, ":"),
        3: offset === 0 ? "UTC" : zone,
        4: zone,
        5: zoneText(offset, ":"),
      };
      return { forms, complaint: "timezone must be Z, ZZZZ, or ZZZZZ" };
    }
    default:
      return undefined;
  }
}

function formatDate(args: readonly Value[]): Value {
  const stamp = parseTimestamp(textAt(args, 1), 1);
  const clock = wallClock(stamp);
  const text = textAt(args, 0).replace(/'(?:[^']|'')*'?|([A-Za-z])\1*/g, (token: string, letter: string | undefined) => {
    if (letter === undefined) {
      if (token === "''") return "'";
      if (token.length < 2 || !/^'(?:[^']|'')*'$/.test(token)) throw new FunctionError("unterminated literal '", 0);
      return token.slice(1, -1).replaceAll("''", "'");
    }
    const verb = verbOf(letter, clock, stamp.offset);
    const form = verb?.forms[token.length];
    if (form !== undefined) return form;
    throw new FunctionError(
      `invalid date format verb ${JSON.stringify(token)}${verb === undefined ? "" : `: ${verb.complaint}`}`,
      0,
    );
  });
  return stringValue(text);
}

export const dateFunctions: FunctionTable = {
  formatdate: define([str("format"), str("time")], formatDate),
  timeadd: define([str("timestamp"), str("duration")], timeAdd),
};
