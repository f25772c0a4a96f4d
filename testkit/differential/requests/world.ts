import type { Request } from "./ask.ts";

/** What happens to both servers before they are asked: a request, or what the clients say of the allocations of a job. */
export type Step =
  | { readonly ask: Request }
  | {
      readonly report: { readonly namespace: string; readonly job: string };
      readonly status: "running" | "failed" | "complete";
      readonly healthy?: boolean;
    };

type Fields = Readonly<Record<string, unknown>>;

export const put = (path: string, body?: unknown): { readonly ask: Request } => ({ ask: { method: "PUT", path, body } });

export const register = (Job: Fields): Step => put(`/v1/jobs?namespace=${String(Job["Namespace"] ?? "default")}`, { Job });

export const healthy = (job: string, namespace = "default"): Step => ({
  report: { namespace, job },
  status: "running",
  healthy: true,
});

const task = (more: Fields = {}): Fields => ({
  Name: "t",
  Driver: "raw_exec",
  Config: { command: "/bin/true" },
  Resources: { CPU: 50, MemoryMB: 32 },
  ...more,
});

const group = (more: Fields = {}, taskMore: Fields = {}): Fields => ({
  Name: "g",
  Count: 1,
  EphemeralDisk: { SizeMB: 300 },
  Tasks: [task(taskMore)],
  ...more,
});

export const serviceJob = (ID: string, more: Fields = {}, groupMore: Fields = {}, taskMore: Fields = {}): Fields => ({
  ID,
  Name: ID,
  Type: "service",
  Datacenters: ["dc1"],
  TaskGroups: [group(groupMore, taskMore)],
  ...more,
});

const canary = { Canary: 1, MaxParallel: 1, MinHealthyTime: 0, HealthyDeadline: 3.6e12, ProgressDeadline: 7.2e12 };
const scaling = { Type: "horizontal", Min: 0, Max: 5, Enabled: true, Policy: { cooldown: "1m" } };

const spaces: readonly Step[] = [
  put("/v1/namespace", { Name: "team-a", Description: "the A team", Meta: { owner: "ann", tier: "1" } }),
  put("/v1/namespace/team-b", { Name: "team-b", Capabilities: { DisabledTaskDrivers: ["docker"] } }),
  put("/v1/namespace", { Name: "empty" }),
  put("/v1/node/pools", { Name: "pool-a", Description: "of the A team", Meta: { size: "big" } }),
  put("/v1/node/pools", { Name: "pool-b" }),
];

const jobs: readonly Step[] = [
  register(serviceJob("web", { Meta: { owner: "ann" } }, { Count: 2, Update: canary }, { Env: { V: "0" } })),
  healthy("web"),
  put("/v1/job/web/versions/first/tag", { Version: 0, Description: "the first" }),
  register(serviceJob("web", { Meta: { owner: "bob" }, Priority: 60 }, { Count: 2, Update: canary }, { Env: { V: "1" } })),
  register(serviceJob("api", { Namespace: "team-a", UI: { Description: "an api" } }, { Scaling: scaling })),
  healthy("api", "team-a"),
  register({ ...serviceJob("once", {}, { ReschedulePolicy: { Attempts: 0 } }), Type: "batch" }),
  { report: { namespace: "default", job: "once" }, status: "complete" },
  register({ ...serviceJob("broken", {}, { ReschedulePolicy: { Attempts: 0, Unlimited: false } }), Type: "batch" }),
  { report: { namespace: "default", job: "broken" }, status: "failed" },
  register({ ...serviceJob("every", { Namespace: "team-b" }), Type: "system" }),
  register({
    ...serviceJob("nightly", { Periodic: { Specs: ["0 3 * * *"], Enabled: true } }),
    Type: "batch",
  }),
  register({
    ...serviceJob("hook", {
      ParameterizedJob: { Payload: "optional", MetaRequired: ["what"], MetaOptional: ["more"] },
    }),
    Type: "batch",
  }),
  put("/v1/job/hook/dispatch?idempotency_token=first", { Meta: { what: "x" }, Payload: "aGVsbG8=" }),
  register(serviceJob("gone")),
  { ask: { method: "DELETE", path: "/v1/job/gone" } },
  register(serviceJob("stuck", { Constraints: [{ LTarget: "${node.class}", RTarget: "none", Operand: "=" }] })),
  ...[1, 2, 3, 4, 5, 6].map((n) => register(serviceJob(`app-${n}`, { Meta: { n: String(n) } }, { Count: 0 }))),
  put("/v1/jobs?namespace=team-a", {
    Job: serviceJob("told", { Namespace: "team-a", NodePool: "pool-b" }, { Count: 0 }),
    Submission: { Source: "job {}", Format: "hcl2", VariableFlags: { a: "b c" }, Variables: "x = 1" },
  }),
  put("/v1/job/api/scale?namespace=team-a", { Count: 2, Target: { Group: "g" }, Message: "more", Meta: { why: "load" } }),
];

const variables: readonly Step[] = [
  ...["nomad/jobs", "nomad/jobs/web", "nomad/jobs/web/g/t", "app/one", "app/two", "app/two/three", "zoo"].map((path) =>
    put(`/v1/var/${path}`, { Items: { key: path, other: "1" } }),
  ),
  put("/v1/var/app/one?namespace=team-a", { Items: { a: "1" } }),
  put("/v1/var/lock/held?lock-acquire", { Items: { a: "1" }, Lock: { TTL: "10m", LockDelay: "15s" } }),
];

/** Jobs of every type in every state that needs no time, in several namespaces, and what else a cluster has. */
export const world: readonly Step[] = [...spaces, ...jobs, ...variables];
