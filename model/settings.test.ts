import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtInDefaults, parseSettings } from "./settings.ts";

const parse = (meta: Record<string, string>, over = {}) => parseSettings(meta, { ...builtInDefaults, ...over });
const keysOf = (meta: Record<string, string>) => parse(meta).issues.map((issue) => `${issue.severity} ${issue.key}`);
const on = { nops_managed: "true", nops_policy: "auto" };

it("says nothing and manages nothing without annotations", () => {
  expect(parseSettings(null, builtInDefaults)).toEqual({
    role: "job",
    managed: false,
    policy: "none",
    preHooks: [],
    postHooks: [],
    notifyCompleted: false,
    hookTimeoutMs: 300_000,
    applyTimeoutMs: undefined,
    allowWindow: undefined,
    denyWindow: undefined,
    dependsOn: [],
    issues: [],
  });
});

it("reads every key", () => {
  const all = {
    ...on,
    nops_pre_hook: "backup, migrate",
    nops_post_hook: "smoke",
    nops_notify_completed: "true",
    nops_sync_window: "0 22 * * MON-FRI",
    nops_sync_window_duration: "4h",
    nops_sync_window_time_zone: "Europe/Berlin",
    nops_deny_window: "@monthly",
    nops_deny_window_duration: "24h",
    nops_depends_on: "db,cache",
    nops_apply_timeout: "20m",
  };
  expect(parse(all)).toEqual({
    role: "job",
    managed: true,
    policy: "auto",
    preHooks: ["backup", "migrate"],
    postHooks: ["smoke"],
    notifyCompleted: true,
    hookTimeoutMs: 300_000,
    applyTimeoutMs: 1_200_000,
    allowWindow: { cron: "0 22 * * MON-FRI", durationMs: 14_400_000, timeZone: "Europe/Berlin" },
    denyWindow: { cron: "@monthly", durationMs: 86_400_000, timeZone: "Europe/Berlin" },
    dependsOn: ["db", "cache"],
    issues: [],
  });
});

describe("issues, key by key (operator §4.2)", () => {
  it.each<[string, Record<string, string>, string[]]>([
    ["an unknown key", { ...on, nops_polcy: "auto" }, ["warn nops_polcy"]],
    ["a key of an earlier version", { ...on, nops_pre_hook_timeout: "5m" }, ["warn nops_pre_hook_timeout"]],
    ["another tool's key", { ...on, owner: "x" }, []],
    ["managed with another value", { nops_managed: "True" }, ["error nops_managed"]],
    ["policy with another value", { ...on, nops_policy: "Auto" }, ["error nops_policy"]],
    ["policy of an unmanaged job", { nops_policy: "auto" }, ["warn nops_policy"]],
    ["role with another value", { nops_role: "job" }, ["error nops_role"]],
    ["timeout of a job that is no hook", { ...on, nops_timeout: "soon" }, ["warn nops_timeout"]],
    ["timeout of a hook that does not parse", { nops_role: "hook", nops_timeout: "soon" }, ["error nops_timeout"]],
    ["timeout of a hook that is not positive", { nops_role: "hook", nops_timeout: "0s" }, ["error nops_timeout"]],
    ["an empty list", { ...on, nops_pre_hook: "" }, ["error nops_pre_hook"]],
    ["a stray comma", { ...on, nops_post_hook: "a,,b" }, ["error nops_post_hook"]],
    ["one hook twice in a phase", { ...on, nops_pre_hook: "a, a" }, ["error nops_pre_hook"]],
    ["one hook in both phases", { ...on, nops_pre_hook: "a", nops_post_hook: "a" }, []],
    ["a window without its length", { ...on, nops_sync_window: "@daily" }, ["error nops_sync_window"]],
    ["a length without its window", { ...on, nops_deny_window_duration: "1h" }, ["error nops_deny_window_duration"]],
    ["six fields", { ...on, nops_sync_window: "0 0 0 * * *", nops_sync_window_duration: "1h" }, ["error nops_sync_window"]],
    [
      "a day that never comes",
      { ...on, nops_sync_window: "0 0 30 2 *", nops_sync_window_duration: "1h" },
      ["error nops_sync_window"],
    ],
    ["@reboot", { ...on, nops_sync_window: "@reboot", nops_sync_window_duration: "1h" }, ["error nops_sync_window"]],
    [
      "a zone that does not exist",
      { ...on, nops_sync_window: "@daily", nops_sync_window_duration: "1h", nops_sync_window_time_zone: "Mars/X" },
      ["error nops_sync_window_time_zone"],
    ],
    [
      "a window under approval",
      { ...on, nops_policy: "approval", nops_sync_window: "@daily", nops_sync_window_duration: "1h" },
      ["warn nops_sync_window"],
    ],
    [
      "several, sorted by key",
      { ...on, nops_x: "1", nops_apply_timeout: "-5m", nops_notify_completed: "yes" },
      ["error nops_apply_timeout", "error nops_notify_completed", "warn nops_x"],
    ],
  ])("%s", (_name, meta, expected) => expect(keysOf(meta)).toEqual(expected));

  it("drops a list with a mistake whole, and an unusable window", () => {
    const settings = parse({ ...on, nops_pre_hook: "a,,b", nops_sync_window: "x", nops_sync_window_duration: "1h" });
    expect([settings.preHooks, settings.allowWindow]).toEqual([[], undefined]);
  });
});

describe("defaults of the repository", () => {
  it.each<[string, Record<string, string>, boolean]>([
    ["silent", {}, true],
    ["opted out", { nops_managed: "false" }, false],
    ["a wrong value is never an opt-in", { nops_managed: "yes" }, false],
    ["a hook", { nops_role: "hook" }, false],
    ["a hook that says it is managed", { nops_role: "hook", nops_managed: "true" }, false],
  ])("managed: all, job %s", (_name, meta, expected) => expect(parse(meta, { managed: "all" }).managed).toBe(expected));

  it("gives policy, zone and time of hooks where the job is silent", () => {
    const settings = parse(
      { nops_managed: "true", nops_sync_window: "@daily", nops_sync_window_duration: "1h" },
      { policy: "auto", timeZone: "Asia/Tokyo", hookTimeoutMs: 5 },
    );
    expect([settings.policy, settings.allowWindow?.timeZone, settings.hookTimeoutMs]).toEqual(["auto", "Asia/Tokyo", 5]);
  });
});

it("never throws, whatever the values are", () => {
  const key = fc.constantFrom(
    "managed",
    "policy",
    "role",
    "timeout",
    "pre_hook",
    "sync_window",
    "sync_window_duration",
    "sync_window_time_zone",
    "depends_on",
    "__proto__",
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.oneof(fc.string(), fc.constantFrom("true", "hook", "* * * * *", "1h")))), (pairs) => {
      const settings = parse(Object.fromEntries(pairs.map(([name, value]) => [`nops_${name}`, value])));
      expect(settings.issues.map((issue) => issue.key)).toEqual(settings.issues.map((issue) => issue.key).toSorted());
    }),
  );
});
