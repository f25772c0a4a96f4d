import type { Chooser } from "../../job-generator/chooser.ts";
import type { Request } from "./ask.ts";
import { expression } from "./expressions.ts";

interface Route {
  /** With `*` for one of its ids. */
  readonly path: string;
  readonly ids?: readonly string[];
  /** Kind of its rows, for filters. */
  readonly rows?: string;
  /** Query parameters of its own. */
  readonly own?: readonly string[];
  /** Rows stand in an order that no two servers share: whole lists, and pages that cut through rows of one write. */
  readonly random?: "order" | "pages";
  readonly weight?: number;
}

const jobs = ["web", "web", "once", "broken", "nightly", "hook", "gone", "stuck", "app-1", "api", "every", "told", "nothing", ""];
const evals = [
  "{{eval:default/web/0}}",
  "{{eval:default/web/1}}",
  "{{eval:default/stuck/0}}",
  "{{eval:default/stuck/1}}",
  "{{eval:team-a/api/0}}",
  "{{eval:default/web/0|8}}",
  "{{nothing}}",
  "nothing",
  "",
  "zzzzzzzz-0000-0000-0000-000000000000",
];
const allocs = [
  "{{alloc:default/web.g[0]/0}}",
  "{{alloc:default/web.g[1]/0}}",
  "{{alloc:team-a/api.g[0]/0}}",
  "{{alloc:default/once.g[0]/0}}",
  "{{alloc:default/broken.g[0]/0}}",
  "{{alloc:default/web.g[0]/0|8}}",
  "{{nothing}}",
  "nothing",
  "",
  "zzzzzzzz-0000-0000-0000-000000000000",
];
const deployments = [
  "{{deployment:default/web/0}}",
  "{{deployment:default/web/1}}",
  "{{deployment:team-a/api/0}}",
  "{{deployment:default/web/0|8}}",
  "{{nothing}}",
  "nothing",
  "",
  "zzzzzzzz-0000-0000-0000-000000000000",
];
const nodes = [
  "{{node:n1}}",
  "{{node:n2}}",
  "{{node:n1|8}}",
  "{{nothing}}",
  "nothing",
  "",
  "zzzzzzzz-0000-0000-0000-000000000000",
];
const policies = ["{{policy:team-a/api/g/0}}", "{{nothing}}", "nothing", ""];
const all = ["all=true", "all=false", "all=maybe"];

const jobRoutes = [
  "",
  "/summary",
  "/versions",
  "/scale",
  "/deployment",
  "/submission",
  "/services",
  "/actions",
  "/allocations",
  "/evaluations",
  "/deployments",
].map(
  (ending): Route => ({
    path: `/v1/job/*${ending}`,
    ids: jobs,
    own: [
      ...all,
      "diffs=true",
      "diffs=1",
      "diffs=maybe",
      "diff_version=0",
      "diff_tag=first",
      "diff_tag=none",
      "diff_version=x",
      "version=0",
      "version=1",
      "version=9",
      "version=x",
      "version=-1",
    ],
    ...(["/allocations", "/evaluations", "/deployments"].includes(ending) ? { random: "order" as const } : {}),
  }),
);

const lists: readonly Route[] = [
  { path: "/v1/jobs", rows: "job", own: ["meta=true", "meta=maybe", "meta=0"], weight: 4 },
  { path: "/v1/jobs/statuses", rows: "job", own: ["include_children=true", "include_children=x"], random: "order", weight: 2 },
  { path: "/v1/evaluations", rows: "eval", own: ["job=web", "status=blocked", "status=x"], random: "pages", weight: 3 },
  { path: "/v1/evaluations/count", rows: "eval" },
  {
    path: "/v1/allocations",
    rows: "alloc",
    own: ["resources=true", "resources=maybe", "task_states=false", "task_states=x"],
    random: "pages",
    weight: 3,
  },
  { path: "/v1/deployments", rows: "deployment", random: "pages", weight: 3 },
  { path: "/v1/nodes", rows: "node", own: ["resources=true", "resources=maybe", "os=true", "os=x"], weight: 3 },
  { path: "/v1/node/pools", rows: "pool", weight: 2 },
  { path: "/v1/namespaces", rows: "namespace", weight: 3 },
  { path: "/v1/vars", rows: "variable", weight: 4 },
  { path: "/v1/services", rows: "service" },
  {
    path: "/v1/scaling/policies",
    rows: "scaling",
    own: ["job=api", "type=horizontal", "type=x", "job=api&namespace=team-a"],
    random: "order",
  },
  { path: "/v1/volumes", own: ["type=csi", "type=host", "type=x"] },
  { path: "/v1/plugins", own: ["type=csi", "type=x"] },
];

const singles: readonly Route[] = [
  { path: "/v1/evaluation/*", ids: evals, own: ["related=true", "related=x"], random: "order", weight: 2 },
  { path: "/v1/evaluation/*/allocations", ids: evals, random: "order" },
  { path: "/v1/allocation/*", ids: allocs, weight: 2 },
  { path: "/v1/allocation/*/services", ids: allocs },
  { path: "/v1/allocation/*/nothing", ids: allocs },
  { path: "/v1/deployment/*", ids: deployments, weight: 2 },
  { path: "/v1/deployment/allocations/*", ids: deployments, random: "order" },
  { path: "/v1/node/*", ids: nodes, weight: 2 },
  { path: "/v1/node/*/allocations", ids: nodes, random: "order" },
  { path: "/v1/node/*/nothing", ids: nodes },
  { path: "/v1/node/pool/*", ids: ["default", "all", "pool-a", "pool-b", "none", ""] },
  { path: "/v1/node/pool/*/jobs", ids: ["default", "all", "pool-b", "none", ""], rows: "job" },
  {
    path: "/v1/node/pool/*/nodes",
    ids: ["default", "all", "pool-a", "none", ""],
    rows: "node",
    own: ["resources=true", "os=true"],
  },
  { path: "/v1/namespace/*", ids: ["default", "team-a", "team-b", "none", "", "team-a/more"], weight: 2 },
  {
    path: "/v1/var/*",
    ids: ["nomad/jobs", "nomad/jobs/web", "app/one", "app/two/three", "zoo", "none", "lock/held", "", "nomad", "app%2Fone"],
    weight: 3,
  },
  { path: "/v1/service/*", ids: ["api-http", "none", ""], rows: "service", own: ["choose=1|x", "choose=x", "choose=0|a"] },
  { path: "/v1/scaling/policy/*", ids: policies },
];

const small: readonly Route[] = [
  "/v1/status/leader",
  "/v1/status/peers",
  "/v1/status/none",
  "/v1/regions",
  "/v1/agent/health?type=server",
  "/v1/agent/none",
  "/v1/system/none",
  "/v1/operator/scheduler/configuration",
  "/v1/acl/tokens",
  "/v1/acl/policies",
  "/v1/acl/policy/x",
  "/v1/acl/roles",
  "/v1/acl/token/self",
  "/v1/acl/token/x",
  "/v1/acl/auth-methods",
  "/v1/acl/binding-rules",
  "/v1/acl/bootstrap",
  "/v1/none",
  "/v1",
  "/v2/jobs",
  "/",
  "/v1/jobs/",
  "/v1/jobs/none",
  "/v1/job",
  "/v1/node",
  "/v1/namespace",
  "/v1/var",
  "/v1/quotas",
  "/v1/quota/x",
  "/v1/quota-usages",
  "/v1/sentinel/policies",
  "/v1/sentinel/policy/x",
  "/v1/recommendations",
  "/v1/recommendation",
  "/v1/search",
  "/v1/validate/job",
  "/v1/jobs/parse",
  "/v1/system/gc",
  "/v1/evaluation",
  "/v1/allocation",
  "/v1/deployment",
  "/v1//jobs",
  "/v1/./jobs",
  "/v1/jobs/../nodes",
  "/v1/namespace/",
  "/v1/acl/token",
  "/v1/acl/role",
  "/v1/acl/role/name/x",
  "/v1/acl/role/x",
  "/v1/acl/auth-method/x",
  "/v1/acl/binding-rule/x",
].map((path) => ({ path }));

const weighted = (routes: readonly Route[]): Route[] =>
  routes.flatMap((route) => Array.from({ length: route.weight ?? 1 }, () => route));
const routes: readonly Route[] = [...weighted(jobRoutes), ...weighted(lists), ...weighted(lists), ...weighted(singles)];

const namespaces = ["default", "team-a", "team-b", "empty", "none", "*", "", "team-*"];
const plain = [
  "stale",
  "stale=true",
  "stale=false",
  "stale=maybe",
  "consistent",
  "pretty",
  "pretty=false",
  "region=global",
  "region=mars",
  "region=",
  "index=0",
  "index=x",
  "index=-1",
  "index=1.5",
  "index=99999999999999999999&wait=5ms",
  "index=99999999999999999999999",
  "index=999999&wait=5ms",
  "index=999999&wait=1ns",
  "wait=5s",
  "wait=x",
  "wait=-5s",
  "wait=5",
  "wait=20ms&index=1",
  "wait=",
  "fields=ID",
  "unknown=1",
  "namespace=team-a&namespace=default",
  "filter=",
];
const prefixes = [
  "web",
  "app",
  "app-",
  "app/",
  "nomad/",
  "a",
  "team",
  "e",
  "WEB",
  "0",
  "zz",
  "%20",
  "d",
  "{{eval:default/web/0|4}}",
  "{{alloc:default/web.g[0]/0|8}}",
  "{{node:n1|8}}",
  "{{deployment:default/web/1|6}}",
  "{{eval:default/web/0|7}}",
  "{{eval:default/web/0}}",
];
const tokens = [
  "web",
  "default.web",
  "team-a.api",
  "default.app/one",
  "{{node:n1}}",
  "x",
  "0",
  "0.x",
  "1.",
  ".",
  "default",
  "99999.zzz",
  "a.b.c",
  "*",
];
const pages = [
  "per_page=1",
  "per_page=2",
  "per_page=3",
  "per_page=0",
  "per_page=-1",
  "per_page=x",
  "per_page=1.5",
  "per_page=99999999999",
];

/** Before all ids or after them. */
const beyondIds = ["zzz", "x", "*", "."];

/** A read of something, with whatever a query may say, right or wrong. */
export function generateRead(choose: Chooser): Request {
  const route = choose.chance(0.08) ? choose.pick(small) : choose.pick(routes);
  const id = route.ids === undefined ? "" : choose.pick(route.ids);
  const path = route.path.replace("*", id);
  const query: string[] = [];
  if (choose.chance(0.5)) query.push(`namespace=${encodeURIComponent(choose.pick(namespaces))}`);
  if (choose.chance(0.25)) query.push(choose.pick(plain));
  if (route.own !== undefined && choose.chance(0.4)) query.push(choose.pick(route.own));
  if (choose.chance(route.rows === undefined ? 0.05 : 0.3)) query.push(`prefix=${choose.pick(prefixes)}`);
  if (choose.chance(route.rows === undefined ? 0.05 : 0.45))
    query.push(`filter=${encodeURIComponent(expression(choose, route.rows ?? "job"))}`);
  if (choose.chance(0.15)) query.push(choose.pick(["reverse=true", "reverse=false", "reverse=1", "reverse=x"]));
  // Where a beginning is wanted rows stand in the order of their ids, which are random.
  const byId = route.random === "pages" && query.some((part) => part.startsWith("prefix="));
  const paged = choose.chance(route.rows === undefined ? 0.05 : 0.3);
  const page = choose.pick(pages);
  if (paged) query.push(page);
  const walk = /^per_page=[1-9]\d?$/.test(page) && paged && route.rows !== undefined && route.random !== undefined;
  if (!walk && choose.chance(paged ? 0.4 : 0.04))
    query.push(
      `next_token=${encodeURIComponent(choose.pick(byId ? beyondIds : tokens))
        .replaceAll("%7B", "{")
        .replaceAll("%7D", "}")}`,
    );
  const other = choose.chance(0.06) ? choose.pick(["POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"]) : "GET";
  const method = other !== "GET" && mayChange(route.path, other) ? "GET" : other;
  const whole = query.length === 0 ? path : `${path}?${query.join("&")}`;
  return { method, path: whole, ...(walk ? { walk: true } : {}), ...(route.random === undefined ? {} : { unordered: true }) };
}

/** Wrong methods that would be right ones: what they do is compared elsewhere. */
function mayChange(path: string, method: string): boolean {
  if (method === "HEAD" || method === "OPTIONS") return false;
  if (path === "/v1/volumes") return true;
  return method === "DELETE" ? /^\/v1\/(job|var|namespace|node\/pool)\//.test(path) : /^\/v1\/(node|system)\//.test(path);
}
