/** Who is asking, and may they (design D24, D38). */
import type { Context, MiddlewareHandler } from "hono";
import type { TokenCapability } from "../model/capabilities.ts";
import type { Grant } from "../model/grant.ts";
import { ApiError } from "./errors.ts";
import type { Authenticator, Principal, SessionPurpose } from "./ports.ts";
import type { SessionCookie } from "./session-cookie.ts";

export type Capability = TokenCapability;

export type ApiEnv = { Variables: { principal: Principal; credentials: Credentials } };

/** What a request brought along to prove who it is from. */
export type Credentials =
  | { readonly kind: "header"; readonly value: string }
  | { readonly kind: "session"; readonly secret: string }
  | { readonly kind: "none" };

/** An Authorization header always decides (S30), so that neither a cookie nor anonymous rights stand in for a wrong token. */
function credentialsOf(context: Context, cookie: SessionCookie): Credentials {
  const value = context.req.header("authorization");
  if (value !== undefined) return { kind: "header", value };
  const secret = cookie.read(context);
  return secret === undefined ? { kind: "none" } : { kind: "session", secret };
}

/** The principal of credentials at this moment; `undefined` when there is none, or no longer (CVE-2022-29165 class: never anonymous instead). */
export async function principalOf(
  authenticator: Authenticator,
  credentials: Credentials,
  purpose: SessionPurpose,
): Promise<Principal | undefined> {
  switch (credentials.kind) {
    case "header": {
      const secret = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(credentials.value)?.[1];
      return secret === undefined || !authenticator.acceptsTokens ? undefined : authenticator.bearer(secret);
    }
    case "session":
      return authenticator.session(credentials.secret, purpose);
    case "none":
      return authenticator.anonymous;
  }
}

/** Whether a principal holds a capability, and that in the namespace when one is given. */
export function permits(principal: Principal, capability: Capability, namespace?: string): boolean {
  return principal.grants.some((grant) => holds(grant, capability) && (namespace === undefined || grant.covers(namespace)));
}

/** Whether a principal holds a capability in every namespace by one grant. */
export function permitsEverywhere(principal: Principal, capability: Capability): boolean {
  return principal.grants.some((grant) => holds(grant, capability) && grant.everywhere);
}

function holds(grant: Grant, capability: Capability): boolean {
  return grant.capabilities.includes(capability) || grant.capabilities.includes("admin");
}

/** Finds the principal of a request from its bearer token or the cookie of its session. */
export function authenticate(authenticator: Authenticator, cookie: SessionCookie): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const credentials = credentialsOf(context, cookie);
    const principal = await principalOf(authenticator, credentials, isWrite(context.req.method) ? "write" : "read");
    if (principal === undefined) {
      if (credentials.kind === "session") cookie.clear(context);
      throw unauthenticated(credentials, authenticator);
    }
    context.set("principal", principal);
    context.set("credentials", credentials);
    await next();
  };
}

/** Where no credentials are needed it may still matter that a browser sent a cookie. */
export function noteCredentials(cookie: SessionCookie): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    context.set("credentials", credentialsOf(context, cookie));
    await next();
  };
}

/** Whether a method changes something. */
export function isWrite(method: string): boolean {
  return !["GET", "HEAD", "OPTIONS"].includes(method);
}

const tokenHint = "create one with: nops token create NAME, and pass it by --token-file or NOPS_TOKEN_FILE";

function unauthenticated(credentials: Credentials, { acceptsTokens }: Authenticator): ApiError {
  if (credentials.kind === "session")
    return new ApiError(401, "session_ended", "the session has ended", { hint: "log in again at /login" });
  if (!acceptsTokens) {
    const message = credentials.kind === "header" ? "API tokens are not accepted here" : "a login is needed";
    return new ApiError(401, "unauthenticated", message, { hint: "people log in at /login; auth.mode does not name token" });
  }
  const message = credentials.kind === "header" ? "the token is not valid" : "a token is needed";
  return new ApiError(401, "unauthenticated", message, { hint: tokenHint });
}

/** @throws ApiError 403 when the capability is missing there. A namespace that may not be read answers 404 instead, so that names do not leak. */
export function demand(principal: Principal, capability: Capability, namespace?: string): void {
  if (namespace !== undefined && !permits(principal, "read", namespace)) throw notFound();
  if (!permits(principal, capability, namespace)) {
    const where = namespace === undefined ? "" : ` in namespace "${namespace}"`;
    throw new ApiError(403, "not_permitted", `${subjectOf(principal)} lacks the capability "${capability}"${where}`, {
      hint: hintOf(principal, capability),
    });
  }
}

function subjectOf({ method, actor }: Principal): string {
  return method === "token" || method === "anonymous" ? "the token" : actor.name;
}

function hintOf({ method }: Principal, capability: Capability): string {
  switch (method) {
    case "token":
    case "anonymous":
      return `nops token create NAME --capability ${capability} makes one that has it`;
    case "nomad":
      return "rights come from the policies of the Nomad token, and from auth.rules";
    case "local":
    case "oidc":
      return "auth.rules of the configuration says who may do what";
  }
}

/** The one answer for what does not exist and for what may not be seen. */
export function notFound(what = "no such object"): ApiError {
  return new ApiError(404, "not_found", what);
}

/** @throws ApiError 403 unless the rights cover every namespace. */
export function demandEverywhere(principal: Principal, capability: Capability): void {
  demand(principal, capability);
  if (permitsEverywhere(principal, capability)) return;
  const message = `${subjectOf(principal)} is limited to some namespaces, and this concerns all of them`;
  throw new ApiError(403, "not_permitted", message);
}
