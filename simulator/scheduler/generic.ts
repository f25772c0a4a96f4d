import type { Node } from "../state/cluster-types.ts";
import type { StatusUpdate } from "../state/deployment-writes.ts";
import { deploymentActive, groupOf, hasAutoPromote, requiresPromotion } from "../state/facts.ts";
import { newDeployment } from "../state/records.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, AllocMetric, Deployment, Evaluation, Job, TaskGroup } from "../state/types.ts";
import { versionsOf } from "../state/versions.ts";
import { type AllocSet, setOf, type Tainted } from "./alloc-set.ts";
import { newAllocation, stoppedAllocation } from "./allocation.ts";
import type { SchedulerEnvironment } from "./environment.ts";
import { allocatedResources, type Offer } from "./fit.ts";
import { reconcileGroup, stopEverything } from "./generic-group.ts";
import type { DeploymentDraft, GenericInput, GroupResult } from "./group-types.ts";
import { Metrics } from "./metrics.ts";
import { inDatacenters, inPool, isReady } from "./node-checks.ts";
import { noUpdates, type Placement, reasons, type SchedulePlan, type UpdateOf } from "./plan-types.ts";
import { trackerFor } from "./reschedule.ts";
import { type Choice, Selector } from "./select.ts";
import { latestDeployment, lostWhileStopping } from "./tainted.ts";

/** Schedules a service or batch job: reconciles each group, then looks for places. `job` is undefined when it was purged. */
export function scheduleGeneric(
  env: SchedulerEnvironment,
  evaluation: Evaluation,
  job: Job | undefined,
  existing: readonly Allocation[],
  tainted: Tainted,
  updateOf: UpdateOf,
): SchedulePlan {
  const batch = (job?.Type ?? evaluation.Type) === "batch";
  const latest = batch ? undefined : latestDeployment(env.state, evaluation.Namespace, evaluation.JobID);
  const sorted = sortDeployments(job, latest);
  if (job === undefined || job.Stop) return stopJob(job, existing, tainted, env.now(), sorted.updates, latest?.ID ?? "");
  const selector = new Selector(env, job);
  for (const alloc of lostWhileStopping(existing, tainted)) selector.stop(alloc);
  const draft = draftOf(sorted.current);
  const input: GenericInput = {
    job,
    batch,
    tainted,
    now: env.now(),
    evalId: evaluation.ID,
    evalPriority: evaluation.Priority,
    old: sorted.old,
    newId: env.newId,
    updateOf: (alloc, group) => {
      if (alloc.Job.JobModifyIndex === job.JobModifyIndex) return "ignore";
      const kind = updateOf(alloc.Job, job, group.Name);
      if (kind === "destructive") return kind;
      if (alloc.DesiredStatus !== "run" || ["complete", "failed", "lost"].includes(alloc.ClientStatus)) return "ignore";
      const node = env.state.nodes.get(alloc.NodeID);
      if (node === undefined || !inDatacenters(node, job.Datacenters) || !inPool(node, job.NodePool)) return "destructive";
      // What may run for a time only is renewed without a look at its node: the server means a change of that time alone.
      if (mayRunFor(alloc) !== undefined) return "in_place";
      selector.stop(alloc);
      const choice = selector.select(group, alloc.Name, [node]);
      selector.unstop(alloc);
      return choice instanceof Metrics ? "destructive" : "in_place";
    },
  };
  const results = new Map<string, GroupResult>();
  for (const [name, allocs] of groupsOf(job, existing)) {
    const create = () => newDeployment(env.newId(), job, evaluation.Priority, env.now());
    results.set(name, reconcileGroup(input, name, allocs, draft, create));
  }
  return new Placer(env, evaluation, job, selector, draft, results).plan(sorted.updates, latest);
}

/** Nanoseconds that an allocation of a batch job may run for; undefined without a limit. */
function mayRunFor(alloc: Allocation): number | undefined {
  const limit = alloc.Job.TaskGroups.find((group) => group.Name === alloc.TaskGroup)?.["MaxRunDuration"];
  return alloc.Job.Type === "batch" && typeof limit === "number" && limit > 0 ? limit : undefined;
}

function draftOf(current: Deployment | undefined): DeploymentDraft {
  const groups = Object.entries(current?.TaskGroups ?? {}).map(([name, state]) => [name, { ...state }]);
  return { row: current, created: false, groups: Object.fromEntries(groups) };
}

/** Allocations by group, the groups of the job first; a group that is gone has allocations still. */
function groupsOf(job: Job, existing: readonly Allocation[]): Map<string, AllocSet> {
  const groups = new Map<string, AllocSet>(job.TaskGroups.map((group) => [group.Name, new Map()]));
  for (const alloc of existing) {
    const set = groups.get(alloc.TaskGroup);
    if (set === undefined) groups.set(alloc.TaskGroup, setOf([alloc]));
    else set.set(alloc.ID, alloc);
  }
  return groups;
}

interface Sorted {
  readonly old: Deployment | undefined;
  readonly current: Deployment | undefined;
  readonly updates: StatusUpdate[];
}

/** Cancels a deployment of a stopped job or of another version (nomad-api §6.2). */
function sortDeployments(job: Job | undefined, latest: Deployment | undefined): Sorted {
  if (latest === undefined) return { old: undefined, current: undefined, updates: [] };
  const cancel = (description: string): StatusUpdate[] =>
    deploymentActive(latest) ? [{ id: latest.ID, status: "cancelled", description }] : [];
  if (job === undefined || job.Stop)
    return { old: latest, current: undefined, updates: cancel("Cancelled because job is stopped") };
  if (latest.JobCreateIndex !== job.CreateIndex || latest.JobVersion !== job.Version) {
    return { old: latest, current: undefined, updates: cancel("Cancelled due to newer version of job") };
  }
  if (latest.Status === "successful") return { old: latest, current: undefined, updates: [] };
  return { old: undefined, current: latest, updates: [] };
}

function stopJob(
  job: Job | undefined,
  existing: readonly Allocation[],
  tainted: Tainted,
  now: number,
  updates: readonly StatusUpdate[],
  deploymentId: string,
): SchedulePlan {
  const desired: Record<string, SchedulePlan["desired"][string]> = {};
  const stopped: Allocation[] = [];
  const live = existing.filter(
    (alloc) => alloc.DesiredStatus === "run" && !["complete", "failed", "lost"].includes(alloc.ClientStatus),
  );
  const queued: Record<string, number> = {};
  for (const { Name } of job?.TaskGroups ?? []) {
    desired[Name] = noUpdates();
    queued[Name] = 0;
  }
  for (const alloc of existing) desired[alloc.TaskGroup] ??= noUpdates();
  for (const stop of stopEverything(setOf(live), { tainted, now })) {
    stopped.push(stoppedAllocation(stop));
    const counts = desired[stop.alloc.TaskGroup];
    if (counts !== undefined) desired[stop.alloc.TaskGroup] = { ...counts, Stop: counts.Stop + 1 };
  }
  return {
    desired,
    allocs: [],
    stopped,
    deployment: undefined,
    deploymentUpdates: updates,
    followups: [],
    failed: {},
    queued,
    deploymentId,
    blockedNodes: [],
    outlook: { classes: {}, escaped: false, missing: [] },
  };
}

/** Turns the wishes of all groups into allocations on nodes. */
class Placer {
  readonly #env: SchedulerEnvironment;
  readonly #eval: Evaluation;
  readonly #job: Job;
  readonly #selector: Selector;
  readonly #draft: DeploymentDraft;
  readonly #results: ReadonlyMap<string, GroupResult>;
  readonly #failed = new Map<string, Metrics>();
  readonly #queued: Record<string, number> = {};
  readonly #allocs: Allocation[] = [];
  readonly #stopped = new Map<string, Allocation>();
  /** The deployment of this version, else the one before. */
  #latest: Deployment | undefined;
  /** That to which the next allocation belongs, or "". */
  #deploymentId = "";

  constructor(
    env: SchedulerEnvironment,
    evaluation: Evaluation,
    job: Job,
    selector: Selector,
    draft: DeploymentDraft,
    results: ReadonlyMap<string, GroupResult>,
  ) {
    this.#env = env;
    this.#eval = evaluation;
    this.#job = job;
    this.#selector = selector;
    this.#draft = draft;
    this.#results = results;
  }

  plan(cancelled: readonly StatusUpdate[], latest: Deployment | undefined): SchedulePlan {
    const updates = [...cancelled];
    const all = [...this.#results.values()];
    const current = this.#draft.row;
    for (const result of all) {
      for (const stop of result.stops) {
        this.#stopped.set(stop.alloc.ID, stoppedAllocation(stop));
        this.#selector.stop(stop.alloc);
      }
      for (const alloc of [...result.unknown.values(), ...result.reconnected]) this.#note(alloc);
    }
    this.#latest = current ?? latest;
    // Without one of its own a version goes on under the deployment of the version before, as long as that is not closed.
    const deployment = this.#latest;
    this.#deploymentId = deployment !== undefined && deploymentActive(deployment) ? deployment.ID : "";
    for (const { inplace, attributes } of all) {
      for (const alloc of inplace) this.#note(this.#inPlace(alloc, deployment?.ID ?? ""));
      for (const alloc of attributes) this.#note(alloc);
    }
    if (current !== undefined && !this.#draft.created && all.every((result) => result.complete) && deploymentActive(current)) {
      updates.push({ id: current.ID, status: "successful", description: "Deployment completed successfully" });
    }
    const wanted = [...all.flatMap((result) => result.destructive), ...all.flatMap((result) => result.places)];
    // Groups that wait for nothing are named only when all of them do.
    if (wanted.length === 0) for (const group of this.#job.TaskGroups) this.#queued[group.Name] = 0;
    for (const placement of wanted) this.#queued[placement.group.Name] = (this.#queued[placement.group.Name] ?? 0) + 1;
    for (const placement of wanted) this.#place(placement);
    return {
      desired: Object.fromEntries([...this.#results].map(([name, result]) => [name, result.desired])),
      allocs: this.#allocs,
      stopped: [...this.#stopped.values()],
      deployment: this.#newDeployment(),
      deploymentUpdates: updates,
      followups: all.flatMap((result) => result.followups),
      failed: Object.fromEntries([...this.#failed].map(([name, metrics]): [string, AllocMetric] => [name, metrics.json()])),
      queued: this.#queued,
      deploymentId: deployment?.ID ?? "",
      blockedNodes: [],
      outlook: this.#selector.outlook,
    };
  }

  /** Writes something into an allocation that stays. */
  #note(alloc: Allocation): void {
    this.#allocs.push(alloc);
    this.#selector.note(alloc);
  }

  #newDeployment(): Deployment | undefined {
    const { row, created, groups } = this.#draft;
    if (row === undefined || !created) return undefined;
    const deployment = { ...row, TaskGroups: groups };
    if (!requiresPromotion(deployment)) return deployment;
    const StatusDescription = hasAutoPromote(deployment)
      ? "Deployment is running pending automatic promotion"
      : "Deployment is running but requires manual promotion";
    return { ...deployment, StatusDescription };
  }

  #inPlace(alloc: Allocation, deploymentId: string): Allocation {
    const moved = alloc.DeploymentID !== deploymentId;
    const group = this.#job.TaskGroups.find((one) => one.Name === alloc.TaskGroup);
    const old = alloc.AllocatedResources;
    const offer: Offer = { networks: old?.Shared.Networks ?? null, ports: old?.Shared.Ports ?? null };
    return {
      ...alloc,
      EvalID: this.#eval.ID,
      Job: this.#job,
      AllocatedResources: group === undefined ? old : allocatedResources(group, offer),
      DeploymentID: deploymentId,
      DeploymentStatus: moved ? null : alloc.DeploymentStatus,
    };
  }

  #place(placement: Placement): void {
    const { previous } = placement;
    const name = placement.group.Name;
    const failure = this.#failed.get(name);
    const older = placement.downgrade ? this.#olderVersion(placement) : undefined;
    // What is placed next belongs to that deployment as well, whatever it is.
    if (older !== undefined) this.#deploymentId = older.deploymentId;
    const job = older?.job ?? this.#job;
    const group = job.TaskGroups.find((one) => one.Name === name) ?? placement.group;
    if (failure !== undefined) {
      failure.coalesced++;
      failure.wanted(group);
      return;
    }
    if (placement.stopPrevious && previous !== undefined) this.#selector.stop(previous);
    const choice = this.#choose(placement, group);
    if (choice instanceof Metrics) {
      choice.wanted(group);
      this.#failed.set(name, choice);
      if (placement.stopPrevious && previous !== undefined) this.#selector.unstop(previous);
      if (placement.reschedule && previous !== undefined) this.#foundNoPlace(previous);
      return;
    }
    if (placement.stopPrevious && previous !== undefined) {
      const stop = { alloc: previous, clientStatus: "", description: reasons.updating, followupEval: "" };
      this.#stopped.set(previous.ID, stoppedAllocation(stop));
    }
    const alloc = newAllocation({
      id: this.#env.newId(),
      evaluation: this.#eval,
      job,
      group,
      name: this.#results.get(name)?.names?.distinct(placement.name) ?? placement.name,
      node: choice.node,
      offer: choice.offer,
      metrics: choice.metrics.json(),
      deploymentId: this.#deploymentId,
      canary: placement.canary && this.#latest !== undefined,
      previous: previous?.ID ?? "",
      tracker: placement.reschedule && previous !== undefined ? trackerFor(previous, this.#env.now()) : null,
      now: this.#env.now(),
    });
    if (placement.reschedule && previous !== undefined) this.#unexplained(previous);
    this.#queued[name] = (this.#queued[name] ?? 0) - 1;
    this.#selector.place(alloc);
    this.#allocs.push(alloc);
  }

  /** Looks first where the data of the one before lies, and last where it failed. */
  #choose(placement: Placement, group: TaskGroup): Choice | Metrics {
    const { previous, name } = placement;
    if (previous === undefined) return this.#selector.select(group, name);
    const failedOn = previous.ClientStatus === "failed" ? [previous.NodeID] : [];
    const avoid = new Set([...failedOn, ...(previous.RescheduleTracker?.Events ?? []).map((event) => event.PrevNodeID)]);
    const preferred = this.#preferredNode(previous, placement.group);
    const choice = preferred === undefined ? undefined : this.#selector.select(group, name, [preferred], avoid);
    return choice === undefined || choice instanceof Metrics ? this.#selector.select(group, name, undefined, avoid) : choice;
  }

  #preferredNode(previous: Allocation, group: TaskGroup): Node | undefined {
    const disk = group.EphemeralDisk;
    if (disk?.Sticky !== true && disk?.Migrate !== true) return undefined;
    if (previous.Job.NodePool !== this.#job.NodePool) return undefined;
    if (JSON.stringify(previous.Job.Datacenters) !== JSON.stringify(this.#job.Datacenters)) return undefined;
    const node = this.#env.state.nodes.get(previous.NodeID);
    return node !== undefined && isReady(node) ? node : undefined;
  }

  /** A failed allocation that finds no new place stays, with a note of that, to be tried again as one of this version. */
  #foundNoPlace(previous: Allocation): void {
    this.#stopped.delete(previous.ID);
    const RescheduleTracker = { Events: previous.RescheduleTracker?.Events ?? null, LastReschedule: "no placement" };
    const noted = { ...previous, Job: this.#job, RescheduleTracker };
    const at = this.#allocs.findIndex((alloc) => alloc.ID === previous.ID);
    if (at < 0) this.#note(noted);
    else this.#allocs[at] = noted;
  }

  /** A failed allocation that was replaced is stopped without a word: the server drops the description on the way. */
  #unexplained(previous: Allocation): void {
    const stopped = this.#stopped.get(previous.ID);
    if (stopped !== undefined) this.#stopped.set(previous.ID, { ...stopped, DesiredDescription: "" });
  }

  /**
   * The version that non-canaries run while canaries wait: of the latest deployment that has no canary of the group waiting, else the one
   * that is replaced, where that has no deployments. Undefined where that is no version that fits.
   */
  #olderVersion(placement: Placement): { readonly job: Job; readonly deploymentId: string } | undefined {
    const { Namespace, ID, CreateIndex } = this.#job;
    const name = placement.group.Name;
    const least = placement.previous?.Job.Version ?? 0;
    const version = (number: number) => versionsOf(this.#env.state, Namespace, ID).find((one) => one.Version === number);
    const deployment = this.#env.state.deployment
      .by("job", scoped(Namespace, ID))
      .filter((one) => one.JobCreateIndex === CreateIndex)
      .sort((a, b) => b.JobVersion - a.JobVersion)
      .find(({ TaskGroups: { [name]: state } }) => state !== undefined && (state.Promoted || state.DesiredCanaries === 0));
    const replaced = version(least);
    const undeployed = (replaced?.Update?.MaxParallel ?? 0) === 0 ? replaced : undefined;
    const job = deployment === undefined ? undeployed : version(deployment.JobVersion);
    const fits = job !== undefined && job.Version >= least && groupOf(job, name) !== undefined;
    return fits ? { job, deploymentId: deployment?.ID ?? "" } : undefined;
  }
}
