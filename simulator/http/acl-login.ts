import type { KeyObject } from "node:crypto";
import { type Claims, pemKeys, verified } from "../acl/identity.ts";
import { compileFilter } from "../filter/evaluate.ts";
import { FilterError } from "../filter/peg.ts";
import { listErrors } from "../jobspec/messages.ts";
import { putToken } from "../operations/tokens.ts";
import { Refusal } from "../refusal.ts";
import type { AuthMethod, BindingRule } from "../state/cluster-types.ts";
import { needAcls, tokenView } from "./acl.ts";
import { allow, bodyOf, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";

interface Identity {
  readonly value: Readonly<Record<string, string>>;
  readonly list: Readonly<Record<string, readonly string[]>>;
}

/** `POST /v1/acl/login`: a JWT for a token, by an auth method and its binding rules. */
export function login(service: Service, call: Call): Reply {
  allow(call, "PUT", "POST");
  needAcls(service);
  const body = bodyOf(call.request);
  const name = text(body, "AuthMethodName");
  const jwt = text(body, "LoginToken");
  const missing = [...(name === "" ? ["missing auth method name"] : []), ...(jwt === "" ? ["missing login token"] : [])];
  if (missing.length > 0) {
    throw new Refusal(400, `invalid login request: ${listErrors(missing)}`);
  }
  const method = service.state.acl_auth_methods.get(name);
  if (method === undefined) throw new Refusal(400, `auth-method "${name}" not found`);
  if (method.Type !== "JWT") throw new Refusal(400, `unsupported auth-method type: ${method.Type}`);
  const claims = validate(service, method, jwt);
  const identity = identityOf(method, claims);
  const bound = bindings(service, method, identity);
  if (!bound.management && bound.policies.length + bound.roles.length === 0) {
    throw new Refusal(400, "no role or policy bindings matched");
  }
  const done = putToken(service, {
    accessor: "",
    name: tokenName(method, identity),
    type: bound.management ? "management" : "client",
    policies: bound.management ? [] : bound.policies,
    roles: bound.management ? [] : bound.roles.map((role) => ({ id: "", name: role })),
    global: method.TokenLocality === "global",
    ttlMs: method.MaxTokenTTL / 1e6,
  });
  return { json: tokenView(done.token), index: done.index };
}

function texts(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((one): one is string => typeof one === "string")
    : typeof value === "string"
      ? [value]
      : [];
}

function validate(service: Service, method: AuthMethod, jwt: string): Claims {
  const config = method.Config ?? {};
  const refuse = (why: string) => new Refusal(401, `unable to validate provided token: ${why}`);
  const keys: KeyObject[] = pemKeys(texts(config["JWTValidationPubKeys"]));
  const now = service.now();
  // A JWKS address is not fetched: the simulator touches no network. Its own key stands for it.
  const claims = keys.length > 0 ? verified(jwt, keys, now) : service.authenticator.identities.own(jwt, now);
  if (claims === undefined) throw refuse("failed to verify id token signature");
  const audiences = texts(config["BoundAudiences"]);
  if (audiences.length > 0 && !texts(claims["aud"]).some((one) => audiences.includes(one)))
    throw refuse("invalid audience (aud) claim");
  const issuers = texts(config["BoundIssuer"]);
  if (issuers.length > 0 && !issuers.includes(String(claims["iss"] ?? ""))) throw refuse("invalid issuer (iss) claim");
  return claims;
}

function pick(claims: Claims, path: string): unknown {
  if (!path.startsWith("/")) return claims[path];
  let value: unknown = claims;
  for (const part of path.slice(1).split("/"))
    value = value !== null && typeof value === "object" ? (value as Claims)[part] : undefined;
  return value;
}

/** Claims under the names that binding rules know. */
function identityOf(method: AuthMethod, claims: Claims): Identity {
  const config = method.Config ?? {};
  const mapped = (name: string) => Object.entries((config[name] as Readonly<Record<string, string>> | null | undefined) ?? {});
  const value: Record<string, string> = {};
  const list: Record<string, string[]> = {};
  for (const [claim, target] of mapped("ClaimMappings")) {
    const found = pick(claims, claim);
    if (found !== undefined && found !== null) value[target] = String(found);
  }
  for (const [claim, target] of mapped("ListClaimMappings")) list[target] = texts(pick(claims, claim));
  return { value, list };
}

interface Bound {
  readonly management: boolean;
  readonly policies: readonly string[];
  readonly roles: readonly string[];
}

function bindings(service: Service, method: AuthMethod, identity: Identity): Bound {
  const matching = service.state.acl_binding_rules.by("method", method.Name).filter((rule) => applies(rule, identity));
  const named = (type: string) =>
    matching.filter((rule) => rule.BindType === type).map((rule) => interpolate(rule.BindName, identity.value));
  const { acl_policy, acl_roles } = service.state;
  return {
    management: matching.some((rule) => rule.BindType === "management"),
    policies: [...new Set(named("policy"))].filter((name) => acl_policy.get(name) !== undefined),
    roles: [...new Set(named("role"))].filter((name) => acl_roles.by("name", name).length > 0),
  };
}

function applies(rule: BindingRule, identity: Identity): boolean {
  if (rule.Selector === "") return true;
  try {
    return compileFilter(rule.Selector, "Claims")(identity);
  } catch (error) {
    if (error instanceof FilterError) return false;
    throw error;
  }
}

function interpolate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\$\{\s*value\.([\w.-]+)\s*\}/g, (_, name: string) => values[name] ?? "");
}

/** What a method calls its tokens when it does not say. */
export const defaultTokenName = ["$", "{auth_method_type}-$", "{auth_method_name}"].join("");

function tokenName(method: AuthMethod, identity: Identity): string {
  const format = method.TokenNameFormat === "" ? defaultTokenName : method.TokenNameFormat;
  const named = format.replace(/\$\{auth_method_(type|name)\}/g, (_, what: string) =>
    what === "type" ? method.Type : method.Name,
  );
  return interpolate(named, identity.value);
}
