import type { Chooser } from "../../job-generator/chooser.ts";
import type { Request } from "./ask.ts";

type Bodies = readonly unknown[];

interface Route {
  readonly path: string;
  readonly method?: string;
  /** Bodies that fit it, rightly or nearly so. */
  readonly bodies?: Bodies;
  readonly queries?: readonly string[];
}

const nothing = "00000000-0000-0000-0000-000000000000";
const jobIds = ["web", "once", "hook", "nightly", "gone", "app-1", "nothing"];
const deployments = ["{{deployment:default/web/0}}", "{{deployment:default/web/1}}", nothing, "nothing"];

const of = (ids: readonly string[], make: (id: string) => readonly Route[]): Route[] => ids.flatMap(make);

const jobs = of(jobIds, (id) => [
  {
    path: `/v1/job/${id}/dispatch`,
    bodies: [
      { Meta: { what: "x" } },
      { Meta: { no: "x" } },
      { Meta: {} },
      { JobID: "other" },
      { Payload: "???" },
      { Payload: "aGk=", Meta: { what: "1", more: "2" } },
    ],
    queries: ["idempotency_token=again"],
  },
  {
    path: `/v1/job/${id}/scale`,
    bodies: [
      { Target: { Group: "g" }, Count: -1 },
      { Target: {}, Count: 1 },
      { Target: { Group: "x" }, Count: 1 },
      { Target: { Group: "g" }, Count: 1, Error: true },
      { Target: { Job: "other" } },
      { Count: 1 },
      { Target: { Group: "g" }, Message: "only told" },
    ],
  },
  {
    path: `/v1/job/${id}/revert`,
    bodies: [
      { JobID: id, JobVersion: 99 },
      { JobID: id },
      { JobID: "other", JobVersion: 0 },
      {},
      { JobID: id, JobVersion: 0, EnforcePriorVersion: 77 },
    ],
  },
  {
    path: `/v1/job/${id}/stable`,
    bodies: [{ JobID: id, JobVersion: 99, Stable: true }, { JobID: "other" }, {}, { JobID: id, JobVersion: 0, Stable: true }],
  },
  { path: `/v1/job/${id}/evaluate`, bodies: [{ JobID: "other" }, {}, { JobID: id, EvalOptions: { ForceReschedule: "x" } }] },
  { path: `/v1/job/${id}/periodic/force`, bodies: [""] },
  {
    path: `/v1/job/${id}/versions/t/tag`,
    bodies: [{ Version: 99 }, { Version: 1, Latest: true }, { Version: 0, Description: "d" }],
  },
  { path: `/v1/job/${id}/versions/none/tag`, method: "DELETE", bodies: [""] },
]);

const rollouts = of(deployments, (id) => [
  {
    path: `/v1/deployment/promote/${id}`,
    bodies: [
      { DeploymentID: id },
      { DeploymentID: "other", All: true },
      {},
      { DeploymentID: id, Groups: ["x"] },
      { DeploymentID: id, All: true, Groups: ["g"] },
      { DeploymentID: id, All: true },
    ],
  },
  {
    path: `/v1/deployment/pause/${id}`,
    bodies: [{}, { DeploymentID: "other", Pause: true }, { DeploymentID: id, Pause: false }],
  },
  { path: `/v1/deployment/unblock/${id}`, bodies: [{}, { DeploymentID: "other" }, { DeploymentID: id }] },
  {
    path: `/v1/deployment/allocation-health/${id}`,
    bodies: [
      {},
      { DeploymentID: "other" },
      { DeploymentID: id },
      { DeploymentID: id, HealthyAllocationIDs: [nothing] },
      { DeploymentID: id, HealthyAllocationIDs: ["x"] },
    ],
  },
]);
const failing: readonly Route[] = ["{{deployment:default/web/0}}", nothing, "nothing"].map((id) => ({
  path: `/v1/deployment/fail/${id}`,
  bodies: ["", {}],
}));

const nodes = of(["{{node:n2}}", nothing, "nothing"], (id) => [
  {
    path: `/v1/node/${id}/eligibility`,
    bodies: [{ Eligibility: "maybe" }, {}, { Eligibility: "ineligible" }, { Eligibility: "eligible" }, { Eligibility: 1 }],
  },
  { path: `/v1/node/${id}/evaluate`, bodies: [""] },
]);
const gone: readonly Route[] = [nothing, "nothing"].flatMap((id) => [
  { path: `/v1/node/${id}/purge`, bodies: [""] },
  { path: `/v1/node/${id}/drain`, bodies: [{}, { DrainSpec: { Deadline: 1 } }, { DrainSpec: "x" }] },
]);

const spaces: readonly Route[] = [
  {
    path: "/v1/namespace",
    bodies: [
      {},
      { Name: "a b" },
      { Name: "x".repeat(129) },
      { Name: "new", Description: "x".repeat(257) },
      { Name: "new", Quota: "q" },
      { Name: "default", Description: "other" },
      { Name: "new", Meta: { a: 1 } },
      { Name: 1 },
      { Name: "new", Meta: { "": "x" } },
      { Name: "*" },
    ],
  },
  { path: "/v1/namespace/other", bodies: [{ Name: "new" }, {}] },
  { path: "/v1/namespace/default", method: "DELETE", bodies: [""] },
  { path: "/v1/namespace/none", method: "DELETE", bodies: [""] },
  { path: "/v1/namespace/team-a", method: "DELETE", bodies: [""] },
  { path: "/v1/namespace/team-b", method: "DELETE", bodies: [""] },
  {
    path: "/v1/node/pools",
    bodies: [
      {},
      { Name: "a b" },
      { Name: "all" },
      { Name: "default" },
      { Name: "new", Description: "x".repeat(257) },
      { Name: "p", SchedulerConfiguration: {} },
      { Name: 7 },
    ],
  },
  { path: "/v1/node/pool/other", bodies: [{ Name: "new" }, {}] },
  { path: "/v1/node/pool/none", method: "DELETE", bodies: [""] },
  { path: "/v1/node/pool/all", method: "DELETE", bodies: [""] },
  { path: "/v1/node/pool/default", method: "DELETE", bodies: [""] },
  { path: "/v1/node/pool/pool-b", method: "DELETE", bodies: [""] },
];

const variables: readonly Route[] = [
  {
    path: "/v1/var/w/one",
    bodies: [
      { Items: { a: "1" } },
      { Items: {} },
      {},
      { Items: { a: 1 } },
      { Items: "x" },
      { Path: "other", Items: { a: "1" } },
      { Namespace: "team-a", Items: { a: "1" } },
      { Namespace: "none", Items: { a: "1" } },
      { Items: { a: "1" }, Lock: { TTL: "15s" } },
      { Items: { a: "x".repeat(65_600) } },
    ],
    queries: [
      "cas=0",
      "cas=1",
      "cas=x",
      "cas={{index:var:default/w/one}}",
      "cas=-1",
      "namespace=none",
      "namespace=*",
      "lock-acquire&lock-release",
      "lock-acquire&cas=1",
    ],
  },
  ...[
    "nomad",
    "nomad/x",
    "nomad/jobs/x",
    "nomad/job-templates",
    "nomad/job-templates/a/b",
    "a b",
    "x//y",
    "a.b",
    "é",
    "/x",
    "x".repeat(129),
  ].map((path) => ({ path: `/v1/var/${encodeURI(path)}`, bodies: [{ Items: { a: "1" } }] })),
  {
    path: "/v1/var/lock/held",
    bodies: [{ Items: { a: "2" } }, { Items: { a: "2" }, Lock: { ID: nothing } }],
    queries: ["cas=0"],
  },
  {
    path: "/v1/var/lock/held?lock-release",
    bodies: [{}, { Lock: {} }, { Lock: { ID: nothing } }, { Lock: { ID: nothing }, Items: { a: "1" } }, { Lock: { ID: "x" } }],
  },
  { path: "/v1/var/lock/held?lock-renew", bodies: [{}, { Lock: {} }, { Lock: { ID: nothing } }, { Lock: { ID: "x" } }] },
  { path: "/v1/var/lock/none?lock-renew", bodies: [{ Lock: { ID: nothing } }, {}] },
  { path: "/v1/var/lock/none?lock-release", bodies: [{ Lock: { ID: nothing } }, {}] },
  {
    path: "/v1/var/lock/held?lock-acquire",
    bodies: [
      { Items: { a: "1" } },
      { Lock: { TTL: "1s" } },
      { Lock: { TTL: "x" } },
      { Lock: { TTL: "48h" } },
      { Lock: { LockDelay: "-1s" } },
    ],
  },
  { path: "/v1/var/lock/held", method: "DELETE", bodies: [""], queries: ["cas=1", "cas=x"] },
  { path: "/v1/var/none", method: "DELETE", bodies: [""], queries: ["cas=0", "cas=1", "cas=x"] },
];

const others: readonly Route[] = [
  {
    path: "/v1/evaluations",
    method: "DELETE",
    bodies: ["", {}, { EvalIDs: [nothing] }, { Filter: "x ==" }, { EvalIDs: [nothing], Filter: "Status == x" }, { EvalIDs: "x" }],
  },
  ...["{{alloc:default/once.g[0]/0}}", nothing, "nothing"].map((id) => ({
    path: `/v1/allocation/${id}/stop`,
    bodies: [""],
    queries: ["no_shutdown_delay=x", "reschedule=x"],
  })),
  {
    path: "/v1/operator/scheduler/configuration",
    bodies: [
      { SchedulerAlgorithm: "x" },
      { SchedulerAlgorithm: 1 },
      "x",
      { SchedulerAlgorithm: "binpack", PreemptionConfig: { SystemSchedulerEnabled: true } },
    ],
    queries: ["cas=x", "cas=1", "cas=0"],
  },
  {
    path: "/v1/jobs",
    bodies: [
      {},
      { Job: null },
      { Job: {} },
      { Job: { ID: "x" } },
      { Job: { ID: "web" }, EnforceIndex: true, JobModifyIndex: 3 },
      { Job: "x" },
      { Job: { ID: 1 } },
      [],
    ],
  },
  { path: "/v1/job/web", bodies: [{ Job: { ID: "other" } }, { Job: {} }] },
  {
    path: "/v1/job/nothing",
    method: "DELETE",
    bodies: [""],
    queries: ["purge=x", "global=x", "eval_priority=x", "no_shutdown_delay=x", "purge=true"],
  },
  { path: "/v1/jobs/parse", bodies: [{}, { JobHCL: "" }, { JobHCL: 1 }] },
  { path: "/v1/validate/job", bodies: [{}, { Job: {} }, { Job: { ID: "x" } }] },
  {
    path: "/v1/jobs/statuses",
    method: "POST",
    bodies: [
      {},
      { Jobs: [] },
      { Jobs: [{ ID: "web" }] },
      { Jobs: [{ ID: "api", Namespace: "team-a" }, { ID: "web" }] },
      { Jobs: "x" },
      { Jobs: [{ ID: "web" }], IncludeChildren: true },
    ],
    queries: ["include_children=x", "namespace=team-a"],
  },
  {
    path: "/v1/search",
    bodies: [
      {},
      { Prefix: "web", Context: "jobs" },
      { Prefix: "x", Context: "none" },
      { Prefix: "", Context: "namespaces" },
      { Prefix: "app", Context: "vars" },
      { Prefix: 1 },
      { Prefix: "p", Context: "node_pools" },
    ],
    queries: ["namespace=*", "namespace=team-a"],
  },
];

const routes: readonly Route[] = [
  ...jobs,
  ...rollouts,
  ...failing,
  ...nodes,
  ...gone,
  ...spaces,
  ...variables,
  ...variables,
  ...others,
];
const malformed = [
  "",
  "{",
  "[]",
  "null",
  '"x"',
  "1",
  "{]",
  '{"a":}',
  "tru",
  '{"JobID": 1, "Job": {"ID": "web"}}',
  `{"Meta": ${"[".repeat(20)}`,
];

/** A request that would change something, nearly always with something wrong about it. */
export function generateWrite(choose: Chooser): Request {
  const route = choose.pick(routes);
  const method = route.method ?? choose.pick(["PUT", "POST"]);
  const query: string[] = [];
  if (route.queries !== undefined && choose.chance(0.4)) query.push(choose.pick(route.queries));
  // A lock that is written without being taken is nobody's business.
  if (choose.chance(0.08) && !route.path.startsWith("/v1/var/lock/"))
    query.push(
      choose.pick([
        "namespace=team-a",
        "namespace=none",
        ...(route.path.startsWith("/v1/var/") ? [] : ["region=mars"]),
        "region=global",
        "pretty",
      ]),
    );
  const wanted = choose.pick(route.bodies ?? [""]);
  const body = wanted !== "" && choose.chance(0.12) ? choose.pick(malformed) : wanted;
  const [bare = "", own] = route.path.split("?");
  const all = [...(own === undefined ? [] : [own]), ...query];
  const path = all.length === 0 ? bare : `${bare}?${all.join("&")}`;
  return {
    method: choose.chance(0.03) ? choose.pick(["PATCH", "GET"]) : method,
    path,
    unordered: true,
    ...(body === undefined || body === "" ? {} : { body }),
  };
}
