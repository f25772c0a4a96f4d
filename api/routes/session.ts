/** How people come in and go out. What lies below /auth needs no credentials: it is what gives them. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ApiEnv } from "../auth.ts";
import { addressList, clientSource } from "../client-source.ts";
import {
  loggedInSchema,
  loginOptionsSchema,
  nomadTokenLogin,
  passwordLogin,
  type SessionJson,
  sessionSchema,
} from "../contract.ts";
import { ApiError } from "../errors.ts";
import { safeNext } from "../next-path.ts";
import type { ApiDependencies, LoggedIn, LoginOrigin, Principal } from "../ports.ts";
import { type Api, answers, jsonBody, meta, openMeta } from "../route.ts";
import type { SessionCookie } from "../session-cookie.ts";
import { oidcRoutes } from "./oidc.ts";

export function sessionRoutes(api: Api, dependencies: ApiDependencies, cookie: SessionCookie): void {
  const { logins, trustedProxies } = dependencies;
  const trusted = addressList(trustedProxies);
  const originOf = (context: Context<ApiEnv>): LoginOrigin => ({
    source: clientSource(context, trusted),
    formerSecret: cookie.read(context),
  });
  whoRoute(api);
  optionsRoute(api, logins);
  logoutRoute(api, logins, cookie);
  nomadRoute(api, logins, cookie, originOf);
  oidcRoutes(api, dependencies, cookie, originOf);
  api.openapi(
    createRoute({
      method: "post",
      path: "/auth/local",
      ...openMeta("Log in with name and password"),
      request: { body: jsonBody(passwordLogin) },
      responses: answers(loggedInSchema),
    }),
    async (context) => {
      if (logins.local === undefined) throw switchedOff("local");
      const { name, password, next } = context.req.valid("json");
      const login = await logins.local(name, password, originOf(context));
      return context.json(enter(context, cookie, login, next), 200);
    },
  );
}

function nomadRoute(
  api: Api,
  logins: ApiDependencies["logins"],
  cookie: SessionCookie,
  originOf: (context: Context<ApiEnv>) => LoginOrigin,
): void {
  api.openapi(
    createRoute({
      method: "post",
      path: "/auth/nomad",
      ...openMeta("Log in with a Nomad token"),
      request: { body: jsonBody(nomadTokenLogin) },
      responses: answers(loggedInSchema),
    }),
    async (context) => {
      if (logins.nomad === undefined) throw switchedOff("nomad");
      const { token, next } = context.req.valid("json");
      const login = await logins.nomad(token.trim(), originOf(context));
      return context.json(enter(context, cookie, login, next), 200);
    },
  );
}

function whoRoute(api: Api): void {
  api.openapi(
    createRoute({
      method: "get",
      path: "/api/v1/session",
      ...meta("any", "Who is asking, and what they may do"),
      responses: answers(sessionSchema),
    }),
    (context) => context.json(presentSession(context.get("principal")), 200),
  );
}

function optionsRoute(api: Api, logins: ApiDependencies["logins"]): void {
  api.openapi(
    createRoute({
      method: "get",
      path: "/auth/options",
      ...openMeta("Ways to log in"),
      responses: answers(loginOptionsSchema),
    }),
    (context) => context.json({ methods: [...logins.methods] }, 200),
  );
}

function logoutRoute(api: Api, logins: ApiDependencies["logins"], cookie: SessionCookie): void {
  api.openapi(
    createRoute({
      method: "post",
      path: "/auth/logout",
      ...openMeta("End the session of the cookie"),
      responses: answers(z.object({ logged_out: z.literal(true) })),
    }),
    async (context) => {
      const secret = cookie.read(context);
      if (secret !== undefined) await logins.logout(secret);
      cookie.clear(context);
      return context.json({ logged_out: true as const }, 200);
    },
  );
}

/** Hands the new session to the browser. */
function enter(context: Context, cookie: SessionCookie, login: LoggedIn, next: string | undefined) {
  cookie.set(context, login.secret, login.longestMs);
  return { next: safeNext(next), session: presentSession(login.principal) };
}

function switchedOff(method: string): ApiError {
  return new ApiError(404, "login_off", `people do not log in by ${method} here`, { hint: `auth.mode does not name ${method}` });
}

function presentSession({ actor, method, grants, endsAt }: Principal): SessionJson {
  return {
    name: actor.name,
    method,
    identity: actor.identity,
    email: actor.email ?? null,
    rights: grants.map(({ capabilities, namespaces }) => ({ capabilities: [...capabilities], namespaces: [...namespaces] })),
    ends_at: endsAt ?? null,
  };
}
