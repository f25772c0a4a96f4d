import { Refusal } from "../refusal.ts";
import type { AclToken } from "../state/cluster-types.ts";
import { rfc3339 } from "../state/facts.ts";
import type { Operations } from "./context.ts";

export interface TokenRequest {
  readonly accessor: string;
  readonly secret?: string;
  readonly name: string;
  readonly type: string;
  readonly policies: readonly string[];
  /** Ids or names of roles. */
  readonly roles: readonly { readonly id: string; readonly name: string }[];
  readonly global: boolean;
  /** Milliseconds; 0: never. */
  readonly ttlMs: number;
  readonly expirationTime?: string | null;
}

function listErrors(problems: readonly string[]): string {
  const head = problems.length === 1 ? "1 error occurred" : `${problems.length} errors occurred`;
  return `${head}:\n${problems.map((one) => `\t* ${one}\n`).join("")}\n`;
}

/** Creates a token, or updates the one with that accessor. Throws Refusal (400). */
export function putToken(ops: Operations, request: TokenRequest): { token: AclToken; index: number } {
  const { state } = ops;
  const old = request.accessor === "" ? undefined : state.acl_token.get(request.accessor);
  if (request.accessor !== "" && old === undefined) throw new Refusal(400, `cannot find token ${request.accessor}`);
  const type = request.type;
  const problems: string[] = [];
  if (request.name.length > 256) problems.push("token name too long");
  const bound = request.policies.length > 0 || request.roles.length > 0;
  if (type === "client" && !bound) problems.push("client token missing policies or roles");
  else if (type === "management" && bound) problems.push("management token cannot be associated with policies or roles");
  else if (type !== "client" && type !== "management") problems.push("token type must be client or management");
  if (old !== undefined && old.Global !== request.global) problems.push("cannot toggle global mode");
  if (problems.length > 0) throw new Refusal(400, `token 0 invalid: ${listErrors(problems)}`);
  const Roles = request.roles.map((link) => {
    const role = link.id !== "" ? state.acl_roles.get(link.id) : state.acl_roles.by("name", link.name)[0];
    if (role === undefined) throw new Refusal(400, `cannot find role ${link.id || link.name}`);
    return { ID: role.ID, Name: role.Name };
  });
  const now = ops.now();
  const created = old?.CreateTime ?? rfc3339(now);
  const expires = old?.ExpirationTime ?? request.expirationTime ?? (request.ttlMs > 0 ? rfc3339(now + request.ttlMs) : null);
  return state.write("ACLTokenUpsert", (tx) => {
    const token: AclToken = {
      AccessorID: old?.AccessorID ?? ops.newId(),
      SecretID: old?.SecretID ?? request.secret ?? ops.newId(),
      Name: request.name,
      Type: type,
      Policies: request.policies.length === 0 ? null : request.policies,
      Roles: Roles.length === 0 ? null : Roles,
      Global: request.global,
      Hash: hashOf(request),
      CreateTime: created,
      ExpirationTime: expires,
      CreateIndex: old?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    };
    tx.put("acl_token", token);
    return { token, index: tx.index };
  });
}

/** Some text that differs when the token does; clients only compare it. */
function hashOf(request: TokenRequest): string {
  return Buffer.from(JSON.stringify([request.name, request.type, request.policies, request.roles]))
    .toString("base64")
    .slice(0, 44);
}

/** The first management token of a fresh server. Throws Refusal (400) when there was one before. */
export function bootstrap(ops: Operations, secret: string): { token: AclToken; index: number } {
  const { state } = ops;
  const before = [...state.acl_token.rows.values()].find((token) => token.Name === "Bootstrap Token");
  if (before !== undefined) throw new Refusal(400, `ACL bootstrap already done (reset index: ${before.CreateIndex})`);
  if (secret !== "" && !/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/.test(secret))
    throw new Refusal(400, "invalid acl token");
  return putToken(ops, {
    accessor: "",
    ...(secret === "" ? {} : { secret }),
    name: "Bootstrap Token",
    type: "management",
    policies: [],
    roles: [],
    global: true,
    ttlMs: 0,
  });
}
