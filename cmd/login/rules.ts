/** `auth.rules`: who may do what, for people who log in. */
import type { Rights } from "../../model/grant.ts";
import type { LoginMethod } from "../../model/login.ts";
import type { Config } from "../config/schema.ts";

export type Rule = Config["auth"]["rules"][number];

/** What a login method knows of a person. */
export interface Claims {
  readonly method: LoginMethod;
  /** Names by which a rule may call the person. */
  readonly names: readonly string[];
  readonly groups?: readonly string[];
  readonly nomadPolicies?: readonly string[];
}

/** The rights of every rule that names the person. They add up; none of them: no rights. */
export function rightsOf(rules: readonly Rule[], { method, names, groups = [], nomadPolicies = [] }: Claims): readonly Rights[] {
  // A provider's user names and addresses are told apart by nobody who changes their case.
  const folded = (text: string): string => (method === "oidc" ? text.toLowerCase() : text);
  const called = new Set(["*", ...names].map((name) => folded(`${method}:${name}`)));
  return rules
    .filter(
      (rule) =>
        rule.users.some((user) => called.has(folded(user))) ||
        rule.groups.some((group) => groups.includes(group)) ||
        rule.nomad_policies.some((policy) => nomadPolicies.includes(policy)),
    )
    .map(({ capabilities, namespaces }) => ({ capabilities, namespaces }));
}
