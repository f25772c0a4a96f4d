import type { JobFile } from "../../model/desired.ts";
import { sha256 } from "../../model/hash.ts";
import type { JobSpec } from "../../model/nomad.ts";
import type { BehaviourHook } from "../../simulator/tasks/behaviour.ts";

/** What a job of the simulated repository looks like. Few values, so that histories meet one another's states. */
export interface JobShape {
  readonly kind: "service" | "batch";
  readonly image: number;
  /** `crash`: its task fails; `nowhere`: no node satisfies it. */
  readonly fate: "ok" | "crash" | "nowhere";
  readonly policy: "auto" | "approval" | "none";
  readonly pre: readonly string[];
  readonly post: readonly string[];
  readonly window: "none" | "closed" | "often" | "denied";
  readonly dependsOn: string | undefined;
  readonly canary: boolean;
  readonly autoRevert: boolean;
  readonly scaled: boolean;
  readonly count: number;
}

export interface HookShape {
  readonly version: number;
  readonly fate: "ok" | "fail" | "long";
}

/** Jobs and hooks of every history, by ID. */
export const jobIds = ["web", "api", "db"] as const;
export const hookIds = ["backup", "check"] as const;
export type JobId = (typeof jobIds)[number];
export type HookId = (typeof hookIds)[number];

/** Longest run of a hook, ms. */
export const hookTimeoutMs = 60_000;

const second = 1_000_000_000;
const windows = {
  none: {},
  closed: { nops_sync_window: "0 12 * * *", nops_sync_window_duration: "1h" },
  often: { nops_sync_window: "*/5 * * * *", nops_sync_window_duration: "2m" },
  denied: { nops_deny_window: "*/5 * * * *", nops_deny_window_duration: "3m" },
} as const;

export function jobSpec(id: JobId, shape: JobShape): JobSpec {
  const list = (name: string, ids: readonly string[]): Record<string, string> =>
    ids.length === 0 ? {} : { [name]: ids.join(", ") };
  const update = {
    MaxParallel: 1,
    Canary: shape.canary ? 1 : 0,
    AutoPromote: false,
    AutoRevert: shape.autoRevert,
    MinHealthyTime: 2 * second,
    HealthyDeadline: 20 * second,
    ProgressDeadline: 40 * second,
    HealthCheck: "task_states",
  };
  const nowhere = { LTarget: "$" + "{attr.kernel.name}", RTarget: "plan9", Operand: "=" };
  return {
    ID: id,
    Name: id,
    Type: shape.kind,
    Datacenters: ["*"],
    Meta: {
      nops_managed: "true",
      nops_policy: shape.policy,
      ...windows[shape.window],
      ...list("nops_pre_hook", shape.pre),
      ...list("nops_post_hook", shape.post),
      ...(shape.dependsOn === undefined ? {} : { nops_depends_on: shape.dependsOn }),
    },
    ...(shape.fate === "nowhere" ? { Constraints: [nowhere] } : {}),
    TaskGroups: [
      {
        Name: "main",
        Count: shape.count,
        ...(shape.kind === "service" ? { Update: update } : {}),
        ...(shape.scaled ? { Scaling: { Min: 1, Max: 4, Enabled: true, Policy: {} } } : {}),
        RestartPolicy: { Attempts: 0, Mode: "fail", Interval: 60 * second, Delay: second },
        ReschedulePolicy: { Attempts: 0, Unlimited: false },
        Tasks: [task(`${id}:${shape.image}-${shape.fate}`)],
      },
    ],
  };
}

export function hookSpec(id: HookId, shape: HookShape): JobSpec {
  return {
    ID: id,
    Name: id,
    Type: "batch",
    Datacenters: ["*"],
    Meta: { nops_role: "hook", nops_timeout: `${hookTimeoutMs / 1_000}s` },
    ParameterizedJob: { MetaRequired: ["nops_deployment_id"], MetaOptional: ["nops_phase"] },
    TaskGroups: [
      {
        Name: "main",
        Count: 1,
        RestartPolicy: { Attempts: 0, Mode: "fail", Interval: 60 * second, Delay: second },
        ReschedulePolicy: { Attempts: 0, Unlimited: false },
        Tasks: [task(`${id}:${shape.version}-${shape.fate}`)],
      },
    ],
  };
}

function task(image: string): NonNullable<NonNullable<JobSpec["TaskGroups"]>[number]["Tasks"]>[number] {
  return { Name: "main", Driver: "mock_driver", Config: { stdout_string: image }, Resources: { CPU: 20, MemoryMB: 20 } };
}

/** How the simulated tasks behave: their image says it. */
export const behaviour: BehaviourHook = ({ job, task: { Config } }) => {
  const fate = String(Config?.["stdout_string"] ?? "").split("-")[1];
  switch (fate) {
    case "crash":
      return { endsAfterMs: 1_000, exitCode: 1 };
    case "fail":
      return { endsAfterMs: 2_000, exitCode: 3 };
    case "long":
      return { endsAfterMs: 3_600_000, exitCode: 0 };
    default:
      return { endsAfterMs: job.Type === "batch" ? 2_000 : undefined, exitCode: 0 };
  }
};

/** First line of a text that Nomad refuses. */
export const brokenText = "job {";
const files = new Map<string, JobFile>();

/** The file that holds this job: its API form as text, which the simulated parse takes back. Each text is made once. */
export function jobFile(path: string, source: string): JobFile {
  const name = `${path}\n${source}`;
  const known = files.get(name);
  if (known !== undefined) return known;
  const file: JobFile = {
    path,
    format: "hcl2",
    source,
    original: source,
    variables: "",
    publicVariables: "",
    contentHash: sha256(source),
    jobName: undefined,
    issues: [],
  };
  files.set(name, file);
  return file;
}

const parsed = new Map<string, JobSpec>();

/** What Nomad's parse makes of such a text; `undefined` when it refuses it. */
export function parseText(source: string): JobSpec | undefined {
  if (source.startsWith(brokenText)) return undefined;
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const spec = JSON.parse(source) as JobSpec;
  parsed.set(source, spec);
  return spec;
}
