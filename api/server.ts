/** The HTTP application (design D24): builds without listening, so that tests call it in process. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type ApiEnv, authenticate, noteCredentials } from "./auth.ts";
import { ApiError, errorAnswer } from "./errors.ts";
import type { ApiDependencies } from "./ports.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { deploymentRoutes } from "./routes/deployments.ts";
import { eventRoutes } from "./routes/events.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { operationRoutes } from "./routes/operations.ts";
import { processRoutes } from "./routes/process.ts";
import { sessionRoutes } from "./routes/session.ts";
import { sameOriginWrites } from "./same-origin.ts";
import { cookieName, sessionCookie } from "./session-cookie.ts";

const maxBodyBytes = 64 * 1024;

/** Everything a page may load comes from here, and nothing runs inline (S09). */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join("; ");

/** The application; `app.request(…)` answers in process, `listen` puts it on a socket. */
export function createApi(dependencies: ApiDependencies): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInvalid });
  app.onError((error, context) => {
    const answer = errorAnswer(error, dependencies.redact);
    if (answer.unexpected) dependencies.reportError(error, `${context.req.method} ${context.req.routePath}`);
    if (answer.status === 401) context.header("www-authenticate", "Bearer");
    if (error instanceof ApiError && error.retryAfterMs !== undefined)
      context.header("retry-after", String(Math.ceil(error.retryAfterMs / 1_000)));
    return context.json(answer.body, answer.status);
  });
  app.notFound((context) => context.json({ error: { code: "not_found", message: "no such path", hint: null } }, 404));
  app.use(securityHeaders, hostCheck(dependencies.allowedHosts));
  processRoutes(app, dependencies);

  const cookie = sessionCookie(dependencies.secureCookies);
  app.use("/api/*", authenticate(dependencies.authenticator, cookie));
  app.use("/auth/*", noteCredentials(cookie));
  for (const path of ["/api/*", "/auth/*"]) {
    app.use(path, sameOriginWrites, bodyLimit({ maxSize: maxBodyBytes, onError: bodyTooLarge }), emptyBodyIsEmptyObject);
  }
  sessionRoutes(app, dependencies, cookie);
  jobRoutes(app, dependencies);
  deploymentRoutes(app, dependencies);
  operationRoutes(app, dependencies);
  eventRoutes(app, dependencies);
  declareSecurity(app, dependencies.secureCookies);
  app.doc31("/api/v1/openapi.json", { openapi: "3.1.0", info: { title: "nops", version: dependencies.probes.version } });
  if (dependencies.dashboardDir !== undefined) dashboardRoutes(app, dependencies.dashboardDir);
  return app;
}

function declareSecurity(app: OpenAPIHono<ApiEnv>, secureCookies: boolean): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  app.openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: cookieName(secureCookies),
  });
}

function refuseInvalid(result: {
  readonly success: boolean;
  readonly error?: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] };
}): void {
  if (result.success || result.error === undefined) return;
  const words = result.error.issues.map((issue) => `${issue.path.map(String).join(".") || "body"}: ${issue.message}`);
  throw new ApiError(400, "invalid_request", words.join("; "));
}

const securityHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const headers: Readonly<Record<string, string>> = {
    "content-security-policy": contentSecurityPolicy,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
  if (context.res.headers.get("cache-control") === null) context.header("cache-control", "no-store");
};

/** A name the server does not go by is refused, so that a foreign page cannot reach it by rebinding (S31). */
function hostCheck(allowed: readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    const host = context.req.header("host");
    if (allowed.length > 0 && host !== undefined && !allowed.includes(host.toLowerCase())) {
      throw new ApiError(421, "wrong_host", "the server does not answer for this host name");
    }
    await next();
  };
}

/** Routes whose body is optional see `{}`; a body that is no JSON is refused before any handler runs. */
const emptyBodyIsEmptyObject: MiddlewareHandler<ApiEnv> = async (context, next) => {
  if (context.req.method === "POST") {
    const text = await context.req.text();
    const json = text.trim() === "" ? {} : parseBody(text, context.req.header("content-type") ?? "");
    context.req.raw = new Request(context.req.raw.url, {
      method: "POST",
      headers: { ...Object.fromEntries(context.req.raw.headers), "content-type": "application/json" },
      body: JSON.stringify(json),
    });
    context.req.bodyCache = {};
  }
  await next();
};

function parseBody(text: string, contentType: string): unknown {
  if (!/^application\/json\b/i.test(contentType))
    throw new ApiError(415, "unsupported_type", "the body must be application/json");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError(400, "invalid_request", "the body is not valid JSON");
  }
}

function bodyTooLarge(): never {
  throw new ApiError(413, "too_large", `the body is larger than ${maxBodyBytes / 1024} KiB`);
}
