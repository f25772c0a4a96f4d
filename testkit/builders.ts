/**
 * Builders of domain objects for tests: each gives a complete, plausible value and takes what the test is about.
 * All values are fixed; a test that needs two different objects says what differs.
 */
import type {
  Actor,
  Deployment,
  DeploymentSpec,
  FrozenHook,
  Move,
  NewDeployment,
  Pause,
  WindowLift,
} from "../model/deployment.ts";
import type { Commit, DesiredJob, JobFile, JobSettings } from "../model/desired.ts";
import type { JobFacts, Verdict } from "../model/facts.ts";
import { jobKey } from "../model/job-key.ts";
import type { JobDiff, JobSpec, LiveJob, TaskGroupSpec } from "../model/nomad.ts";

/** The instant at which built objects were made. */
export const builtAt = "2026-03-01T12:00:00.000Z";
/** The same in milliseconds since the epoch. */
export const builtAtMs = Date.parse(builtAt);

const commitSha = "3f9c2ab51d0e47768a1bb0c4d5e6f7a8b9c0d1e2";
const hashOf = (digit: string): string => digit.repeat(64);

/** A signed-in person; the identity follows the name. */
export function aPerson(name = "ada", over: Partial<Actor> = {}): Actor {
  return { name, kind: "person", identity: `oidc:https://id.example.com:${name}`, ...over };
}

/** An API token acting. */
export function aTokenActor(name = "ci", over: Partial<Actor> = {}): Actor {
  return { name, kind: "token", identity: `token:${name}`, accessorId: name, ...over };
}

/** A one-task group. */
export function aGroup(over: Partial<TaskGroupSpec> = {}): TaskGroupSpec {
  return {
    Name: "web",
    Count: 1,
    Tasks: [{ Name: "server", Driver: "docker", Config: { image: "registry.example.com/web:1.4.2" } }],
    ...over,
  };
}

/** A service job in Nomad's API form. */
export function aJobSpec(over: Partial<JobSpec> = {}): JobSpec {
  return {
    ID: "web",
    Name: "web",
    Namespace: "default",
    Type: "service",
    Meta: { nops_managed: "true", nops_policy: "auto" },
    TaskGroups: [aGroup()],
    ...over,
  };
}

/** The same job as Nomad keeps it. */
export function aLiveJob(over: Partial<LiveJob> = {}): LiveJob {
  return {
    ...aJobSpec(),
    Namespace: "default",
    Status: "running",
    Version: 3,
    CreateIndex: 10,
    ModifyIndex: 120,
    JobModifyIndex: 100,
    ...over,
  };
}

/** A batch, parameterized hook job. */
export function aHookSpec(over: Partial<JobSpec> = {}): JobSpec {
  return {
    ID: "migrate",
    Name: "migrate",
    Namespace: "default",
    Type: "batch",
    Meta: { nops_role: "hook" },
    ParameterizedJob: { Payload: "forbidden", MetaRequired: [], MetaOptional: ["nops_deployment_id"] },
    TaskGroups: [
      aGroup({
        Name: "run",
        Tasks: [{ Name: "migrate", Driver: "docker", Config: { image: "registry.example.com/web:1.4.2" } }],
      }),
    ],
    ...over,
  };
}

/** A diff that edits one field. */
export function aJobDiff(over: Partial<JobDiff> = {}): JobDiff {
  return {
    Type: "Edited",
    ID: "web",
    Fields: [{ Type: "Edited", Name: "Priority", Old: "50", New: "60" }],
    Objects: null,
    TaskGroups: null,
    ...over,
  };
}

/** What a deployment registers. */
export function aDeploymentSpec(over: Partial<DeploymentSpec> = {}): DeploymentSpec {
  return {
    spec: aJobSpec(),
    submission: { source: 'job "web" {}\n', format: "hcl2", variables: "" },
    ...over,
  };
}

/** A hook frozen into a deployment; the first pre-hook unless told otherwise. */
export function aFrozenHook(over: Partial<FrozenHook> = {}): FrozenHook {
  const hash = over.hash ?? hashOf("c");
  const hookId = over.hookId ?? "migrate";
  return {
    phase: "pre",
    position: 0,
    hookId,
    hash,
    spec: aHookSpec({ ID: hookId, Name: hookId }),
    revisionId: `${hookId}-${hash.slice(0, 8)}`,
    timeoutMs: 300_000,
    ...over,
  };
}

/** Input for `create`: an automatic deployment of `default/web` that was just detected, without hooks. */
export function aNewDeployment(over: Partial<NewDeployment> = {}): NewDeployment {
  return {
    namespace: "default",
    jobId: "web",
    repository: "main",
    commitSha,
    commitSubject: "Raise the priority of web",
    commitAuthor: "Ada",
    commitAuthorEmail: "ada@example.com",
    file: "jobs/web.nomad.hcl",
    specHash: hashOf("a"),
    targetHash: hashOf("b"),
    policy: "auto",
    mode: "apply",
    state: "detected",
    baseIndex: 100,
    spec: aDeploymentSpec(),
    diff: aJobDiff(),
    hooks: [],
    reason: "drift",
    message: "the live job differs from git",
    ...over,
  };
}

/** A stored deployment of `default/web`, `detected` unless told otherwise. */
export function aDeployment(over: Partial<Deployment> = {}): Deployment {
  return {
    id: "01JN8Z2V00000000000000000A",
    namespace: "default",
    jobId: "web",
    repository: "main",
    commitSha,
    commitSubject: "Raise the priority of web",
    commitAuthor: "Ada",
    file: "jobs/web.nomad.hcl",
    specHash: hashOf("a"),
    targetHash: hashOf("b"),
    policy: "auto",
    state: "detected",
    mode: "apply",
    version: 1,
    baseIndex: 100,
    appliedIndex: undefined,
    appliedVersion: undefined,
    evalId: undefined,
    error: undefined,
    reason: "drift",
    hasPreHooks: false,
    hasPostHooks: false,
    decidedBy: undefined,
    decidedAt: undefined,
    retriedBy: undefined,
    retriedAt: undefined,
    retryOf: undefined,
    reschedule: false,
    promotionWaitSince: undefined,
    promotedAt: undefined,
    windowLiftedBy: undefined,
    enteredAt: builtAt,
    createdAt: builtAt,
    updatedAt: builtAt,
    ...over,
  };
}

/** A move with a plain message. */
export function aMove(over: Partial<Move> = {}): Move {
  return {
    trigger: "start",
    actor: { name: "nops", kind: "engine", identity: "nops" },
    reason: "ready",
    message: "nothing stands in the way",
    ...over,
  };
}

/** A pause in force. */
export function aPause(over: Partial<Pause> = {}): Pause {
  return { pausedBy: "ada", pausedAt: builtAt, reason: "database move", resumedBy: undefined, resumedAt: undefined, ...over };
}

/** A Deploy now request for the built spec. */
export function aWindowLift(over: Partial<WindowLift> = {}): WindowLift {
  return { namespace: "default", jobId: "web", specHash: hashOf("a"), requestedBy: "ada", requestedAt: builtAt, ...over };
}

/** A verdict that found drift. */
export function aVerdict(over: Partial<Verdict> = {}): Verdict {
  return {
    specHash: hashOf("a"),
    targetHash: hashOf("b"),
    jobModifyIndex: 100,
    drift: "drift",
    diff: aJobDiff(),
    failedPlacements: {},
    warnings: "",
    plannedAt: builtAt,
    ...over,
  };
}

/** Facts of a job that nothing is stored about, plus what the test is about. */
export function someFacts(over: Partial<JobFacts> = {}): JobFacts {
  return {
    active: undefined,
    latest: undefined,
    latestCompleted: undefined,
    jobPause: undefined,
    globalPause: undefined,
    lift: undefined,
    verdict: undefined,
    policyFloor: undefined,
    unknownRegistered: undefined,
    ...over,
  };
}

/** A commit. */
export function aCommit(over: Partial<Commit> = {}): Commit {
  return {
    sha: commitSha,
    subject: "Raise the priority of web",
    author: "Ada",
    authorEmail: "ada@example.com",
    committedAt: builtAt,
    ...over,
  };
}

/** A job file that declares `web`. */
export function aJobFile(over: Partial<JobFile> = {}): JobFile {
  const source = over.source ?? 'job "web" {}\n';
  return {
    path: "jobs/web.nomad.hcl",
    format: "hcl2",
    source,
    original: source,
    variables: "",
    publicVariables: "",
    contentHash: hashOf("d"),
    jobName: "web",
    issues: [],
    ...over,
  };
}

/** Settings of a managed job under `auto`, nothing else set. */
export function someSettings(over: Partial<JobSettings> = {}): JobSettings {
  return {
    role: "job",
    managed: true,
    policy: "auto",
    preHooks: [],
    postHooks: [],
    notifyCompleted: false,
    hookTimeoutMs: 300_000,
    applyTimeoutMs: undefined,
    allowWindow: undefined,
    denyWindow: undefined,
    dependsOn: [],
    issues: [],
    ...over,
  };
}

/** `default/web` as git wants it. */
export function aDesiredJob(over: Partial<DesiredJob> = {}): DesiredJob {
  return {
    key: jobKey("default", "web"),
    repository: "main",
    file: "jobs/web.nomad.hcl",
    commit: aCommit(),
    source: aJobFile(),
    spec: aJobSpec(),
    settings: someSettings(),
    policy: "auto",
    hooks: [],
    targetHash: hashOf("b"),
    specHash: hashOf("a"),
    ...over,
  };
}
