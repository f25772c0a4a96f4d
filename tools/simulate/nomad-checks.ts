import { type JobKey, jobKey, splitJobKey } from "../../model/job-key.ts";
import type { JobSpec, PlanResult, Submission } from "../../model/nomad.ts";
import { judgeDrift } from "../../plan/drift.ts";
import type { Simulator } from "../../simulator/server.ts";
import { scoped } from "../../simulator/state/table.ts";
import type { Catalogue } from "./catalogue.ts";
import type { PendingCall } from "./gate.ts";
import type { Shadow } from "./shadow.ts";
import { Violation } from "./violation.ts";

const revision = /-[0-9a-f]{8}$/;

/** Looks at every call of the operator that writes to Nomad, before and after it takes effect. */
export class NomadChecks {
  private readonly sim: Simulator;
  private readonly shadow: Shadow;
  private readonly catalogue: Catalogue;
  /** Texts of the specs that this process planned for a job since it last wrote it. */
  private readonly planned = new Map<string, Set<string>>();

  /** `key index` of every plan that was answered. */
  private readonly plannedAt = new Set<string>();

  /** When a plan of a job last showed a difference, in steps of the shadow. */
  private readonly differed = new Map<JobKey, number>();

  constructor(sim: Simulator, shadow: Shadow, catalogue: Catalogue) {
    this.sim = sim;
    this.shadow = shadow;
    this.catalogue = catalogue;
  }

  wasPlanned(key: JobKey, index: number): boolean {
    return this.plannedAt.has(`${key} ${index}`);
  }

  /** Whether a plan of the job showed a difference after that step. */
  differedSince(key: JobKey, step: number): boolean {
    return (this.differed.get(key) ?? 0) > step;
  }

  /** A new process remembers no plan of the one before. */
  reborn(): void {
    this.planned.clear();
  }

  /**
   * Does the effect and judges it. `late`: the process that asked may be gone, and the deployment be over.
   * @throws Violation, or what the effect throws.
   */
  around(call: PendingCall, late: boolean): unknown {
    switch (call.name) {
      case "plan": {
        const [spec] = call.args as [JobSpec];
        const texts = this.planned.get(spec.ID) ?? new Set();
        this.planned.set(spec.ID, texts.add(JSON.stringify(spec)));
        const key = jobKey(spec.Namespace ?? "default", spec.ID);
        this.plannedAt.add(`${key} ${this.indexOf(key)}`);
        const plan = call.effect() as PlanResult;
        if (judgeDrift(plan.diff, false) !== "none") this.differed.set(key, this.shadow.tick());
        return plan;
      }
      case "register":
        return this.register(call, late);
      case "dispatch":
        return this.dispatch(call, late);
      case "stopJob":
        this.checkStop(call.args[0] as JobKey);
        return call.effect();
      case "promote":
      case "failDeployment":
        this.checkAsked(String(call.args[0]));
        return call.effect();
      default:
        return call.effect();
    }
  }

  private register(call: PendingCall, late: boolean): unknown {
    const [spec, index, submission] = call.args as [JobSpec, number, Submission];
    const key = jobKey(spec.Namespace ?? "default", spec.ID);
    const before = this.indexOf(key);
    if (!late && this.planned.get(spec.ID)?.has(JSON.stringify(spec)) !== true)
      throw new Violation("O1", `${key} is registered without a plan of the same spec before it`);
    const hook = spec.Meta?.nops_role === "hook" && revision.test(spec.ID);
    // Two deployments may bring the same revision at once, each after its own plan; and what comes late was sent before.
    if (!hook && !late) this.planned.delete(spec.ID);
    const id = hook ? undefined : this.checkRegister(key, spec, index, submission, late);
    const value = call.effect();
    const after = this.indexOf(key);
    if (after === before) return value;
    if (before !== index) throw new Violation("I3", `${key} was registered over index ${before}, expected was ${index}`);
    if (id === undefined) return value;
    if (this.shadow.registers.some((each) => each.deploymentId === id))
      throw new Violation("I3", `deployment ${id} registered twice`);
    this.shadow.registers.push({ deploymentId: id, index: after });
    return value;
  }

  private checkRegister(key: JobKey, spec: JobSpec, index: number, submission: Submission, late: boolean): string {
    const id = /^# nops: deployment=(\w+)/.exec(submission.source)?.[1];
    const row = id === undefined ? undefined : this.shadow.row(id);
    if (id === undefined || row === undefined || jobKey(row.namespace, row.jobId) !== key)
      throw new Violation("I10", `${key} was written for no deployment`);
    if (!late && row.state !== "applying") throw new Violation("O7", `deployment ${id} registers in ${row.state}`);
    if (row.mode !== "apply") throw new Violation("I10", `deployment ${id} only verifies, and registers`);
    if (index !== row.baseIndex && !late)
      throw new Violation("I3", `deployment ${id} registers over ${index}, it was shown over ${row.baseIndex}`);
    if (!this.catalogue.isTarget(spec, row.targetHash)) throw new Violation("I4", `deployment ${id} registers another spec`);
    const hooks = (this.shadow.hooks.get(id) ?? []).filter((hook) => hook.phase === "pre").length;
    const done = this.shadow.runsOf(id, "pre").filter((run) => run.state === "succeeded").length;
    if (done < hooks) throw new Violation("I5", `deployment ${id} registers after ${done} of ${hooks} pre-hooks`);
    return id;
  }

  private dispatch(call: PendingCall, late: boolean): unknown {
    const [parent, token, meta] = call.args as [JobKey, string, Readonly<Record<string, string>>];
    const id = meta["nops_deployment_id"] ?? "";
    const phase = meta["nops_phase"] ?? "";
    const children = this.sim.state.jobs.by("parent", scopedKey(parent)).length;
    const value = call.effect();
    const started = this.sim.state.jobs.by("parent", scopedKey(parent)).length > children;
    if (started) this.countExecution(id, phase, parent);
    if (!late) this.checkIntent(id, token, phase);
    return value;
  }

  private countExecution(id: string, phase: string, parent: JobKey): void {
    const name = `${id} ${phase} ${parent}`;
    const times = (this.shadow.executions.get(name) ?? 0) + 1;
    this.shadow.executions.set(name, times);
    if (times > 1) throw new Violation("I2", `the ${phase}-hook ${parent} of deployment ${id} was started ${times} times`);
  }

  private checkIntent(id: string, token: string, phase: string): void {
    const run = this.shadow.runs.get(token);
    if (run === undefined || run.state !== "running")
      throw new Violation("O7", `hook ${token} is dispatched, but its run is ${run?.state ?? "not stored"}`);
    const row = this.shadow.row(id);
    if (row?.state !== `${phase}_hook`)
      throw new Violation("O7", `hook ${token} is dispatched while its deployment is ${row?.state}`);
  }

  private checkStop(key: JobKey): void {
    const { jobId } = splitJobKey(key);
    if (!revision.test(jobId) && !jobId.includes("/dispatch-")) throw new Violation("I10", `${key} was stopped`);
  }

  private checkAsked(nomadDeploymentId: string): void {
    const rollout = this.sim.state.deployment.get(nomadDeploymentId);
    if (rollout === undefined) return;
    const row = this.shadow.active(jobKey(rollout.Namespace, rollout.JobID));
    if (row === undefined || !this.shadow.asked.has(row.id))
      throw new Violation("O7", `the rollout of ${rollout.JobID} was changed and no wish of a person is stored`);
  }

  private indexOf(key: JobKey): number {
    return this.sim.state.jobs.get(scopedKey(key))?.JobModifyIndex ?? 0;
  }
}

function scopedKey(key: JobKey): string {
  const { namespace, jobId } = splitJobKey(key);
  return scoped(namespace, jobId);
}
