import { describe, expect, it } from "vitest";
import { admitJob, checkJobUpdate, specChanged } from "./admit.ts";
import type { AdmitContext, ApiJob } from "./types.ts";
import { type Rec, rec, recs, str } from "./values.ts";

const CONTEXT: AdmitContext = {
  region: "global",
  namespace: (name) => (name === "default" || name === "team" ? {} : undefined),
  nodePool: (name) => (name === "default" ? {} : undefined),
  memoryOversubscription: false,
};

function apiJob(over: ApiJob = {}, group: Rec = {}, task: Rec = {}): ApiJob {
  const tasks = [{ Name: "t", Driver: "raw_exec", Config: { command: "/bin/true" }, ...task }];
  return { ID: "j", Type: "service", TaskGroups: [{ Name: "g", Tasks: tasks, ...group }], ...over };
}

const constraintsOf = (job: ApiJob) =>
  recs(recs(admitJob(job, CONTEXT).job, "TaskGroups")[0], "Constraints").map((c) => str(c, "LTarget"));

describe("admission", () => {
  it("takes the namespace of the request before that of the job", () => {
    const { job } = admitJob(apiJob({ Namespace: "nowhere" }), { ...CONTEXT, requestNamespace: "team" });
    expect(job["Namespace"]).toBe("team");
    expect(() => admitJob(apiJob({ Namespace: "nowhere" }), CONTEXT)).toThrow('job "j" is in nonexistent namespace "nowhere"');
  });

  it("drops what only the server may set", () => {
    const { job } = admitJob(apiJob({ Status: "running", Stable: true, ParentID: "p", Version: 3 }), CONTEXT);
    expect(job).toMatchObject({ Status: "", Stable: false, ParentID: "", Version: 3 });
  });

  it("keeps two fields of the job's update and gives the groups all of it", () => {
    const { job } = admitJob(apiJob({ Update: { Canary: 1, MaxParallel: 2 } }), CONTEXT);
    expect(job["Update"]).toMatchObject({ MaxParallel: 2, Canary: 0, HealthCheck: "" });
    expect(rec(recs(job, "TaskGroups")[0], "Update")).toMatchObject({ MaxParallel: 2, Canary: 1, HealthCheck: "checks" });
  });

  it("adds the constraints that other fields imply, once", () => {
    expect(constraintsOf(apiJob({}, {}, { KillSignal: "SIGINT" }))).toEqual(["${attr.os.signals}"]);
    const stated = [{ LTarget: "${attr.consul.version}", Operand: "semver", RTarget: ">= 1.18.0" }];
    expect(constraintsOf(apiJob({}, { Services: [{ Name: "s" }], Constraints: stated }))).toEqual(["${attr.consul.version}"]);
    expect(constraintsOf(apiJob({}, { Networks: [{ Mode: "bridge" }] }))).toHaveLength(5);
  });

  it("asks for newer clients each time identities are named, even when it stands there already", () => {
    const once = admitJob(apiJob({}, {}, { Identities: [{ Name: "db", Audience: ["a"] }] }), CONTEXT).job;
    const twice = admitJob(once, CONTEXT).job;
    expect(recs(recs(once, "TaskGroups")[0], "Constraints")).toHaveLength(1);
    expect(recs(recs(twice, "TaskGroups")[0], "Constraints")).toHaveLength(2);
  });

  it("gives a Connect service its proxy and port", () => {
    const services = [{ Name: "api", PortLabel: "9001", Connect: { SidecarService: {} } }];
    const { job } = admitJob(apiJob({}, { Networks: [{ Mode: "bridge" }], Services: services }), CONTEXT);
    const [group] = recs(job, "TaskGroups");
    expect(recs(group, "Tasks").map((t) => t["Kind"])).toEqual(["", "connect-proxy:api"]);
    expect(recs(recs(group, "Networks")[0], "DynamicPorts")).toEqual([
      { Label: "connect-proxy-api", To: -1, HostNetwork: "default" },
    ]);
  });

  it("refuses payloads, drivers that a namespace forbids, and features of the paid edition", () => {
    const refuse = (job: ApiJob, context = CONTEXT) => expect(() => admitJob(job, context));
    refuse(apiJob({ Payload: "aGk=" })).toThrow("job can't be submitted with a payload, only dispatched");
    const strict = { ...CONTEXT, namespace: () => ({ Capabilities: { DisabledTaskDrivers: ["raw_exec"] } }) };
    refuse(apiJob(), strict).toThrow('used task driver "raw_exec" is not allowed in namespace "default"');
    refuse(apiJob({ Multiregion: { Regions: [{ Name: "west" }] } })).toThrow("Multiregion jobs are unlicensed.");
    refuse(apiJob({}, {}, { Vault: {} })).toThrow('Vault "default" not enabled but used in the job');
    refuse(apiJob({}, {}, { Schedule: { Cron: {} } })).toThrow("task schedules requires Nomad Enterprise");
  });
});

describe("changes of a job", () => {
  const job = (over: ApiJob = {}) => admitJob(apiJob({ Type: "batch", ...over }), CONTEXT).job;
  const periodic = { Periodic: { Specs: ["@daily"] } };
  const parameterized = { ParameterizedJob: {} };

  it.each([
    [job(), admitJob(apiJob(), CONTEXT).job, 'cannot update job from type "batch" to "service"'],
    [job(periodic), job(), "cannot update periodic job to being non-periodic"],
    [job(), job(periodic), "cannot update non-periodic job to being periodic"],
    [job(parameterized), job(), "cannot update parameterized job to being non-parameterized"],
    [job(), job(parameterized), "cannot update non-parameterized job to being parameterized"],
  ])("%#", (old, next, text) => {
    expect(() => checkJobUpdate(old, next)).toThrow(text);
  });

  it("lets everything else pass", () => {
    expect(() => checkJobUpdate(undefined, job())).not.toThrow();
    expect(() => checkJobUpdate(job(), job({ Priority: 60 }))).not.toThrow();
  });

  it("makes a version for a change of the specification, and for no counter of the server", () => {
    const live = { ...job(), Status: "running", Version: 4, CreateIndex: 7, JobModifyIndex: 9, SubmitTime: 1 };
    expect(specChanged(live, job())).toBe(false);
    expect(specChanged(live, job({ Priority: 60 }))).toBe(true);
    expect(specChanged(live, { ...job(), NomadTokenID: "other" })).toBe(true);
    expect(specChanged({ ...live, VersionTag: { Name: "good" } }, job())).toBe(true);
  });
});
