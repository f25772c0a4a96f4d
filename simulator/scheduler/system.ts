import type { Node } from "../state/cluster-types.ts";
import type { StatusUpdate } from "../state/deployment-writes.ts";
import {
  deploymentActive,
  hasAutoPromote,
  isHealthy,
  isUnhealthy,
  ranSuccessfully,
  requiresPromotion,
  serverTerminal,
  terminal,
} from "../state/facts.ts";
import { newDeployment } from "../state/records.ts";
import type { Allocation, AllocMetric, Deployment, Evaluation, Job, TaskGroup } from "../state/types.ts";
import type { Tainted } from "./alloc-set.ts";
import { newAllocation, stoppedAllocation } from "./allocation.ts";
import type { SchedulerEnvironment } from "./environment.ts";
import { allocatedResources } from "./fit.ts";
import { Metrics } from "./metrics.ts";
import { allocName } from "./names.ts";
import { inDatacenters, inPool, isReady } from "./node-checks.ts";
import {
  type Counts,
  type DraftState,
  newGroupState,
  noUpdates,
  reasons,
  type SchedulePlan,
  type Stop,
  type UpdateOf,
} from "./plan-types.ts";
import { Selector } from "./select.ts";
import { latestDeployment } from "./tainted.ts";

interface Want {
  readonly name: string;
  readonly group: TaskGroup;
  readonly node: Node;
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
  readonly #places: Want[] = [];
  readonly #updates: Want[] = [];
  readonly #ignored: Allocation[] = [];
  readonly #candidates: Record<string, number> = {};
  readonly #destructive: Record<string, number> = {};
  readonly #existsFor = new Set<string>();
  readonly #failed = new Map<string, Metrics>();
  readonly #filtered = new Map<string, Metrics>();
  readonly #blocked: string[] = [];
  readonly #queued: Record<string, number> = {};
  readonly #deploymentUpdates: StatusUpdate[] = [];
  #deployment: Deployment | undefined;
  #old: Deployment | undefined;
  #groups: Record<string, DraftState> = {};
  #created = false;
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
  }

  plan(existing: readonly Allocation[]): SchedulePlan {
    const job = this.#job;
    this.#sortDeployments();
    if (job === undefined || job.Stop) {
      for (const alloc of existing) if (!terminal(alloc)) this.#stopOne(alloc);
      return this.#result();
    }
    for (const group of job.TaskGroups) this.#queued[group.Name] = 0;
    const selector = new Selector(this.#env, job);
    this.#selector = selector;
    const nodes = this.#env.state.nodes.sorted().filter((node) => inPool(node, job.NodePool));
    const eligible = new Map(
      nodes.filter((node) => isReady(node) && inDatacenters(node, job.Datacenters)).map((node) => [node.ID, node]),
    );
    const notReady = new Set(nodes.filter((node) => !isReady(node)).map((node) => node.ID));
    for (const alloc of existing) if (!terminal(alloc)) this.#judge(alloc, job, eligible, notReady, selector);
    for (const node of eligible.values()) this.#fill(node, job, existing);
    this.#createDeployment(job, existing);
    this.#evict(job, selector);
    this.#placeAll(job, selector);
    for (const [name, count] of Object.entries(this.#candidates)) this.#counts(name).Place = count;
    this.#finishDeployment(job);
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

  #sortDeployments(): void {
    const job = this.#job;
    const latest = this.#sysbatch ? undefined : latestDeployment(this.#env.state, this.#eval.Namespace, this.#eval.JobID);
    if (latest === undefined) return;
    const cancel = (description: string) => {
      if (deploymentActive(latest)) this.#deploymentUpdates.push({ id: latest.ID, status: "cancelled", description });
    };
    if (job === undefined || job.Stop) cancel("Cancelled because job is stopped");
    else if (latest.JobCreateIndex !== job.CreateIndex || latest.JobVersion !== job.Version) {
      cancel("Cancelled due to newer version of job");
      this.#old = latest;
    } else if (latest.Status === "successful") this.#old = latest;
    else {
      this.#deployment = latest;
      this.#groups = Object.fromEntries(Object.entries(latest.TaskGroups).map(([name, state]) => [name, { ...state }]));
    }
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

  /** What becomes of an allocation that is there. */
  #judge(
    alloc: Allocation,
    job: Job,
    eligible: ReadonlyMap<string, Node>,
    notReady: ReadonlySet<string>,
    selector: Selector,
  ): void {
    const group = job.TaskGroups.find((one) => one.Name === alloc.TaskGroup);
    const index = Number(/\[(\d+)\]$/.exec(alloc.Name)?.[1] ?? 0);
    if (group === undefined || index >= group.Count) {
      this.#counts(alloc.TaskGroup).Stop++;
      return this.#stopOne(alloc);
    }
    if (alloc.DesiredTransition.Migrate) {
      this.#counts(group.Name).Migrate++;
      return this.#stopOne(alloc, reasons.nodeTainted);
    }
    if (this.#tainted.has(alloc.NodeID)) {
      const node = this.#tainted.get(alloc.NodeID);
      if (this.#sysbatch && ranSuccessfully(alloc)) return this.#ignore(alloc);
      if (node === undefined || node.Status === "down") return this.#stopOne(alloc, reasons.lost, "lost");
      return this.#ignore(alloc);
    }
    const changed = job.JobModifyIndex !== alloc.Job.JobModifyIndex;
    if (notReady.has(alloc.NodeID) && !changed) return this.#ignore(alloc);
    const node = eligible.get(alloc.NodeID);
    if (node === undefined) {
      this.#counts(group.Name).Stop++;
      return this.#stopOne(alloc);
    }
    if (!changed) return this.#ignore(alloc);
    this.#update(alloc, job, group, node, selector);
  }

  #update(alloc: Allocation, job: Job, group: TaskGroup, node: Node, selector: Selector): void {
    if (this.#updateOf(alloc.Job, job, group.Name) !== "destructive") {
      selector.stop(alloc);
      const choice = selector.select(group, [node]);
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
        });
        this.#counts(group.Name).InPlaceUpdate++;
        this.#count(group.Name);
        this.#existsFor.add(group.Name);
        return;
      }
    }
    const promoted = this.#groups[group.Name]?.Promoted ?? false;
    const canary = (group.Update?.Canary ?? 0) > 0 && group.Update?.MaxParallel !== 0 && !promoted;
    this.#updates.push({ name: alloc.Name, group, node, previous: alloc, canary });
    this.#counts(group.Name).DestructiveUpdate++;
    this.#count(group.Name);
    this.#destructive[group.Name] = (this.#destructive[group.Name] ?? 0) + 1;
  }

  /** What a node lacks. A finished sysbatch allocation counts as there, until a new version wants it to run again. */
  #fill(node: Node, job: Job, existing: readonly Allocation[]): void {
    for (const group of job.TaskGroups) {
      for (let i = 0; i < group.Count; i++) {
        const name = allocName(job.ID, group.Name, i);
        const here = existing.filter((alloc) => alloc.NodeID === node.ID && alloc.Name === name);
        if (here.some((alloc) => !terminal(alloc))) continue;
        const last = here.sort((a, b) => b.CreateIndex - a.CreateIndex)[0];
        if (this.#sysbatch && last !== undefined) {
          if (job.JobModifyIndex === last.Job.JobModifyIndex) {
            this.#ignore(last);
            continue;
          }
          this.#updates.push({ name, group, node, previous: last, canary: false });
          this.#counts(group.Name).DestructiveUpdate++;
          this.#count(group.Name);
          continue;
        }
        this.#places.push({ name, group, node, previous: last, canary: false });
        this.#counts(group.Name).Place++;
        this.#count(group.Name);
      }
    }
  }

  #createDeployment(job: Job, existing: readonly Allocation[]): void {
    if (this.#sysbatch) return;
    const status = this.#deployment?.Status;
    if (status === "paused" || status === "failed" || this.#old?.JobVersion === job.Version) return;
    const ranBefore = existing.some((alloc) => alloc.Job.Version === job.Version && alloc.Job.CreateIndex === job.CreateIndex);
    const updating = this.#updates.length !== 0 || this.#allocs.length !== 0;
    if (this.#deployment === undefined && ranBefore) return;
    for (const group of job.TaskGroups) {
      const strategy = group.Update !== null && group.Update !== undefined && group.Update.MaxParallel !== 0;
      if (!strategy || this.#groups[group.Name] !== undefined || (ranBefore && !updating)) continue;
      if (this.#deployment === undefined) {
        this.#deployment = newDeployment(this.#env.newId(), job, job.Priority, this.#env.now());
        this.#created = true;
      }
      this.#groups[group.Name] = newGroupState(group);
    }
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
      if (this.#deployment === undefined || alloc.DeploymentID !== this.#deployment.ID) continue;
      if (isUnhealthy(alloc.DeploymentStatus) || isHealthy(alloc.DeploymentStatus)) continue;
      limits[alloc.TaskGroup] = (limits[alloc.TaskGroup] ?? 0) - 1;
    }
    const canaries = this.#canaryBudget(job);
    for (const want of this.#updates) {
      const limit = limits[want.group.Name] ?? 0;
      if (limit <= 0 || want.previous === undefined) continue;
      if (want.canary) {
        const left = canaries[want.group.Name] ?? 0;
        if (left <= 0) continue;
        canaries[want.group.Name] = left - 1;
      }
      limits[want.group.Name] = limit - 1;
      if (!serverTerminal(want.previous) && !terminal(want.previous)) {
        this.#stopOne(want.previous, reasons.updating);
        selector.stop(want.previous);
      }
      this.#places.push(want);
    }
  }

  /** System jobs state their canaries in percent of the nodes. */
  #canaryBudget(job: Job): Record<string, number> {
    const budget: Record<string, number> = {};
    for (const group of job.TaskGroups) {
      const percent = group.Update?.Canary ?? 0;
      const state = this.#groups[group.Name];
      if (percent === 0 || state === undefined || state.Promoted || job.Version === 0) continue;
      const placed = this.#ignored.filter((alloc) => alloc.TaskGroup === group.Name && alloc.DeploymentStatus?.Canary).length;
      const total = (this.#destructive[group.Name] ?? 0) + placed;
      const required = Math.min(Math.ceil((percent * total) / 100), group.Update?.MaxParallel ?? 1);
      if ((this.#destructive[group.Name] ?? 0) === 0) continue;
      state.DesiredCanaries = required;
      budget[group.Name] = required - placed;
      this.#counts(group.Name).Canary = required;
    }
    return budget;
  }

  #placeAll(job: Job, selector: Selector): void {
    for (const want of this.#places) this.#queued[want.group.Name] = (this.#queued[want.group.Name] ?? 0) + 1;
    const active = this.#deployment !== undefined && deploymentActive(this.#deployment) ? this.#deployment.ID : "";
    for (const want of this.#places) {
      const choice = selector.select(want.group, [want.node]);
      if (choice instanceof Metrics) {
        this.#unplaced(want, choice);
        continue;
      }
      const alloc = newAllocation({
        id: this.#env.newId(),
        evaluation: this.#eval,
        job,
        group: want.group,
        name: want.name,
        node: want.node,
        offer: choice.offer,
        metrics: choice.metrics.json(),
        deploymentId: active,
        canary: want.canary && this.#deployment !== undefined,
        previous: want.previous?.ID ?? "",
        tracker: null,
        now: this.#env.now(),
      });
      this.#queued[want.group.Name] = (this.#queued[want.group.Name] ?? 0) - 1;
      selector.place(alloc);
      this.#allocs.push(alloc);
    }
  }

  /** A node that may not take the group is no failure, unless none may. One without room is, and gets a blocked evaluation. */
  #unplaced(want: Want, metrics: Metrics): void {
    const name = want.group.Name;
    this.#candidates[name] = (this.#candidates[name] ?? 0) - 1;
    if (want.previous !== undefined && !terminal(want.previous)) this.#destructive[name] = (this.#destructive[name] ?? 0) - 1;
    if (metrics.filtered > 0) {
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
    this.#blocked.push(want.node.ID);
  }

  #finishDeployment(job: Job): void {
    const deployment = this.#deployment;
    if (deployment === undefined) return;
    let complete = true;
    let counted = false;
    for (const group of job.TaskGroups) {
      const state = this.#groups[group.Name];
      const total = this.#candidates[group.Name] ?? 0;
      if (state === undefined || total < 1) continue;
      counted = true;
      state.DesiredTotal = total;
      if (state.HealthyAllocs < total || (state.DesiredCanaries > 0 && !state.Promoted)) complete = false;
    }
    const row = { ...deployment, TaskGroups: { ...this.#groups } };
    const description = requiresPromotion(row)
      ? hasAutoPromote(row)
        ? "Deployment is running pending automatic promotion"
        : "Deployment is running but requires manual promotion"
      : deployment.StatusDescription;
    this.#deployment = { ...row, StatusDescription: description };
    // Nothing to place anywhere still ends as "successful": Nomad's answer misleads here, and so must this one (nomad-api §17).
    if (complete && deploymentActive(deployment) && (counted || this.#created) && !requiresPromotion(row)) {
      this.#deploymentUpdates.push({ id: deployment.ID, status: "successful", description: "Deployment completed successfully" });
    }
  }

  #result(): SchedulePlan {
    const id = this.#deployment !== undefined && deploymentActive(this.#deployment) ? this.#deployment.ID : "";
    const inPlace = (alloc: Allocation) => (alloc.CreateIndex === 0 ? alloc : { ...alloc, DeploymentID: id });
    return {
      desired: this.#desired,
      allocs: this.#allocs.map(inPlace),
      stopped: this.#stops.map(stoppedAllocation),
      deployment: this.#deployment,
      deploymentUpdates: this.#deploymentUpdates,
      followups: [],
      failed: Object.fromEntries([...this.#failed].map(([name, metrics]): [string, AllocMetric] => [name, metrics.json()])),
      queued: this.#queued,
      deploymentId: this.#deployment?.ID ?? "",
      blockedNodes: this.#blocked,
      classes: this.#selector?.classes ?? {},
      escaped: this.#selector?.escaped ?? false,
    };
  }
}
