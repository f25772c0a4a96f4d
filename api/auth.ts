/** Who is asking, and may they (design D24, D38). */
import type { MiddlewareHandler } from "hono";
import type { TokenCapability } from "../model/capabilities.ts";
import { ApiError } from "./errors.ts";
import type { Authenticator, Principal } from "./ports.ts";

export type Capability = TokenCapability;

export type ApiEnv = { Variables: { principal: Principal } };

/** Whether a principal holds a capability, and that in the namespace when one is given. */
export function permits(principal: Principal, capability: Capability, namespace?: string): boolean {
  const holds = principal.capabilities.has(capability) || principal.capabilities.has("admin");
  return holds && (namespace === undefined ? true : principal.covers(namespace));
}

/**
 * Finds the principal of a request from its bearer token.
 * An Authorization header always decides, so that a wrong token never falls back to anonymous rights (CVE-2022-29165 class).
 */
export function authenticate(authenticator: Authenticator): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const header = context.req.header("authorization");
    const principal = header === undefined ? authenticator.anonymous : await bearer(authenticator, header);
    if (principal === undefined) {
      throw new ApiError(401, "unauthenticated", header === undefined ? "a token is needed" : "the token is not valid", {
        hint: "create one with: nops token create NAME, and pass it by --token-file or NOPS_TOKEN_FILE",
      });
    }
    context.set("principal", principal);
    await next();
  };
}

async function bearer(authenticator: Authenticator, header: string): Promise<Principal | undefined> {
  const secret = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
  return secret === undefined ? undefined : authenticator.bearer(secret);
}

/** @throws ApiError 403 when the capability is missing there. A namespace that may not be read answers 404 instead, so that names do not leak. */
export function demand(principal: Principal, capability: Capability, namespace?: string): void {
  if (namespace !== undefined && !permits(principal, "read", namespace)) throw notFound();
  if (!permits(principal, capability, namespace)) {
    throw new ApiError(
      403,
      "not_permitted",
      `the token lacks the capability "${capability}"${namespace === undefined ? "" : ` in namespace "${namespace}"`}`,
      { hint: `nops token create NAME --capability ${capability} makes one that has it` },
    );
  }
}

/** The one answer for what does not exist and for what may not be seen. */
export function notFound(what = "no such object"): ApiError {
  return new ApiError(404, "not_found", what);
}

/** @throws ApiError 403 unless the rights cover every namespace. */
export function demandEverywhere(principal: Principal, capability: Capability): void {
  demand(principal, capability);
  if (!principal.everywhere)
    throw new ApiError(403, "not_permitted", "the token is limited to some namespaces, and this concerns all of them");
}
