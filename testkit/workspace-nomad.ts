/** A Nomad of a few lines for the tests of `workspace/`: jobs become healthy at once, check-and-set holds, writes are counted. */
import { NomadError } from "../model/errors.ts";
import { withoutServerFields } from "../model/hash.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import type { AllocationStub, JobSpec, JobStub, LiveJob } from "../model/nomad.ts";
import type { NomadNamespace, NomadVariable, WorkspaceNomad } from "../workspace/ports.ts";

export interface FakeNomad extends WorkspaceNomad {
  readonly jobs: Map<JobKey, LiveJob>;
  readonly variables: Map<string, NomadVariable>;
  /** Calls that changed something, in order. */
  readonly writes: string[];
  /** Runs before each register: a rival who changes the job in between. */
  beforeRegister: (() => void) | undefined;
  /** How dispatched children end. */
  childStatus: "complete" | "failed";
  /** Jobs that refuse to go. */
  readonly stubborn: Set<JobKey>;
}

/** Job files are JSON here: `{"ID": "web", …}`. */
export function fakeNomad(): FakeNomad {
  const jobs = new Map<JobKey, LiveJob>();
  const variables = new Map<string, NomadVariable>();
  const namespaces = new Map<string, NomadNamespace>([["default", { Name: "default" }]]);
  const writes: string[] = [];
  let index = 100;
  const store = (spec: JobSpec, extra: Partial<LiveJob> = {}): LiveJob => {
    const key = jobKey(spec.Namespace ?? "default", spec.ID);
    const before = jobs.get(key);
    index += 1;
    const live = {
      ...spec,
      Namespace: spec.Namespace ?? "default",
      Type: spec.Type ?? "service",
      Status: "running",
      Version: before === undefined ? 0 : before.Version + 1,
      CreateIndex: before?.CreateIndex ?? index,
      ModifyIndex: index,
      JobModifyIndex: index,
      ...extra,
    } as LiveJob;
    jobs.set(key, live);
    return live;
  };
  const same = (spec: JobSpec, live: LiveJob): boolean => {
    const bare = (value: JobSpec): string => {
      const { Stop, Type, ...rest } = withoutServerFields(value);
      return JSON.stringify(Object.entries({ ...rest, Stop: Stop ?? false, Type: Type ?? "service" }).sort());
    };
    return bare({ ...spec, Namespace: spec.Namespace ?? "default" }) === bare(live);
  };
  const nomad: FakeNomad = {
    jobs,
    variables,
    writes,
    beforeRegister: undefined,
    childStatus: "complete",
    stubborn: new Set(),
    ping: async () => {},
    parse: async ({ source }) => JSON.parse(source) as JobSpec,
    async plan(spec) {
      const live = jobs.get(jobKey(spec.Namespace ?? "default", spec.ID));
      const type = live === undefined ? "Added" : same(spec, live) ? "None" : "Edited";
      const field = { Type: "Edited" as const, Name: "Priority", Old: "1", New: "2" };
      return {
        diff: { Type: type, ID: spec.ID, Fields: type === "Edited" ? [field] : [] },
        jobModifyIndex: live?.JobModifyIndex ?? 0,
        failedPlacements: {},
        warnings: "",
      };
    },
    async register(spec, enforceIndex) {
      nomad.beforeRegister?.();
      const key = jobKey(spec.Namespace ?? "default", spec.ID);
      if ((jobs.get(key)?.JobModifyIndex ?? 0) !== enforceIndex) {
        throw new NomadError("Enforcing job modify index", { kind: "conflict", status: 500 });
      }
      writes.push(`register ${key}`);
      store(spec);
      return { evalId: "e", warnings: "" };
    },
    readJob: async (key) => jobs.get(key),
    listJobs: async (namespace) =>
      [...jobs.values()].filter((job) => namespace === "*" || job.Namespace === namespace).map(stubOf),
    async listAllocations(key) {
      const job = jobs.get(key);
      return job === undefined ? [] : allocationsOf(job, nomad.childStatus);
    },
    listEvaluations: async () => [],
    async listNomadDeployments(key) {
      const job = jobs.get(key);
      if (job === undefined || job.Type !== "service" || job.ParameterizedJob) return [];
      return [
        {
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
        },
      ];
    },
    async stopJob(key, { purge }) {
      if (nomad.stubborn.has(key)) throw new NomadError("not permitted", { kind: "not_permitted", status: 403 });
      const job = jobs.get(key);
      if (job === undefined) return;
      writes.push(`${purge ? "purge" : "stop"} ${key}`);
      if (purge) jobs.delete(key);
      else store(job, { Stop: true, Status: "dead" });
    },
    async dispatch(parent, { token, meta }) {
      const known = await nomad.findDispatched(parent, token);
      if (known !== undefined) return { childId: known.ID };
      const job = jobs.get(parent);
      if (job === undefined) throw new NomadError("job not found", { kind: "not_found", status: 404 });
      writes.push(`dispatch ${parent}`);
      index += 1;
      const childId = `${job.ID}/dispatch-${index}`;
      const { ParameterizedJob: _, ...rest } = job;
      store(
        { ...rest, ID: childId, Meta: { ...job.Meta, ...meta } },
        { ParentID: job.ID, DispatchIdempotencyToken: token, Status: job.Type === "batch" ? "dead" : "running" },
      );
      return { childId };
    },
    async findDispatched(parent, token) {
      return [...jobs.values()].find(
        (job) => job.ParentID === splitJobKey(parent).jobId && job.DispatchIdempotencyToken === token,
      );
    },
    reschedule: async (key) => void writes.push(`reschedule ${key}`),
    forcePeriodic: async (key) => void writes.push(`force ${key}`),
    readVariable: async (namespace, path) => variables.get(`${namespace}:${path}`),
    async putVariable(namespace, path, items, cas) {
      if ((variables.get(`${namespace}:${path}`)?.modifyIndex ?? 0) !== cas) {
        throw new NomadError("cas error", { kind: "conflict", status: 409 });
      }
      index += 1;
      writes.push(`put ${path}`);
      variables.set(`${namespace}:${path}`, { items, modifyIndex: index });
    },
    listVariables: async (namespace, prefix) =>
      [...variables.keys()]
        .filter((key) => key.startsWith(`${namespace}:${prefix}`))
        .map((key) => key.slice(namespace.length + 1)),
    async deleteVariable(namespace, path) {
      writes.push(`delete ${path}`);
      variables.delete(`${namespace}:${path}`);
    },
    readNamespace: async (name) => namespaces.get(name),
    async putNamespace(namespace) {
      writes.push(`namespace ${namespace.Name}`);
      namespaces.set(namespace.Name, namespace);
    },
    readLogTail: async () => "the task's own words\n",
  };
  return nomad;
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
