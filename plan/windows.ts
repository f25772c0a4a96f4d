/**
 * Sync windows (design D10, D37). A window opens where its cron expression matches in its zone and stays open for a length of
 * *elapsed* time, so a night with a change of daylight saving neither shortens nor lengthens it. Windows that touch or overlap
 * are one. Start inclusive, end exclusive.
 */
import type { Cron } from "croner";
import { openCron } from "../model/cron.ts";
import type { WindowRule } from "../model/desired.ts";
import type { ReasonCode } from "../model/reasons.ts";

/** Windows merged before it is said that one never closes. */
const mostMerged = 500;
/** Edges looked at to find where allow and deny together change. */
const mostEdges = 100;

const crons = new Map<string, Cron>();

function cronOf(rule: WindowRule): Cron {
  const name = `${rule.timeZone} ${rule.cron}`;
  const known = crons.get(name);
  if (known !== undefined) return known;
  const cron = openCron(rule.cron, rule.timeZone);
  if (crons.size > 5_000) crons.clear();
  crons.set(name, cron);
  return cron;
}

/** Latest match at or before `at`. */
function lastMatch(cron: Cron, at: number): number | undefined {
  return cron.previousRuns(1, new Date(Math.floor(at / 1_000) * 1_000 + 1_000))[0]?.getTime();
}

/** First match after `at`. */
function nextMatch(cron: Cron, at: number): number | undefined {
  return cron.nextRun(new Date(at))?.getTime();
}

/** The last run of merged matches looked at, rule by rule: valid for every match inside it. `end` is absent when no gap was found. */
const runs = new Map<string, { readonly from: number; readonly lookedAt: number; readonly end: number | undefined }>();

/** From a match, the end of the opening that it belongs to; `undefined` when 500 merged windows show no gap. */
function mergedEnd(rule: WindowRule, match: number): number | undefined {
  const name = `${rule.timeZone} ${rule.cron} ${rule.durationMs}`;
  const known = runs.get(name);
  if (known !== undefined && known.from <= match && match < known.lookedAt) return known.end;
  const cron = cronOf(rule);
  let last = match;
  let end: number | undefined;
  for (let merged = 0; merged < mostMerged && end === undefined; merged++) {
    const next = nextMatch(cron, last);
    if (next === undefined || next > last + rule.durationMs) end = last + rule.durationMs;
    else last = next;
  }
  if (runs.size > 5_000) runs.clear();
  runs.set(name, { from: match, lookedAt: end ?? last, end });
  return end;
}

/** Whether the rule is open at an instant. */
function isOpenAt(rule: WindowRule, at: number): boolean {
  const match = lastMatch(cronOf(rule), at);
  return match !== undefined && match <= at && at < match + rule.durationMs;
}

/** When an opening that holds `at` ends; `undefined` for never. */
function endAfter(rule: WindowRule, at: number): number | undefined {
  const match = lastMatch(cronOf(rule), at);
  return match === undefined ? at : mergedEnd(rule, match);
}

/** The next start after `at`. */
function startAfter(rule: WindowRule | undefined, at: number): number | undefined {
  return rule === undefined ? undefined : nextMatch(cronOf(rule), at);
}

/** Whether automatic starts may happen now, and if not, why. */
export interface WindowStatus {
  readonly open: boolean;
  /** Why it is closed: outside the allowed time, or inside a denied one. */
  readonly reason: Extract<ReasonCode, "window_closed" | "window_denied"> | undefined;
  /** When `open` changes next, ms since the epoch; `undefined`: never, or not within what was looked at. */
  readonly changesAt: number | undefined;
}

/** Deny beats allow; a job without an allow window is open whenever nothing denies (design D37). */
export function windowStatus(allow: WindowRule | undefined, deny: WindowRule | undefined, at: number): WindowStatus {
  const reason = closedBecause(allow, deny, at);
  return { open: reason === undefined, reason, changesAt: nextChange(allow, deny, at, reason === undefined) };
}

function closedBecause(allow: WindowRule | undefined, deny: WindowRule | undefined, at: number): WindowStatus["reason"] {
  if (deny !== undefined && isOpenAt(deny, at)) return "window_denied";
  return allow !== undefined && !isOpenAt(allow, at) ? "window_closed" : undefined;
}

/** Goes from edge to edge of whichever rule decides at that moment, until the two together change. */
function nextChange(
  allow: WindowRule | undefined,
  deny: WindowRule | undefined,
  from: number,
  open: boolean,
): number | undefined {
  let at = from;
  for (let edges = 0; edges < mostEdges; edges++) {
    const next = decidingEdge(allow, deny, at);
    if (next === undefined) return undefined;
    if ((closedBecause(allow, deny, next) === undefined) !== open) return next;
    at = next;
  }
  return undefined;
}

function decidingEdge(allow: WindowRule | undefined, deny: WindowRule | undefined, at: number): number | undefined {
  const reason = closedBecause(allow, deny, at);
  if (reason === "window_denied") return deny === undefined ? undefined : endAfter(deny, at);
  if (reason === "window_closed") return startAfter(allow, at);
  const ends = [allow === undefined ? undefined : endAfter(allow, at), startAfter(deny, at)].filter((edge) => edge !== undefined);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** An opening: ms since the epoch; `end` is absent when it lies beyond what was asked for, or never comes. */
export interface Opening {
  readonly start: number;
  readonly end: number | undefined;
}

/** The openings between two instants, oldest first, cut to them; at most `limit`. For `nops windows`. */
export function openings(
  rules: { readonly allow: WindowRule | undefined; readonly deny: WindowRule | undefined },
  from: number,
  to: number,
  limit = 1_000,
): readonly Opening[] {
  const found: Opening[] = [];
  let at = from;
  while (at < to && found.length < limit) {
    const status = windowStatus(rules.allow, rules.deny, at);
    const end = status.changesAt === undefined || status.changesAt > to ? undefined : status.changesAt;
    if (status.open) found.push({ start: at, end });
    if (end === undefined) break;
    at = end;
  }
  return found;
}
