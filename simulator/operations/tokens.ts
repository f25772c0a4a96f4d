import { goDuration as goDurationText } from "../jobspec/go-text.ts";
import { listErrors } from "../jobspec/messages.ts";
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

const isUuid = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
const [shortestTtlMs, longestTtlMs] = [60_000, 86_400_000];

function expiryProblems({ ttlMs, expirationTime }: TokenRequest, now: number): string[] {
  const problems: string[] = [];
  if (ttlMs < 0) problems.push(`token expiration TTL '${goDurationText(ttlMs * 1e6)}' should not be negative`);
  const at = expirationTime ? Date.parse(expirationTime) : ttlMs === 0 ? undefined : now + ttlMs;
  if (at === undefined) return problems;
  if (at < now) problems.push("expiration time cannot be before create time");
  const was = `(was ${goDurationText(Math.round((at - now) * 1e6))})`;
  if (at - now > longestTtlMs) problems.push(`expiration time cannot be more than 24h0m0s in the future ${was}`);
  else if (at - now < shortestTtlMs) problems.push(`expiration time cannot be less than 1m0s in the future ${was}`);
  return problems;
}

/** Global mode and expiry stay as they were made. */
function changeProblems(request: TokenRequest, old: AclToken): string[] {
  const expires = request.expirationTime ? Date.parse(request.expirationTime) : undefined;
  const before = old.ExpirationTime === null ? undefined : Date.parse(old.ExpirationTime);
  return [
    ...(old.Global === request.global ? [] : ["cannot toggle global mode"]),
    ...(request.ttlMs === 0 ? [] : ["cannot update expiration TTL"]),
    ...(expires === undefined || expires === before ? [] : ["cannot update expiration time"]),
  ];
}

/** Creates a token, or updates the one with that accessor. Throws Refusal (400). */
export function putToken(ops: Operations, request: TokenRequest): { token: AclToken; index: number } {
  const { state } = ops;
  const old = request.accessor === "" ? undefined : state.acl_token.get(request.accessor);
  const uploaded = isUuid.test(request.accessor) && isUuid.test(request.secret ?? "") && request.type !== "management";
  if (request.accessor !== "" && old === undefined && !uploaded) {
    throw new Refusal(400, `cannot find token ${request.accessor}`);
  }
  const type = request.type;
  const problems: string[] = [];
  if (request.name.length > 256) problems.push("token name too long");
  const bound = request.policies.length > 0 || request.roles.length > 0;
  if (type === "client" && !bound) problems.push("client token missing policies or roles");
  else if (type === "management" && bound) problems.push("management token cannot be associated with policies or roles");
  else if (type !== "client" && type !== "management") problems.push("token type must be client or management");
  const now = ops.now();
  problems.push(...(old === undefined ? expiryProblems(request, now) : changeProblems(request, old)));
  if (problems.length > 0) throw new Refusal(400, `token 0 invalid: ${listErrors(problems)}`);
  const Roles = request.roles.map((link) => {
    const role = link.id !== "" ? state.acl_roles.get(link.id) : state.acl_roles.by("name", link.name)[0];
    if (role === undefined) throw new Refusal(400, `cannot find role ${link.id || link.name}`);
    return { ID: role.ID, Name: role.Name };
  });
  const created = old?.CreateTime ?? rfc3339(now);
  const expires = old?.ExpirationTime ?? request.expirationTime ?? (request.ttlMs > 0 ? rfc3339(now + request.ttlMs) : null);
  return state.write("ACLTokenUpsert", (tx) => {
    const token: AclToken = {
      AccessorID: request.accessor || ops.newId(),
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
