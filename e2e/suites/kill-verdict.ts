/** After all deaths: what the database tells, held against what Nomad tells. */
import Database from "better-sqlite3";
import { expect } from "vitest";
import type { DeploymentState } from "../../model/lifecycle.ts";
import { isTerminal, transition, triggers } from "../../model/lifecycle.ts";
import { runNops } from "../../testkit/nops-process.ts";
import { type KillLane, otherJobs, plainJobs } from "./kill-lane.ts";
import type { RegisteredVersion } from "./kill-ledger.ts";

interface DeploymentRow {
  readonly id: string;
  readonly job_id: string;
  readonly state: DeploymentState;
  readonly mode: "apply" | "verify";
  readonly reason: string | null;
  readonly error: string | null;
  readonly applied_index: number | null;
  readonly has_pre_hooks: number;
  readonly has_post_hooks: number;
}

interface EventRow {
  readonly id: number;
  readonly hash: string;
  readonly deployment_id: string | null;
  readonly from_state: DeploymentState | null;
  readonly to_state: DeploymentState | null;
}

export interface Figures {
  readonly deployments: Readonly<Record<string, number>>;
  readonly registers: number;
  readonly outside: number;
  readonly hookRuns: number;
  readonly hooksUnknown: number;
  readonly approvals: number;
  readonly events: number;
}

/** Checks everything; the figures are for people. */
export async function judgeLane(lane: KillLane): Promise<Figures> {
  const verified = await runNops(["audit", "verify", "--data-dir", lane.dataDir, "--json"]);
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true });
  const database = new Database(lane.databasePath, { readonly: true });
  try {
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    const deployments = database.prepare("SELECT * FROM deployments ORDER BY id").all() as DeploymentRow[];
    const events = judgeEvents(lane, database, deployments);
    const registers = judgeRegisters(lane, deployments);
    const hooks = await judgeHooks(lane, database);
    return {
      deployments: countBy(deployments, (each) => (each.reason === null ? each.state : `${each.state}: ${each.reason}`)),
      ...registers,
      ...hooks,
      approvals: judgeApprovals(lane, database),
      events,
    };
  } finally {
    database.close();
  }
}

/** Numbers without a gap, whatever was seen still there, and each deployment's path one that the table of transitions knows. */
function judgeEvents(lane: KillLane, database: Database.Database, deployments: readonly DeploymentRow[]): number {
  const events = database.prepare("SELECT * FROM events ORDER BY id").all() as EventRow[];
  expect(events.map((event) => event.id)).toEqual(events.map((_, at) => at + 1));
  const hashes = new Map(events.map((event) => [event.id, event.hash] as const));
  expect(lane.seenEvents.size).toBeGreaterThan(0);
  for (const [id, hash] of lane.seenEvents) expect(hashes.get(id), `event ${id} was seen`).toBe(hash);
  const byDeployment = groupBy(events, (event) => event.deployment_id);
  for (const deployment of deployments) {
    const path = (byDeployment.get(deployment.id) ?? []).filter((event) => event.to_state !== null);
    const told = `${deployment.id}: ${path.map((event) => `${event.from_state}>${event.to_state}`).join(" ")}`;
    expect(path[0]?.from_state, told).toBeNull();
    path.slice(1).forEach((event, at) => {
      expect(event.from_state, told).toBe(path[at]?.to_state);
      if (event.from_state !== event.to_state) expect(nextStates(deployment, event.from_state), told).toContain(event.to_state);
    });
    expect(path.at(-1)?.to_state, told).toBe(deployment.state);
    expect(isTerminal(deployment.state), told).toBe(true);
  }
  return events.length;
}

function nextStates(deployment: DeploymentRow, state: DeploymentState | null): readonly (DeploymentState | undefined)[] {
  if (state === null) return [];
  const facts = {
    state,
    mode: deployment.mode,
    hasPreHooks: deployment.has_pre_hooks === 1,
    hasPostHooks: deployment.has_post_hooks === 1,
  };
  return triggers.map((trigger) => transition(facts, trigger));
}

/** No deployment made two versions, every version has a deployment or was made by the test, and who nobody disturbs succeeds. */
function judgeRegisters(lane: KillLane, deployments: readonly DeploymentRow[]): { registers: number; outside: number } {
  const versions = [...plainJobs, ...otherJobs].flatMap((job) => lane.ledger.versionsOf(job));
  const made = groupBy(
    versions.filter((version) => version.deployment !== undefined),
    (version) => version.deployment,
  );
  const known = new Map(deployments.map((deployment) => [deployment.id, deployment] as const));
  for (const [id, own] of made) {
    expect(own, `registers of ${id}`).toHaveLength(1);
    expect(known.get(id ?? "")?.job_id, `version ${JSON.stringify(own[0])}`).toBe(own[0]?.job);
    expect(appliedAs(own[0], versions), `version ${JSON.stringify(own[0])}`).toContain(known.get(id ?? "")?.applied_index);
  }
  for (const deployment of deployments.filter((each) => each.applied_index !== null))
    expect(made.get(deployment.id), `register of ${deployment.id}`).toHaveLength(1);
  for (const job of plainJobs) {
    const own = deployments.filter((deployment) => deployment.job_id === job);
    for (const { id, state, error } of own) expect(["completed", "superseded"], `${job} ${id}: ${error}`).toContain(state);
    expect(lane.ledger.versionsOf(job).map((version) => version.deployment)).toEqual(
      own.filter((deployment) => deployment.state === "completed").map((deployment) => deployment.id),
    );
  }
  return { registers: made.size, outside: versions.length - made.size };
}

/**
 * Indexes that a deployment may have on record for the version it made: the version's own, or that of a later one by somebody else. A job
 * that was scaled between the register and the process that found it made is found at the index of the scaling (design D6).
 */
function appliedAs(own: RegisteredVersion | undefined, versions: readonly RegisteredVersion[]): readonly number[] {
  const later = versions.filter((each) => own !== undefined && each.job === own.job && each.index > own.index);
  const next = Math.min(...later.filter((each) => each.deployment !== undefined).map((each) => each.index));
  return [...(own === undefined ? [] : [own.index]), ...later.filter((each) => each.index < next).map((each) => each.index)];
}

/** At most one run at Nomad for each token, and none that no deployment asked for. */
async function judgeHooks(lane: KillLane, database: Database.Database): Promise<{ hookRuns: number; hooksUnknown: number }> {
  const children = await lane.ledger.children();
  for (const [token, own] of groupBy(children, (child) => child.token)) expect(own, `runs of ${token}`).toHaveLength(1);
  const runs = database.prepare("SELECT idempotency_token, hook_job_id, dispatched_job_id, state FROM hook_runs").all() as {
    readonly idempotency_token: string;
    readonly hook_job_id: string;
    readonly dispatched_job_id: string | null;
    readonly state: string;
  }[];
  const byToken = new Map(runs.map((run) => [run.idempotency_token, run] as const));
  for (const child of children) {
    expect(byToken.get(child.token)?.hook_job_id, child.id).toBe(child.parent);
    expect(byToken.get(child.token)?.dispatched_job_id, child.id).toBe(child.id);
  }
  const tokens = new Set(children.map((child) => child.token));
  for (const run of runs.filter((each) => each.state === "succeeded"))
    expect(tokens, run.idempotency_token).toContain(run.idempotency_token);
  return { hookRuns: children.length, hooksUnknown: runs.filter((run) => run.state === "unknown").length };
}

/** What was answered with 200 counts for ever. */
function judgeApprovals(lane: KillLane, database: Database.Database): number {
  const stored = new Set(database.prepare("SELECT deployment_id FROM approvals").pluck().all() as string[]);
  for (const id of lane.acknowledged) expect(stored, "acknowledged approvals").toContain(id);
  return stored.size;
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1;
  return counts;
}
