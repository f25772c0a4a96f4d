/** The cron dialect of Nomad's periodic jobs: five to seven fields (seconds first, year last), lists, ranges, steps, `L`, `W`, `#`. */

interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** What one value may look like, lower case. */
  readonly value: string;
  readonly names?: readonly string[];
  /** The number of the first of `names`. */
  readonly firstName?: number;
}

const MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december".split("|");
const DAYS = "sunday|monday|tuesday|wednesday|thursday|friday|saturday".split("|");
const words = (names: readonly string[]) => [...names.map((n) => n.slice(0, 3)), ...names].join("|");

const SIXTY = "0?[0-9]|[1-5][0-9]";
const SECOND: FieldRule = { name: "second", min: 0, max: 59, value: SIXTY };
const MINUTE: FieldRule = { name: "minute", min: 0, max: 59, value: SIXTY };
const HOUR: FieldRule = { name: "hour", min: 0, max: 23, value: "0?[0-9]|1[0-9]|2[0-3]" };
const DAY: FieldRule = { name: "day-of-month", min: 1, max: 31, value: "0?[1-9]|[12][0-9]|3[01]" };
const MONTH: FieldRule = {
  name: "month",
  min: 1,
  max: 12,
  value: `0?[1-9]|1[012]|${words(MONTHS)}`,
  names: MONTHS,
  firstName: 1,
};
const WEEKDAY: FieldRule = { name: "day-of-week", min: 0, max: 6, value: `0?[0-7]|${words(DAYS)}`, names: DAYS, firstName: 0 };
const YEAR: FieldRule = { name: "year", min: 1970, max: 2099, value: "19[789][0-9]|20[0-9]{2}" };

const SHORTHANDS: readonly (readonly [string, string])[] = [
  ["@yearly", "0 0 0 1 1 * *"],
  ["@annually", "0 0 0 1 1 * *"],
  ["@monthly", "0 0 0 1 * * *"],
  ["@weekly", "0 0 0 * * 0 *"],
  ["@daily", "0 0 0 * * * *"],
  ["@hourly", "0 0 * * * * *"],
];

/** A part of a field: some values, or a text that only some fields understand. */
interface Part {
  readonly values: ReadonlySet<number> | undefined;
  readonly all: boolean;
  readonly text: string;
}

export interface CronExpression {
  readonly seconds: ReadonlySet<number>;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly years: ReadonlySet<number>;
  /** Undefined: every day of the month. */
  readonly days: ReadonlySet<number> | undefined;
  readonly lastDay: boolean;
  readonly lastWorkday: boolean;
  /** The working day nearest to these days. */
  readonly workdays: ReadonlySet<number>;
  /** Undefined: every day of the week. */
  readonly weekdays: ReadonlySet<number> | undefined;
  /** The last one of these in the month. */
  readonly lastWeekdays: ReadonlySet<number>;
  /** `weekday` of the `week`-th week, as (week - 1) * 7 + weekday. */
  readonly nthWeekdays: ReadonlySet<number>;
}

/** A text that is no cron expression; the message is Nomad's. */
export class CronError extends Error {}

/** Reads a cron expression. Throws CronError. */
export function parseCron(text: string): CronExpression {
  let line = text;
  for (const [short, long] of SHORTHANDS) line = line.split(short).join(long);
  const fields = line.split(/\s+/).filter((field) => field !== "");
  if (fields.length < 5) throw new CronError("missing field(s)");
  const [seconds, rest] = fields.length >= 7 ? [fields[0] ?? "0", fields.slice(1)] : ["0", fields];
  const [minute = "", hour = "", day = "", month = "", weekday = "", year = "*"] = rest;
  return {
    seconds: plainField(seconds, SECOND),
    minutes: plainField(minute, MINUTE),
    hours: plainField(hour, HOUR),
    ...dayField(day),
    months: plainField(month, MONTH),
    ...weekdayField(weekday),
    years: plainField(year, YEAR),
  };
}

function parts(field: string, rule: FieldRule): Part[] {
  const entries = field.split(",").filter((entry) => entry !== "");
  if (entries.length === 0) throw new CronError(`${rule.name} field: missing directive`);
  return entries.map((entry) => partOf(entry, rule));
}

function partOf(text: string, rule: FieldRule): Part {
  const entry = text.toLowerCase();
  if (entry === "*" || entry === "?") return { values: span(rule.min, rule.max, 1), all: true, text };
  const value = `(${rule.value})`;
  const found = new RegExp(`^(?:(\\*)|${value}(?:-${value})?)(?:/(\\d+))?$`).exec(entry);
  const [, star, from, to, step] = found ?? [];
  if (found === null || (star !== undefined && step === undefined)) return { values: undefined, all: false, text };
  if (step === undefined && to === undefined) return { values: new Set([numberOf(from ?? "", rule)]), all: false, text };
  // Only numbers that could be a value count as a step; all others are 0 to Nomad.
  const width = step === undefined ? 1 : /^(\d|[0-5]\d|19[789]\d|20\d\d)$/.test(step) ? Number(step) : 0;
  if (width < 1 || width > rule.max) throw new CronError(`invalid interval ${entry}`);
  const first = star === undefined ? numberOf(from ?? "", rule) : rule.min;
  const last = to === undefined ? rule.max : numberOf(to, rule);
  // A range of weekdays that ends in 7 ends on Saturday, and Sunday is 0.
  return { values: span(first, rule === WEEKDAY && last === 0 ? 6 : last, width), all: false, text };
}

function span(first: number, last: number, step: number): ReadonlySet<number> {
  const values = new Set<number>();
  for (let i = first; i <= last; i += step) values.add(i);
  return values;
}

function numberOf(text: string, rule: FieldRule): number {
  const named = rule.names?.findIndex((name) => name === text || name.slice(0, 3) === text) ?? -1;
  if (named >= 0) return named + (rule.firstName ?? 0);
  const value = Number(text);
  return rule === WEEKDAY ? value % 7 : value;
}

function notUnderstood(part: Part, rule: FieldRule): CronError {
  return new CronError(`syntax error in ${rule.name} field: '${part.text}'`);
}

function plainField(field: string, rule: FieldRule): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of parts(field, rule)) {
    if (part.values === undefined) throw notUnderstood(part, rule);
    if (part.all) return part.values;
    for (const value of part.values) values.add(value);
  }
  return values;
}

function dayField(field: string): Pick<CronExpression, "days" | "lastDay" | "lastWorkday" | "workdays"> {
  const days = new Set<number>();
  const workdays = new Set<number>();
  let [lastDay, lastWorkday, every] = [false, false, false];
  for (const part of parts(field, DAY)) {
    const text = part.text.toLowerCase();
    const workday = new RegExp(`^(${DAY.value})w$`).exec(text);
    if (part.values !== undefined) for (const value of part.values) days.add(value);
    else if (text === "l") lastDay = true;
    else if (text === "lw") lastWorkday = true;
    else if (workday !== null) workdays.add(Number(workday[1]));
    else throw notUnderstood(part, DAY);
    every ||= part.all;
  }
  return { days: every ? undefined : days, lastDay, lastWorkday, workdays };
}

function weekdayField(field: string): Pick<CronExpression, "weekdays" | "lastWeekdays" | "nthWeekdays"> {
  const weekdays = new Set<number>();
  const lastWeekdays = new Set<number>();
  const nthWeekdays = new Set<number>();
  let every = false;
  for (const part of parts(field, WEEKDAY)) {
    const text = part.text.toLowerCase();
    const last = new RegExp(`^(${WEEKDAY.value})l$`).exec(text);
    const nth = new RegExp(`^(${WEEKDAY.value})#([1-5])$`).exec(text);
    if (part.values !== undefined) for (const value of part.values) weekdays.add(value);
    else if (last !== null) lastWeekdays.add(numberOf(last[1] ?? "", WEEKDAY));
    else if (nth !== null) nthWeekdays.add((Number(nth[2]) - 1) * 7 + numberOf(nth[1] ?? "", WEEKDAY));
    else throw notUnderstood(part, WEEKDAY);
    every ||= part.all;
  }
  return { weekdays: every ? undefined : weekdays, lastWeekdays, nthWeekdays };
}
