import { styleText } from "node:util";
import { formatDuration } from "../../model/duration.ts";
import type { Counts, RunEvent } from "./events.ts";

/** Progress as lines for people (workspace §16): the four glyphs stand on final lines, always with the reason in brackets. */

/** The only line of a run that had nothing to do. */
export const upToDate = "all steps already deployed, skipped: already up-to-date";

export interface FormatOptions {
  readonly colour: boolean;
}

/** Lines of an event; none for events that only programs need. */
export function formatEvent(event: RunEvent, options: FormatOptions): readonly string[] {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    options.colour ? styleText(style, text, { validateStream: false }) : text;
  const stamp = "at" in event ? paint("gray", `[${shortTime(event.at)}] `) : "";
  switch (event.event) {
    case "run_started":
      return [];
    case "phase_started": {
      const name = event.service === undefined ? event.phase : `${event.service}/${event.phase}`;
      return [`${stamp}${paint("bold", `Phase: ${name}`)}${event.description === undefined ? "" : `: ${event.description}`}`];
    }
    case "step_started":
      return [`${stamp}${counter(event)}${event.address}${event.description === undefined ? "" : `: ${event.description}`}`];
    case "step_output":
      return [`    ${event.group === undefined ? "" : `${event.address} | `}${event.line}`];
    case "step_finished":
      return finishedLines(event, stamp, paint);
    case "notice":
      return [`${event.level === "warning" ? paint("yellow", "! ") : ""}${event.message}`];
    case "run_finished": {
      if (event.up_to_date === true) return [upToDate];
      const took = formatDuration(Math.round(event.duration_ms / 1000) * 1000);
      const head = event.ok ? paint("green", `✓ Done (${took})`) : paint("red", `✗ Failed (${took})`);
      return [`${stamp}${head}: ${formatCounts(event.counts)}`, ...(event.error === undefined ? [] : [`  ${event.error}`])];
    }
  }
}

function finishedLines(
  event: Extract<RunEvent, { event: "step_finished" }>,
  stamp: string,
  paint: (style: Parameters<typeof styleText>[0], text: string) => string,
): readonly string[] {
  const reason = event.reason === "" ? "" : ` (${event.reason})`;
  const took = event.duration_ms >= 1_000 ? ` ${formatDuration(Math.round(event.duration_ms / 100) * 100)}` : "";
  const name = `${counter(event)}${event.address}`;
  switch (event.outcome) {
    case "executed":
      return [`${stamp}${paint("green", "✓")} ${name}${reason}${took}`];
    case "revalidated":
      return [`${stamp}${paint("green", "◎")} ${name}${reason}${took}`];
    case "skipped":
      return [`${stamp}${paint("gray", `· ${name}${reason}`)}`];
    case "failed": {
      const tolerated = event.tolerated === true ? " (continue_on_error)" : "";
      return [
        `${stamp}${paint("red", "✗")} ${name}${reason}${took}${tolerated}`,
        ...(event.error ?? "").split("\n").map((line) => `    ${line}`),
      ];
    }
  }
}

/** `5 executed, 2 re-validated, 3 skipped, 0 failed`. */
export function formatCounts(counts: Counts): string {
  return `${counts.executed} executed, ${counts.revalidated} re-validated, ${counts.skipped} skipped, ${counts.failed} failed`;
}

function counter(event: { readonly number?: number; readonly total: number }): string {
  return event.number === undefined ? "" : `[${event.number}/${event.total}] `;
}

/** ISO 8601 in UTC as everywhere, without the fraction. */
function shortTime(at: string): string {
  return `${at.slice(0, 19)}Z`;
}
