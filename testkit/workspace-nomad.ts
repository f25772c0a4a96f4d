/** A Nomad of a few lines for the tests of `workspace/`: jobs become healthy at once, check-and-set holds, writes are counted. */
import { NomadError } from "../model/errors.ts";
import { withoutServerFields } from "../model/hash.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import type { AllocationStub, JobSpec, JobStub, LiveJob, NomadDeployment, PlanResult, RegisterResult } from "../model/nomad.ts";
import type { NomadNamespace, NomadVariable, WorkspaceNomad } from "../workspace/ports.ts";

/** Job files are JSON here: `{"ID": "web", …}`. */
export function fakeNomad(): FakeNomad {
  return new FakeNomad();
}

export class FakeNomad implements WorkspaceNomad {
  readonly jobs = new Map<JobKey, LiveJob>();
  readonly variables = new Map<string, NomadVariable>();
  /** Calls that changed something, in order. */
  readonly writes: string[] = [];
  /** Runs before each register: a rival who changes the job in between. */
  beforeRegister: (() => void) | undefined;
  /** How dispatched children end. */
  childStatus: "complete" | "failed" = "complete";
  /** Jobs that refuse to go. */
  readonly stubborn = new Set<JobKey>();
  private readonly namespaces = new Map<string, NomadNamespace>([["default", { Name: "default" }]]);
  private index = 100;

  async ping(): Promise<void> {}

  async parse({ source }: { readonly source: string }): Promise<JobSpec> {
    return JSON.parse(source) as JobSpec;
  }

  async plan(spec: JobSpec): Promise<PlanResult> {
    const live = this.jobs.get(keyOf(spec));
    const type = live === undefined ? "Added" : same(spec, live) ? "None" : "Edited";
    const field = { Type: "Edited" as const, Name: "Priority", Old: "1", New: "2" };
    return {
      diff: { Type: type, ID: spec.ID, Fields: type === "Edited" ? [field] : [] },
      jobModifyIndex: live?.JobModifyIndex ?? 0,
      failedPlacements: {},
      warnings: "",
    };
  }

  async register(spec: JobSpec, enforceIndex: number): Promise<RegisterResult> {
    this.beforeRegister?.();
    const key = keyOf(spec);
    if ((this.jobs.get(key)?.JobModifyIndex ?? 0) !== enforceIndex) {
      throw new NomadError("Enforcing job modify index", { kind: "conflict", status: 500 });
    }
    this.writes.push(`register ${key}`);
    this.store(spec);
    return { evalId: "e", warnings: "" };
  }

  async readJob(key: JobKey): Promise<LiveJob | undefined> {
    return this.jobs.get(key);
  }

  async listJobs(namespace: string): Promise<readonly JobStub[]> {
    return [...this.jobs.values()].filter((job) => namespace === "*" || job.Namespace === namespace).map(stubOf);
  }

  async listAllocations(key: JobKey): Promise<readonly AllocationStub[]> {
    const job = this.jobs.get(key);
    return job === undefined ? [] : allocationsOf(job, this.childStatus);
  }

  async listEvaluations(): Promise<readonly never[]> {
    return [];
  }

  async listNomadDeployments(key: JobKey): Promise<readonly NomadDeployment[]> {
    const job = this.jobs.get(key);
    if (job === undefined || job.Type !== "service" || job.ParameterizedJob) return [];
    return [deploymentOf(job)];
  }

  async stopJob(key: JobKey, { purge }: { readonly purge: boolean }): Promise<void> {
    if (this.stubborn.has(key)) throw new NomadError("not permitted", { kind: "not_permitted", status: 403 });
    const job = this.jobs.get(key);
    if (job === undefined) return;
    this.writes.push(`${purge ? "purge" : "stop"} ${key}`);
    if (purge) this.jobs.delete(key);
    else this.store(job, { Stop: true, Status: "dead" });
  }

  async dispatch(
    parent: JobKey,
    { token, meta }: { readonly token: string; readonly meta: Readonly<Record<string, string>> },
  ): Promise<{ readonly childId: string }> {
    const known = await this.findDispatched(parent, token);
    if (known !== undefined) return { childId: known.ID };
    const job = this.jobs.get(parent);
    if (job === undefined) throw new NomadError("job not found", { kind: "not_found", status: 404 });
    this.writes.push(`dispatch ${parent}`);
    this.index += 1;
    const childId = `${job.ID}/dispatch-${this.index}`;
    const { ParameterizedJob: _, ...rest } = job;
    const status = job.Type === "batch" ? "dead" : "running";
    const child = { ParentID: job.ID, DispatchIdempotencyToken: token, Status: status };
    this.store({ ...rest, ID: childId, Meta: { ...job.Meta, ...meta } }, child);
    return { childId };
  }

  async findDispatched(parent: JobKey, token: string): Promise<LiveJob | undefined> {
    const { jobId } = splitJobKey(parent);
    return [...this.jobs.values()].find((job) => job.ParentID === jobId && job.DispatchIdempotencyToken === token);
  }

  async reschedule(key: JobKey): Promise<void> {
    this.writes.push(`reschedule ${key}`);
  }

  async forcePeriodic(key: JobKey): Promise<void> {
    this.writes.push(`force ${key}`);
  }

  async readVariable(namespace: string, path: string): Promise<NomadVariable | undefined> {
    return this.variables.get(`${namespace}:${path}`);
  }

  async putVariable(namespace: string, path: string, items: Readonly<Record<string, string>>, cas: number): Promise<void> {
    if ((this.variables.get(`${namespace}:${path}`)?.modifyIndex ?? 0) !== cas) {
      throw new NomadError("cas error", { kind: "conflict", status: 409 });
    }
    this.index += 1;
    this.writes.push(`put ${path}`);
    this.variables.set(`${namespace}:${path}`, { items, modifyIndex: this.index });
  }

  async listVariables(namespace: string, prefix: string): Promise<readonly string[]> {
    const own = [...this.variables.keys()].filter((key) => key.startsWith(`${namespace}:${prefix}`));
    return own.map((key) => key.slice(namespace.length + 1));
  }

  async deleteVariable(namespace: string, path: string): Promise<void> {
    this.writes.push(`delete ${path}`);
    this.variables.delete(`${namespace}:${path}`);
  }

  async readNamespace(name: string): Promise<NomadNamespace | undefined> {
    return this.namespaces.get(name);
  }

  async putNamespace(namespace: NomadNamespace): Promise<void> {
    this.writes.push(`namespace ${namespace.Name}`);
    this.namespaces.set(namespace.Name, namespace);
  }

  async readLogTail(): Promise<string> {
    return "the task's own words\n";
  }

  private store(spec: JobSpec, extra: Partial<LiveJob> = {}): void {
    const before = this.jobs.get(keyOf(spec));
    this.index += 1;
    const live = {
      ...spec,
      Namespace: spec.Namespace ?? "default",
      Type: spec.Type ?? "service",
      Status: "running",
      Version: before === undefined ? 0 : before.Version + 1,
      CreateIndex: before?.CreateIndex ?? this.index,
      ModifyIndex: this.index,
      JobModifyIndex: this.index,
      ...extra,
    } as LiveJob;
    this.jobs.set(keyOf(spec), live);
  }
}

function keyOf(spec: JobSpec): JobKey {
  return jobKey(spec.Namespace ?? "default", spec.ID);
}

/** Compares as Nomad's plan does: server fields do not count, defaults are filled in. */
function same(spec: JobSpec, live: LiveJob): boolean {
  const bare = (value: JobSpec): string => {
    const { Stop, Type, ...rest } = withoutServerFields(value);
    return JSON.stringify(Object.entries({ ...rest, Stop: Stop ?? false, Type: Type ?? "service" }).sort());
  };
  return bare({ ...spec, Namespace: spec.Namespace ?? "default" }) === bare(live);
}

function deploymentOf(job: LiveJob): NomadDeployment {
  return {
    ID: `d-${job.JobModifyIndex}`,
    JobID: job.ID,
    Namespace: job.Namespace,
    JobVersion: job.Version,
    JobCreateIndex: job.CreateIndex,
    JobSpecModifyIndex: job.JobModifyIndex,
    Status: "successful",
    StatusDescription: "",
    TaskGroups: {},
    CreateIndex: job.JobModifyIndex,
    ModifyIndex: job.JobModifyIndex,
  };
}

function stubOf(job: LiveJob): JobStub {
  return {
    ID: job.ID,
    Namespace: job.Namespace,
    ParentID: job.ParentID ?? "",
    Type: job.Type ?? "service",
    Status: job.Status,
    Stop: job.Stop === true,
    Periodic: false,
    ParameterizedJob: job.ParameterizedJob !== undefined && job.ParameterizedJob !== null,
    CreateIndex: job.CreateIndex,
    ModifyIndex: job.ModifyIndex,
    JobModifyIndex: job.JobModifyIndex,
    Meta: job.Meta ?? null,
  };
}

function allocationsOf(job: LiveJob, ended: "complete" | "failed"): AllocationStub[] {
  if (job.Stop === true || job.ParameterizedJob) return [];
  const status = job.Type === "batch" ? ended : "running";
  return (job.TaskGroups ?? [{ Name: "main", Count: 1 }]).map((group) => ({
    ID: `alloc-${job.ID}`,
    JobID: job.ID,
    JobVersion: job.Version,
    TaskGroup: group.Name ?? "main",
    DesiredStatus: "run",
    ClientStatus: status,
    TaskStates: { main: { State: status, Failed: status === "failed", Events: [] } },
    CreateIndex: job.JobModifyIndex,
    ModifyIndex: job.JobModifyIndex,
  }));
}
