import { NomadError } from "../model/errors.ts";
import type { NomadTransport } from "./transport.ts";

/** The own ACL token, without its secret. */
export interface AclToken {
  readonly AccessorID: string;
  readonly Name: string;
  readonly Type: string;
  readonly Policies?: readonly string[] | null;
  readonly ExpirationTime?: string | null;
}

/** A policy that applies to the own token or workload identity. */
export interface AclPolicy {
  readonly Name: string;
  readonly Description?: string;
  /** HCL text of the rules. */
  readonly Rules?: string;
}

/** `undefined` for a workload identity, which is no ACL token, and for an unknown token: ask `aclPolicySelf`. */
export async function aclTokenSelf(transport: NomadTransport): Promise<AclToken | undefined> {
  const { value } = await transport.call({
    operation: "acl_token_self",
    what: "read the own token",
    effect: "read",
    method: "GET",
    path: "/v1/acl/token/self",
    absent: "ACL token not found",
  });
  if (value === undefined) return undefined;
  const { SecretID: _, ...token } = value as AclToken & { readonly SecretID?: string };
  return token;
}

/** Policies of the own token or workload identity. */
export async function aclPolicySelf(transport: NomadTransport): Promise<readonly AclPolicy[]> {
  const { value } = await transport.call({
    operation: "acl_policy_self",
    what: "read the own policies",
    effect: "read",
    method: "GET",
    path: "/v1/acl/policy/self",
    shape: "list",
  });
  return value as readonly AclPolicy[];
}

/** What a policy allows in the namespaces of one name or pattern, its short forms written out by Nomad. */
export interface NamespaceRule {
  /** A name, or a pattern with `*`. */
  readonly pattern: string;
  readonly capabilities: readonly string[];
}

/** Names of the policies of the own token, those of its roles among them; of every policy for a management token. */
export async function aclPolicyNames(transport: NomadTransport): Promise<readonly string[]> {
  const { value } = await transport.call({
    operation: "acl_policies",
    what: "list the token's policies",
    effect: "read",
    method: "GET",
    path: "/v1/acl/policies",
    shape: "list",
  });
  return (value as readonly { readonly Name: string }[]).map(({ Name }) => Name);
}

/** The namespace rules of a policy that the token has; none when it is gone by now. @throws NomadError `refused` without rules in its answer. */
export async function aclPolicyRules(transport: NomadTransport, name: string): Promise<readonly NamespaceRule[]> {
  const { value } = await transport.call({
    operation: "acl_policy",
    what: `read the policy ${name}`,
    effect: "read",
    method: "GET",
    path: `/v1/acl/policy/${encodeURIComponent(name)}`,
    absent: "ACL policy not found",
  });
  if (value === undefined) return [];
  const { RulesJSON: rules } = value as {
    readonly RulesJSON?: {
      readonly Namespaces?: readonly { readonly Name: string; readonly Capabilities?: readonly string[] | null }[] | null;
    } | null;
  };
  if (rules === undefined || rules === null)
    throw new NomadError(`Nomad's answer about the policy ${name} holds no rules`, { kind: "refused" });
  return (rules.Namespaces ?? []).map(({ Name, Capabilities }) => ({ pattern: Name, capabilities: Capabilities ?? [] }));
}
