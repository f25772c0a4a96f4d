/** How Go writes values in texts. */

/** A duration in nanoseconds as `time.Duration` prints it: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function goDuration(nanoseconds: number): string {
  if (nanoseconds === 0) return "0s";
  const sign = nanoseconds < 0 ? "-" : "";
  const ns = Math.abs(nanoseconds);
  if (ns < 1_000) return `${sign}${ns}ns`;
  if (ns < 1_000_000) return `${sign}${ns / 1_000}µs`;
  if (ns < 1_000_000_000) return `${sign}${ns / 1_000_000}ms`;
  const seconds = (ns % 60_000_000_000) / 1_000_000_000;
  const minutes = Math.floor(ns / 60_000_000_000);
  if (minutes === 0) return `${sign}${trimmed(seconds)}s`;
  if (minutes < 60) return `${sign}${minutes}m${trimmed(seconds)}s`;
  return `${sign}${Math.floor(minutes / 60)}h${minutes % 60}m${trimmed(seconds)}s`;
}

function trimmed(seconds: number): string {
  if (Number.isInteger(seconds)) return String(seconds);
  return seconds.toFixed(9).replace(/\.?0+$/, "");
}

/** A list of texts as `%q` prints it: `["a" "b"]`. */
export function goQuoteList(texts: readonly string[]): string {
  return `[${texts.map(goQuote).join(" ")}]`;
}

/** A text in Go's double quotes. */
export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  return JSON.stringify(text)
    .replace(/\\u00([01][0-9a-f])/g, "\\x$1")
    .replace(/\\x07/g, "\\a")
    .replace(/\\x0b/g, "\\v");
}

/** The same with everything beyond ASCII escaped. */
export function goQuoteAscii(text: string): string {
  return goQuote(text).replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
