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
