/**
 * Durations as Nomad writes them: decimal numbers with a unit, one after another, for example `90s`, `1h30m`, `1.5h`, `250ms`.
 * A bare `0` needs no unit. Source: contract §2; the form is that of Go's duration strings.
 */

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const longest = 64;

/** Milliseconds of a duration text, possibly negative or fractional; `undefined` when it is not one. Never throws. */
export function parseDuration(text: string): number | undefined {
  if (text.length > longest) return undefined;
  const sign = text.startsWith("-") ? -1 : 1;
  const body = /^[+-]/.test(text) ? text.slice(1) : text;
  if (body === "0") return 0;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let total = 0;
  for (const [, amount = "", unit = ""] of body.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(amount) * (unitMs[unit] ?? Number.NaN);
  }
  return Number.isFinite(total) ? sign * total : undefined;
}

/** Shortest text of a duration in whole milliseconds: `1h30m`, `1m30s`, `250ms`, `0s`. `parseDuration` reads it back. */
export function formatDuration(ms: number): string {
  const rounded = Math.round(Math.abs(ms));
  if (rounded === 0) return "0s";
  const parts: string[] = [];
  let rest = rounded;
  for (const unit of ["h", "m", "s", "ms"] as const) {
    const size = unitMs[unit] ?? 1;
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) parts.push(`${amount}${unit}`);
  }
  return (ms < 0 ? "-" : "") + parts.join("");
}

const nsInMs = 1_000_000n;

/** The same of nanoseconds, as Nomad's API counts them. What is no whole number of milliseconds stays in nanoseconds: `1500ns`. */
export function formatNanoseconds(ns: bigint): string {
  return ns % nsInMs === 0n ? formatDuration(Number(ns / nsInMs)) : `${ns}ns`;
}
