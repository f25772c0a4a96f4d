import { globMatches } from "../scheduler/node-checks.ts";
import type { Access } from "./access.ts";
import type { Rules } from "./rules.ts";

/** Who a workload identity belongs to. */
export interface Workload {
  readonly namespace: string;
  readonly jobId: string;
  readonly group: string;
  readonly task: string;
}

interface Pattern {
  readonly pattern: string;
  readonly capabilities: ReadonlySet<string>;
}

/** Unites the rules of several policies: capabilities add up per name or pattern; `deny` beats all others. */
export function compileAccess(policies: readonly Rules[], tokenId: string, workload?: Workload): Access {
  const namespaces = united(policies.flatMap((one) => one.namespaces));
  const paths = united(
    policies.flatMap((one) =>
      one.variables.map((rule) => ({ pattern: `${rule.namespace}\u0000${rule.path}`, capabilities: rule.capabilities })),
    ),
  );
  const pools = united(policies.flatMap((one) => one.nodePools));
  const volumes = united(policies.flatMap((one) => one.hostVolumes));
  const level = (pick: (rules: Rules) => string) => {
    const all = policies.map(pick);
    return all.includes("deny") ? "deny" : all.includes("write") ? "write" : all.includes("read") ? "read" : "";
  };
  const [node, agent, operator] = [level((one) => one.node), level((one) => one.agent), level((one) => one.operator)];
  const enough = (have: string, wanted: "read" | "write") => have === "write" || (have === "read" && wanted === "read");
  const may = (set: ReadonlySet<string> | undefined, wanted: readonly string[]) =>
    set !== undefined && !set.has("deny") && wanted.some((one) => set.has(one));
  return {
    management: false,
    tokenId,
    ns: (namespace, ...wanted) => may(closest(namespaces, namespace), wanted),
    anyNs: (...wanted) => namespaces.some((one) => may(one.capabilities, wanted)),
    node: (wanted) => enough(node, wanted),
    nodePool: (pool, operation) => may(closest(pools, pool), [operation]),
    agent: (wanted) => enough(agent, wanted),
    operator: (wanted) => enough(operator, wanted),
    hostVolume: (name, write) => may(closest(volumes, name), write ? ["mount-readwrite"] : ["mount-readonly", "mount-readwrite"]),
    variable: (namespace, path, operation) => {
      if (ownPath(workload, namespace, path) && (operation === "read" || operation === "list")) return true;
      return may(closest(paths, `${namespace}\u0000${path}`), [operation]);
    },
    namespace: (name) => {
      const set = closest(namespaces, name);
      return set !== undefined && set.size > 0 && !set.has("deny");
    },
  };
}

/** A workload may read the variables of its own job without any policy (nomad-api §10.1). */
function ownPath(workload: Workload | undefined, namespace: string, path: string): boolean {
  if (workload === undefined || workload.namespace !== namespace) return false;
  const { jobId, group, task } = workload;
  const base = "nomad/jobs";
  return [base, `${base}/${jobId}`, `${base}/${jobId}/${group}`, `${base}/${jobId}/${group}/${task}`].includes(path);
}

function united(rules: readonly { readonly pattern: string; readonly capabilities: readonly string[] }[]): Pattern[] {
  const sets = new Map<string, Set<string>>();
  for (const { pattern, capabilities } of rules) {
    const set = sets.get(pattern) ?? new Set();
    for (const one of capabilities) set.add(one);
    sets.set(pattern, set);
  }
  return [...sets].map(([pattern, capabilities]) => ({ pattern, capabilities }));
}

/** The rule with exactly this name, else the pattern that says most of it. */
function closest(rules: readonly Pattern[], name: string): ReadonlySet<string> | undefined {
  const exact = rules.find((rule) => rule.pattern === name);
  if (exact !== undefined) return exact.capabilities;
  const length = (rule: Pattern) => rule.pattern.replaceAll("*", "").length;
  const matching = rules.filter((rule) => rule.pattern.includes("*") && globMatches(rule.pattern, name));
  return matching.sort((a, b) => length(b) - length(a))[0]?.capabilities;
}
