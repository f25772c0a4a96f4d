/** Who uses the page, and how one may come in. */
import { signal } from "@preact/signals";
import type { LoginOptionsJson, SessionJson } from "../api/contract.ts";
import { api, loginWanted, token, useToken } from "./api.ts";

type Method = LoginOptionsJson["methods"][number];

/** Whoever the API takes us for; absent until it says, and when it wants a login. */
export const session = signal<SessionJson | undefined>(undefined);
/** Ways to come in; empty until the API says. */
export const methods = signal<readonly Method[]>([]);

/** Asks the API who we are. What it answers to that is no failure of the page. */
export async function refreshSession(): Promise<void> {
  try {
    session.value = await api.session();
  } catch {
    session.value = undefined;
  }
}

/** Asks for the ways to come in, once. */
export async function loadMethods(): Promise<void> {
  try {
    methods.value = (await api.loginOptions()).methods;
  } catch {
    // Without an answer there is nothing to offer; the views say that nothing can be reached.
  }
}

/** Whether people can log in at all, besides by a token. */
export function peopleLogIn(): boolean {
  return methods.value.some((method) => method !== "token");
}

/** Where to log in so that one comes back here. */
export function loginPath(from: string, notice?: string): string {
  const query = new URLSearchParams({ ...(from === "/" ? {} : { next: from }), ...(notice === undefined ? {} : { notice }) });
  return query.size === 0 ? "/login" : `/login?${query}`;
}

export async function takeToken(value: string): Promise<void> {
  useToken(value);
  await refreshSession();
}

/** Ends the session on the server, and forgets a token. */
export async function logOut(): Promise<void> {
  const byCookie = session.value !== undefined && session.value.method !== "token";
  if (token.value !== "") useToken("");
  if (byCookie) await api.logout();
  session.value = undefined;
  loginWanted.value = false;
  await refreshSession();
}

/** What may stand in `?notice=`: codes only, so that no link can make the page say anything else (S17). */
const notices: ReadonlyMap<string, string> = new Map([
  ["logged_out", "You are logged out."],
  ["session_ended", "Your session has ended."],
]);

/** The sentence of a notice; nothing for a code that is none of ours. */
export function noticeText(query: string): string | undefined {
  return notices.get(new URLSearchParams(query).get("notice") ?? "");
}
