/** The conversation with an OpenID Connect provider: discovery, the way there, and what its answer says about a person. */
import * as client from "openid-client";
import type { Clock } from "../../model/clock.ts";

/** What the provider vouches for. */
export interface OidcPerson {
  readonly issuer: string;
  readonly sub: string;
  readonly username: string | undefined;
  /** Absent as well when the provider says that it was not verified. */
  readonly email: string | undefined;
  readonly groups: readonly string[];
}

/** What ties an answer to the browser that asked. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface OidcProvider {
  /** Where to send the browser. @throws OidcUnavailable. */
  begin(): Promise<{ readonly url: string; readonly checks: OidcChecks }>;
  /** Who came back. @throws OidcUnavailable; OidcRefused when the answer proves nobody. */
  finish(search: string, checks: OidcChecks): Promise<OidcPerson>;
}

/** The provider cannot be asked now. */
export class OidcUnavailable extends Error {
  override readonly name = "OidcUnavailable";
}

/** The provider's answer is no login: refused there, replayed, forged, or of another issuer. */
export class OidcRefused extends Error {
  override readonly name = "OidcRefused";
}

export interface OidcProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: () => string;
  readonly redirectUri: string;
  /** Whether rules name groups: only then they are asked for. */
  readonly wantsGroups: boolean;
  readonly groupsClaim: string;
  readonly clock: Clock;
}

const patienceSeconds = 10;
/** How long what discovery said is used. */
const discoveryMs = 5 * 60_000;

/** Nothing is asked before the first login, so that a provider that is away never keeps nops from starting (operator §22.3). */
export function oidcProvider(options: OidcProviderOptions): OidcProvider {
  const configuration = cachedDiscovery(options);
  return {
    begin: async () => {
      const config = await configuration();
      const checks = { state: client.randomState(), nonce: client.randomNonce(), verifier: client.randomPKCECodeVerifier() };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: options.redirectUri,
        scope: `openid profile email${options.wantsGroups ? " groups" : ""}`,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, checks };
    },
    finish: async (search, { state, nonce, verifier }) => {
      const config = await configuration();
      // The address comes from the configuration; of the request only what the provider added counts (S31).
      const url = new URL(options.redirectUri);
      url.search = search;
      const tokens = await judged(() =>
        client.authorizationCodeGrant(config, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        }),
      );
      const claims = tokens.claims();
      if (claims === undefined) throw new OidcRefused("the provider gave no ID token");
      const complete = await completed(config, tokens.access_token, claims, options);
      return personOf(claims.iss, claims.sub, complete, options.groupsClaim);
    },
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** What the ID token leaves out may stand in the user info of the same subject. */
async function completed(
  config: client.Configuration,
  accessToken: string,
  claims: Claims & { readonly sub: string },
  { wantsGroups, groupsClaim }: OidcProviderOptions,
): Promise<Claims> {
  const wanted = ["preferred_username", "email", ...(wantsGroups ? [groupsClaim] : [])];
  if (wanted.every((name) => claims[name] !== undefined)) return claims;
  if (config.serverMetadata().userinfo_endpoint === undefined) return claims;
  const info: Claims = await judged(() => client.fetchUserInfo(config, accessToken, claims.sub));
  return { ...info, ...claims };
}

function personOf(issuer: string, sub: string, claims: Claims, groupsClaim: string): OidcPerson {
  const textOf = (name: string): string | undefined => {
    const value = claims[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, 200) : undefined;
  };
  const groups = claims[groupsClaim];
  return {
    issuer,
    sub,
    username: textOf("preferred_username"),
    email: claims["email_verified"] === false ? undefined : textOf("email"),
    groups: Array.isArray(groups) ? groups.filter((group): group is string => typeof group === "string") : [],
  };
}

function cachedDiscovery(options: OidcProviderOptions): () => Promise<client.Configuration> {
  let known: { readonly config: client.Configuration; readonly secret: string; readonly until: number } | undefined;
  return async () => {
    const secret = options.clientSecret();
    const now = options.clock.now();
    if (known !== undefined && known.secret === secret && now < known.until) return known.config;
    const config = await discover(options, secret);
    known = { config, secret, until: now + discoveryMs };
    return config;
  };
}

async function discover({ issuer, clientId }: OidcProviderOptions, secret: string): Promise<client.Configuration> {
  const url = new URL(issuer);
  // The configuration allows http only where it does not leave the machine.
  const execute = [client.enableNonRepudiationChecks, ...(url.protocol === "http:" ? [client.allowInsecureRequests] : [])];
  let found: client.Configuration;
  try {
    found = await client.discovery(url, clientId, secret, client.ClientSecretPost(secret), { execute, timeout: patienceSeconds });
  } catch (error) {
    throw new OidcUnavailable("the provider's discovery document cannot be had", { cause: error });
  }
  const ways = found.serverMetadata().token_endpoint_auth_methods_supported;
  if (ways?.includes("client_secret_post") === true) return found;
  const basic = new client.Configuration(found.serverMetadata(), clientId, secret, client.ClientSecretBasic(secret));
  basic.timeout = patienceSeconds;
  for (const apply of execute) apply(basic);
  return basic;
}

/** What the answer says is refused; that no answer came is not. */
async function judged<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    const away = error instanceof TypeError || code === "OAUTH_TIMEOUT" || code === "OAUTH_ABORT";
    const status = (error as { readonly status?: unknown }).status;
    if (away || (typeof status === "number" && status >= 500))
      throw new OidcUnavailable("the provider does not answer", { cause: error });
    throw new OidcRefused(error instanceof client.AuthorizationResponseError ? error.error : String(code ?? "no valid answer"), {
      cause: error,
    });
  }
}
