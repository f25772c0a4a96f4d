import { bootstrap, token, tokens } from "./acl.ts";
import { login } from "./acl-login.ts";
import { authMethod, authMethods, bindingRule, bindingRules, jwks, role, roles } from "./acl-more.ts";
import { policies, policy } from "./acl-policies.ts";
import {
  agentSelf,
  garbageCollection,
  health,
  leader,
  members,
  peers,
  reconciliation,
  regions,
  schedulerConfiguration,
} from "./agent.ts";
import { allocation, allocations } from "./allocations.ts";
import { enterprise, plugins, redirect, scalingPolicies, scalingPolicy, serviceByName, services, volumes } from "./catalog.ts";
import { control } from "./control.ts";
import { deployment, deployments } from "./deployments.ts";
import { countEvaluations, evaluation, evaluations } from "./evaluations.ts";
import { job } from "./job.ts";
import { jobs, parse, validate } from "./jobs.ts";
import { logs } from "./logs.ts";
import type { Call, Handler, Reply } from "./message.ts";
import { namespace, namespaces, newNamespace } from "./namespaces.ts";
import { pool, pools } from "./node-pools.ts";
import { node, nodes } from "./nodes.ts";
import { search } from "./search.ts";
import type { Service } from "./service.ts";
import { statuses } from "./statuses.ts";
import { bufferedEvents } from "./stream.ts";
import { variable, variables } from "./variables.ts";

type Route = (service: Service, call: Call, params: readonly string[]) => Reply | Promise<Reply>;

/**
 * Exact paths, and prefixes that end with a slash. Whatever a real server has beside them nobody here needs, and it is answered as an
 * unknown path, 404 without a body: `/v1/operator/` but the scheduler's configuration (raft, snapshot, keyring, autopilot, license,
 * utilization, upgrade-check), `/v1/agent/` but self, members and health (join, force-leave, servers, schedulers, keyring, host, reload,
 * monitor, pprof), `/v1/metrics`, `/v1/search/fuzzy`, `/v1/client/` but logs (stats, gc, metadata, identity, and of allocations restart,
 * signal, exec, pause, snapshot, stats, gc), volumes and plugins but their empty lists, one-time tokens, OIDC and introduction tokens.
 * `/v1/allocation/:id/checks` is 404 `resource not found`.
 */
const routes: readonly (readonly [string, Route])[] = [
  ["/v1/jobs", jobs],
  ["/v1/jobs/parse", parse],
  ["/v1/jobs/statuses", statuses],
  ["/v1/job/", job],
  ["/v1/validate/job", validate],
  ["/v1/evaluations", evaluations],
  ["/v1/evaluations/count", countEvaluations],
  ["/v1/evaluation/", evaluation],
  ["/v1/allocations", allocations],
  ["/v1/allocation/", allocation],
  ["/v1/deployments", deployments],
  ["/v1/deployment/", deployment],
  ["/v1/nodes", nodes],
  ["/v1/node/pools", pools],
  ["/v1/node/pool/", pool],
  ["/v1/node/", node],
  ["/v1/namespaces", namespaces],
  ["/v1/namespace", newNamespace],
  ["/v1/namespace/", namespace],
  ["/v1/vars", variables],
  ["/v1/var/", variable],
  ["/v1/client/fs/logs/", logs],
  ["/v1/acl/bootstrap", bootstrap],
  ["/v1/acl/tokens", tokens],
  ["/v1/acl/token", token],
  ["/v1/acl/token/", token],
  ["/v1/acl/policies", policies],
  ["/v1/acl/policy/", policy],
  ["/v1/acl/roles", roles],
  ["/v1/acl/role", role],
  ["/v1/acl/role/", role],
  ["/v1/acl/auth-methods", authMethods],
  ["/v1/acl/auth-method", authMethod],
  ["/v1/acl/auth-method/", authMethod],
  ["/v1/acl/binding-rules", bindingRules],
  ["/v1/acl/binding-rule", bindingRule],
  ["/v1/acl/binding-rule/", bindingRule],
  ["/v1/acl/login", login],
  ["/.well-known/jwks.json", jwks],
  ["/v1/event/stream", bufferedEvents],
  ["/v1/simulator/", control],
  ["/v1/status/leader", leader],
  ["/v1/status/peers", peers],
  ["/v1/regions", regions],
  ["/v1/agent/health", health],
  ["/v1/agent/self", agentSelf],
  ["/v1/agent/members", members],
  ["/v1/system/gc", garbageCollection],
  ["/v1/system/reconcile/summaries", reconciliation],
  ["/v1/operator/scheduler/configuration", schedulerConfiguration],
  ["/v1/services", services],
  ["/v1/service/", serviceByName],
  ["/v1/scaling/policies", scalingPolicies],
  ["/v1/scaling/policy/", scalingPolicy],
  ["/v1/search", search],
  ["/v1/volumes", volumes],
  ["/v1/plugins", plugins],
  ["/v1/quotas", enterprise],
  ["/v1/quota", enterprise],
  ["/v1/quota/", enterprise],
  ["/v1/quota-usages", enterprise],
  ["/v1/sentinel/", enterprise],
  ["/v1/recommendation", enterprise],
  ["/v1/recommendations", enterprise],
  ["/v1/job", redirect("/v1/job/")],
  ["/v1/evaluation", redirect("/v1/evaluation/")],
  ["/v1/allocation", redirect("/v1/allocation/")],
  ["/v1/deployment", redirect("/v1/deployment/")],
  ["/v1/node", redirect("/v1/node/")],
  ["/v1/var", redirect("/v1/var/")],
];

const exact = new Map<string, Route>([["/", redirect("/ui/")], ...routes.filter(([path]) => !path.endsWith("/"))]);
const prefixes = routes.filter(([path]) => path.endsWith("/")).sort(([a], [b]) => b.length - a.length);

/** The handler of a path with what follows its prefix, or undefined for a path that Nomad does not know. */
export function route(
  service: Service,
  path: string,
): { readonly handler: Handler; readonly params: readonly string[] } | undefined {
  const found = exact.get(path);
  if (found !== undefined) return { handler: (call, params) => found(service, call, params), params: [] };
  for (const [prefix, one] of prefixes) {
    if (path.startsWith(prefix))
      return { handler: (call, params) => one(service, call, params), params: [path.slice(prefix.length)] };
  }
  return undefined;
}
