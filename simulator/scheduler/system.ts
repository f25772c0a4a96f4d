import type { Node } from "../state/cluster-types.ts";
import { isHealthy, isUnhealthy, terminal } from "../state/facts.ts";
import { needsToReconnect, withState } from "../state/silence.ts";
import type { Allocation, AllocMetric, Evaluation, Job, TaskGroup } from "../state/types.ts";
import type { Tainted } from "./alloc-set.ts";
import { newAllocation, stoppedAllocation } from "./allocation.ts";
import type { SchedulerEnvironment } from "./environment.ts";
import { allocatedResources } from "./fit.ts";
import { Metrics } from "./metrics.ts";
import { allocName } from "./names.ts";
import { inDatacenters, inPool, isReady } from "./node-checks.ts";
import { type BlockedNode, type Counts, noUpdates, reasons, type SchedulePlan, type Stop, type UpdateOf } from "./plan-types.ts";
import { Selector } from "./select.ts";
import { SystemRollout } from "./system-rollout.ts";
import { type SystemFacts, systemVerdict } from "./system-verdict.ts";
import { lostWhileStopping } from "./tainted.ts";

interface Want {
  readonly name: string;
  readonly group: TaskGroup;
  /** None where a finished allocation of a node that takes nothing is to run again: such a wish waits in vain. */
  readonly node: Node | undefined;
  readonly previous: Allocation | undefined;
  readonly canary: boolean;
}

/** Schedules a system or sysbatch job: one set of allocations on every eligible node. */
export function scheduleSystem(
  env: SchedulerEnvironment,
  evaluation: Evaluation,
  job: Job | undefined,
  existing: readonly Allocation[],
  tainted: Tainted,
  updateOf: UpdateOf,
): SchedulePlan {
  const sysbatch = (job?.Type ?? evaluation.Type) === "sysbatch";
  return new SystemPass(env, evaluation, job, tainted, updateOf, sysbatch).plan(existing);
}

class SystemPass {
  readonly #env: SchedulerEnvironment;
  readonly #eval: Evaluation;
  readonly #job: Job | undefined;
  readonly #tainted: Tainted;
  readonly #updateOf: UpdateOf;
  readonly #sysbatch: boolean;
  readonly #desired: Record<string, Counts> = {};
  readonly #stops: Stop[] = [];
  readonly #allocs: Allocation[] = [];
  /** Those whose node fell silent. */
  readonly #unknown: Allocation[] = [];
  readonly #places: Want[] = [];
  readonly #updates: Want[] = [];
  readonly #ignored: Allocation[] = [];
  readonly #candidates: Record<string, number> = {};
  readonly #destructive: Record<string, number> = {};
  readonly #existsFor = new Set<string>();
  /** What each node is to have, by name of allocation: here the server builds names from the job's name, elsewhere from its id. */
  readonly #required: ReadonlyMap<string, TaskGroup>;
  readonly #failed = new Map<string, Metrics>();
  readonly #filtered = new Map<string, Metrics>();
  readonly #blocked: BlockedNode[] = [];
  /** What is wanted and not filtered out; what is placed counts until the end. */
  readonly #queued: Record<string, number> = {};
  readonly #placed: Record<string, number> = {};
  readonly #takenBack: Record<string, number> = {};
  /** Groups that are renewed by canaries first. */
  readonly #canarying: string[] = [];
  readonly #rollout: SystemRollout;
  #selector: Selector | undefined;

  constructor(
    env: SchedulerEnvironment,
    evaluation: Evaluation,
    job: Job | undefined,
    tainted: Tainted,
    updateOf: UpdateOf,
    sysbatch: boolean,
  ) {
    this.#env = env;
    this.#eval = evaluation;
    this.#job = job;
    this.#tainted = tainted;
    this.#updateOf = updateOf;
    this.#sysbatch = sysbatch;
    this.#rollout = new SystemRollout(env, evaluation, job, sysbatch);
    const names = (group: TaskGroup) => Array.from({ length: group.Count }, (_, i) => allocName(job?.Name ?? "", group.Name, i));
    this.#required = new Map(job?.TaskGroups.flatMap((group) => names(group).map((name) => [name, group] as const)));
  }

  plan(existing: readonly Allocation[]): SchedulePlan {
    const job = this.#job;
    if (job === undefined || job.Stop) {
      for (const alloc of existing) if (!terminal(alloc)) this.#unneeded(alloc);
      return this.#result();
    }
    const selector = new Selector(this.#env, job, true);
    for (const alloc of lostWhileStopping(existing, this.#tainted)) selector.stop(alloc);
    this.#selector = selector;
    const nodes = this.#env.state.nodes.sorted().filter((node) => inPool(node, job.NodePool));
    const eligible = new Map(
      nodes.filter((node) => isReady(node) && inDatacenters(node, job.Datacenters)).map((node) => [node.ID, node]),
    );
    const notReady = new Set(nodes.filter((node) => !isReady(node)).map((node) => node.ID));
    const facts = { tainted: this.#tainted, eligible, notReady, now: this.#env.now() };
    const changed = existing.filter((alloc) => !terminal(alloc) && this.#judge(alloc, facts));
    // What is stopped makes room, and keeps no property taken, before an update looks whether it may stay where it is.
    for (const { alloc } of this.#stops) selector.stop(alloc);
    for (const alloc of changed) this.#update(alloc, job, eligible, selector);
    const peopled = existing.filter((alloc) => !terminal(alloc)).map((alloc) => alloc.NodeID);
    for (const id of new Set([...peopled, ...eligible.keys()])) this.#fill(id, eligible.get(id), job, existing);
    // One that runs and may stay as it is says that this is no first run.
    if (this.#ignored.length === 0 || this.#rollout.row !== undefined) {
      this.#rollout.create(job, this.#candidates, existing, this.#updates.length !== 0 || this.#allocs.length !== 0);
    }
    this.#evict(job, selector);
    this.#placeAll(job, selector);
    for (const name of this.#canarying) this.#countCanaries(name);
    // A system job's annotations count every node that has or gets the group; those of a sysbatch job only what is placed.
    if (!this.#sysbatch) for (const [name, count] of Object.entries(this.#candidates)) this.#counts(name).Place = count;
    this.#rollout.finish(job, this.#candidates);
    return this.#result();
  }

  #counts(group: string): Counts {
    let counts = this.#desired[group];
    if (counts === undefined) {
      counts = noUpdates();
      this.#desired[group] = counts;
    }
    return counts;
  }

  #stopOne(alloc: Allocation, description: string = reasons.notNeeded, clientStatus = ""): void {
    this.#stops.push({ alloc, clientStatus, description, followupEval: "" });
  }

  #count(name: string): void {
    this.#candidates[name] = (this.#candidates[name] ?? 0) + 1;
  }

  #ignore(alloc: Allocation): void {
    this.#ignored.push(alloc);
    this.#counts(alloc.TaskGroup).Ignore++;
    this.#count(alloc.TaskGroup);
    this.#existsFor.add(alloc.TaskGroup);
  }

  /** Sorts out what becomes of an allocation that is there; true where it has to be updated. */
  #judge(alloc: Allocation, facts: Omit<SystemFacts, "required" | "changed">): boolean {
    const required = this.#required.has(alloc.Name);
    const changed = this.#job?.JobModifyIndex !== alloc.Job.JobModifyIndex;
    const verdict = systemVerdict(alloc, { ...facts, required, changed });
    if (verdict === "stop") this.#unneeded(alloc);
    else if (verdict === "lost") this.#stopOne(alloc, reasons.lost, "lost");
    else if (verdict === "ignore") this.#ignore(alloc);
    else if (verdict === "migrate") {
      this.#counts(alloc.TaskGroup).Migrate++;
      this.#stopOne(alloc, reasons.nodeTainted);
    } else if (verdict === "unknown") {
      this.#counts(alloc.TaskGroup).Disconnect++;
      const AllocStates = withState(alloc, "unknown", facts.now);
      this.#unknown.push({ ...alloc, ClientStatus: "unknown", ClientDescription: reasons.unknown, AllocStates });
    }
    if (verdict === "back") this.#counts(alloc.TaskGroup).Reconnect++;
    return verdict === "update" || verdict === "back";
  }

  #unneeded(alloc: Allocation): void {
    this.#counts(alloc.TaskGroup).Stop++;
    this.#stopOne(alloc);
  }

  #update(alloc: Allocation, job: Job, eligible: ReadonlyMap<string, Node>, selector: Selector): void {
    const group = this.#required.get(alloc.Name);
    if (group === undefined) return;
    const back = needsToReconnect(alloc);
    const node = this.#env.state.nodes.get(alloc.NodeID);
    const mayStay = node !== undefined && inDatacenters(node, job.Datacenters) && inPool(node, job.NodePool);
    if (mayStay && this.#updateOf(alloc.Job, job, group.Name) !== "destructive") {
      selector.stop(alloc);
      const choice = selector.select(group, alloc.Name, [node]);
      selector.unstop(alloc);
      if (!(choice instanceof Metrics)) {
        const ports = alloc.AllocatedResources?.Shared;
        const offer = { networks: ports?.Networks ?? null, ports: ports?.Ports ?? null };
        this.#allocs.push({
          ...alloc,
          Job: job,
          EvalID: this.#eval.ID,
          AllocatedResources: allocatedResources(group, offer),
          DeploymentStatus: null,
          ...(back ? { AllocStates: withState(alloc, alloc.ClientStatus, this.#env.now()) } : {}),
        });
        this.#counts(group.Name).InPlaceUpdate++;
        this.#count(group.Name);
        this.#existsFor.add(group.Name);
        return;
      }
    }
    const promoted = this.#rollout.groups[group.Name]?.Promoted ?? false;
    const canary = !back && (group.Update?.Canary ?? 0) > 0 && group.Update?.MaxParallel !== 0 && !promoted;
    this.#updates.push({ name: alloc.Name, group, node: eligible.get(alloc.NodeID), previous: alloc, canary });
    this.#counts(group.Name).DestructiveUpdate++;
    this.#count(group.Name);
    this.#destructive[group.Name] = (this.#destructive[group.Name] ?? 0) + 1;
  }

  /**
   * What a node lacks; nothing where it takes nothing. A finished sysbatch allocation counts as there until a new version wants it to
   * run again, also on a node that takes nothing as long as another allocation of the job lives on it.
   */
  #fill(nodeId: string, node: Node | undefined, job: Job, existing: readonly Allocation[]): void {
    for (const [name, group] of this.#required) {
      const here = existing.filter((alloc) => alloc.NodeID === nodeId && alloc.Name === name);
      if (here.some((alloc) => !terminal(alloc))) continue;
      const last = here.sort((a, b) => b.CreateIndex - a.CreateIndex)[0];
      if (this.#sysbatch && last !== undefined) {
        if (job.JobModifyIndex === last.Job.JobModifyIndex) this.#ignore(last);
        else this.#renew(last, { name, group, node, previous: last, canary: false }, job);
        continue;
      }
      if (node === undefined) continue;
      this.#places.push({ name, group, node, previous: last, canary: false });
      this.#counts(group.Name).Place++;
      this.#count(group.Name);
    }
  }

  /** A finished sysbatch allocation of an older version: it runs again only when what it runs has changed. */
  #renew(last: Allocation, want: Want, job: Job): void {
    this.#count(want.group.Name);
    if (this.#updateOf(last.Job, job, want.group.Name) !== "destructive") {
      this.#counts(want.group.Name).InPlaceUpdate++;
      this.#existsFor.add(want.group.Name);
      return;
    }
    this.#updates.push(want);
    this.#counts(want.group.Name).DestructiveUpdate++;
  }

  /** Stops as many of the outdated allocations as `max_parallel` allows, and wants them back. */
  #evict(job: Job, selector: Selector): void {
    const limits: Record<string, number> = {};
    for (const group of job.TaskGroups) {
      const own = group.Update?.MaxParallel ?? 0;
      const ofJob = job.Update?.MaxParallel ?? 0;
      limits[group.Name] = own > 0 ? own : ofJob > 0 ? ofJob : this.#updates.length;
    }
    for (const alloc of this.#ignored) {
      if (alloc.DeploymentID === "" || alloc.DeploymentID !== this.#rollout.row?.ID) continue;
      if (isUnhealthy(alloc.DeploymentStatus) || isHealthy(alloc.DeploymentStatus)) continue;
      limits[alloc.TaskGroup] = (limits[alloc.TaskGroup] ?? 0) - 1;
    }
    const canaries = this.#rollout.canaries(job, this.#ignored, this.#destructive);
    this.#canarying.push(...Object.keys(canaries));
    for (const want of this.#updates) {
      const limit = limits[want.group.Name] ?? 0;
      if (limit <= 0 || want.previous === undefined) continue;
      if (want.canary) {
        const budget = canaries[want.group.Name];
        if (budget === undefined || budget.left <= 0) {
          // The server places it first and takes it back then, so that it stays in the count of those that wait.
          this.#takenBack[want.group.Name] = (this.#takenBack[want.group.Name] ?? 0) + 1;
          continue;
        }
        budget.left--;
      } else limits[want.group.Name] = limit - 1;
      this.#stopOne(want.previous, reasons.updating);
      selector.stop(want.previous);
      this.#places.push(want);
    }
  }

  #placeAll(job: Job, selector: Selector): void {
    // A sysbatch job names groups that wait for nothing only when all of them do.
    if (!this.#sysbatch || this.#places.length === 0) for (const group of job.TaskGroups) this.#queued[group.Name] = 0;
    for (const want of this.#places) this.#queued[want.group.Name] = (this.#queued[want.group.Name] ?? 0) + 1;
    for (const [name, n] of Object.entries(this.#takenBack)) this.#queued[name] = (this.#queued[name] ?? 0) + n;
    const active = this.#rollout.activeId;
    for (const want of this.#places) {
      const { node } = want;
      if (node === undefined) continue;
      const choice = selector.select(want.group, want.name, [node]);
      if (choice instanceof Metrics) {
        this.#unplaced(want, node, choice, selector);
        continue;
      }
      const alloc = newAllocation({
        id: this.#env.newId(),
        evaluation: this.#eval,
        job,
        group: want.group,
        name: want.name,
        node,
        offer: choice.offer,
        metrics: choice.metrics.json(),
        deploymentId: active,
        canary: want.canary && this.#rollout.row !== undefined,
        previous: want.previous?.ID ?? "",
        tracker: null,
        now: this.#env.now(),
      });
      this.#placed[want.group.Name] = (this.#placed[want.group.Name] ?? 0) + 1;
      selector.place(alloc);
      this.#allocs.push(alloc);
    }
  }

  /** Canaries that are there and those that found a place; none at all where no node may take one. */
  #countCanaries(name: string): void {
    if ((this.#destructive[name] ?? 0) <= 0) return;
    const canary = (alloc: Allocation) => alloc.TaskGroup === name && alloc.DeploymentStatus?.Canary === true;
    const placed = this.#allocs.filter((alloc) => alloc.CreateIndex === 0 && canary(alloc)).length;
    this.#counts(name).Canary = placed + this.#ignored.filter(canary).length;
  }

  /** A node that may not take the group is no failure, unless none may. One without room is, and gets a blocked evaluation. */
  #unplaced(want: Want, node: Node, metrics: Metrics, selector: Selector): void {
    const name = want.group.Name;
    this.#candidates[name] = (this.#candidates[name] ?? 0) - 1;
    if (want.previous !== undefined && !terminal(want.previous)) this.#destructive[name] = (this.#destructive[name] ?? 0) - 1;
    if (metrics.filtered > 0) {
      if (this.#sysbatch) this.#counts(name).Place--;
      const queued = (this.#queued[name] ?? 0) - 1;
      this.#queued[name] = queued;
      const sum = this.#filtered.get(name);
      metrics.anonymize();
      if (sum === undefined) this.#filtered.set(name, metrics);
      else sum.merge(metrics);
      if (queued <= 0 && !this.#existsFor.has(name)) this.#failed.set(name, this.#filtered.get(name) ?? metrics);
      return;
    }
    const failure = this.#failed.get(name);
    if (failure !== undefined) {
      failure.coalesced++;
      failure.wanted(want.group);
      return;
    }
    metrics.wanted(want.group);
    this.#failed.set(name, metrics);
    this.#blocked.push({ id: node.ID, outlook: selector.outlook, failed: this.#failures() });
  }

  #failures(): SchedulePlan["failed"] {
    return Object.fromEntries([...this.#failed].map(([name, metrics]): [string, AllocMetric] => [name, metrics.json()]));
  }

  #result(): SchedulePlan {
    const id = this.#rollout.latestId;
    const inPlace = (alloc: Allocation) => (alloc.CreateIndex === 0 ? alloc : { ...alloc, DeploymentID: id });
    return {
      desired: Object.fromEntries(Object.entries(this.#desired).map(([name, counts]) => [name, unsigned(counts)])),
      allocs: [...this.#unknown, ...this.#allocs.map(inPlace)],
      stopped: this.#stops.map(stoppedAllocation),
      deployment: this.#rollout.row,
      deploymentUpdates: this.#rollout.updates,
      followups: [],
      failed: this.#failures(),
      queued: Object.fromEntries(Object.entries(this.#queued).map(([name, n]) => [name, n - (this.#placed[name] ?? 0)])),
      deploymentId: this.#rollout.shownId(this.#candidates),
      blockedNodes: this.#blocked,
      outlook: this.#selector?.outlook ?? { classes: {}, escaped: false, missing: [] },
    };
  }
}

/** The server counts without a sign: what falls below zero comes out at the other end. */
function unsigned(counts: Counts): Counts {
  return counts.Place < 0 ? { ...counts, Place: 2 ** 64 + counts.Place } : counts;
}
