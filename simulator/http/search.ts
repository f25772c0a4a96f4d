import { Refusal } from "../refusal.ts";
import type { State } from "../state/state.ts";
import { allow, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";
import { shapedBody } from "./shapes.ts";

/** Matches of one context that are given. */
const limit = 20;

const shape = { type: "structs.SearchRequest", fields: { Prefix: "string", Context: "string" } } as const;

type Lookup = (
  state: State,
  inNamespace: (namespace: string) => boolean,
  listed: (namespace: string, path: string) => boolean,
) => readonly string[];

const none: Lookup = () => [];
const contexts: Readonly<Record<string, Lookup>> = {
  allocs: (state, mine) => state.allocs.sorted().flatMap((row) => (mine(row.Namespace) ? [row.ID] : [])),
  jobs: (state, mine) => state.jobs.sorted().flatMap((row) => (mine(row.Namespace) ? [row.ID] : [])),
  nodes: (state) => state.nodes.sorted().map((row) => row.ID),
  node_pools: (state) => state.node_pools.sorted().map((row) => row.Name),
  evals: (state, mine) => state.evals.sorted().flatMap((row) => (mine(row.Namespace) ? [row.ID] : [])),
  deployment: (state, mine) => state.deployment.sorted().flatMap((row) => (mine(row.Namespace) ? [row.ID] : [])),
  plugins: none,
  volumes: none,
  scaling_policy: none,
  // Of all namespaces, as on a real server.
  vars: (state, _mine, listed) =>
    state.variables
      .sorted()
      .flatMap((row) => (listed(row.Namespace, row.Path) ? [row.Path] : []))
      .sort(),
  namespaces: (state) => state.namespaces.sorted().map((row) => row.Name),
  host_volumes: none,
};

/** Contexts that are searched by UUID, which a prefix must look like to be looked for in all of them. */
const byUuid = new Set(["allocs", "nodes", "evals", "deployment"]);

/** `POST /v1/search`: ids that start with a prefix. */
export function search(service: Service, call: Call): Reply {
  allow(call, "POST", "PUT");
  const body = shapedBody(call.request, shape);
  const [prefix, context] = [text(body, "Prefix"), text(body, "Context")];
  const names = Object.keys(contexts);
  if (context !== "all" && !names.includes(context)) {
    throw new Refusal(500, `context must be one of [${names.join(" ")}] or 'all' for all contexts; got "${context}"`);
  }
  const looksLikeUuid = /^[0-9a-f-]*$/.test(prefix);
  const searched = context === "all" ? names.filter((name) => looksLikeUuid || !byUuid.has(name)) : [context];
  const Matches: Record<string, string[] | null> = {};
  const Truncations: Record<string, boolean> = {};
  const mine = (namespace: string) =>
    (call.namespace === "*" || namespace === call.namespace) && call.access.ns(namespace, "read-job");
  const listed = (namespace: string, path: string) => call.access.variable(namespace, path, "list");
  for (const name of searched) {
    const found = (contexts[name] ?? none)(service.state, mine, listed).filter((id) => id.startsWith(prefix));
    Matches[name] = found.length === 0 ? null : found.slice(0, limit);
    Truncations[name] = found.length > limit;
  }
  const { index } = service.state;
  return { json: { Matches, Truncations, Index: index, LastContact: 0, KnownLeader: true, NextToken: "" }, index, read: true };
}
