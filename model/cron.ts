import { Cron } from "croner";

const shorthands = ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"];
/** A pattern that has no match from here on never matches: the calendar repeats. */
const reference = new Date("2000-01-01T00:00:00Z");

/** Whether `zone` is an IANA time zone that this system knows. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const problems = new Map<string, string | undefined>();

/** What is wrong with a cron expression of five fields or an `@` shorthand (design D37); `undefined` when it can be used. */
export function cronProblem(expression: string): string | undefined {
  // Every pass over a repository asks this of every window, and finding out takes longer than all the other annotations.
  if (!problems.has(expression)) {
    if (problems.size > 5_000) problems.clear();
    problems.set(expression, findProblem(expression));
  }
  return problems.get(expression);
}

function findProblem(expression: string): string | undefined {
  const text = expression.trim();
  if (text.startsWith("@"))
    return shorthands.includes(text) ? undefined : `unknown shorthand; known are ${shorthands.join(", ")}`;
  const fields = text.split(/\s+/).length;
  if (fields !== 5) return `a window takes five fields (minute hour day month weekday), this has ${text === "" ? 0 : fields}`;
  try {
    return openCron(text, "UTC").nextRun(reference) === null ? "no such moment ever comes" : undefined;
  } catch {
    return "not a cron expression";
  }
}

/** A cron expression ready for questions about past and coming moments; it never runs anything. @throws when it cannot be used. */
export function openCron(expression: string, timeZone: string): Cron {
  return new Cron(expression.trim(), { timezone: timeZone, mode: "5-part", paused: true });
}
