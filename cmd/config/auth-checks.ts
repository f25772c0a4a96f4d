/** Rules of the section `auth` that span several keys. */
import { isAddressOrNetwork } from "../../api/client-source.ts";
import { loginMethods } from "../../model/login.ts";
import type { Config } from "./schema.ts";

/** Tells of a problem at a key, given by its path. */
export type Tell = (path: readonly (string | number)[], message: string) => void;

export function checkAuth(config: Config, tell: Tell): void {
  const { auth, http } = config;
  const logins = loginMethods.filter((method) => auth.mode.some((mode) => mode === method));
  if (auth.anonymous_read && !isLoopback(http.listen))
    tell(["auth", "anonymous_read"], "is allowed only while http.listen is a loopback address");
  if (auth.bootstrap_token_file !== undefined && !auth.mode.includes("token"))
    tell(["auth", "bootstrap_token_file"], 'is a token, and auth.mode does not name "token"');
  if (logins.length > 0 && !cookiesAreSafe(config)) {
    const hint = "set http.public_url to the https address of nops, or http.listen to a loopback address";
    tell(["auth", "mode"], `people log in by https only, or on this machine: ${hint}`);
  }
  if (logins.includes("local") && auth.local.users_file === undefined)
    tell(["auth", "local", "users_file"], 'is required with auth.mode "local"');
  if (!logins.includes("local") && auth.local.users_file !== undefined)
    tell(["auth", "local", "users_file"], 'is set, but auth.mode does not name "local"');
  // Nomad's policies give rights by themselves.
  if (logins.some((method) => method !== "nomad") && auth.rules.length === 0)
    tell(["auth", "rules"], "is required: without a rule nobody who logs in may do anything");
  checkOidc(config, logins.includes("oidc"), tell);
  checkRules(config, logins, tell);
  http.trusted_proxies.forEach((entry, index) => {
    if (!isAddressOrNetwork(entry)) tell(["http", "trusted_proxies", index], `"${entry}" is no address and no network`);
  });
}

function checkOidc({ auth, http }: Config, on: boolean, tell: Tell): void {
  const { issuer, client_id, client_secret_file } = auth.oidc;
  for (const [key, value] of Object.entries({ issuer, client_id, client_secret_file })) {
    if (on && value === undefined) tell(["auth", "oidc", key], 'is required with auth.mode "oidc"');
    if (!on && value !== undefined) tell(["auth", "oidc", key], 'is set, but auth.mode does not name "oidc"');
  }
  if (!on) return;
  if (http.public_url === undefined)
    tell(["http", "public_url"], 'is required with auth.mode "oidc": the provider sends people back there');
  if (issuer !== undefined && !(usesHttps(issuer) || isOnThisMachine(issuer)))
    tell(["auth", "oidc", "issuer"], "must be an https address");
}

/** Whether an http address does not leave this machine. */
function isOnThisMachine(address: string): boolean {
  return /^http:/i.test(address) && URL.canParse(address) && isLoopback(`${new URL(address).hostname}:0`);
}

function checkRules({ auth }: Config, logins: readonly string[], tell: Tell): void {
  auth.rules.forEach((rule, index) => {
    const named = rule.users.length + rule.groups.length + rule.nomad_policies.length;
    if (named === 0) tell(["auth", "rules", index], "names nobody: it needs users, groups or nomad_policies");
    if (rule.groups.length > 0 && !logins.includes("oidc"))
      tell(["auth", "rules", index, "groups"], 'is for people of an OIDC provider, and auth.mode does not name "oidc"');
    if (rule.nomad_policies.length > 0 && !logins.includes("nomad"))
      tell(["auth", "rules", index, "nomad_policies"], 'is for people with a Nomad token, and auth.mode does not name "nomad"');
    rule.users.forEach((user, at) => {
      const method = /^([a-z]+):./.exec(user)?.[1];
      if (method !== undefined && logins.includes(method)) return;
      const ways = logins.length === 0 ? 'auth.mode names only "token"' : `methods: ${logins.join(", ")}`;
      tell(["auth", "rules", index, "users", at], `"${user}" is no METHOD:NAME of somebody who can log in (${ways})`);
    });
  });
}

/** A session's cookie must never travel in clear: https, or a way that does not leave this machine. */
function cookiesAreSafe({ http }: Config): boolean {
  if (http.public_url === undefined) return isLoopback(http.listen);
  if (usesHttps(http.public_url)) return true;
  return isLoopback(http.listen) && isOnThisMachine(http.public_url);
}

/** Whether people reach nops by https. */
export function usesHttps(publicUrl: string | undefined): boolean {
  return publicUrl !== undefined && /^https:/i.test(publicUrl);
}

/** Whether an address such as `127.0.0.1:8080` is reachable from this machine only. */
function isLoopback(listen: string): boolean {
  return /^(127(\.\d{1,3}){3}|localhost|\[::1\]):\d+$/.test(listen);
}
