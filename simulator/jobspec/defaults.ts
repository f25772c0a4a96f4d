/** The defaults that Nomad's client library fills in (nomad-api §1), as data. Durations in nanoseconds. */
import type { Rec } from "./values.ts";

export const MILLISECOND = 1_000_000;
export const SECOND = 1_000 * MILLISECOND;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

type Defaults = Readonly<Rec>;

export const JOB: Defaults = {
  ID: "",
  ParentID: "",
  Namespace: "default",
  Priority: 50,
  Stop: false,
  Region: "global",
  NodePool: "",
  Type: "service",
  AllAtOnce: false,
  ConsulNamespace: "",
  VaultNamespace: "",
  NomadTokenID: "",
  Status: "",
  StatusDescription: "",
  Stable: false,
  Version: 0,
  CreateIndex: 0,
  ModifyIndex: 0,
  JobModifyIndex: 0,
};

export const UPDATE: Defaults = {
  Stagger: 30 * SECOND,
  MaxParallel: 1,
  HealthCheck: "checks",
  MinHealthyTime: 10 * SECOND,
  HealthyDeadline: 5 * MINUTE,
  ProgressDeadline: 10 * MINUTE,
  AutoRevert: false,
  Canary: 0,
  AutoPromote: false,
};

export const PERIODIC: Defaults = { Enabled: true, Spec: "", SpecType: "cron", ProhibitOverlap: false };

export const MIGRATE: Defaults = {
  MaxParallel: 1,
  HealthCheck: "checks",
  MinHealthyTime: 10 * SECOND,
  HealthyDeadline: 5 * MINUTE,
};

export const EPHEMERAL_DISK: Defaults = { Sticky: false, Migrate: false, SizeMB: 300 };

const RESTART_RARELY: Defaults = { Delay: 15 * SECOND, Attempts: 2, Interval: 30 * MINUTE, Mode: "fail", RenderTemplates: false };
const RESTART_BATCH: Defaults = { Delay: 15 * SECOND, Attempts: 3, Interval: 24 * HOUR, Mode: "fail", RenderTemplates: false };

export function restartDefaults(jobType: string): Defaults {
  return jobType === "service" || jobType === "system" ? RESTART_RARELY : RESTART_BATCH;
}

const RESCHEDULE: Readonly<Record<string, Defaults>> = {
  service: { Delay: 30 * SECOND, DelayFunction: "exponential", MaxDelay: HOUR, Unlimited: true, Attempts: 0, Interval: 0 },
  batch: { Attempts: 1, Interval: 24 * HOUR, Delay: 5 * SECOND, DelayFunction: "constant", MaxDelay: 0, Unlimited: false },
};
const NO_RESCHEDULE: Defaults = { Attempts: 0, Interval: 0, Delay: 0, DelayFunction: "", MaxDelay: 0, Unlimited: false };

export function rescheduleDefaults(jobType: string): Defaults {
  return RESCHEDULE[jobType] ?? NO_RESCHEDULE;
}

export const DISCONNECT: Defaults = { Replace: true, Reconcile: "best_score" };
export const LOGS: Defaults = { MaxFiles: 10, MaxFileSizeMB: 10, Disabled: false };
export const VOLUME_MOUNT: Defaults = { PropagationMode: "private", ReadOnly: false, SELinuxLabel: "" };
export const CHANGE_SCRIPT: Defaults = { Command: "", Timeout: 5 * SECOND, FailOnError: false, RunOnFirstRender: false };

export const TEMPLATE: Defaults = {
  SourcePath: "",
  DestPath: "",
  EmbeddedTmpl: "",
  ChangeMode: "restart",
  Once: false,
  Splay: 5 * SECOND,
  Perms: "0644",
  LeftDelim: "{{",
  RightDelim: "}}",
  Envvars: false,
  ErrMissingKey: false,
  VaultGrace: 0,
};

export const VAULT: Defaults = {
  Env: true,
  DisableFile: false,
  Namespace: "",
  ChangeMode: "restart",
  ChangeSignal: "SIGHUP",
  AllowTokenExpiration: false,
};

/** Sets every unset field that has a default. */
export function fill(object: Rec, defaults: Defaults): void {
  for (const key in defaults) {
    const value = object[key];
    if (value === null || value === undefined) object[key] = defaults[key];
  }
}

/** A copy of `base` with the stated fields of `over` laid on top. */
export function merged(base: Rec, over: Rec): Rec {
  const result: Rec = { ...base };
  for (const key in over) {
    const value = over[key];
    if (value !== null && value !== undefined) result[key] = value;
  }
  return result;
}
