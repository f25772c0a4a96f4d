/** `nops windows`: when sync windows are open, in the window's zone and in UTC. */
import type { JobJson } from "../../api/contract.ts";
import { toInstant } from "../../model/clock.ts";
import type { WindowRule } from "../../model/desired.ts";
import { parseDuration } from "../../model/duration.ts";
import { openings } from "../../plan/windows.ts";
import { type ClientFlags, clientFor, jobFor } from "../client-options.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import type { CommandIo } from "../io.ts";
import { printJson, table } from "../output.ts";

export interface WindowsFlags extends ClientFlags {
  readonly from?: string;
  readonly to?: string;
  readonly cron?: string;
  readonly duration?: string;
  readonly timeZone?: string;
}

interface Row {
  readonly job: string;
  readonly open: boolean;
  readonly changesAt: string | null;
  readonly timeZone: string;
}

const weekMs = 7 * 24 * 3_600_000;

/** With `--cron` an expression is simulated without any server; else the windows of jobs are shown as the server sees them. */
export async function windows(name: string | undefined, flags: WindowsFlags, io: CommandIo): Promise<void> {
  if (flags.cron !== undefined) return simulate(flags.cron, flags, io);
  const client = clientFor(flags, io);
  const jobs = name === undefined ? (await client.jobs()).jobs : [await client.job(jobFor(name, flags, io))];
  if (flags.from !== undefined || flags.to !== undefined) return openingsOfJobs(jobs, flags, io);
  const rows: Row[] = jobs.flatMap((job) =>
    job.window === null
      ? []
      : [
          {
            job: `${job.namespace}/${job.job}`,
            open: job.window.open,
            changesAt: job.window.changes_at,
            timeZone: job.window.time_zone,
          },
        ],
  );
  if (flags.json)
    return printJson(io, {
      windows: jobs.flatMap((job) => (job.window === null ? [] : [{ namespace: job.namespace, job: job.job, ...job.window }])),
    });
  io.out(
    table(
      ["JOB", "NOW", "CHANGES (ZONE)", "CHANGES (UTC)"],
      rows.map((row) => [row.job, row.open ? "open" : "closed", local(row.changesAt, row.timeZone), row.changesAt ?? "never"]),
    ),
  );
  if (rows.length === 0) io.err("no job has a window\n");
}

/** When the windows of jobs are open between two times. */
function openingsOfJobs(jobs: readonly JobJson[], flags: WindowsFlags, io: CommandIo): void {
  const { from, to } = span(flags, io);
  const found = jobs.flatMap(({ namespace, job, window }) => {
    if (window === null) return [];
    const { time_zone: timeZone } = window;
    const rules = { allow: ruleOf(window.allow, timeZone), deny: ruleOf(window.deny, timeZone) };
    return openings(rules, from, to).map((opening) => ({ namespace, job, timeZone, ...inWords(opening) }));
  });
  if (flags.json) {
    const rows = found.map(({ timeZone, ...row }) => ({ ...row, time_zone: timeZone }));
    printJson(io, { openings: rows });
    return;
  }
  const header = ["JOB", "FROM (ZONE)", "TO (ZONE)", "FROM (UTC)", "TO (UTC)"];
  const rows = found.map((row) => [
    `${row.namespace}/${row.job}`,
    local(row.from, row.timeZone),
    local(row.to, row.timeZone),
    row.from,
    row.to ?? "never",
  ]);
  io.out(table(header, rows));
  if (rows.length === 0)
    io.err(jobs.every(({ window }) => window === null) ? "no job has a window\n" : "no window opens in that time\n");
}

/** The API tells a rule as `CRON for DURATION`. */
function ruleOf(text: string | null, timeZone: string): WindowRule | undefined {
  const [, cron, duration] = /^(.+) for (\S+)$/.exec(text ?? "") ?? [];
  const durationMs = parseDuration(duration ?? "");
  return cron === undefined || durationMs === undefined ? undefined : { cron, durationMs, timeZone };
}

function span(flags: WindowsFlags, io: CommandIo): { readonly from: number; readonly to: number } {
  const from = instant(flags.from, "--from") ?? io.clock.now();
  return { from, to: instant(flags.to, "--to") ?? from + weekMs };
}

function inWords({ start, end }: { readonly start: number; readonly end?: number | undefined }) {
  return { from: toInstant(start), to: end === undefined ? null : toInstant(end) };
}

function simulate(cron: string, flags: WindowsFlags, io: CommandIo): void {
  const durationMs = parseDuration(flags.duration ?? "");
  if (durationMs === undefined || durationMs <= 0)
    throw new CommandError(exitCodes.usage, "--cron needs --duration", "for example --cron '0 2 * * *' --duration 2h");
  const timeZone = flags.timeZone ?? "UTC";
  const { from, to } = span(flags, io);
  const rows = openingsOf(cron, durationMs, timeZone, from, to).map(inWords);
  if (flags.json) {
    printJson(io, { time_zone: timeZone, openings: rows });
    return;
  }
  io.out(
    table(
      ["FROM (ZONE)", "TO (ZONE)", "FROM (UTC)", "TO (UTC)"],
      rows.map((row) => [local(row.from, timeZone), local(row.to, timeZone), row.from, row.to ?? "never"]),
    ),
  );
}

function openingsOf(cron: string, durationMs: number, timeZone: string, from: number, to: number) {
  try {
    return openings({ allow: { cron, durationMs, timeZone }, deny: undefined }, from, to);
  } catch (error) {
    throw new CommandError(
      exitCodes.usage,
      `"${cron}" in ${timeZone}: ${(error as Error).message}`,
      "five cron fields, such as '0 2 * * MON-FRI'",
    );
  }
}

function instant(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms))
    throw new CommandError(exitCodes.usage, `${flag}: "${text}" is not a time`, "for example 2026-01-02T03:04:05Z");
  return ms;
}

function local(at: string | null, timeZone: string): string {
  if (at === null) return "never";
  return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "long" }).format(new Date(at));
}
