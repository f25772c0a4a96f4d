/** What somebody may do in nops who may do this in Nomad (reliability §3): the policies of the person's own token decide. */
import type { TokenCapability } from "../../model/capabilities.ts";
import { createGlob } from "../../model/glob.ts";
import type { Rights } from "../../model/grant.ts";
import type { NamespaceRule } from "../../nomad/acl.ts";

/** Whoever may submit a job there may as well decide about its deployments. */
const deciding: readonly TokenCapability[] = ["read", "approve", "promote", "retry", "deploy-now", "pause", "fetch", "resolve"];

/** What one may here who has any of the wanted capabilities there. */
const levels: readonly { readonly wanted: readonly string[]; readonly capabilities: readonly TokenCapability[] }[] = [
  { wanted: ["submit-job", "register-job"], capabilities: deciding },
  { wanted: ["read-job", "list-jobs"], capabilities: ["read"] },
];

/** A management token may do everything. */
export const managementRights: readonly Rights[] = [{ capabilities: ["admin"], namespaces: ["*"] }];

/**
 * The rights of a client token by the namespace rules of all its policies. Only the namespaces that nops manages count, each by its own
 * name; the same rights in all of them are rights everywhere.
 */
export function rightsOfRules(rules: readonly NamespaceRule[], managed: readonly string[]): readonly Rights[] {
  const united = unite(rules);
  return levels.flatMap(({ capabilities, wanted }): Rights[] => {
    const namespaces = managed.filter((namespace) => wanted.some((one) => allowed(united, namespace).has(one)));
    if (namespaces.length === 0) return [];
    return [{ capabilities, namespaces: namespaces.length === managed.length ? ["*"] : namespaces }];
  });
}

/** Rules of several policies with one pattern add up, but `deny` beats all the others. */
function unite(rules: readonly NamespaceRule[]): ReadonlyMap<string, ReadonlySet<string>> {
  const united = new Map<string, Set<string>>();
  for (const { pattern, capabilities } of rules) {
    const set = united.get(pattern) ?? new Set();
    for (const capability of capabilities) set.add(capability);
    united.set(pattern, set);
  }
  return united;
}

const nothing: ReadonlySet<string> = new Set();

/** The rule with exactly this name, else that of the nearest pattern. Of two that are equally near only what both give counts. */
function allowed(rules: ReadonlyMap<string, ReadonlySet<string>>, namespace: string): ReadonlySet<string> {
  const exact = rules.get(namespace);
  if (exact !== undefined) return exact.has("deny") ? nothing : exact;
  const matching = [...rules].filter(([pattern]) => pattern.includes("*") && createGlob(pattern)(namespace));
  const literal = (pattern: string): number => pattern.replaceAll("*", "").length;
  const nearest = Math.max(...matching.map(([pattern]) => literal(pattern)));
  const sets = matching.filter(([pattern]) => literal(pattern) === nearest).map(([, capabilities]) => capabilities);
  const [first = nothing, ...others] = sets;
  if (sets.some((set) => set.has("deny"))) return nothing;
  return new Set([...first].filter((one) => others.every((set) => set.has(one))));
}
