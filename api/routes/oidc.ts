/** The round trip over an OpenID Connect provider. A browser walks these paths, so what goes wrong is a page. */
import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { ApiEnv } from "../auth.ts";
import { ApiError } from "../errors.ts";
import { safeNext } from "../next-path.ts";
import type { ApiDependencies, LoginOrigin } from "../ports.ts";
import type { SessionCookie } from "../session-cookie.ts";

export function oidcRoutes(
  app: Hono<ApiEnv>,
  { logins, secureCookies }: ApiDependencies,
  cookie: SessionCookie,
  originOf: (context: Context<ApiEnv>) => LoginOrigin,
): void {
  const pendingCookie = secureCookies ? "__Host-nops-login" : "nops-login";
  // Lax: it has to come along when the provider sends the browser back.
  const attributes = { path: "/", httpOnly: true, secure: secureCookies, sameSite: "Lax" } as const;

  app.get("/auth/oidc", (context) =>
    asPage(context, async () => {
      if (logins.oidc === undefined) throw off();
      const { url, pending, longestMs } = await logins.oidc.begin(safeNext(context.req.query("next")), cookie.read(context));
      setCookie(context, pendingCookie, pending, { ...attributes, maxAge: longestMs / 1_000 });
      return context.redirect(url, 303);
    }),
  );

  app.get("/auth/callback", (context) =>
    asPage(context, async () => {
      if (logins.oidc === undefined) throw off();
      const pending = getCookie(context, pendingCookie);
      deleteCookie(context, pendingCookie, attributes);
      const login = await logins.oidc.finish(new URL(context.req.url).search, pending, originOf(context));
      cookie.set(context, login.secret, login.longestMs);
      return context.redirect(safeNext(login.next), 303);
    }),
  );
}

function off(): ApiError {
  return new ApiError(404, "login_off", "people do not log in by OIDC here");
}

/** Fixed sentences by code: neither the provider nor a link decides what the page says (S17). */
const sentences: ReadonlyMap<string, string> = new Map([
  ["login_off", "People do not log in by OIDC here."],
  ["login_expired", "The login took too long, or was begun in another browser."],
  ["login_replayed", "The login was used already."],
  ["login_refused", "The login provider did not confirm who you are."],
  ["login_unavailable", "The login provider cannot be reached."],
  ["not_allowed", "You are known, but have no rights here."],
]);

async function asPage(context: Context<ApiEnv>, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const sentence = error instanceof ApiError ? sentences.get(error.code) : undefined;
    if (!(error instanceof ApiError) || sentence === undefined) throw error;
    return context.html(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>nops</title><h1>Not logged in</h1><p>${sentence}</p><p><a href="/login">Log in</a></p></html>`,
      error.status,
    );
  }
}
