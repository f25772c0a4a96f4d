/** How commands print: aligned columns for people, JSON by contract for programs. */
import { styleText } from "node:util";
import type { CommandIo } from "./io.ts";

type Style = Parameters<typeof styleText>[0];

/** Colours a text when the stream takes colours. */
export function paint(enabled: boolean, style: Style, text: string): string {
  return enabled ? styleText(style, text, { validateStream: false }) : text;
}

const stateStyles: Readonly<Record<string, Style>> = {
  pending_approval: "yellow",
  pending: "yellow",
  held: "yellow",
  paused: "yellow",
  drift: "yellow",
  warn: "yellow",
  detected: "blue",
  pre_hook: "blue",
  applying: "blue",
  post_hook: "blue",
  deploying: "blue",
  completed: "green",
  sync: "green",
  ok: "green",
  pass: "green",
  failed: "red",
  fail: "red",
  error: "red",
  unreachable: "red",
  blocked: "red",
  invalid: "red",
  frozen: "red",
  orphan: "magenta",
  rejected: "gray",
  superseded: "gray",
  not_reached: "gray",
};

/** A state or verdict in its colour. */
export function paintState(enabled: boolean, state: string, width = 0): string {
  const padded = state.padEnd(width);
  const style = stateStyles[state];
  return style === undefined ? padded : paint(enabled, style, padded);
}

// Text from repositories and Nomad may hold control characters that would steer a terminal (S13).
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Makes control and direction characters visible; line feeds stay. */
export function printable(text: string): string {
  return text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Rows as columns, two blanks apart; no trailing blanks. `format` may colour a padded cell. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  format: (cell: string, column: number) => string = (cell) => cell,
): string {
  const safe = rows.map((row) => row.map((cell) => printable(cell).replaceAll("\n", " ")));
  const widths = header.map((title, column) => Math.max(title.length, ...safe.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], paintCell: typeof format): string =>
    cells
      .map((cell, column) => paintCell(column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0), column))
      .join("  ")
      .trimEnd();
  return [line(header, (cell) => cell), ...safe.map((row) => line(row, format))].map((text) => `${text}\n`).join("");
}

/** `1 error`, `2 errors`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Facts as lines, the names in one column; those without a value are left out. */
export function describeFacts(facts: readonly (readonly [string, string | null])[]): string {
  const known = facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  const width = Math.max(12, ...known.map(([name]) => name.length + 2));
  return known.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}\n`).join("");
}

/** Prints a value as JSON, one document. */
export function printJson(io: CommandIo, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** `3m ago`, `2h ago`, `5d ago`; the instant itself when it lies ahead. */
export function ago(instant: string | null, nowMs: number): string {
  if (instant === null) return "-";
  const seconds = Math.round((nowMs - Date.parse(instant)) / 1000);
  if (seconds < 0) return instant;
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)}h ago`;
  return `${Math.round(seconds / 86_400)}d ago`;
}
