import type { Clock, Timer } from "../../model/clock.ts";
import { wish } from "../state/alloc-writes.ts";
import { upsertEvals } from "../state/eval-writes.ts";
import { deploymentActive, groupOf, isHealthy, isUnhealthy, requiresPromotion, terminal } from "../state/facts.ts";
import { scoped } from "../state/table.ts";
import type { Allocation, Deployment } from "../state/types.ts";
import { versionAt } from "../state/versions.ts";
import { type DeploymentTools, deploymentEval, fail, promote } from "./deployment-ops.ts";
import { rescheduleAllowed } from "./reschedule.ts";

/** Milliseconds for which changes are gathered before a deployment is looked at. */
const gather = 2;
/** And before it is pushed on: drains, failed allocations and what ends it, of which a server hears sooner, come first. */
const gatherPushes = 250;

interface Watch {
  check: Timer | undefined;
  push: Timer | undefined;
  /** Allocations that the next push lets be replaced. */
  readonly replace: Set<string>;
  deadline: Timer | undefined;
  deadlineAt: string | null;
  deadlineHit: boolean;
}

/** Pushes running deployments on: next batches, replacements, automatic promotion, deadlines, failure and roll-back. */
export class DeploymentWatcher {
  readonly #tools: DeploymentTools;
  readonly #clock: Clock;
  readonly #watches = new Map<string, Watch>();

  constructor(tools: DeploymentTools, clock: Clock) {
    this.#tools = tools;
    this.#clock = clock;
    tools.state.listen((write) => {
      for (const change of write.changes) {
        if (change.table === "deployment") this.#seen(change.after ?? change.before);
        else if (change.table === "allocs" && change.after !== undefined && change.after.DeploymentID !== "") {
          this.#seen(tools.state.deployment.get(change.after.DeploymentID));
        }
      }
    });
    tools.state.onRestore(() => {
      for (const id of [...this.#watches.keys()]) this.#drop(id);
      for (const deployment of tools.state.deployment.rows.values()) this.#seen(deployment);
    });
  }

  #drop(id: string): void {
    const watch = this.#watches.get(id);
    watch?.check?.cancel();
    watch?.push?.cancel();
    watch?.deadline?.cancel();
    this.#watches.delete(id);
  }

  #seen(deployment: Deployment | undefined): void {
    if (deployment === undefined) return;
    const current = this.#tools.state.deployment.get(deployment.ID);
    if (current === undefined || !deploymentActive(current)) {
      this.#drop(deployment.ID);
      return;
    }
    let watch = this.#watches.get(current.ID);
    if (watch === undefined) {
      watch = {
        check: undefined,
        push: undefined,
        replace: new Set(),
        deadline: undefined,
        deadlineAt: null,
        deadlineHit: false,
      };
      this.#watches.set(current.ID, watch);
    }
    this.#setDeadline(current, watch);
    watch.check ??= this.#clock.setTimer(gather, () => {
      if (watch !== undefined) watch.check = undefined;
      this.#check(current.ID);
    });
  }

  #setDeadline(deployment: Deployment, watch: Watch): void {
    const at = this.#cutoff(deployment);
    if (at === watch.deadlineAt) return;
    watch.deadline?.cancel();
    watch.deadlineAt = at;
    watch.deadline =
      at === null ? undefined : this.#clock.setTimer(Date.parse(at) - this.#clock.now(), () => this.#overdue(deployment.ID));
  }

  /** The earliest time by which a group that is not done must show progress. */
  #cutoff(deployment: Deployment): string | null {
    const allocs = this.#tools.state.allocs.by("deployment", deployment.ID);
    let next: string | null = null;
    for (const [name, group] of Object.entries(deployment.TaskGroups)) {
      const waiting = group.DesiredCanaries !== 0 && !group.Promoted;
      const healthy = allocs.filter(
        (alloc) => alloc.TaskGroup === name && !terminal(alloc) && isHealthy(alloc.DeploymentStatus),
      ).length;
      if (!waiting && healthy >= group.DesiredTotal) continue;
      if (group.RequireProgressBy === null) continue;
      if (next === null || group.RequireProgressBy < next) next = group.RequireProgressBy;
    }
    return next;
  }

  #overdue(id: string): void {
    const { state } = this.#tools;
    const deployment = state.deployment.get(id);
    const watch = this.#watches.get(id);
    if (deployment === undefined || watch === undefined || !deploymentActive(deployment) || deployment.Status === "paused")
      return;
    watch.deadlineHit = true;
    const job = versionAt(state, deployment.Namespace, deployment.JobID, deployment.JobVersion);
    const behind = Object.entries(deployment.TaskGroups).filter(([, group]) => {
      const waiting = group.DesiredCanaries > 0 && !group.Promoted;
      return group.HealthyAllocs < (waiting ? group.DesiredCanaries : group.DesiredTotal);
    });
    // Healthy canaries may wait for a person as long as they like.
    if (behind.length === 0) return;
    const revert = behind.some(([name]) => (job === undefined ? undefined : groupOf(job, name))?.Update?.AutoRevert === true);
    this.#fail(deployment, revert);
  }

  #fail(deployment: Deployment, revert: boolean): void {
    const hit = this.#watches.get(deployment.ID)?.deadlineHit ?? false;
    fail(this.#tools, deployment, hit ? "Failed due to progress deadline" : "Failed due to unhealthy allocations", revert);
  }

  #check(id: string): void {
    const { state } = this.#tools;
    const deployment = state.deployment.get(id);
    if (deployment === undefined || !deploymentActive(deployment)) return;
    const allocs = state.allocs.by("deployment", id);
    const latest = this.#latestEvalIndex(deployment);
    let push = false;
    const replace: Allocation[] = [];
    for (const alloc of allocs) {
      const group = deployment.TaskGroups[alloc.TaskGroup];
      if (group === undefined) continue;
      if (isUnhealthy(alloc.DeploymentStatus)) {
        if (this.#hopeless(deployment, alloc)) {
          this.#fail(deployment, group.AutoRevert);
          return;
        }
        if (!alloc.DesiredTransition.Reschedule) replace.push(alloc);
      } else if (isHealthy(alloc.DeploymentStatus) && (alloc.DeploymentStatus?.ModifyIndex ?? 0) > latest) push = true;
    }
    this.#promoteAlone(deployment, allocs);
    if (push || replace.length > 0) this.#pushSoon(id, replace);
  }

  /** An unhealthy allocation ends the deployment at once where there is no deadline, or nothing may be tried again. */
  #hopeless(deployment: Deployment, alloc: Allocation): boolean {
    const group = deployment.TaskGroups[alloc.TaskGroup];
    if (group === undefined) return false;
    if (group.ProgressDeadline === 0) return true;
    const job = versionAt(this.#tools.state, deployment.Namespace, deployment.JobID, deployment.JobVersion);
    const policy = job === undefined ? undefined : groupOf(job, alloc.TaskGroup)?.ReschedulePolicy;
    return !rescheduleAllowed(policy, alloc, this.#clock.now());
  }

  #latestEvalIndex(deployment: Deployment): number {
    const evals = this.#tools.state.evals.by("job", scoped(deployment.Namespace, deployment.JobID));
    let latest = 0;
    for (const one of evals) {
      if (one.Status === "canceled") continue;
      latest = Math.max(latest, one.SnapshotIndex ?? one.CreateIndex);
    }
    return latest;
  }

  #promoteAlone(deployment: Deployment, allocs: readonly Allocation[]): void {
    if (!requiresPromotion(deployment)) return;
    const ready = Object.values(deployment.TaskGroups).every((group) => {
      if (group.DesiredCanaries < 1) return true;
      const placed = group.PlacedCanaries ?? [];
      const healthy = allocs.filter((alloc) => placed.includes(alloc.ID) && isHealthy(alloc.DeploymentStatus)).length;
      return group.AutoPromote && healthy === group.DesiredCanaries;
    });
    if (ready) promote(this.#tools, deployment, undefined);
  }

  #pushSoon(id: string, replace: readonly Allocation[]): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    for (const alloc of replace) watch.replace.add(alloc.ID);
    watch.push ??= this.#clock.setTimer(gatherPushes, () => {
      watch.push = undefined;
      const { state } = this.#tools;
      const deployment = state.deployment.get(id);
      const allocs = [...watch.replace].flatMap((one) => state.allocs.get(one) ?? []);
      watch.replace.clear();
      if (deployment !== undefined) this.#push(deployment, allocs);
    });
  }

  #push(deployment: Deployment, replace: readonly Allocation[]): void {
    const evaluation = deploymentEval(this.#tools, deployment);
    this.#tools.state.write("AllocationUpdateDesiredStatus", (tx) => {
      for (const alloc of replace) wish(tx, alloc, { Reschedule: true });
      upsertEvals(tx, [evaluation]);
    });
  }
}
