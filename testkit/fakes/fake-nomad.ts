import type { NomadPort, NomadSignal, NomadWatchPort } from "../../controllers/ports.ts";
import { NomadError } from "../../model/errors.ts";
import { canonicalJson, withoutServerFields } from "../../model/hash.ts";
import { type JobKey, jobKey, splitJobKey } from "../../model/job-key.ts";
import type {
  AllocationStub,
  Evaluation,
  JobSpec,
  JobStub,
  LiveJob,
  NomadDeployment,
  PlanResult,
  RegisterResult,
  StoredSubmission,
  Submission,
} from "../../model/nomad.ts";
import { fakeDiff } from "./fake-diff.ts";
import { type Fate, fakeAllocations, fakeDeployment } from "./fake-rollout.ts";

interface Held {
  spec: JobSpec;
  versions: LiveJob[];
  createIndex: number;
  jobModifyIndex: number;
  version: number;
  parentId: string;
  token: string;
  status: string;
}

/**
 * Nomad as controllers see it, by hand and in memory: indexes, versions, check-and-set, dispatch with tokens. For exact tests;
 * the simulator is the place for everything else. Each call is noted in `calls` as `name key`.
 */
export class FakeNomad implements NomadPort, NomadWatchPort {
  readonly calls: string[] = [];
  readonly jobs = new Map<JobKey, Held>();
  readonly deployments: NomadDeployment[] = [];
  readonly allocations: AllocationStub[] = [];
  readonly evaluations: Evaluation[] = [];
  readonly submissions = new Map<string, Submission>();
  /** Called before and after the effect of each call; throwing makes the call fail there. */
  fault: (when: "before" | "after", call: string) => void = () => {};
  fate: Fate = "healthy";
  /** What a dispatched child does: exit code, or nothing yet. */
  childExit: number | undefined = 0;
  logTail = "";
  private index = 10;
  private readonly watchers = new Map<string, (signal: NomadSignal) => void>();

  private async call<T>(name: string, key: string, effect: () => T): Promise<T> {
    const call = `${name} ${key}`;
    this.calls.push(call);
    await Promise.resolve();
    this.fault("before", call);
    const result = effect();
    this.fault("after", call);
    return result;
  }

  /** How many calls of these names were made. */
  count(...names: string[]): number {
    return this.calls.filter((call) => names.some((name) => call.startsWith(`${name} `))).length;
  }

  parse(source: { readonly source: string }): Promise<JobSpec> {
    return this.call("parse", source.source.slice(0, 40), () => {
      try {
        return JSON.parse(source.source) as JobSpec;
      } catch (error) {
        throw new NomadError(`Failed to parse job: ${String(error)}`, { kind: "refused", status: 400 });
      }
    });
  }

  plan(spec: JobSpec): Promise<PlanResult> {
    const key = keyOfSpec(spec);
    return this.call("plan", key, () => {
      const held = this.jobs.get(key);
      return { diff: fakeDiff(held?.spec, spec), jobModifyIndex: held?.jobModifyIndex ?? 0, failedPlacements: {}, warnings: "" };
    });
  }

  register(spec: JobSpec, enforceIndex: number, submission: Submission): Promise<RegisterResult> {
    const key = keyOfSpec(spec);
    return this.call("register", key, () => {
      const held = this.jobs.get(key);
      if ((held?.jobModifyIndex ?? 0) !== enforceIndex) {
        throw new NomadError(
          `Enforcing job modify index ${enforceIndex}: job exists with conflicting job modify index: ${held?.jobModifyIndex ?? 0}`,
          { kind: "conflict", status: 500 },
        );
      }
      this.write(key, spec);
      this.submissions.set(`${key} ${this.jobs.get(key)?.version}`, submission);
      return { evalId: "e", warnings: "" };
    });
  }

  readJob(key: JobKey): Promise<LiveJob | undefined> {
    return this.call("read", key, () => this.live(key));
  }

  listJobs(namespace: string, options?: { readonly prefix?: string }): Promise<{ index: number; jobs: readonly JobStub[] }> {
    return this.call("list", namespace, () => ({
      index: this.index,
      jobs: this.stubs(namespace).filter((stub) => stub.ID.startsWith(options?.prefix ?? "")),
    }));
  }

  listAllocations(key: JobKey): Promise<readonly AllocationStub[]> {
    return this.call("allocations", key, () => this.allocations.filter((each) => each.JobID === splitJobKey(key).jobId));
  }

  listEvaluations(key: JobKey): Promise<readonly Evaluation[]> {
    return this.call("evaluations", key, () => this.evaluations.filter((each) => each.JobID === splitJobKey(key).jobId));
  }

  listNomadDeployments(key: JobKey): Promise<readonly NomadDeployment[]> {
    return this.call("deployments", key, () =>
      this.deployments.filter((each) => jobKey(each.Namespace, each.JobID) === key).toReversed(),
    );
  }

  readSubmission(key: JobKey, version: number): Promise<StoredSubmission | undefined> {
    return this.call("submission", key, () => {
      const submission = this.submissions.get(`${key} ${version}`);
      if (submission === undefined) return undefined;
      const { source, format, variableFlags = null } = submission;
      return { Source: source, Format: format, VariableFlags: variableFlags, Version: version };
    });
  }

  jobVersions(key: JobKey): Promise<readonly LiveJob[]> {
    return this.call("versions", key, () => this.jobs.get(key)?.versions.toReversed() ?? []);
  }

  dispatch(parent: JobKey, token: string, meta: Readonly<Record<string, string>>): Promise<{ childId: string; exists: boolean }> {
    return this.call("dispatch", `${parent} ${token}`, () => {
      const held = this.jobs.get(parent);
      if (held === undefined || held.spec.Stop === true)
        throw new NomadError("parameterized job not found", { kind: "refused", status: 500 });
      const found = this.children(parent).find(([, child]) => child.token === token);
      if (found !== undefined) return { childId: splitJobKey(found[0]).jobId, exists: true };
      const { namespace, jobId } = splitJobKey(parent);
      const childId = `${jobId}/dispatch-${this.index}`;
      const { ParameterizedJob: _none, ...spec } = held.spec;
      this.write(jobKey(namespace, childId), { ...spec, ID: childId, Meta: { ...held.spec.Meta, ...meta } });
      const child = this.jobs.get(jobKey(namespace, childId));
      if (child !== undefined) Object.assign(child, { parentId: jobId, token });
      if (this.childExit !== undefined) this.finishChild(jobKey(namespace, childId), this.childExit);
      return { childId, exists: true };
    });
  }

  findDispatched(parent: JobKey, token: string): Promise<LiveJob | undefined> {
    return this.call("find", `${parent} ${token}`, () => {
      const found = this.children(parent).find(([, child]) => child.token === token);
      return found === undefined ? undefined : this.live(found[0]);
    });
  }

  stopJob(key: JobKey): Promise<void> {
    return this.call("stop", key, () => this.stop(key));
  }

  promote(id: string): Promise<void> {
    return this.call("promote", id, () => this.changeDeployment(id, { Status: "successful" }, true));
  }

  failDeployment(id: string): Promise<void> {
    return this.call("fail", id, () =>
      this.changeDeployment(id, { Status: "failed", StatusDescription: "Deployment marked as failed" }, false),
    );
  }

  reschedule(key: JobKey): Promise<void> {
    return this.call("reschedule", key, () => {});
  }

  readLogTail(_namespace: string, allocation: string): Promise<string> {
    return this.call("log", allocation, () => this.logTail);
  }

  /** What a watch tells after it connected anew. */
  relist(namespace: string): void {
    this.watchers.get(namespace)?.({
      kind: "listed",
      namespace,
      jobs: this.stubs(namespace),
      index: this.index,
      wentBack: false,
    });
  }

  /** Another, empty cluster answers at the same address from now on, and the watch finds out. */
  becomeEmpty(): void {
    this.jobs.clear();
    for (const rows of [this.deployments, this.allocations, this.evaluations]) rows.length = 0;
    this.index = 1;
    for (const [namespace, onSignal] of this.watchers)
      onSignal({ kind: "listed", namespace, jobs: [], index: 1, wentBack: true });
  }

  async watch(
    namespace: string,
    onSignal: (signal: NomadSignal) => void,
    { signal: abort }: Pick<AbortController, "signal">,
  ): Promise<void> {
    this.watchers.set(namespace, onSignal);
    onSignal({ kind: "listed", namespace, jobs: this.stubs(namespace), index: this.index, wentBack: false });
    await new Promise<void>((resolve) => abort.addEventListener("abort", () => resolve(), { once: true }));
    this.watchers.delete(namespace);
  }

  // What people and the world do. None of it is noted as a call.

  /** Writes a job as anybody else would, without any check. */
  edit(key: JobKey, change: (spec: JobSpec) => JobSpec): void {
    const held = this.jobs.get(key);
    this.write(key, change(held?.spec ?? { ID: splitJobKey(key).jobId, Namespace: splitJobKey(key).namespace }));
  }

  purge(key: JobKey): void {
    this.jobs.delete(key);
    this.index += 1;
    this.emit(key, 0);
  }

  stop(key: JobKey): void {
    const held = this.jobs.get(key);
    if (held !== undefined) this.write(key, { ...held.spec, Stop: true }, true);
  }

  finishChild(key: JobKey, exitCode: number): void {
    const held = this.jobs.get(key);
    if (held === undefined) return;
    held.status = "dead";
    const alloc = this.allocations.find((each) => each.JobID === splitJobKey(key).jobId);
    if (alloc !== undefined) {
      const failed = exitCode !== 0;
      const events = [{ Type: "Terminated", DisplayMessage: `Exit Code: ${exitCode}`, Details: { exit_code: String(exitCode) } }];
      const states = { main: { State: "dead", Failed: failed, Events: events } };
      Object.assign(alloc, { ClientStatus: failed ? "failed" : "complete", TaskStates: states });
    }
    this.emit(key, held.jobModifyIndex);
  }

  changeDeployment(id: string, change: Partial<NomadDeployment>, promote: boolean): void {
    const deployment = this.deployments.find((each) => each.ID === id);
    if (deployment === undefined) throw new NomadError("deployment not found", { kind: "not_found", status: 404 });
    Object.assign(deployment, change);
    if (promote) for (const group of Object.values(deployment.TaskGroups ?? {})) Object.assign(group, { Promoted: true });
    this.emit(jobKey(deployment.Namespace, deployment.JobID), undefined, "Deployment");
  }

  live(key: JobKey): LiveJob | undefined {
    const held = this.jobs.get(key);
    return held === undefined ? undefined : held.versions.at(-1) && toLive(key, held);
  }

  private write(key: JobKey, spec: JobSpec, stopping = false): void {
    const before = this.jobs.get(key);
    const clean: JobSpec = { ...withoutServerFields(spec), ...(stopping ? {} : { Stop: false }) };
    if (before !== undefined && canonicalJson(before.spec) === canonicalJson(clean)) return;
    this.index += 1;
    const held: Held = {
      spec: clean,
      versions: before?.versions ?? [],
      createIndex: before?.createIndex ?? this.index,
      jobModifyIndex: this.index,
      version: before === undefined ? 0 : before.version + 1,
      parentId: before?.parentId ?? "",
      token: before?.token ?? "",
      status: stopping ? "dead" : "running",
    };
    this.jobs.set(key, held);
    held.versions.push(toLive(key, held));
    if (!stopping) this.schedule(key, held);
    this.emit(key, held.jobModifyIndex);
  }

  private schedule(key: JobKey, held: Held): void {
    const { namespace, jobId } = splitJobKey(key);
    if ((held.spec.Periodic ?? held.spec.ParameterizedJob ?? null) !== null) return;
    const { jobModifyIndex } = held;
    this.evaluations.push({
      ID: `eval-${jobModifyIndex}`,
      JobID: jobId,
      Status: "complete",
      Type: "service",
      TriggeredBy: "job-register",
      JobModifyIndex: jobModifyIndex,
      CreateIndex: jobModifyIndex,
      ModifyIndex: jobModifyIndex,
    });
    this.allocations.push(...fakeAllocations(jobId, held, this.fate));
    if (held.spec.Type === "batch" || held.spec.Type === "sysbatch") return;
    this.deployments.push(fakeDeployment(namespace, jobId, held, this.fate));
  }

  private children(parent: JobKey): [JobKey, Held][] {
    const { namespace, jobId } = splitJobKey(parent);
    return [...this.jobs].filter(([key, held]) => held.parentId === jobId && splitJobKey(key).namespace === namespace);
  }

  private stubs(namespace: string): JobStub[] {
    return [...this.jobs]
      .filter(([key]) => splitJobKey(key).namespace === namespace)
      .map(([key, held]) => {
        const live = toLive(key, held);
        return {
          ID: live.ID,
          Namespace: namespace,
          ParentID: held.parentId,
          Type: live.Type ?? "service",
          Status: held.status,
          Stop: held.spec.Stop === true,
          Periodic: (held.spec.Periodic ?? null) !== null,
          ParameterizedJob: (held.spec.ParameterizedJob ?? null) !== null,
          CreateIndex: held.createIndex,
          ModifyIndex: held.jobModifyIndex,
          JobModifyIndex: held.jobModifyIndex,
          Meta: held.spec.Meta ?? null,
        };
      });
  }

  emit(key: JobKey, jobModifyIndex: number | undefined, topic: "Job" | "Deployment" = "Job"): void {
    this.watchers.get(splitJobKey(key).namespace)?.({
      kind: "job",
      key,
      index: this.index,
      topic,
      ...(jobModifyIndex === undefined ? {} : { jobModifyIndex }),
    });
  }
}

function keyOfSpec(spec: JobSpec): JobKey {
  return jobKey(spec.Namespace ?? "default", spec.ID);
}

function toLive(key: JobKey, held: Held): LiveJob {
  return {
    ...held.spec,
    ID: splitJobKey(key).jobId,
    Namespace: splitJobKey(key).namespace,
    Status: held.status,
    Version: held.version,
    CreateIndex: held.createIndex,
    ModifyIndex: held.jobModifyIndex,
    JobModifyIndex: held.jobModifyIndex,
    ParentID: held.parentId,
    DispatchIdempotencyToken: held.token,
  };
}
