/** The cookie of a session (S23). No script reads it, and no other site's page makes a browser send it. */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";

/** Under https the name begins with `__Host-`, which browsers keep from other hosts, other paths and plain http. */
export function cookieName(secure: boolean): string {
  return secure ? "__Host-nops" : "nops";
}

export interface SessionCookie {
  /** The secret that the browser sent, when it looks like one. */
  read(context: Context): string | undefined;
  set(context: Context, secret: string, longestMs: number): void;
  clear(context: Context): void;
}

/** Over plain http, which the configuration allows on loopback only, a browser would refuse a secure cookie. */
export function sessionCookie(secure: boolean): SessionCookie {
  const name = cookieName(secure);
  const attributes = { path: "/", httpOnly: true, secure, sameSite: "Strict" } as const;
  return {
    read: (context) => {
      const value = getCookie(context, name);
      return value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
    },
    set: (context, secret, longestMs) =>
      setCookie(context, name, secret, { ...attributes, maxAge: Math.floor(longestMs / 1_000) }),
    clear: (context) => void deleteCookie(context, name, attributes),
  };
}
