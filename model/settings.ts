import { cronProblem, isTimeZone } from "./cron.ts";
import type { JobSettings, MetaIssue, WindowRule } from "./desired.ts";
import { parseDuration } from "./duration.ts";
import { type Policy, policies } from "./policy.ts";

/** The prefix of every key that nops reads. */
export const ownKeyPrefix = "nops_";

/** What holds where a job's annotations are silent (contract §2). */
export interface SettingsDefaults {
  /** `meta`: only jobs with `nops_managed = "true"`; `all`: every job that is no hook and does not opt out. */
  readonly managed: "meta" | "all";
  readonly policy: Policy;
  /** Zone of windows that name none. */
  readonly timeZone: string;
  readonly hookTimeoutMs: number;
}

export const builtInDefaults: SettingsDefaults = { managed: "meta", policy: "none", timeZone: "UTC", hookTimeoutMs: 300_000 };

const knownKeys = new Set(
  (
    "managed policy pre_hook post_hook role timeout notify_completed sync_window sync_window_duration " +
    "sync_window_time_zone deny_window deny_window_duration depends_on apply_timeout"
  )
    .split(" ")
    .map((name) => ownKeyPrefix + name),
);

/**
 * Reads a job's annotations (operator §4, contract §3, design D2, D31, D37). Never throws: what is wrong is in `issues`,
 * sorted by key. An issue of severity `error` turns the whole job to policy `none` (see `plan/policy.ts`).
 */
export function parseSettings(
  meta: Readonly<Record<string, unknown>> | null | undefined,
  defaults: SettingsDefaults,
): JobSettings {
  const known = meta === null || meta === undefined ? undefined : readBefore.get(meta);
  if (known?.defaults === defaults) return known.settings;
  const settings = readSettings(meta, defaults);
  if (meta !== null && meta !== undefined) readBefore.set(meta, { defaults, settings });
  return settings;
}

/** What was read from annotations, by the object: they never change, and are read again with every look at a job. */
const readBefore = new WeakMap<object, { readonly defaults: SettingsDefaults; readonly settings: JobSettings }>();

function readSettings(meta: Readonly<Record<string, unknown>> | null | undefined, defaults: SettingsDefaults): JobSettings {
  const reader = new MetaReader(meta ?? {});
  reader.reportUnknownKeys();
  const role = reader.one("role", ["hook"]) === "hook" ? "hook" : "job";
  const opted = reader.one("managed", ["true", "false"]);
  const managed = role === "job" && (defaults.managed === "all" ? opted === "true" || !reader.has("managed") : opted === "true");
  const policy = reader.one("policy", policies) ?? defaults.policy;
  const notify = reader.one("notify_completed", ["true", "false"]) === "true";
  const timeZone = readTimeZone(reader, defaults.timeZone);
  const settings = {
    role,
    managed,
    policy,
    preHooks: reader.list("pre_hook"),
    postHooks: reader.list("post_hook"),
    notifyCompleted: notify,
    hookTimeoutMs: readHookTimeout(reader, role, defaults.hookTimeoutMs),
    applyTimeoutMs: reader.duration("apply_timeout"),
    allowWindow: readWindow(reader, "sync_window", timeZone),
    denyWindow: readWindow(reader, "deny_window", timeZone),
    dependsOn: reader.list("depends_on"),
  } as const;
  warnIgnored(reader, managed, policy, settings.allowWindow, settings.denyWindow);
  return { ...settings, issues: reader.sortedIssues() };
}

class MetaReader {
  private readonly issues: MetaIssue[] = [];
  private readonly meta: ReadonlyMap<string, string>;

  constructor(meta: Readonly<Record<string, unknown>>) {
    this.meta = new Map(Object.entries(meta).map(([key, value]) => [key, String(value)]));
  }

  has(name: string): boolean {
    return this.meta.has(ownKeyPrefix + name);
  }

  text(name: string): string | undefined {
    return this.meta.get(ownKeyPrefix + name);
  }

  issue(severity: MetaIssue["severity"], name: string, message: string): void {
    this.issues.push({ severity, key: ownKeyPrefix + name, message });
  }

  one<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const found = allowed.find((value) => value === text);
    if (found === undefined) this.issue("error", name, `${quote(text)} is not allowed; it must be ${allowed.join(" or ")}`);
    return found;
  }

  /** A comma list; one mistake and the whole list counts as not declared (operator §4.2). */
  list(name: string): readonly string[] {
    const text = this.text(name);
    if (text === undefined) return [];
    const items = text.split(",").map((item) => item.trim());
    if (items.some((item) => item === "")) {
      this.issue("error", name, "the list has an empty item; write job IDs with single commas between them");
      return [];
    }
    const twice = items.find((item, at) => items.indexOf(item) !== at);
    if (twice === undefined) return items;
    this.issue("error", name, `${quote(twice)} is named twice`);
    return [];
  }

  /** A positive duration in ms. */
  duration(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const ms = parseDuration(text);
    if (ms !== undefined && ms > 0) return ms;
    this.issue("error", name, `${quote(text)} is no positive duration such as 90s or 1h30m`);
    return undefined;
  }

  reportUnknownKeys(): void {
    for (const key of this.meta.keys()) {
      if (!key.startsWith(ownKeyPrefix) || knownKeys.has(key)) continue;
      const moved = /^nops_(?:pre|post)_hook_timeout$/.test(key);
      const advice = moved
        ? "the time a hook may take is nops_timeout on the hook's own job"
        : `known keys are ${[...knownKeys].sort().join(", ")}`;
      this.issues.push({ severity: "warn", key, message: `unknown key, ignored; ${advice}` });
    }
  }

  sortedIssues(): readonly MetaIssue[] {
    return this.issues.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function readTimeZone(reader: MetaReader, byDefault: string): string {
  const zone = reader.text("sync_window_time_zone");
  if (zone === undefined) return byDefault;
  if (!reader.has("sync_window") && !reader.has("deny_window"))
    reader.issue("warn", "sync_window_time_zone", "ignored: there is no window");
  if (isTimeZone(zone)) return zone;
  reader.issue("error", "sync_window_time_zone", `${quote(zone)} is no known time zone; write for example Europe/Berlin`);
  return byDefault;
}

function readHookTimeout(reader: MetaReader, role: "job" | "hook", byDefault: number): number {
  if (role === "hook") return reader.duration("timeout") ?? byDefault;
  if (reader.has("timeout")) reader.issue("warn", "timeout", "ignored: only a hook job has it");
  return byDefault;
}

function readWindow(reader: MetaReader, name: "sync_window" | "deny_window", timeZone: string): WindowRule | undefined {
  const cron = reader.text(name);
  const lengthName = `${name}_duration`;
  if (cron === undefined) {
    if (reader.has(lengthName))
      reader.issue("error", lengthName, `it needs ${ownKeyPrefix}${name}, which says when the window opens`);
    return undefined;
  }
  if (!reader.has(lengthName))
    reader.issue("error", name, `it needs ${ownKeyPrefix}${lengthName}, which says how long the window stays open`);
  const problem = cronProblem(cron);
  if (problem !== undefined) reader.issue("error", name, `${quote(cron)}: ${problem}`);
  const durationMs = reader.duration(lengthName);
  return problem === undefined && durationMs !== undefined ? { cron, durationMs, timeZone } : undefined;
}

function warnIgnored(
  reader: MetaReader,
  managed: boolean,
  policy: Policy,
  allow: WindowRule | undefined,
  deny: WindowRule | undefined,
): void {
  const present = [
    "policy",
    "notify_completed",
    "sync_window",
    "deny_window",
    "depends_on",
    "apply_timeout",
    "pre_hook",
    "post_hook",
  ];
  if (!managed) {
    for (const name of present) if (reader.has(name)) reader.issue("warn", name, "ignored: the job is not managed");
    return;
  }
  if (policy === "auto") return;
  if (allow !== undefined)
    reader.issue("warn", "sync_window", `ignored under policy ${policy}: windows hold automatic starts only`);
  if (deny !== undefined)
    reader.issue("warn", "deny_window", `ignored under policy ${policy}: windows hold automatic starts only`);
}
