/** Writes that a browser makes must come from the page itself (S21). */
import type { Context, MiddlewareHandler } from "hono";
import { type ApiEnv, isWrite } from "./auth.ts";
import { ApiError } from "./errors.ts";

/**
 * A browser says where a request comes from; programs send neither header. Where a cookie proves who asks, the body must also be of a type
 * that no form can send, so that a browser too old to say anything cannot be used either.
 */
export const sameOriginWrites: MiddlewareHandler<ApiEnv> = async (context, next) => {
  if (isWrite(context.req.method)) {
    if (isForeign(context)) throw new ApiError(403, "cross_origin", "writes from other origins are refused");
    if (context.get("credentials").kind === "session" && !/^application\/json\b/i.test(context.req.header("content-type") ?? ""))
      throw new ApiError(403, "cross_origin", "with a session a write must be sent as application/json");
  }
  await next();
};

function isForeign(context: Context<ApiEnv>): boolean {
  const site = context.req.header("sec-fetch-site");
  if (site !== undefined) return !["same-origin", "none"].includes(site);
  const origin = context.req.header("origin");
  return origin !== undefined && hostOf(origin) !== context.req.header("host");
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
