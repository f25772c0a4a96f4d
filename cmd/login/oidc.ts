/** Single sign-on: the browser goes to the provider and comes back with a proof, once. */
import { ApiError } from "../../api/errors.ts";
import type { Clock, Random } from "../../model/clock.ts";
import type { Log } from "../../model/log.ts";
import { type OidcChecks, type OidcPerson, type OidcProvider, OidcRefused, OidcUnavailable } from "./oidc-provider.ts";
import type { Person, StandingCheck } from "./person.ts";
import { type Rule, rightsOf } from "./rules.ts";
import { seal, unseal } from "./seal.ts";

/** Somebody who came back from the provider. */
export interface Returned {
  readonly person: Person;
  /** Where they wanted to go. */
  readonly next: string | undefined;
  /** Secret of the session that the browser had when it left. */
  readonly formerSecret: string | undefined;
}

export interface OidcLogin {
  /** Where to send the browser, and what its cookie has to hold meanwhile. */
  begin(
    next: string | undefined,
    formerSecret: string | undefined,
  ): Promise<{ readonly url: string; readonly pending: string; readonly longestMs: number }>;
  /** Who came back, and where they wanted to go. */
  finish(search: string, pending: string | undefined): Promise<Returned>;
  readonly standing: StandingCheck;
}

export interface OidcLoginOptions {
  readonly provider: OidcProvider;
  readonly rules: readonly Rule[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** So long somebody may take at the provider. */
const pendingMs = 10 * 60_000;
const mostUsed = 10_000;

interface Pending {
  readonly checks: OidcChecks;
  readonly next: string | undefined;
  /** The strict cookie of a session does not come back from the provider. */
  readonly formerSecret: string | undefined;
  readonly until: number;
}

interface OidcClaims {
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

export function oidcLogin(options: OidcLoginOptions): OidcLogin {
  const { provider, rules, clock, random } = options;
  // Of this process: a restart in the middle of a login asks to begin again.
  const key = Buffer.from(random.bytes(32)).toString("base64url");
  const used = new UsedStates();
  const rights = ({ names, groups }: OidcClaims) => rightsOf(rules, { method: "oidc", names, groups });
  const ask = <T>(call: () => Promise<T>): Promise<T> => call().catch((error: unknown) => refuse(error, options.log));
  return {
    begin: async (next, formerSecret) => {
      const { url, checks } = await ask(() => provider.begin());
      const pending: Pending = { checks, next, formerSecret, until: clock.now() + pendingMs };
      return { url, pending: seal(JSON.stringify(pending), key, "login", random), longestMs: pendingMs };
    },
    finish: async (search, sealed) => {
      const text = sealed === undefined ? undefined : unseal(sealed, key, "login");
      const pending = text === undefined ? undefined : (JSON.parse(text) as Pending);
      if (pending === undefined || clock.now() >= pending.until)
        throw new ApiError(400, "login_expired", "the login was begun elsewhere or too long ago");
      const { state } = pending.checks;
      // An answer that lets somebody in does so once (S32).
      if (!used.take(state, pending.until, clock.now())) throw new ApiError(400, "login_replayed", "the login was used already");
      const found = await ask(() => provider.finish(search, pending.checks)).catch((error: unknown) => {
        // Else strangers, who can begin logins and never prove anything, would fill what is remembered and shut everybody out.
        used.forget(state);
        throw error;
      });
      return { person: personOf(found, rights), next: pending.next, formerSecret: pending.formerSecret };
    },
    standing: async (session) => ({ ended: false, rights: rights(session.claims as OidcClaims), email: session.email }),
  };
}

/** Issuer and subject are the person; the names are for display and for rules. */
function personOf(found: OidcPerson, rights: (claims: OidcClaims) => Person["rights"]): Person {
  const { issuer, sub, username, email, groups } = found;
  const names = [username, email].filter((name) => name !== undefined);
  const claims: OidcClaims = { names, groups };
  return {
    method: "oidc",
    subject: `${issuer}:${sub}`,
    name: username ?? email ?? sub,
    email,
    rights: rights(claims),
    claims: () => claims,
    longestMs: Number.POSITIVE_INFINITY,
  };
}

/** @throws ApiError always; the log hears the cause, the browser does not. */
function refuse(error: unknown, log: Log): never {
  if (error instanceof OidcUnavailable) {
    log.error("people cannot log in: the OIDC provider cannot be asked", { error: error.message, cause: String(error.cause) });
    throw new ApiError(503, "login_unavailable", "the login provider cannot be reached", { cause: error });
  }
  if (error instanceof OidcRefused) {
    log.warn("a login was wrong", { method: "oidc", reason: error.message });
    throw new ApiError(400, "login_refused", "the login provider's answer is no valid login", { cause: error });
  }
  throw error;
}

/** States that somebody came in with, or is about to, until their cookie has expired anyway. */
class UsedStates {
  readonly #until = new Map<string, number>();

  /** False for one that was taken before. */
  take(state: string, until: number, now: number): boolean {
    for (const [old, end] of this.#until) if (end <= now) this.#until.delete(old);
    if (this.#until.has(state)) return false;
    // When so many come back within minutes, refusing is safer than forgetting one.
    if (this.#until.size >= mostUsed) return false;
    this.#until.set(state, until);
    return true;
  }

  forget(state: string): void {
    this.#until.delete(state);
  }
}
